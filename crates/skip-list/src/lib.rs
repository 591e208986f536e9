#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod heights;
mod level;
mod list;
mod towers;

pub use list::SkipList;
pub use wheelhouse_core::{ConfigError, Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::{timer_backend, timer_builder};

timer_builder! {
    /// Configures a [`SkipList`].
    Builder of SkipList
}

/// A search passes 3 nodes on each of the log_4 n levels on average (Pugh: (1 - p) / p at p = 1/4).
/// Two at a time, these are 1.3 steps along the list, each a link and a comparison. Detecting the
/// end of the search on a level takes two comparisons and a link more. Together that is 2.8 steps
/// of work for each doubling of n; 2.85 were measured. Linking a timer writes seven links on each
/// of its 1.33 levels, unlinking it four. The slack is two fifths.
fn bounds(n: u64) -> Bounds {
    let search = 3.8 * f64::from(n.max(1).ilog2());
    Bounds {
        insert: search + 10.0,
        cancel: 7.5,
        reschedule: search + 24.0,
        fire: 8.5,
        ..Bounds::NONE
    }
}

timer_backend! {
    /// The skip list with its default seed.
    Definition of SkipList<T, M>,
    Info {
        name: "skip-list",
        structure: "skip list, p = 1/4, linked both ways and two ahead",
        source: "Pugh 1990; DPDK rte_timer",
        costs: Costs {
            insert: "O(log n) expected, worst O(n)",
            cancel: "O(1) expected, worst O(log n)",
            reschedule: "O(log n) expected, worst O(n)",
            fire: "O(1) expected, worst O(log n)",
        },
        bounds,
        ..Info::EXACT
    }
}
