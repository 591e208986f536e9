//! The description of this backend for the conformance suite and the benchmark.

use crate::SingleWheel;
use crate::builder::DEFAULT_SLOTS;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};

/// The single wheel with 4,096 slots.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "single-wheel",
        structure: "one wheel with a slot per tick, overflow lists",
        source: "Varghese & Lauck scheme 4; logic simulators",
        precision: Precision::Exact,
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
        max_timers: u32::MAX,
    };

    wheelhouse_core::backend_timer!(SingleWheel<T, M>);
}
