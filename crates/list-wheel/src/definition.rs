//! How this backend introduces itself to the suite and the comparison.

use crate::ListWheel;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::meter::Meter;

/// The list wheel with 256 slots a level.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "list-wheel",
        structure: "levels of wheels, doubly linked lists",
        source: "Varghese & Lauck scheme 7, as the textbooks have it",
        precision: Precision::Exact,
        vain_wakeups: 7,
        most: u32::MAX,
        costs: Costs {
            insert: "O(1), worst O(n)",
            cancel: "O(1)",
            reschedule: "O(1)",
            fire: "O(m), worst O(k)",
        },
        // A list takes four links in and two out. Delays below 2^24 cascade at most twice; a slot
        // that has fired is followed by a search over two words.
        bounds: |_| Bounds {
            insert: 5.0,
            cancel: 3.0,
            reschedule: 8.0,
            fire: 15.0,
            empty_tick: 2.5,
            next_wakeup: 0.0,
        },
    };

    type Timer<T, M: Meter> = ListWheel<T, M>;

    fn build<T, M: Meter + Default>() -> ListWheel<T, M> {
        ListWheel::with_meter(M::default())
    }

    fn meter<T, M: Meter>(timer: &ListWheel<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}
