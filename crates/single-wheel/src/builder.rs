//! Configuration.

use crate::SingleWheel;
use wheelhouse_core::{SlotCount, timer_builder};

/// Four seconds if a tick is a millisecond. Takes 32 KB.
pub(crate) const DEFAULT_SLOTS: usize = 4_096;

timer_builder! {
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
    /// The number of slots, a power of two from 2 to 65,536; 4,096 by default. A slot is one tick,
    /// so choose the number by the longest common delay. Each slot takes 8 bytes.
    slots: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is less than 2, more than 65,536 or not a power of two, or if the
    /// capacity is 2^32 or more.
    build: SlotCount::new,
}
