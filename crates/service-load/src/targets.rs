//! The bounds for our own service, relative to others in the same run. The p99.9 of fires is
//! compared with that of a thread that only sleeps.

use crate::experiments::Experiment::{
    self, Audit, Fires, Fires300k, Idle, MillisecondJobs, PairsBeside, PairsWindow, Periodic,
    Producers, Refresh, Schedule, Server, Sessions, SlowJobs,
};
use wheelhouse_frame::{Bound, Target};

/// The row of the service in its default configuration.
const OURS: &str = "wheelhouse";

const HEAP: &str = "heap-and-condvar";
const LAZY_HEAP: &str = "heap-lazy";
const POOL: &str = "heap-and-pool";
const TOKIO: &str = "tokio-sleep";
const QUEUE: &str = "tokio-delay-queue";

/// The row of a thread that only sleeps until each job is due.
pub(crate) const SLEEPER: &str = "a-sleeper";

/// The rows of other facilities.
const OTHERS: &[&str] = &[TOKIO, "tokio-sleep-1", QUEUE, "async-io", HEAP];

/// All bounds, in the order of the report. Times are in nanoseconds.
pub(crate) const TARGETS: &[Target<Experiment>] = &[
    Target::new(PairsBeside, OURS, "pairs/s", Bound::Times(5.0, HEAP)),
    Target::new(PairsBeside, OURS, "pairs/s", Bound::TimesEach(3.0, OTHERS)),
    Target::new(PairsBeside, "wheelhouse-sleep", "bytes/job", Bound::NoMoreThan(TOKIO)),
    Target::new(PairsWindow, OURS, "pairs/s", Bound::Times(5.0, HEAP)),
    Target::new(PairsWindow, OURS, "pairs/s", Bound::TimesEach(3.0, OTHERS)),
    Target::new(Producers, OURS, "p99.99", Bound::AtMost(5e4)),
    Target::new(Schedule, OURS, "jobs/s", Bound::Times(1.4, HEAP)),
    Target::new(Schedule, OURS, "bytes/job", Bound::AtMost(90.0)),
    Target::new(Refresh, OURS, "refreshes/s", Bound::Times(1.5, HEAP)),
    Target::new(Refresh, OURS, "refreshes/s", Bound::Times(0.8, LAZY_HEAP)),
    Target::new(Refresh, "wheelhouse-keys", "refreshes/s", Bound::AtLeast(3e6)),
    Target::new(Fires, OURS, "p50", Bound::AtMost(8e4)),
    Target::new(Fires, OURS, "p99", Bound::AtMost(1.5e5)),
    Target::new(Fires, OURS, "p99.9", Bound::AtMostBeyond(1e6, SLEEPER)),
    Target::new(Fires, OURS, "CPU/job", Bound::NoMoreThan(HEAP)),
    Target::new(Fires, OURS, "CPU/job", Bound::AtMostTimes(1.2, QUEUE)),
    Target::new(Fires, "wheelhouse-1ms", "CPU/job", Bound::AtMost(2_200.0)),
    Target::new(Fires300k, OURS, "p50", Bound::AtMost(8e4)),
    Target::new(Fires300k, OURS, "p99", Bound::AtMost(1.5e5)),
    Target::new(Fires300k, OURS, "p99.9", Bound::AtMostBeyond(1e6, SLEEPER)),
    Target::new(Fires300k, OURS, "CPU/job", Bound::NoMoreThan(HEAP)),
    Target::new(Fires300k, OURS, "CPU/job", Bound::AtMostTimes(1.2, QUEUE)),
    Target::new(SlowJobs, OURS, "p99", Bound::AtMost(2.5e5)),
    Target::new(SlowJobs, OURS, "p99.9", Bound::AtMost(6e5)),
    Target::new(MillisecondJobs, OURS, "p99", Bound::AtMostTimes(1.3, POOL)),
    Target::new(Periodic, OURS, "CPU/run", Bound::AtMost(1_000.0)),
    Target::new(Periodic, OURS, "CPU/run", Bound::NoMoreThan(TOKIO)),
    Target::new(Server, OURS, "processors", Bound::NoMoreThan(HEAP)),
    Target::new(Sessions, OURS, "max", Bound::AtMost(1e8)),
    Target::new(Audit, OURS, "runs/s", Bound::Times(1.4, HEAP)),
    Target::new(Idle, OURS, "wake-ups", Bound::AtMost(0.0)),
];
