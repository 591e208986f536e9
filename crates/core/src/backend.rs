//! How a structure introduces itself to the conformance suite, the registry and the harness.

use crate::meter::Meter;
use crate::{Tick, Timer};

/// A structure, as a type without values: what it is called, what it costs, and how to build one
/// with its default configuration. Every backend crate implements it once; so does a structure
/// outside this workspace that wants to run the conformance suite or stand in the comparison.
pub trait Backend {
    /// Name, source and costs.
    const INFO: Info;

    /// The structure, holding `T` and reporting its work to `M`.
    type Timer<T, M: Meter>: Timer<T>;

    /// Builds an empty structure with its default configuration, its clock at 0.
    fn build<T, M: Meter + Default>() -> Self::Timer<T, M>;

    /// The meter of a structure; `None` if it does not count its work (tests on counts are then
    /// skipped).
    fn meter<T, M: Meter>(timer: &Self::Timer<T, M>) -> Option<&M>;
}

/// What is known of a structure without running it.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name on the command line, in tables and in plots: lower case, words joined by `-`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub structure: &'static str,
    /// Who uses it or where it was published.
    pub source: &'static str,
    /// How close to its deadline a timer fires. What is not exact has a suite of its own, and no
    /// place in a comparison of answers.
    pub precision: Precision,
    /// The most calls in which nothing fires on the way from wake-up to wake-up to one deadline:
    /// for a hierarchical wheel its levels less one, none where [`next_wakeup`](Timer::next_wakeup)
    /// is exact.
    pub vain_wakeups: u32,
    /// Cost classes for people, `insert`, `cancel`, `reschedule`, `fire`; amortised, then worst
    /// where it differs.
    pub costs: Costs,
    /// The most work per operation, on average over a run of uniform delays at n live timers, in
    /// steps of [`Work`](crate::meter::Work). What the cost tests hold the structure to.
    pub bounds: fn(n: u64) -> Bounds,
    /// With more timers than this, a run takes longer than anybody waits: measurements and tests
    /// leave it out. `u32::MAX` where there is no such number.
    pub most: u32,
}

/// How close to its deadline a timer fires.
///
/// ```
/// use wheelhouse_core::backend::Precision;
///
/// let eighths = Precision::Late(|delay| delay / 8);
/// assert_eq!((Precision::Exact.latest(100, 180), eighths.latest(100, 180)), (180, 190));
/// assert_eq!((eighths.latest(100, 40), eighths.latest(100, u64::MAX)), (100, u64::MAX));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Precision {
    /// In the first call at or after its deadline.
    Exact,
    /// Late by design: [never early](crate#structures-that-are-late-by-design), and late by no more
    /// ticks than this for its delay, the distance from [`now`](Timer::now) to its deadline when it
    /// was inserted or last moved.
    Late(fn(delay: Tick) -> Tick),
}

impl Precision {
    /// The most ticks by which a timer of a delay may fire late.
    pub fn lateness(self, delay: Tick) -> Tick {
        match self {
            Self::Exact => 0,
            Self::Late(bound) => bound(delay),
        }
    }

    /// The tick at which a timer inserted at `now` has fired at the latest, if there is a call at
    /// each tick: `now` if it is overdue.
    pub fn latest(self, now: Tick, deadline: Tick) -> Tick {
        match deadline.checked_sub(now) {
            Some(delay) if delay > 0 => deadline.saturating_add(self.lateness(delay)),
            _ => now,
        }
    }
}

/// Cost classes, as in `"O(1)"` or `"O(1), worst O(n)"`; n live timers, m levels, M slots, k timers
/// of one slot.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Of starting a timer.
    pub insert: &'static str,
    /// Of stopping a timer.
    pub cancel: &'static str,
    /// Of moving a timer.
    pub reschedule: &'static str,
    /// Of firing a timer, its share of the bookkeeping included.
    pub fire: &'static str,
}

/// Steps of work per operation that are not to be exceeded on average.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Per timer started.
    pub insert: f64,
    /// Per timer stopped.
    pub cancel: f64,
    /// Per timer moved.
    pub reschedule: f64,
    /// Per timer fired, in jumps of many ticks.
    pub fire: f64,
    /// Per advance by one tick with nothing due.
    pub empty_tick: f64,
    /// Per question for the next wake-up.
    pub next_wakeup: f64,
}
