#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod wheel;

pub use wheel::HashedWheel;
pub use wheelhouse_core::{ConfigError, Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::{SlotCount, timer_backend, timer_builder};

/// With a million timers a slot has some 64, of which an insertion passes half.
const DEFAULT_SLOTS: usize = 16_384;

timer_builder! {
    /// Configures a [`HashedWheel`].
    Builder of HashedWheel,
    /// The number of slots, a power of two from 2 to 65,536; 16,384 by default. An insertion passes
    /// n / (2 slots) timers, so choose the number of slots by the number of timers. Each slot takes
    /// 8 bytes.
    slots: DEFAULT_SLOTS, SlotCount::new
}

timer_backend! {
    /// The hashed wheel with 16,384 slots.
    Definition of HashedWheel<T, M>,
    Info {
        name: "hashed-wheel",
        structure: "one wheel, sorted slots",
        source: "Varghese & Lauck scheme 5",
        max_idle_wakeups: 1,
        costs: Costs {
            insert: "O(n / M + 1), worst O(n)",
            cancel: "O(1)",
            reschedule: "O(n / M + 1), worst O(n)",
            fire: "O(1) if ticks are dense, worst O(M)",
        },
        // An insertion passes half of the timers of its slot; a timer that is moved may pass more.
        // The hand passes the occupied slots in which nothing is due in this turn. With n timers
        // over 2^20 ticks there are 2^20 / n ticks between two timers, and at most n / M + 1 in a
        // thousand of their slots are occupied. Reading such a slot is two steps: a word of the
        // bitmap, and the slot.
        bounds: |n| {
            let slot = n as f64 / DEFAULT_SLOTS as f64;
            let search = 7.5 + 2.0 * 0.75 * slot;
            Bounds {
                insert: search,
                cancel: 2.0,
                reschedule: 2.0 + search,
                fire: 100.0,
                empty_tick: 4.0,
                ..Bounds::NONE
            }
        },
        ..Info::EXACT
    }
}
