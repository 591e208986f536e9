//! The description of this backend for the conformance suite and the benchmark.

use crate::HierarchicalWheel;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};

/// The hierarchical wheel with 256 slots a level.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "hierarchical-wheel",
        structure: "levels of wheels, lists, slots that open early",
        source: "Varghese & Lauck scheme 7; Kafka, tokio, Linux before 4.8",
        precision: Precision::Exact,
        // One for each level above the lowest. In unit tests a large wheel has more levels.
        max_idle_wakeups: if cfg!(test) { 21 } else { 7 },
        max_timers: u32::MAX,
        costs: Costs {
            insert: "O(1)",
            cancel: "O(1)",
            reschedule: "O(1)",
            // In a large wheel, for deadlines that are spread. A slot with a crowd of k timers adds
            // k / 768 moves to each call while it is open.
            fire: "O(1), worst 500 moves",
        },
        // Inserting into a list writes four links, removing writes two. After a slot has fired, a
        // few words of the bitmap are searched.
        bounds: |_| Bounds {
            insert: 6.5,
            cancel: 3.5,
            reschedule: 9.5,
            fire: 12.0,
            empty_tick: 2.5,
            next_wakeup: 0.0,
        },
    };

    wheelhouse_core::backend_timer!(HierarchicalWheel<T, M>);
}
