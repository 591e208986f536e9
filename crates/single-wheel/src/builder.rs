//! Configuration.

use crate::SingleWheel;
use core::marker::PhantomData;
use wheelhouse_core::meter::{Meter, NoMeter};
use wheelhouse_core::{SlotCount, Tick, WheelError};

/// Four seconds of milliseconds; 32 KB.
pub(crate) const DEFAULT_SLOTS: usize = 4_096;

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
#[derive(Clone, Debug)]
#[must_use = "nothing is built until `build` is called"]
pub struct Builder<T, M = NoMeter> {
    slots: usize,
    start: Tick,
    capacity: usize,
    meter: M,
    value: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(crate) const fn new() -> Self {
        Self { slots: DEFAULT_SLOTS, start: 0, capacity: 0, meter: NoMeter, value: PhantomData }
    }
}

impl<T, M: Meter> Builder<T, M> {
    /// The number of slots, a power of two from 2 to 65,536; 4,096 by default. A slot is a tick, so choose it by the longest delay that is common;
    /// each slot takes 8 bytes.
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = slots;
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
        let Self { slots, start, capacity, value, .. } = self;
        Builder { slots, start, capacity, meter, value }
    }

    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the number of slots is zero, one, above 65,536 or no power of two, or if there is to be room for more timers than a wheel can hold.
    pub fn build(self) -> Result<SingleWheel<T, M>, WheelError> {
        let slots = SlotCount::new(self.slots)?;
        let capacity = WheelError::check_capacity(self.capacity)?;
        Ok(SingleWheel::with_parts(slots, self.start, capacity, self.meter))
    }
}
