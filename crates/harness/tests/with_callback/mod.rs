//! A contender that calls a function before each play.

use wheelhouse_core::backend::Info;
use wheelhouse_harness::contender::{self, Contender, StreamPlay};
use wheelhouse_harness::latency::OperationTimes;
use wheelhouse_harness::model::Memory;
use wheelhouse_harness::stream::{ExpectedAnswers, Stream};
use wheelhouse_workload::Checksum;

pub(crate) struct WithCallback<F> {
    structure: Box<dyn Contender>,
    before: F,
}

impl<F: Fn(&ExpectedAnswers)> WithCallback<F> {
    /// The binary heap. `before` is called with the right answers to each stream.
    pub(crate) fn new(before: F) -> Self {
        let structure = contender::select(&["binary-heap".to_owned()]).unwrap().remove(0);
        Self { structure, before }
    }
}

impl<F: Fn(&ExpectedAnswers)> Contender for WithCallback<F> {
    fn name(&self) -> &'static str {
        self.structure.name()
    }

    fn info(&self) -> Option<Info> {
        self.structure.info()
    }

    fn can_play(&self, stream: &Stream, expected: &ExpectedAnswers) -> bool {
        self.structure.can_play(stream, expected)
    }

    fn play(&self, stream: &Stream, expected: &ExpectedAnswers) -> StreamPlay {
        (self.before)(expected);
        self.structure.play(stream, expected)
    }

    fn time_operations(
        &self,
        stream: &Stream,
        expected: &ExpectedAnswers,
        into: &mut OperationTimes,
    ) -> Checksum {
        self.structure.time_operations(stream, expected, into)
    }

    fn memory(&self, n: u32, seed: u64) -> Option<Memory> {
        self.structure.memory(n, seed)
    }
}
