//! Settings and structures for tests of whole runs.

use std::time::Duration;
use wheelhouse_harness::bench::Settings;
use wheelhouse_harness::latency::{LongestSteps, OperationTimes};
use wheelhouse_harness::model::{Footprint, Memory};
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::stream::{ExpectedAnswers, Stream};
use wheelhouse_harness::structure::{self, StreamPlay, Structure, Structures};
use wheelhouse_workload::Checksum;

/// A brief run of 200 timers, without details.
pub(crate) fn settings(structures: Structures) -> Settings {
    Settings {
        sizes: vec![200],
        structures,
        sources: vec![StreamSource::find("uniform").unwrap()],
        seed: 1,
        seeds: 1,
        payload: 8,
        time: Duration::ZERO,
        limit: None,
        details: false,
    }
}

pub(crate) fn heap() -> Structures {
    structure::select(&["binary-heap".to_owned()]).unwrap()
}

/// The binary heap, which calls a function with the right answers before each play.
pub(crate) struct WithCallback<F> {
    pub(crate) heap: Box<dyn Structure>,
    pub(crate) before: F,
    /// `false` if it answers wrongly while its single operations are timed.
    pub(crate) is_right_at_last: bool,
}

impl<F: Fn(&ExpectedAnswers) + 'static> WithCallback<F> {
    pub(crate) fn alone(before: F) -> Structures {
        vec![Box::new(Self { heap: heap().remove(0), before, is_right_at_last: true })]
    }
}

impl<F: Fn(&ExpectedAnswers)> Structure for WithCallback<F> {
    fn name(&self) -> &'static str {
        self.heap.name()
    }

    fn can_play(&self, stream: &Stream, expected: &ExpectedAnswers) -> bool {
        self.heap.can_play(stream, expected)
    }

    fn play(&self, stream: &Stream, expected: &ExpectedAnswers) -> StreamPlay {
        (self.before)(expected);
        self.heap.play(stream, expected)
    }

    fn time_operations(
        &self,
        _: &Stream,
        expected: &ExpectedAnswers,
        _: &mut OperationTimes,
    ) -> Checksum {
        if self.is_right_at_last { expected.checksum() } else { Checksum::default() }
    }

    fn count_steps(&self, stream: &Stream) -> Option<LongestSteps> {
        self.heap.count_steps(stream)
    }

    fn memory(&self, n: u32, seed: u64) -> Option<Memory> {
        self.heap.memory(n, seed)
    }

    fn footprint(&self, stream: &Stream, expected: &ExpectedAnswers) -> Option<Footprint> {
        self.heap.footprint(stream, expected)
    }
}
