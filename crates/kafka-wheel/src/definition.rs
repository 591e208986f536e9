//! The description of this backend for the conformance suite and the benchmark.

use crate::KafkaWheel;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};

/// The wheel of Kafka, with 20 slots a level.
#[derive(Clone, Copy, Debug)]
pub struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "kafka-wheel",
        structure: "wheels created on demand, a delay queue of slots",
        source: "Kafka's purgatory; Varghese & Lauck scheme 7",
        precision: Precision::Exact,
        // At most 15 levels, because 20^15 is larger than `u64::MAX`.
        max_idle_wakeups: 14,
        costs: Costs {
            insert: "O(m + log b) for b slots in use, mostly O(m)",
            cancel: "O(1), O(log b) for the last timer of a slot",
            reschedule: "cancel plus insert",
            fire: "O(m) amortised, worst O(m k)",
        },
        // Delays up to 2^20 go to the fifth level at most, which is searched from the lowest up. On
        // the way down a timer moves up to four times, with a search each time. Slots have many
        // timers, except on the lowest levels: there most have one, so the queue changes too.
        bounds: |_| Bounds {
            insert: 11.0,
            cancel: 4.0,
            reschedule: 14.0,
            fire: 45.0,
            empty_tick: 15.0,
            next_wakeup: 0.0,
        },
        max_timers: u32::MAX,
    };

    wheelhouse_core::backend_timer!(KafkaWheel<T, M>);
}
