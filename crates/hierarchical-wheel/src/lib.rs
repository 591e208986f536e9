#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod bitmap;
mod hints;
mod large;
pub mod list;
mod nodes;
mod timer;
mod wheel;

pub use list::ListWheel;
pub use wheel::Wheel;
pub use wheelhouse_core::{ConfigError, Expired, Tick, Timer, TimerId};

use wheel::DEFAULT_SLOTS;
use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{SlotCount, timer_backend, timer_builder};

/// The default wheel. It is the textbook wheel until its 32,769th live timer. From then on, no tick
/// moves many timers, with two exceptions: the [crate documentation](crate#cost) lists the costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see [`TimerId`].
pub type HierarchicalWheel<T, M = NoMeter> = Wheel<T, M, true>;

timer_builder! {
    /// Configures a [`HierarchicalWheel`].
    ///
    /// ```
    /// use wheelhouse_hierarchical_wheel::{ConfigError, HierarchicalWheel};
    ///
    /// let refused = HierarchicalWheel::<&str>::builder().slots_per_level(100).build();
    /// assert_eq!(refused.unwrap_err(), ConfigError::SlotsNotPowerOfTwo(100));
    /// assert!(HierarchicalWheel::<&str>::builder().capacity(1 << 40).build().is_err());
    /// ```
    Builder of HierarchicalWheel,
    /// The number of slots of each level while the wheel is small, a power of two from 2 to 65,536;
    /// 256 by default. A slot takes as much memory as a timer. With a capacity, all levels are
    /// allocated at the start: 2,048 slots by default. With 16 slots a level they are 256 slots, or
    /// 8 KB, which suits a few hundred timers on a microcontroller.
    slots_per_level: DEFAULT_SLOTS, SlotCount::new
}

timer_backend! {
    /// The hierarchical wheel with 256 slots a level.
    Definition of HierarchicalWheel<T, M>,
    Info {
        name: "hierarchical-wheel",
        structure: "levels of wheels, lists, slots that open early",
        source: "Varghese & Lauck scheme 7; Kafka, tokio, Linux before 4.8",
        // One for each level above the lowest. In unit tests a large wheel has more levels.
        max_idle_wakeups: if cfg!(test) { 21 } else { 7 },
        costs: Costs {
            insert: "O(1)",
            cancel: "O(1)",
            reschedule: "O(1)",
            // In a large wheel, for deadlines that are spread. A slot with a crowd of k timers adds
            // k / 768 moves to each call while it is open.
            fire: "O(1), worst 500 moves",
        },
        // Inserting into a list writes four links, removing writes two. After a slot has fired, a
        // few words of the bitmap are searched.
        bounds: |_| Bounds {
            insert: 6.5,
            cancel: 3.5,
            reschedule: 9.5,
            fire: 12.0,
            empty_tick: 2.5,
            ..Bounds::NONE
        },
        ..Info::EXACT
    }
}
