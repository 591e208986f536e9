//! How this backend introduces itself to the suite and the comparison.

use crate::HashedWheel;
use crate::builder::DEFAULT_SLOTS;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::meter::Meter;

/// The wheel of 16,384 sorted slots.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "hashed-wheel",
        structure: "one wheel, sorted slots",
        source: "Varghese & Lauck scheme 5",
        precision: Precision::Exact,
        vain_wakeups: 1,
        costs: Costs {
            insert: "O(n / M + 1), worst O(n)",
            cancel: "O(1)",
            reschedule: "O(n / M + 1), worst O(n)",
            fire: "O(1) where ticks are dense, worst O(M)",
        },
        // An insertion passes half of its slot, one that is moved among old and new more. The hand
        // passes the slots in which nothing is due in this turn: with n timers over 2^20 ticks,
        // 2^20 / n ticks lie between two, of which no more than n / M + 1 in a thousand are
        // occupied. A look into one of them is two steps: a word of the map, and the slot.
        bounds: |n| {
            let slot = n as f64 / DEFAULT_SLOTS as f64;
            let search = 7.5 + 2.0 * 0.75 * slot;
            Bounds {
                insert: search,
                cancel: 2.0,
                reschedule: 2.0 + search,
                fire: 100.0,
                empty_tick: 4.0,
                next_wakeup: 0.0,
            }
        },
        most: u32::MAX,
    };

    type Timer<T, M: Meter> = HashedWheel<T, M>;

    fn build<T, M: Meter + Default>() -> HashedWheel<T, M> {
        HashedWheel::with_meter(M::default())
    }

    fn meter<T, M: Meter>(timer: &HashedWheel<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}
