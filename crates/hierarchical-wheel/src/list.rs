//! The textbook timing wheel, for any number of timers.
//!
//! It keeps the layout of a small wheel even with a million timers, as a baseline for comparisons.
//! A tick at which a slot of k timers cascades takes O(k): a stall of milliseconds with a million
//! timers.

use crate::wheel::{DEFAULT_SLOTS, Wheel};
use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{SlotCount, timer_backend, timer_builder};

/// A wheel that never becomes large, for comparisons.
/// [`HierarchicalWheel`](crate::HierarchicalWheel) is the same wheel up to 32,768 timers, and takes
/// less time per tick with more.
///
/// ```
/// use wheelhouse_hierarchical_wheel::{ListWheel, Timer};
///
/// let mut wheel = ListWheel::new();
/// let id = wheel.insert(300, "a");
/// assert_eq!(wheel.next_wakeup(), Some(256)); // it moves to its exact slot then
/// assert_eq!(wheel.cancel(id), Some("a"));
/// ```
pub type ListWheel<T, M = NoMeter> = Wheel<T, M, false>;

timer_builder! {
    /// Configures a [`ListWheel`].
    Builder of ListWheel,
    /// The number of slots of each level, a power of two from 2 to 65,536; 256 by default.
    slots_per_level: DEFAULT_SLOTS, SlotCount::new
}

timer_backend! {
    /// The list wheel with 256 slots a level.
    Definition of ListWheel<T, M>,
    Info {
        name: "list-wheel",
        structure: "levels of wheels, doubly linked lists",
        source: "Varghese & Lauck scheme 7, as in textbooks",
        max_idle_wakeups: 7,
        costs: Costs {
            insert: "O(1)",
            cancel: "O(1)",
            reschedule: "O(1)",
            fire: "O(m), worst O(k)",
        },
        // Inserting into a list writes four links, removing writes two. Delays below 2^24 cascade
        // at most twice. After a slot has fired, two words of the bitmap are searched.
        bounds: |_| Bounds {
            insert: 5.0,
            cancel: 3.0,
            reschedule: 8.0,
            fire: 15.0,
            empty_tick: 2.5,
            ..Bounds::NONE
        },
        ..Info::EXACT
    }
}
