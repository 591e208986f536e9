//! Configuration.

use crate::RoundWheel;
use wheelhouse_core::{SlotCount, timer_builder};

/// With a million timers a slot has some 64, which are read in a few hundred nanoseconds.
pub(crate) const DEFAULT_SLOTS: usize = 16_384;

timer_builder! {
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
    /// slots entries, so choose the number of slots by the number of timers. Each slot takes 40
    /// bytes.
    slots: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is less than 2, more than 65,536 or not a power of two, or if the
    /// capacity is 2^32 or more.
    build: SlotCount::new,
}
