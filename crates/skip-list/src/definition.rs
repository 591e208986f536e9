//! How this backend introduces itself to the suite and the comparison.

use crate::SkipList;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info};
use wheelhouse_core::meter::Meter;

/// The skip list with its default seed.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

/// Pugh bounds the links of a search by L(n) / p + 1 / (1 - p), with L(n) = log_4 n: two for each doubling of n at p = 1/4. Here, each
/// is counted as a link and as a comparison. The links of a new timer come on top: four on each of its 1.33 levels.
fn bounds(n: u64) -> Bounds {
    let doublings = f64::from(n.max(1).ilog2() + 1);
    let search = 2.0 * (2.0 * doublings + 4.0 / 3.0);
    Bounds { insert: search + 8.0, cancel: 5.0, reschedule: search + 12.0, fire: 6.0, empty_tick: 1.0 }
}

impl Backend for Definition {
    const INFO: Info = Info {
        name: "skip-list",
        structure: "skip list, p = 1/4, linked both ways",
        source: "Pugh 1990; DPDK rte_timer",
        levels: 0,
        costs: Costs {
            insert: "O(log n) expected",
            cancel: "O(1) expected",
            reschedule: "O(log n) expected",
            fire: "O(1) expected",
        },
        bounds,
    };

    type Timer<T, M: Meter> = SkipList<T, M>;

    fn build<T, M: Meter + Default>() -> SkipList<T, M> {
        SkipList::with_parts(0, 0, 1, M::default())
    }

    fn meter<T, M: Meter>(timer: &SkipList<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}
