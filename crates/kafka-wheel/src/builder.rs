//! Configuration.

use crate::KafkaWheel;
use wheelhouse_core::{SlotCount, SlotCountError, wheel_builder};

/// Kafka's own.
pub(crate) const DEFAULT_SLOTS: usize = 20;

wheel_builder! {
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
    /// The number of slots of each wheel, from 2 to 65,536; 20 by default, as in Kafka. It need be
    /// no power of two. More slots are fewer levels; each slot takes 8 bytes.
    slots: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is zero, one or above 65,536, or if there is to be room for more
    /// timers than a wheel can hold.
    build: checked,
}

/// A number of slots that need be no power of two.
fn checked(slots: usize) -> Result<usize, SlotCountError> {
    match SlotCount::new(slots) {
        Ok(_) | Err(SlotCountError::NotPowerOfTwo(_)) => Ok(slots),
        Err(error) => Err(error),
    }
}
