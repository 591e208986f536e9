//! The description of a structure for the conformance suite, the registry and the harness.

use crate::meter::Meter;
use crate::{Tick, Timer};

/// Describes a structure: its name, its costs, and how to build one with its default configuration.
/// Each backend crate implements it once, for a type without values. Implement it for your own
/// structure to run the conformance suite or the benchmark on it.
pub trait Backend {
    /// Name, source and costs.
    const INFO: Info;

    /// The structure. It holds values of type `T` and reports its work to `M`.
    type Timer<T, M: Meter>: Timer<T>;

    /// Builds an empty structure with its default configuration, its clock at 0.
    fn build<T, M: Meter + Default>() -> Self::Timer<T, M>;

    /// The meter of a structure; `None` if it does not count its work. Tests of counts are skipped
    /// then.
    fn meter<T, M: Meter>(timer: &Self::Timer<T, M>) -> Option<&M>;
}

/// Defines the description of a structure with values `T` and a meter `M`: a type without values
/// that implements [`Backend`], and for which the structure has the functions `with_meter` and
/// `meter`. `Definition<const ARITY: usize = 2>` describes a structure with a parameter.
/// `wheelhouse-hashed-wheel` is an example. A description with an empty text does not compile: see
/// [`Info::assert_complete`](crate::backend::Info::assert_complete).
#[macro_export]
macro_rules! timer_backend {
    (
        $(#[$doc:meta])*
        $name:ident $(<const $arity:ident: usize = $default:literal>)? of $timer:ty,
        $info:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name $(<const $arity: usize = $default>)?;

        impl $(<const $arity: usize>)? $crate::backend::Backend for $name $(<$arity>)? {
            const INFO: $crate::backend::Info = $info;

            type Timer<T, M: $crate::meter::Meter> = $timer;

            fn build<T, M: $crate::meter::Meter + Default>() -> Self::Timer<T, M> {
                Self::Timer::<T, M>::with_meter(M::default())
            }

            fn meter<T, M: $crate::meter::Meter>(timer: &Self::Timer<T, M>) -> Option<&M> {
                Some(timer.meter())
            }
        }

        const _: () =
            <$name $(<$default>)? as $crate::backend::Backend>::INFO.assert_complete();
    };
}

/// The static description of a structure.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name on the command line, in tables and in plots: lower case, words joined by `-`.
    pub name: &'static str,
    /// The data structure, in a few words.
    pub structure: &'static str,
    /// A publication of it, or programs that use it.
    pub source: &'static str,
    /// How close to its deadline a timer fires. A structure that is not exact has a separate suite
    /// and is left out where the results of backends are compared.
    pub precision: Precision,
    /// The most wake-ups at which nothing fires, on the way to one deadline: the number of levels
    /// minus one for a hierarchical wheel, 0 if [`next_wakeup`](Timer::next_wakeup) is exact.
    pub max_idle_wakeups: u32,
    /// Cost classes for readers: amortised, then worst if it differs.
    pub costs: Costs,
    /// The most work per operation in steps of [`Work`](crate::meter::Work), on average over a run
    /// with uniform delays and n live timers. The cost tests check these bounds.
    pub bounds: fn(n: u64) -> Bounds,
    /// Measurements and tests with more timers than this are skipped, because they would take too
    /// long. `u32::MAX` means no limit.
    pub max_timers: u32,
}

impl Info {
    /// The answers of most structures: exact in time and in its wake-ups, for any number of timers.
    /// The other fields are empty: [`assert_complete`](Self::assert_complete) finds those that were
    /// forgotten.
    pub const EXACT: Self = Self {
        name: "",
        structure: "",
        source: "",
        precision: Precision::Exact,
        max_idle_wakeups: 0,
        costs: Costs { insert: "", cancel: "", reschedule: "", fire: "" },
        bounds: |_| Bounds::NONE,
        max_timers: u32::MAX,
    };

    /// Checks that no text is empty. In a constant, an empty one is a compile error:
    ///
    /// ```compile_fail
    /// use wheelhouse_core::backend::Info;
    ///
    /// const INFO: Info = Info { name: "heap", structure: "a heap", ..Info::EXACT };
    /// const _: () = INFO.assert_complete();
    /// ```
    ///
    /// # Panics
    ///
    /// If the name, the structure, the source or a cost class is empty.
    pub const fn assert_complete(&self) {
        assert!(!self.name.is_empty(), "the name is empty");
        assert!(!self.structure.is_empty(), "the structure is empty");
        assert!(!self.source.is_empty(), "the source is empty");
        let Costs { insert, cancel, reschedule, fire } = self.costs;
        assert!(!insert.is_empty(), "the cost of an insertion is empty");
        assert!(!cancel.is_empty(), "the cost of a cancellation is empty");
        assert!(!reschedule.is_empty(), "the cost of a reschedule is empty");
        assert!(!fire.is_empty(), "the cost of firing is empty");
    }
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
    /// Fires in the first call at or after its deadline.
    Exact,
    /// [Late by design](crate#structures-that-are-late-by-design): never early, and late by at most
    /// this many ticks. The delay is the distance from [`now`](Timer::now) to the deadline when the
    /// timer was inserted or last moved.
    Late(fn(delay: Tick) -> Tick),
}

impl Precision {
    /// The most ticks by which a timer with this delay may fire late.
    pub fn lateness(self, delay: Tick) -> Tick {
        match self {
            Self::Exact => 0,
            Self::Late(bound) => bound(delay),
        }
    }

    /// The latest tick at which a timer inserted at `now` fires, if there is a call at each tick:
    /// `now` if it is overdue.
    pub fn latest(self, now: Tick, deadline: Tick) -> Tick {
        match deadline.checked_sub(now) {
            Some(delay) if delay > 0 => deadline.saturating_add(self.lateness(delay)),
            _ => now,
        }
    }
}

/// Cost classes, such as `"O(1)"` or `"O(1), worst O(n)"`, with n live timers, m levels, M slots,
/// and k timers in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Starting a timer.
    pub insert: &'static str,
    /// Stopping a timer.
    pub cancel: &'static str,
    /// Moving a timer.
    pub reschedule: &'static str,
    /// Firing a timer, including its share of the bookkeeping.
    pub fire: &'static str,
}

/// The most steps of work per operation, on average.
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
    /// Per call of `next_wakeup`.
    pub next_wakeup: f64,
}

impl Bounds {
    /// No work, except for the comparison with the clock in a tick with nothing due.
    pub const NONE: Self = Self {
        insert: 0.0,
        cancel: 0.0,
        reschedule: 0.0,
        fire: 0.0,
        empty_tick: 1.0,
        next_wakeup: 0.0,
    };
}
