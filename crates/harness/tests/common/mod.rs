//! Settings for tests of whole runs.

use std::time::Duration;
use wheelhouse_harness::bench::Settings;
use wheelhouse_harness::contender::Contenders;
use wheelhouse_harness::source::StreamSource;

/// A brief run of 200 timers, without details.
pub(crate) fn settings(contenders: Contenders) -> Settings {
    Settings {
        sizes: vec![200],
        contenders,
        sources: vec![StreamSource::find("uniform").unwrap()],
        seed: 1,
        seeds: 1,
        time: Duration::ZERO,
        limit: None,
        details: false,
    }
}
