//! Configuration.

use crate::HierarchicalWheel;
use wheelhouse_core::{SlotCount, wheel_builder};

/// Two levels of 256 slots reach 65 seconds of milliseconds, three reach four and a half hours.
pub(crate) const DEFAULT_SLOTS: usize = 256;

wheel_builder! {
    /// Configures a [`HierarchicalWheel`].
    ///
    /// ```
    /// use wheelhouse_hierarchical_wheel::{HierarchicalWheel, SlotCountError, Timer, WheelError};
    ///
    /// let builder = HierarchicalWheel::builder().slots_per_level(64).start(1_000);
    /// let wheel: HierarchicalWheel<&str> = builder.build()?;
    /// assert_eq!(wheel.now(), 1_000);
    ///
    /// let refused = HierarchicalWheel::<&str>::builder().slots_per_level(100).build();
    /// assert_eq!(refused.unwrap_err(), WheelError::Slots(SlotCountError::NotPowerOfTwo(100)));
    /// assert!(HierarchicalWheel::<&str>::builder().capacity(1 << 40).build().is_err());
    /// # Ok::<(), WheelError>(())
    /// ```
    Builder of HierarchicalWheel,
    /// The number of slots of each level, a power of two from 2 to 65,536; 256 by default. There
    /// are as many levels as it takes to cover all of `u64`. More slots mean fewer cascades, but
    /// more memory (a node of 32 bytes or more for each slot of each level) and a longer longest
    /// tick: a slot is split when 32 timers came to it for each slot of a level.
    slots_per_level: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is zero, one, above 65,536 or no power of two, or if there is to be
    /// room for more timers than a wheel can hold.
    build: SlotCount::new,
}
