//! The textbook timing wheel, for any number of timers.
//!
//! It keeps the layout of a small wheel even with a million timers, as a baseline for comparisons.
//! A tick at which a slot of k timers cascades takes O(k): a stall of milliseconds with a million
//! timers.

use crate::wheel::{DEFAULT_SLOTS, Wheel};
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{SlotCount, timer_builder};

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
    ///
    /// ```
    /// use wheelhouse_hierarchical_wheel::{ListWheel, Timer, WheelError};
    ///
    /// let wheel: ListWheel<&str> = ListWheel::builder().slots_per_level(64).start(1_000).build()?;
    /// assert_eq!(wheel.now(), 1_000);
    /// # Ok::<(), WheelError>(())
    /// ```
    Builder of ListWheel,
    /// The number of slots of each level, a power of two from 2 to 65,536; 256 by default.
    slots_per_level: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is less than 2, more than 65,536 or not a power of two, or if the
    /// capacity is 2^32 or more.
    build: SlotCount::new,
}

/// The list wheel with 256 slots a level.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "list-wheel",
        structure: "levels of wheels, doubly linked lists",
        source: "Varghese & Lauck scheme 7, as in textbooks",
        precision: Precision::Exact,
        max_idle_wakeups: 7,
        max_timers: u32::MAX,
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
            next_wakeup: 0.0,
        },
    };

    wheelhouse_core::backend_timer!(ListWheel<T, M>);
}
