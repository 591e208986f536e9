//! What this project asks of its own service, beside others in the same run. A tail is judged by
//! how much longer it is than that of a thread that does nothing but sleep.

use crate::experiments::Experiment::{
    self, Audit, Fires, Idle, PairsBeside, PairsWindow, Periodic, Refresh, Schedule, Sessions,
};

use wheelhouse_frame::{Bound, Target};

/// The row of the service as it is.
const OURS: &str = "wheelhouse";

const HEAP: &str = "heap-and-condvar";
const TOKIO: &str = "tokio-sleep";

/// The rows of somebody else's facility.
const OTHERS: &[&str] =
    &[TOKIO, "tokio-sleep-1", "tokio-delay-queue", "async-io", "timer-crate", HEAP];
const SLEEPER: &str = crate::facilities::Machine::SLEEPER;

/// All that is asked, in the order of the report. Times are in nanoseconds.
pub(crate) const TARGETS: &[Target<Experiment>] = &[
    Target::new(PairsBeside, OURS, "pairs/s", Bound::Times(5.0, HEAP)),
    Target::new(PairsBeside, OURS, "pairs/s", Bound::TimesEach(3.0, OTHERS)),
    Target::new(PairsBeside, "wheelhouse-sleep", "bytes/job", Bound::NoMoreThan(TOKIO)),
    Target::new(PairsWindow, OURS, "pairs/s", Bound::Times(5.0, HEAP)),
    Target::new(PairsWindow, OURS, "pairs/s", Bound::TimesEach(3.0, OTHERS)),
    Target::new(Schedule, OURS, "jobs/s", Bound::Times(1.4, HEAP)),
    Target::new(Schedule, OURS, "bytes/job", Bound::AtMost(90.0)),
    Target::new(Refresh, OURS, "refreshes/s", Bound::Times(1.5, HEAP)),
    Target::new(Refresh, "wheelhouse-keys", "refreshes/s", Bound::AtLeast(3e6)),
    Target::new(Fires, OURS, "p50", Bound::AtMost(1e5)),
    Target::new(Fires, OURS, "p99", Bound::AtMost(2.5e5)),
    Target::new(Fires, OURS, "p99.9", Bound::AtMostBeyond(1e6, SLEEPER)),
    Target::new(Fires, OURS, "CPU/job", Bound::NoMoreThan(TOKIO)),
    Target::new(Fires, "wheelhouse-1ms", "CPU/job", Bound::AtMost(2_200.0)),
    Target::new(Periodic, OURS, "CPU/run", Bound::AtMost(1_200.0)),
    Target::new(Sessions, OURS, "max", Bound::AtMost(1e8)),
    Target::new(Audit, OURS, "runs/s", Bound::Times(1.7, HEAP)),
    Target::new(Idle, OURS, "wake-ups", Bound::AtMost(0.0)),
];
