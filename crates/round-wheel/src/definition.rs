//! How this backend introduces itself to the suite and the comparison.

use crate::RoundWheel;
use crate::builder::DEFAULT_SLOTS;
use crate::slots::BLOCK;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::meter::Meter;

/// The round wheel with its default number of slots.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

/// V&L's cost of scheme 6: what is in a slot is read whenever something in it fires. The slack is
/// for slots that are fuller than the average and for holes, which are read in vain. A jump of more
/// than a turn sorts what it finds. Where the earliest timer was taken out, the next wake-up is
/// looked for: block by block, some slots, and of those some as a whole.
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
        vain_wakeups: 0,
        most: u32::MAX,
        costs: Costs {
            insert: "O(1), worst O(k)",
            cancel: "O(1), worst O(k)",
            reschedule: "O(1), worst O(k)",
            fire: "O(1 + n/M), worst O(n)",
        },
        bounds,
    };

    type Timer<T, M: Meter> = RoundWheel<T, M>;

    fn build<T, M: Meter + Default>() -> RoundWheel<T, M> {
        RoundWheel::with_meter(M::default())
    }

    fn meter<T, M: Meter>(timer: &RoundWheel<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}
