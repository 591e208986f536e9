#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod wheel;

pub use wheel::{OutOfRange, SingleWheel};
pub use wheelhouse_core::{ConfigError, Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::{SlotCount, timer_backend, timer_builder};

/// Four seconds if a tick is a millisecond. Takes 32 KB.
const DEFAULT_SLOTS: usize = 4_096;

timer_builder! {
    /// Configures a [`SingleWheel`].
    Builder of SingleWheel,
    /// The number of slots, a power of two from 2 to 65,536; 4,096 by default. A slot is one tick,
    /// so choose the number by the longest common delay. Each slot takes 8 bytes.
    slots: DEFAULT_SLOTS, SlotCount::new
}

timer_backend! {
    /// The single wheel with 4,096 slots.
    Definition of SingleWheel<T, M>,
    Info {
        name: "single-wheel",
        structure: "one wheel with a slot per tick, overflow lists",
        source: "Varghese & Lauck scheme 4; logic simulators",
        max_idle_wakeups: 1,
        costs: Costs {
            insert: "O(1), past the range O(log t)",
            cancel: "O(1), past the range O(log t)",
            reschedule: "O(1), past the range O(log t)",
            fire: "O(1), plus a move past the range",
        },
        // With delays up to 2^20 nearly all timers are past the range, in up to 256 turns with a
        // list each. With a thousand timers one slot in some hundreds is occupied, and up to 64
        // words of the bitmap are read for each timer that fires, and for each `next_wakeup`.
        bounds: |_| Bounds {
            insert: 16.0,
            cancel: 12.0,
            reschedule: 26.0,
            fire: 40.0,
            empty_tick: 2.0,
            next_wakeup: (DEFAULT_SLOTS / 64 + 1) as f64,
        },
        ..Info::EXACT
    }
}
