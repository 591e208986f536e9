//! The experiments, and the bounds for the stores.
//!
//! The disk of the machine decides how many syncs a second are possible. So some bounds are
//! relative to the figure of the bare database in the same run. The others were set on one machine
//! with 2 cores, and mean less on a slower one.

use std::time::Duration;
use wheelhouse_frame::{Bound, Experiment, Target};
use wheelhouse_present::units::count;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One producer that waits for each change.
    One,
    /// 64 producers, each of which waits for its own changes.
    Many,
    /// One producer that does not wait for each change. Then all jobs run.
    Flow,
    /// The store itself, without `Durable`.
    Batch,
    /// Opening a store that was closed.
    Open,
}

/// The sizes of the experiments.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// The number of pending jobs.
    pub(crate) jobs: u64,
    /// Seconds for each figure.
    pub(crate) seconds: f64,
    /// Changes in a batch.
    pub(crate) batch: usize,
    /// The `appendfsync` of Redis: how often it syncs.
    pub(crate) appendfsync: String,
}

impl Experiment for Kind {
    type Load = Load;

    const ALL: &'static [Self] = &[Self::One, Self::Many, Self::Flow, Self::Batch, Self::Open];
    const TITLE: &'static str = "Durable timers on their stores";
    const METHOD: Option<&'static str> = Some("benches/DURABLE.md");
    const TARGETS: &'static [Target<Self>] = &[
        Target::new(Self::One, "sqlite", "schedules/s", Bound::Times(0.8, "bare-sqlite")),
        Target::new(Self::Many, "sqlite", "schedules/s", Bound::Times(0.8, "bare-sqlite")),
        Target::new(Self::Many, "sqlite", "schedule p99", Bound::AtMost(1e7)),
        Target::new(Self::Flow, "sqlite", "schedules/s", Bound::AtLeast(25_000.0)),
        Target::new(Self::Flow, "sqlite", "fires/s", Bound::AtLeast(15_000.0)),
        Target::new(Self::Open, "sqlite", "open", Bound::AtMost(1e9)),
        Target::new(Self::Batch, "redis", "schedules/s", Bound::AtLeast(75_000.0)),
        Target::new(Self::Batch, "redis", "fires/s", Bound::AtLeast(60_000.0)),
        Target::new(Self::Batch, "postgres", "schedules/s", Bound::AtLeast(35_000.0)),
        Target::new(Self::Batch, "postgres", "fires/s", Bound::AtLeast(30_000.0)),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Many => "64",
            Self::Flow => "flow",
            Self::Batch => "batch",
            Self::Open => "open",
        }
    }

    fn title(self, load: &Load) -> String {
        let what = match self {
            Self::One => "a producer that waits for each".to_owned(),
            Self::Many => "64 producers, each waits for its own".to_owned(),
            Self::Flow => "a producer that does not wait for each; then all run".to_owned(),
            Self::Batch => format!("the store as such, {} changes at a time", load.batch),
            Self::Open => "from the start of a program until it knows what is due".to_owned(),
        };
        let Load { jobs, seconds, appendfsync, .. } = load;
        format!("{what}; {} jobs pending, {seconds} s, appendfsync {appendfsync}", count(*jobs))
    }

    fn notes(self) -> &'static [&'static str] {
        match self {
            Self::Flow => {
                &["fires/s: from the start of a program, whose handler does nothing, until all \
                 acknowledgements are durable."]
            }
            Self::Batch => &["fires/s: claimed, begun, and acknowledged."],
            _ => &[],
        }
    }

    fn expected(self, load: &Load) -> Duration {
        let figures = match self {
            Self::One => 3.0,
            Self::Many | Self::Batch => 2.0,
            Self::Flow => 8.0,
            Self::Open => 0.1,
        };
        Duration::from_secs_f64(figures * load.seconds)
    }

    fn options_for_bounds(self, load: &Load) -> Vec<String> {
        let (jobs, seconds) = (load.jobs < 10_000, load.seconds < 0.3);
        let option = |lacks: bool, option: &str| lacks.then(|| option.to_owned());
        let options = [option(jobs, "--jobs 10000"), option(seconds, "--seconds 0.3")];
        options.into_iter().flatten().collect()
    }
}
