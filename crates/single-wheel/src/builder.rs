//! Configuration.

use crate::SingleWheel;
use wheelhouse_core::{SlotCount, wheel_builder};

/// Four seconds of milliseconds; 32 KB.
pub(crate) const DEFAULT_SLOTS: usize = 4_096;

wheel_builder! {
    /// Configures a [`SingleWheel`].
    ///
    /// ```
    /// use wheelhouse_single_wheel::{SingleWheel, SlotCountError, Timer, WheelError};
    ///
    /// let wheel: SingleWheel<&str> = SingleWheel::builder().slots(64).start(1_000).build()?;
    /// assert_eq!(wheel.now(), 1_000);
    ///
    /// let refused = SingleWheel::<&str>::builder().slots(100).build();
    /// assert_eq!(refused.unwrap_err(), WheelError::Slots(SlotCountError::NotPowerOfTwo(100)));
    /// assert!(SingleWheel::<&str>::builder().capacity(1 << 40).build().is_err());
    /// # Ok::<(), WheelError>(())
    /// ```
    Builder of SingleWheel,
    /// The number of slots, a power of two from 2 to 65,536; 4,096 by default. A slot is a tick, so
    /// choose it by the longest delay that is common; each slot takes 8 bytes.
    slots: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is zero, one, above 65,536 or no power of two, or if there is to be
    /// room for more timers than a wheel can hold.
    build: SlotCount::new,
}
