//! Settings for tests of whole runs.

use std::time::Duration;
use wheelhouse_harness::bench::Settings;
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::structure::Structures;

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
