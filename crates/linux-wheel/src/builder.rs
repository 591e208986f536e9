//! Configuration.

use crate::LinuxWheel;
use core::marker::PhantomData;
use wheelhouse_core::meter::{Meter, NoMeter};
use wheelhouse_core::{Tick, WheelError};

/// Configures a [`LinuxWheel`]. Slots and levels are those of Linux: the bound on the lateness
/// follows from them.
///
/// ```
/// use wheelhouse_linux_wheel::{LinuxWheel, Timer, WheelError};
///
/// let wheel: LinuxWheel<&str> = LinuxWheel::builder().start(1_000).capacity(10_000).build()?;
/// assert_eq!(wheel.now(), 1_000);
///
/// let refused = LinuxWheel::<&str>::builder().capacity(1 << 40).build();
/// assert_eq!(refused.unwrap_err(), WheelError::Capacity(1 << 40));
/// # Ok::<(), WheelError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is built until `build` is called"]
pub struct Builder<T, M = NoMeter> {
    start: Tick,
    capacity: usize,
    meter: M,
    value: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(crate) const fn new() -> Self {
        Self { start: 0, capacity: 0, meter: NoMeter, value: PhantomData }
    }
}

impl<T, M: Meter> Builder<T, M> {
    /// The tick that the clock starts at; 0 by default.
    pub fn start(mut self, tick: Tick) -> Self {
        self.start = tick;
        self
    }

    /// How many timers to make room for at once, 2^32 - 1 at most; 0 by default. The structure
    /// grows as needed beyond it.
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// What counts the work; nothing does by default.
    pub fn meter<N: Meter>(self, meter: N) -> Builder<T, N> {
        let Self { start, capacity, value, .. } = self;
        Builder { start, capacity, meter, value }
    }

    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If there is to be room for more timers than a wheel can hold.
    pub fn build(self) -> Result<LinuxWheel<T, M>, WheelError> {
        let capacity = WheelError::check_capacity(self.capacity)?;
        Ok(LinuxWheel::with_parts(self.start, capacity, self.meter))
    }
}
