#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod wheel;

pub use wheel::KafkaWheel;
pub use wheelhouse_core::{ConfigError, Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::{SlotCount, timer_backend, timer_builder};

/// The number of slots in Kafka.
const DEFAULT_SLOTS: usize = 20;

timer_builder! {
    /// Configures a [`KafkaWheel`].
    ///
    /// ```
    /// use wheelhouse_kafka_wheel::{ConfigError, KafkaWheel};
    ///
    /// assert!(KafkaWheel::<&str>::builder().slots(60).build().is_ok());
    /// let refused = KafkaWheel::<&str>::builder().slots(1).build();
    /// assert_eq!(refused.unwrap_err(), ConfigError::TooFewSlots(1));
    /// ```
    Builder of KafkaWheel,
    /// The number of slots of each wheel, from 2 to 65,536; 20 by default, as in Kafka. It need not
    /// be a power of two. More slots mean fewer levels. Each slot takes 8 bytes.
    slots: DEFAULT_SLOTS, checked
}

/// Checks a number of slots, which need not be a power of two.
const fn checked(slots: usize) -> Result<usize, ConfigError> {
    match SlotCount::new(slots) {
        Ok(_) | Err(ConfigError::SlotsNotPowerOfTwo(_)) => Ok(slots),
        Err(error) => Err(error),
    }
}

timer_backend! {
    /// The wheel of Kafka, with 20 slots a level.
    Definition of KafkaWheel<T, M>,
    Info {
        name: "kafka-wheel",
        structure: "wheels created on demand, a delay queue of slots",
        source: "Kafka's purgatory; Varghese & Lauck scheme 7",
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
            ..Bounds::NONE
        },
        ..Info::EXACT
    }
}
