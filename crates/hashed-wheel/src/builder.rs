//! Configuration.

use crate::HashedWheel;
use wheelhouse_core::{SlotCount, wheel_builder};

/// A million timers make slots of 64, of which an insertion passes the half.
pub(crate) const DEFAULT_SLOTS: usize = 16_384;

wheel_builder! {
    /// Configures a [`HashedWheel`].
    ///
    /// ```
    /// use wheelhouse_hashed_wheel::{HashedWheel, SlotCountError, Timer, WheelError};
    ///
    /// let wheel: HashedWheel<&str> = HashedWheel::builder().slots(64).start(1_000).build()?;
    /// assert_eq!(wheel.now(), 1_000);
    ///
    /// let refused = HashedWheel::<&str>::builder().slots(100).build();
    /// assert_eq!(refused.unwrap_err(), WheelError::Slots(SlotCountError::NotPowerOfTwo(100)));
    /// assert!(HashedWheel::<&str>::builder().capacity(1 << 40).build().is_err());
    /// # Ok::<(), WheelError>(())
    /// ```
    Builder of HashedWheel,
    /// The number of slots, a power of two from 2 to 65,536; 16,384 by default. An insertion passes
    /// n / (2 slots) timers, so choose it by the number of timers; each slot takes 8 bytes.
    slots: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is zero, one, above 65,536 or no power of two, or if there is to be
    /// room for more timers than a wheel can hold.
    build: SlotCount::new,
}
