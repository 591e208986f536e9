#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod due;
mod slots;
mod wheel;

pub use wheel::RoundWheel;
pub use wheelhouse_core::{ConfigError, Expired, Tick, Timer, TimerId};

use slots::BLOCK;
use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::{SlotCount, timer_backend, timer_builder};

/// With a million timers a slot has some 64, which are read in a few hundred nanoseconds.
const DEFAULT_SLOTS: usize = 16_384;

timer_builder! {
    /// Configures a [`RoundWheel`].
    Builder of RoundWheel,
    /// The number of slots, a power of two from 2 to 65,536; 16,384 by default. A tick reads n /
    /// slots entries, so choose the number of slots by the number of timers. Each slot takes 40
    /// bytes, and may keep up to 64 more once it has had a timer.
    slots: DEFAULT_SLOTS, SlotCount::new
}

/// The cost of scheme 6: all timers of a slot are read whenever one of them fires. The slack is for
/// slots with more timers than the average, and for holes. A call that advances by more than a turn
/// sorts the timers that it collects. If the earliest timer was removed, the next wake-up is
/// searched: all blocks, some slots, and all timers of some of these slots.
fn bounds(n: u64) -> Bounds {
    let per_slot = n as f64 / DEFAULT_SLOTS as f64;
    let sorting = f64::from(n.max(1).ilog2() + 1);
    Bounds {
        insert: 1.5,
        cancel: 4.0,
        reschedule: 6.0,
        fire: 5.0 + sorting + 1.5 * per_slot,
        empty_tick: 2.0 + per_slot,
        next_wakeup: (DEFAULT_SLOTS / BLOCK) as f64 + 8.0 * (1.0 + per_slot),
    }
}

timer_backend! {
    /// The round wheel with its default number of slots.
    Definition of RoundWheel<T, M>,
    Info {
        name: "round-wheel",
        structure: "one wheel with rounds, unsorted slots",
        source: "Varghese & Lauck scheme 6; Netty, xtimingwheel",
        costs: Costs {
            insert: "O(1), worst O(k)",
            cancel: "O(1), worst O(k)",
            reschedule: "O(1), worst O(k)",
            fire: "O(1 + n/M), worst O(n)",
        },
        bounds,
        ..Info::EXACT
    }
}
