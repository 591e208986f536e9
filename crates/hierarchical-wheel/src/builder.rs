//! Configuration.

use crate::HierarchicalWheel;
use crate::wheel::DEFAULT_SLOTS;
use wheelhouse_core::{SlotCount, timer_builder};

timer_builder! {
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
    /// The number of slots of each level while the wheel is small, a power of two from 2 to 65,536;
    /// 256 by default. A slot takes as much memory as a timer. With a capacity, all levels are
    /// allocated at the start: 2,048 slots by default. With 16 slots a level they are 256 slots, or
    /// 8 KB, which suits a few hundred timers on a microcontroller.
    slots_per_level: DEFAULT_SLOTS,
    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is less than 2, more than 65,536 or not a power of two, or if the
    /// capacity is 2^32 or more.
    build: SlotCount::new,
}
