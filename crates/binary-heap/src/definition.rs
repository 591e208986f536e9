//! How this backend introduces itself to the suite and the comparison.

use crate::BinaryHeap;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info};
use wheelhouse_core::meter::Meter;

/// The heap with two children for each node.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

/// A move and a comparison for each level, with slack for the rise at the end; insertions and cancellations in random order stay
/// within two or three levels, whatever n.
fn bounds(n: u64) -> Bounds {
    let levels = f64::from(n.max(1).ilog2() + 1);
    Bounds { insert: 7.0, cancel: 10.0, reschedule: 10.0, fire: 4.0 + 2.2 * levels, empty_tick: 1.0 }
}

impl Backend for Definition {
    const INFO: Info = Info {
        name: "binary-heap",
        structure: "indexed binary heap, cancel in place",
        source: "Williams 1964; java.util.Timer, libevent, Go (4-ary)",
        levels: 0,
        costs: Costs {
            insert: "O(1) average, worst O(log n)",
            cancel: "O(1) average, worst O(log n)",
            reschedule: "O(1) average, worst O(log n)",
            fire: "O(log n)",
        },
        bounds,
    };

    type Timer<T, M: Meter> = BinaryHeap<T, 2, M>;

    fn build<T, M: Meter + Default>() -> Self::Timer<T, M> {
        BinaryHeap::with_parts(0, 0, M::default())
    }

    fn meter<T, M: Meter>(timer: &Self::Timer<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}
