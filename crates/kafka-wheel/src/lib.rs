#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod level;
mod wheel;

pub use wheel::KafkaWheel;
pub use wheelhouse_core::{
    CapacityError, Expired, SlotCountError, Tick, Timer, TimerId, WheelError,
};

use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::{SlotCount, timer_builder};

/// The number of slots in Kafka.
const DEFAULT_SLOTS: usize = 20;

timer_builder! {
    /// Configures a [`KafkaWheel`].
    ///
    /// ```
    /// use wheelhouse_kafka_wheel::{KafkaWheel, SlotCountError, Timer, WheelError};
    ///
    /// let wheel: KafkaWheel<&str> = KafkaWheel::builder().slots(60).start(1_000).build()?;
    /// assert_eq!(wheel.now(), 1_000);
    ///
    /// let refused = KafkaWheel::<&str>::builder().slots(1).build();
    /// assert_eq!(refused.unwrap_err(), WheelError::Slots(SlotCountError::TooFew(1)));
    /// # Ok::<(), WheelError>(())
    /// ```
    Builder of KafkaWheel,
    /// The number of slots of each wheel, from 2 to 65,536; 20 by default, as in Kafka. It need not
    /// be a power of two. More slots mean fewer levels. Each slot takes 8 bytes.
    slots: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is less than 2 or more than 65,536, or if the capacity is 2^32 or
    /// more.
    build: checked,
}

/// Checks a number of slots, which need not be a power of two.
const fn checked(slots: usize) -> Result<usize, SlotCountError> {
    match SlotCount::new(slots) {
        Ok(_) | Err(SlotCountError::NotPowerOfTwo(_)) => Ok(slots),
        Err(error) => Err(error),
    }
}

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
