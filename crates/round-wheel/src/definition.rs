//! The description of this backend for the conformance suite and the benchmark.

use crate::RoundWheel;
use crate::builder::DEFAULT_SLOTS;
use crate::slots::BLOCK;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};

/// The round wheel with its default number of slots.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

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

impl Backend for Definition {
    const INFO: Info = Info {
        name: "round-wheel",
        structure: "one wheel with rounds, unsorted slots",
        source: "Varghese & Lauck scheme 6; Netty, xtimingwheel",
        precision: Precision::Exact,
        max_idle_wakeups: 0,
        max_timers: u32::MAX,
        costs: Costs {
            insert: "O(1), worst O(k)",
            cancel: "O(1), worst O(k)",
            reschedule: "O(1), worst O(k)",
            fire: "O(1 + n/M), worst O(n)",
        },
        bounds,
    };

    wheelhouse_core::backend_timer!(RoundWheel<T, M>);
}
