//! Configuration.

use crate::HierarchicalWheel;
use core::marker::PhantomData;
use wheelhouse_core::meter::{Meter, NoMeter};
use wheelhouse_core::{SlotCount, Tick, WheelError};

/// Two levels of 256 slots reach 65 seconds of milliseconds, three reach four and a half hours.
pub(crate) const DEFAULT_SLOTS: usize = 256;

/// Configures a [`HierarchicalWheel`].
///
/// ```
/// use wheelhouse_hierarchical_wheel::{HierarchicalWheel, SlotCountError, Timer, WheelError};
///
/// let wheel: HierarchicalWheel<&str> = HierarchicalWheel::builder().slots_per_level(64).start(1_000).build()?;
/// assert_eq!(wheel.now(), 1_000);
///
/// let refused = HierarchicalWheel::<&str>::builder().slots_per_level(100).build();
/// assert_eq!(refused.unwrap_err(), WheelError::Slots(SlotCountError::NotPowerOfTwo(100)));
/// assert!(HierarchicalWheel::<&str>::builder().capacity(1 << 40).build().is_err());
/// # Ok::<(), WheelError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is built until `build` is called"]
pub struct Builder<T, M = NoMeter> {
    slots_per_level: usize,
    start: Tick,
    capacity: usize,
    meter: M,
    value: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(crate) const fn new() -> Self {
        Self { slots_per_level: DEFAULT_SLOTS, start: 0, capacity: 0, meter: NoMeter, value: PhantomData }
    }
}

impl<T, M: Meter> Builder<T, M> {
    /// The number of slots of each level, a power of two from 2 to 65,536; 256 by default. There are as many levels as
    /// it takes to cover all of `u64`. More slots mean fewer cascades, but more memory (16 bytes a slot
    /// and level), a longer search for the next slot when one is emptied (up to slots / 64 words), and a longer longest tick: a
    /// cascade moves at most sixteen timers for each slot of a level, or 64.
    pub fn slots_per_level(mut self, slots: usize) -> Self {
        self.slots_per_level = slots;
        self
    }

    /// The tick that the clock starts at; 0 by default.
    pub fn start(mut self, tick: Tick) -> Self {
        self.start = tick;
        self
    }

    /// How many timers to make room for at once, 2^32 - 1 at most; 0 by default. The structure grows as needed beyond it.
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// What counts the work; nothing does by default.
    pub fn meter<N: Meter>(self, meter: N) -> Builder<T, N> {
        let Self { slots_per_level, start, capacity, value, .. } = self;
        Builder { slots_per_level, start, capacity, meter, value }
    }

    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is zero, one, above 65,536 or no power of two, or if there is to be room for more timers than a wheel can hold.
    pub fn build(self) -> Result<HierarchicalWheel<T, M>, WheelError> {
        let slots = SlotCount::new(self.slots_per_level)?;
        let capacity = WheelError::check_capacity(self.capacity)?;
        Ok(HierarchicalWheel::with_parts(slots, self.start, capacity, self.meter))
    }
}
