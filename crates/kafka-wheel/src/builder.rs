//! Configuration.

use crate::KafkaWheel;
use wheelhouse_core::{SlotCount, SlotCountError, timer_builder};

/// The number of slots in Kafka.
pub(crate) const DEFAULT_SLOTS: usize = 20;

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
