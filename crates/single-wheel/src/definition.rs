//! How this backend introduces itself to the suite and the comparison.

use crate::SingleWheel;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::meter::Meter;

/// The wheel of 4,096 slots, with its overflow list.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "single-wheel",
        structure: "one wheel of a tick a slot, and an overflow list",
        source: "Varghese & Lauck scheme 4; logic simulators",
        precision: Precision::Exact,
        vain_wakeups: 1,
        costs: Costs {
            insert: "O(1)",
            cancel: "O(1)",
            reschedule: "O(1)",
            fire: "O(1), and a step a turn in the overflow list",
        },
        // Delays up to 2^20 wait in the overflow list for up to 256 turns, and are looked at in each. A jump passes all of them: half of the timers
        // are still there in the middle. One slot in some hundreds is occupied then, at a thousand timers, and the map of them is read for each.
        bounds: |_| Bounds {
            insert: 4.0,
            cancel: 2.0,
            reschedule: 6.0,
            fire: 150.0,
            empty_tick: 600.0,
            next_wakeup: 0.0,
        },
        most: 100_000,
    };

    type Timer<T, M: Meter> = SingleWheel<T, M>;

    fn build<T, M: Meter + Default>() -> SingleWheel<T, M> {
        SingleWheel::with_meter(M::default())
    }

    fn meter<T, M: Meter>(timer: &SingleWheel<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}
