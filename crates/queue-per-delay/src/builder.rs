//! Configuration.

use crate::QueuePerDelay;
use core::fmt;
use core::marker::PhantomData;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, NoMeter};

/// Configures a [`QueuePerDelay`].
///
/// ```
/// use wheelhouse_queue_per_delay::{BuildError, QueuePerDelay, Timer};
///
/// let builder = QueuePerDelay::builder().start(1_000).capacity(100);
/// let timeouts: QueuePerDelay<&str> = builder.build()?;
/// assert_eq!(timeouts.now(), 1_000);
///
/// let refused = QueuePerDelay::<&str>::builder().capacity(1 << 40).build();
/// assert_eq!(refused.unwrap_err(), BuildError::Capacity(1 << 40));
/// # Ok::<(), BuildError>(())
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

    /// The number of timers to allocate memory for, at most 2^32 - 1; 0 by default. The structure
    /// grows beyond it as needed. No memory is allocated for queues.
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// The meter that counts the work; by default nothing is counted.
    pub fn meter<N: Meter>(self, meter: N) -> Builder<T, N> {
        let Self { start, capacity, value, .. } = self;
        Builder { start, capacity, meter, value }
    }

    /// Builds the structure. O(1) plus the allocation.
    ///
    /// # Errors
    ///
    /// If the capacity is 2^32 or more.
    pub fn build(self) -> Result<QueuePerDelay<T, M>, BuildError> {
        if u32::try_from(self.capacity).is_err() {
            return Err(BuildError::Capacity(self.capacity));
        }
        Ok(QueuePerDelay::with_parts(self.start, self.capacity, self.meter))
    }
}

/// An invalid configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The capacity is larger than the number of timers that the structure can hold.
    Capacity(usize),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Capacity(timers) => {
                write!(
                    f,
                    "a capacity of {timers}: the queues hold at most {} timers; they grow as \
                     needed, so ask for less",
                    u32::MAX
                )
            }
        }
    }
}

impl core::error::Error for BuildError {}
