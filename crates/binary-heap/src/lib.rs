#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod array;
mod heap;
mod lazy;
mod node;
mod sift;

pub use heap::BinaryHeap;
pub use lazy::LazyHeap;
pub use wheelhouse_core::{ConfigError, Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::{timer_backend, timer_builder};

timer_builder! {
    /// Configures a [`BinaryHeap`]. The arity is a parameter of the type, which the compiler
    /// checks.
    ///
    /// ```
    /// use wheelhouse_binary_heap::BinaryHeap;
    ///
    /// let heap = BinaryHeap::<&str, 4>::builder().capacity(100).build();
    /// assert!(heap.is_ok());
    /// ```
    ///
    /// A heap whose nodes have a single child would be a sorted list. It does not compile:
    ///
    /// ```compile_fail
    /// let list = wheelhouse_binary_heap::BinaryHeap::<&str, 1>::default();
    /// ```
    Builder of BinaryHeap<const ARITY: usize = 2>
}

timer_builder! {
    /// Configures a [`LazyHeap`], like [`Builder`].
    LazyBuilder of LazyHeap
}

/// Removing the first node takes, on each level, a move and the comparisons among the children, and
/// then one or two comparisons on the way back up: 2 lg n - 1.6 were measured with two children.
/// Insertions and cancellations in random order stay within two or three levels for any n: 4.6, 6.0
/// and 6.0 were measured. The slack is a third.
fn bounds<const ARITY: usize>(n: u64) -> Bounds {
    let levels = f64::from(n.max(1).ilog2() / ARITY.ilog2() + 1);
    let fire = 4.0 + (ARITY as f64 + 0.2) * levels;
    Bounds { insert: 6.5, cancel: 8.5, reschedule: 8.5, fire, ..Bounds::NONE }
}

const fn names(arity: usize) -> (&'static str, &'static str) {
    match arity {
        2 => ("binary-heap", "indexed binary heap, cancel in place"),
        4 => ("heap-4", "indexed heap of four children, cancel in place"),
        8 => ("heap-8", "indexed heap of eight children, cancel in place"),
        _ => ("heap", "indexed heap, cancel in place"),
    }
}

timer_backend! {
    /// The indexed heap, with two children per node or with another arity.
    Definition<const ARITY: usize = 2> of BinaryHeap<T, ARITY, M>,
    Info {
        name: names(ARITY).0,
        structure: names(ARITY).1,
        source: "Williams 1964; java.util.Timer, libevent, Go (4-ary)",
        costs: Costs {
            insert: "O(1) average, worst O(log n)",
            cancel: "O(1) average, worst O(log n)",
            reschedule: "O(1) average, worst O(log n)",
            fire: "O(log n)",
        },
        bounds: bounds::<ARITY>,
        ..Info::EXACT
    }
}

/// Firing costs as much as above, plus a check of the node. A cancellation pays for its part of a
/// pass over all nodes. Nodes of cancelled or moved timers also reach the root in ticks in which
/// nothing fires: with delays up to 2^20, at most one for each timer.
fn lazy_bounds(n: u64) -> Bounds {
    let fire = bounds::<4>(n).fire + 2.0;
    let comes_up = n as f64 / f64::from(1 << 20);
    let empty_tick = 1.5 + 1.5 * fire * comes_up;
    Bounds { insert: 6.5, cancel: 14.0, reschedule: 14.0, fire, empty_tick, ..Bounds::NONE }
}

timer_backend! {
    /// The heap with lazy deletion.
    LazyDefinition of LazyHeap<T, M>,
    Info {
        name: "lazy-heap",
        structure: "4-ary heap, cancelled nodes stay until they outnumber live ones",
        source: "std and dary_heap with lazy deletion; ScheduledThreadPoolExecutor",
        max_idle_wakeups: 2,
        costs: Costs {
            insert: "O(1) average, worst O(log n)",
            cancel: "O(1) amortised, worst O(n)",
            reschedule: "O(1) to a later deadline, else O(1) average, worst O(n)",
            fire: "O(log n) amortised, worst O(n log n)",
        },
        bounds: lazy_bounds,
        ..Info::EXACT
    }
}
