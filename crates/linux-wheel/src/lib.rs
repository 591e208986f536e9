#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod level;
mod wheel;

pub use wheel::LinuxWheel;
pub use wheelhouse_core::{ConfigError, Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Bounds, Costs, Info, Precision};
use wheelhouse_core::{timer_backend, timer_builder};

timer_builder! {
    /// Configures a [`LinuxWheel`]. The slots and levels are fixed, as in Linux, because the bound
    /// on the lateness follows from them.
    Builder of LinuxWheel
}

timer_backend! {
    /// The wheel of Linux: 64 slots a level, each level 8 times as coarse as the one below.
    Definition of LinuxWheel<T, M>,
    Info {
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
        ..Info::EXACT
    }
}
