//! The experiments, and the bounds for the stores.
//!
//! The disk of the machine decides how many syncs a second are possible. So some bounds are
//! relative to the figure of the bare database in the same run. The others were set on one machine
//! with 2 cores, and mean less on a slower one.

use std::time::Duration;
use wheelhouse_frame::{Bound, Experiment, Target};
use wheelhouse_present::units::count;

/// In the order of [`TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DurableExperiment {
    OneProducer,
    ManyProducers,
    WithoutWaiting,
    Batches,
    Opening,
    Waking,
    Late,
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

const BARE_POSTGRES: &str = "bare-postgres";

/// The name, the title, how many seconds a play takes for each second of a figure, and a note.
const TABLE: [(&str, &str, f64, &[&str]); 7] = [
    ("one", "a producer that waits for each", 3.0, &[]),
    ("64", "64 producers, each waits for its own", 2.0, &[]),
    (
        "flow",
        "a producer that does not wait for each; then all run",
        8.0,
        &["fires/s: from the start of a program, whose handler does nothing, until all \
           acknowledgements are durable."],
    ),
    (
        "batch",
        "the store as such, a batch at a time",
        2.0,
        &["fires/s: claimed and begun, then acknowledged."],
    ),
    (
        "open",
        "from the start of a program until it knows what is due",
        0.1,
        &["bytes/job: on disk, when the jobs have just been loaded."],
    ),
    (
        "wake",
        "from a commit in one process to the run in another",
        14.0,
        &["idle: in ten seconds without a job. Wake-ups are those of all threads of the waiting \
           program, which polls the store once an hour."],
    ),
    ("late", "a thousand jobs a second; how late each begins to run", 11.0, &[]),
];

impl Experiment for DurableExperiment {
    type Load = Load;

    const ALL: &'static [Self] = &[
        Self::OneProducer,
        Self::ManyProducers,
        Self::WithoutWaiting,
        Self::Batches,
        Self::Opening,
        Self::Waking,
        Self::Late,
    ];
    const TITLE: &'static str = "Durable timers on their stores";
    const METHOD: Option<&'static str> = Some("benches/DURABLE.md");
    const TARGETS: &'static [Target<Self>] = &[
        Target::new(Self::OneProducer, "sqlite", "schedules/s", Bound::Times(0.8, "bare-sqlite")),
        Target::new(Self::ManyProducers, "sqlite", "schedules/s", Bound::Times(0.8, "bare-sqlite")),
        Target::new(Self::ManyProducers, "sqlite", "schedule p99", Bound::AtMost(1e7)),
        Target::new(Self::WithoutWaiting, "sqlite", "schedules/s", Bound::AtLeast(25_000.0)),
        Target::new(Self::WithoutWaiting, "sqlite", "fires/s", Bound::AtLeast(15_000.0)),
        Target::new(Self::Opening, "sqlite", "open", Bound::AtMost(1e9)),
        Target::new(Self::Opening, "sqlite", "bytes/job", Bound::AtMostTimes(1.5, "bare-sqlite")),
        Target::new(Self::Opening, "redis", "bytes/job", Bound::AtMostTimes(1.5, "bare-redis")),
        Target::new(Self::Opening, "postgres", "bytes/job", Bound::AtMostTimes(1.5, BARE_POSTGRES)),
        Target::new(Self::Batches, "sqlite", "schedules/s", Bound::Times(0.7, "bare-sqlite")),
        Target::new(Self::Batches, "sqlite", "fires/s", Bound::Times(0.7, "bare-sqlite")),
        Target::new(Self::Waking, "sqlite", "woken p50", Bound::AtMost(5e5)),
        Target::new(Self::Waking, "sqlite", "woken p99", Bound::AtMost(5e6)),
        Target::new(Self::Waking, "sqlite", "idle wake-ups", Bound::AtMost(0.0)),
        Target::new(Self::Waking, "redis", "woken p50", Bound::AtMost(1e6)),
        Target::new(Self::Waking, "postgres", "woken p50", Bound::AtMost(1e6)),
        Target::new(Self::Late, "sqlite", "late p99", Bound::AtMost(2e6)),
        Target::new(Self::OneProducer, "redis", "schedules/s", Bound::Times(0.8, "bare-redis")),
        Target::new(Self::Batches, "redis", "schedules/s", Bound::Times(0.7, "bare-redis")),
        Target::new(Self::Batches, "redis", "fires/s", Bound::Times(0.7, "bare-redis")),
        Target::new(Self::OneProducer, "postgres", "schedules/s", Bound::Times(0.8, BARE_POSTGRES)),
        Target::new(Self::Batches, "postgres", "schedules/s", Bound::Times(0.7, BARE_POSTGRES)),
        Target::new(Self::Batches, "postgres", "fires/s", Bound::Times(0.7, BARE_POSTGRES)),
    ];

    fn name(self) -> &'static str {
        TABLE[self as usize].0
    }

    fn title(self, load: &Load) -> String {
        let Load { seconds, batch, appendfsync, .. } = load;
        let (what, jobs) = (TABLE[self as usize].1, count(load.jobs));
        let sizes = format!("{jobs} jobs pending, {seconds} s, batches of {batch}");
        format!("{what}; {sizes}, appendfsync {appendfsync}")
    }

    fn notes(self) -> &'static [&'static str] {
        TABLE[self as usize].3
    }

    fn expected(self, load: &Load) -> Duration {
        Duration::from_secs_f64(TABLE[self as usize].2 * load.seconds)
    }

    fn options_for_bounds(self, load: &Load) -> Vec<String> {
        let (jobs, seconds) = (load.jobs < 10_000, load.seconds < 0.3);
        let option = |lacks: bool, option: &str| lacks.then(|| option.to_owned());
        let options = [option(jobs, "--jobs 10000"), option(seconds, "--seconds 0.3")];
        options.into_iter().flatten().collect()
    }
}
