//! Configuration.

use crate::HashedWheel;
use wheelhouse_core::{SlotCount, timer_builder};

/// With a million timers a slot has some 64, of which an insertion passes half.
pub(crate) const DEFAULT_SLOTS: usize = 16_384;

timer_builder! {
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
    /// n / (2 slots) timers, so choose the number of slots by the number of timers. Each slot takes
    /// 8 bytes.
    slots: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is less than 2, more than 65,536 or not a power of two, or if the
    /// capacity is 2^32 or more.
    build: SlotCount::new,
}
