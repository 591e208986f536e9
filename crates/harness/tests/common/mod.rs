//! Settings and structures for tests of whole runs.

use std::time::Duration;
use wheelhouse_harness::bench::Settings;
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::stream::{ExpectedAnswers, Stream};
use wheelhouse_harness::structure::{self, StreamPlay, Structure, Structures};

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
pub(crate) struct WithCallback<F>(Box<dyn Structure>, F);

impl<F: Fn(&ExpectedAnswers) + 'static> WithCallback<F> {
    pub(crate) fn alone(before: F) -> Structures {
        vec![Box::new(Self(heap().remove(0), before))]
    }
}

impl<F: Fn(&ExpectedAnswers)> Structure for WithCallback<F> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn can_play(&self, stream: &Stream, expected: &ExpectedAnswers) -> bool {
        self.0.can_play(stream, expected)
    }

    fn play(&self, stream: &Stream, expected: &ExpectedAnswers) -> StreamPlay {
        (self.1)(expected);
        self.0.play(stream, expected)
    }
}
