#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod heights;
mod level;
mod levels;
mod list;
mod towers;

pub use list::SkipList;
pub use wheelhouse_core::{CapacityError, Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::timer_builder;

timer_builder! {
    /// Configures a [`SkipList`].
    ///
    /// ```
    /// use wheelhouse_skip_list::{CapacityError, SkipList, Timer};
    ///
    /// let list: SkipList<&str> = SkipList::builder().start(1_000).capacity(100).build()?;
    /// assert_eq!(list.now(), 1_000);
    /// # Ok::<(), CapacityError>(())
    /// ```
    Builder of SkipList
}

/// The skip list with its default seed.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

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
        empty_tick: 1.0,
        next_wakeup: 0.0,
    }
}

impl Backend for Definition {
    const INFO: Info = Info {
        name: "skip-list",
        structure: "skip list, p = 1/4, linked both ways and two ahead",
        source: "Pugh 1990; DPDK rte_timer",
        precision: Precision::Exact,
        max_idle_wakeups: 0,
        max_timers: u32::MAX,
        costs: Costs {
            insert: "O(log n) expected, worst O(n)",
            cancel: "O(1) expected, worst O(log n)",
            reschedule: "O(log n) expected, worst O(n)",
            fire: "O(1) expected, worst O(log n)",
        },
        bounds,
    };

    wheelhouse_core::backend_timer!(SkipList<T, M>);
}
