//! Configuration.

use crate::RoundWheel;
use wheelhouse_core::{SlotCount, wheel_builder};

/// A million timers make slots of 64, which are read in a few hundred nanoseconds.
pub(crate) const DEFAULT_SLOTS: usize = 16_384;

wheel_builder! {
    /// Configures a [`RoundWheel`].
    ///
    /// ```
    /// use wheelhouse_round_wheel::{RoundWheel, SlotCountError, Timer, WheelError};
    ///
    /// let wheel: RoundWheel<&str> = RoundWheel::builder().slots(64).start(1_000).build()?;
    /// assert_eq!(wheel.now(), 1_000);
    ///
    /// let refused = RoundWheel::<&str>::builder().slots(100).build();
    /// assert_eq!(refused.unwrap_err(), WheelError::Slots(SlotCountError::NotPowerOfTwo(100)));
    /// assert!(RoundWheel::<&str>::builder().capacity(1 << 40).build().is_err());
    /// # Ok::<(), WheelError>(())
    /// ```
    Builder of RoundWheel,
    /// The number of slots, a power of two from 2 to 65,536; 16,384 by default. A tick reads n /
    /// slots references, so choose it by the number of timers; each slot takes 40 bytes.
    slots: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is zero, one, above 65,536 or no power of two, or if there is to be
    /// room for more timers than a wheel can hold.
    build: SlotCount::new,
}
