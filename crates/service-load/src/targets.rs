//! What this project asks of its own service, beside others in the same run.
//!
//! A bound is absolute, or it is a share of what another has reached in the same minutes: how fast
//! a machine is says nothing then. What the machine itself keeps from running is no fault of a
//! service, so a tail is judged by what it is longer than that of a thread that does nothing but
//! sleep.

use crate::experiments::Experiment::{
    self, Audit, Fires, Idle, PairsBeside, PairsWindow, Periodic, Refresh, Schedule, Sessions,
};

/// Something that is asked.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Where.
    pub experiment: Experiment,
    /// Of which row: our service, as it is used in one way.
    pub facility: &'static str,
    /// Which figure.
    pub figure: &'static str,
    /// What it is to be.
    pub bound: Bound,
}

/// What a figure is to be, in its unit or beside that of another row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// At least so much.
    AtLeast(f64),
    /// At most so much.
    AtMost(f64),
    /// At least so many times as much as this row has.
    Times(f64, &'static str),
    /// At least so many times as much as each other Rust row has.
    TimesEach(f64),
    /// At most as much as this row has.
    NoMoreThan(&'static str),
    /// At most so much more than this row has.
    AtMostBeyond(f64, &'static str),
}

/// The row of the service as it is.
pub const OURS: &str = "wheelhouse";

const HEAP: &str = "heap-and-condvar";
const TOKIO: &str = "tokio-sleep";
const SLEEPER: &str = crate::facilities::Machine::SLEEPER;

const fn target(
    experiment: Experiment,
    facility: &'static str,
    figure: &'static str,
    bound: Bound,
) -> Target {
    Target { experiment, facility, figure, bound }
}

/// All that is asked, in the order of the report. Times are in nanoseconds.
pub const TARGETS: [Target; 18] = [
    target(PairsBeside, OURS, "pairs/s", Bound::Times(5.0, HEAP)),
    target(PairsBeside, OURS, "pairs/s", Bound::TimesEach(3.0)),
    target(PairsBeside, "wheelhouse-sleep", "bytes/job", Bound::NoMoreThan(TOKIO)),
    target(PairsWindow, OURS, "pairs/s", Bound::Times(5.0, HEAP)),
    target(PairsWindow, OURS, "pairs/s", Bound::TimesEach(3.0)),
    target(Schedule, OURS, "jobs/s", Bound::Times(1.4, HEAP)),
    target(Schedule, OURS, "bytes/job", Bound::AtMost(90.0)),
    target(Refresh, OURS, "refreshes/s", Bound::Times(1.5, HEAP)),
    target(Refresh, "wheelhouse-keys", "refreshes/s", Bound::AtLeast(3e6)),
    target(Fires, OURS, "p50", Bound::AtMost(1e5)),
    target(Fires, OURS, "p99", Bound::AtMost(2.5e5)),
    target(Fires, OURS, "p99.9", Bound::AtMostBeyond(1e6, SLEEPER)),
    target(Fires, OURS, "CPU/job", Bound::NoMoreThan(TOKIO)),
    target(Fires, "wheelhouse-1ms", "CPU/job", Bound::AtMost(2_200.0)),
    target(Periodic, OURS, "CPU/run", Bound::AtMost(1_200.0)),
    target(Sessions, OURS, "max", Bound::AtMost(1e8)),
    target(Audit, OURS, "runs/s", Bound::Times(1.7, HEAP)),
    target(Idle, OURS, "wake-ups", Bound::AtMost(0.0)),
];
