//! A contender that calls a function before each play.

use wheelhouse_core::backend::Info;
use wheelhouse_harness::contender::{self, Contender, Played};
use wheelhouse_harness::latency::Times;
use wheelhouse_harness::model::Memory;
use wheelhouse_harness::stream::{Solution, Stream};
use wheelhouse_workload::Checksum;

pub(crate) struct Watched<F> {
    structure: Box<dyn Contender>,
    before: F,
}

impl<F: Fn(&Solution)> Watched<F> {
    /// The binary heap. `before` is called with the right answers to each stream.
    pub(crate) fn new(before: F) -> Self {
        let structure = contender::select(&["binary-heap".to_owned()]).unwrap().remove(0);
        Self { structure, before }
    }
}

impl<F: Fn(&Solution)> Contender for Watched<F> {
    fn name(&self) -> &'static str {
        self.structure.name()
    }

    fn info(&self) -> Option<Info> {
        self.structure.info()
    }

    fn can_play(&self, stream: &Stream, solution: &Solution) -> bool {
        self.structure.can_play(stream, solution)
    }

    fn play(&self, stream: &Stream, solution: &Solution) -> Played {
        (self.before)(solution);
        self.structure.play(stream, solution)
    }

    fn time_each(&self, stream: &Stream, solution: &Solution, into: &mut Times) -> Checksum {
        self.structure.time_each(stream, solution, into)
    }

    fn memory(&self, n: u32, seed: u64) -> Option<Memory> {
        self.structure.memory(n, seed)
    }
}
