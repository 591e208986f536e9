#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod level;
mod wheel;

pub use wheel::LinuxWheel;
pub use wheelhouse_core::{CapacityError, Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::timer_builder;

timer_builder! {
    /// Configures a [`LinuxWheel`]. The slots and levels are fixed, as in Linux, because the bound
    /// on the lateness follows from them.
    ///
    /// ```
    /// use wheelhouse_linux_wheel::{CapacityError, LinuxWheel, Timer};
    ///
    /// let wheel: LinuxWheel<&str> = LinuxWheel::builder().start(1_000).capacity(10_000).build()?;
    /// assert_eq!(wheel.now(), 1_000);
    /// # Ok::<(), CapacityError>(())
    /// ```
    Builder of LinuxWheel
}

/// The wheel of Linux: 64 slots a level, each level 8 times as coarse as the one below.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "linux-wheel",
        structure: "levels of wheels without cascades",
        source: "Linux since 4.8, kernel/time/timer.c",
        precision: Precision::Late(LinuxWheel::<()>::lateness),
        // It wakes the program only when a slot ends, and then all timers of the slot fire.
        max_idle_wakeups: 0,
        costs: Costs {
            insert: "O(1)",
            cancel: "O(1)",
            reschedule: "O(1)",
            fire: "O(1), O(m) a slot",
        },
        // With delays up to 2^20 there are six levels. All are read when the clock moves, and for
        // each slot that ends. The fewer timers there are, the fewer share a slot: eight with a
        // thousand timers.
        bounds: |_| Bounds {
            insert: 5.0,
            cancel: 2.0,
            reschedule: 7.0,
            fire: 4.0,
            empty_tick: 7.0,
            next_wakeup: 6.0,
        },
        max_timers: u32::MAX,
    };

    wheelhouse_core::backend_timer!(LinuxWheel<T, M>);
}
