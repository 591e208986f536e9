//! How this backend introduces itself to the suite and the comparison.

use crate::KafkaWheel;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::meter::Meter;

/// Kafka's wheel, 20 slots a level.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "kafka-wheel",
        structure: "wheels made on demand, a delay queue of slots",
        source: "Kafka's purgatory; Varghese & Lauck scheme 7",
        // Twenty to the fifteenth is beyond u64.
        precision: Precision::Exact,
        vain_wakeups: 14,
        costs: Costs {
            insert: "O(m + log b) for b slots in use, mostly O(m)",
            cancel: "O(1), O(log b) for the last of a slot",
            reschedule: "as both",
            fire: "O(m) amortised, worst all of a slot",
        },
        // Delays up to 2^20 go to the fifth level at most, looked for from below; on the way down a
        // timer is moved up to four times, looked for each time. Slots are many timers each, but on
        // the lowest levels, where most have one and the queue is told of it.
        bounds: |_| Bounds {
            insert: 11.0,
            cancel: 4.0,
            reschedule: 14.0,
            fire: 45.0,
            empty_tick: 15.0,
            next_wakeup: 0.0,
        },
        most: u32::MAX,
    };

    type Timer<T, M: Meter> = KafkaWheel<T, M>;

    fn build<T, M: Meter + Default>() -> KafkaWheel<T, M> {
        KafkaWheel::with_meter(M::default())
    }

    fn meter<T, M: Meter>(timer: &KafkaWheel<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}
