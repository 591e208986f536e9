//! Configuration.

use crate::LinuxWheel;
use core::marker::PhantomData;
use wheelhouse_core::meter::{Meter, NoMeter};
use wheelhouse_core::{Tick, WheelError};

/// Configures a [`LinuxWheel`]. The slots and levels are fixed, as in Linux, because the bound on
/// the lateness follows from them.
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

    /// Allocates room for this many timers at the start, 2^32 - 1 at most; 0 by default. The
    /// structure grows beyond it as needed.
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// Counts the work with this meter. By default nothing is counted.
    pub fn meter<N: Meter>(self, meter: N) -> Builder<T, N> {
        let Self { start, capacity, value, .. } = self;
        Builder { start, capacity, meter, value }
    }

    /// Builds the wheel.
    ///
    /// # Errors
    ///
    /// If the capacity is 2^32 or more.
    pub fn build(self) -> Result<LinuxWheel<T, M>, WheelError> {
        let capacity = WheelError::check_capacity(self.capacity)?;
        Ok(LinuxWheel::with_parts(self.start, capacity, self.meter))
    }
}
