//! Configuration.

use crate::ListWheel;
use wheelhouse_core::{SlotCount, wheel_builder};

/// Two levels of 256 slots reach 65 seconds of milliseconds, three reach four and a half hours.
pub(crate) const DEFAULT_SLOTS: usize = 256;

wheel_builder! {
    /// Configures a [`ListWheel`].
    ///
    /// ```
    /// use wheelhouse_list_wheel::{ListWheel, SlotCountError, Timer, WheelError};
    ///
    /// let wheel: ListWheel<&str> = ListWheel::builder().slots_per_level(64).start(1_000).build()?;
    /// assert_eq!(wheel.now(), 1_000);
    ///
    /// let refused = ListWheel::<&str>::builder().slots_per_level(100).build();
    /// assert_eq!(refused.unwrap_err(), WheelError::Slots(SlotCountError::NotPowerOfTwo(100)));
    /// # Ok::<(), WheelError>(())
    /// ```
    Builder of ListWheel,
    /// The number of slots of each level, a power of two from 2 to 65,536; 256 by default. There
    /// are as many levels as it takes to cover all of `u64`. More slots mean fewer cascades, but of
    /// larger slots, and more memory (a node for each slot of each level).
    slots_per_level: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is zero, one, above 65,536 or no power of two, or if there is to be
    /// room for more timers than a wheel can hold.
    build: SlotCount::new,
}
