//! Configuration.

use crate::SkipList;
use crate::heights::{Heights, MAX_HEIGHT};
use core::fmt;
use core::marker::PhantomData;
use wheelhouse_core::meter::{Meter, NoMeter};
use wheelhouse_core::{CapacityError, Tick};

/// Configures a [`SkipList`].
///
/// ```
/// use wheelhouse_skip_list::{BuildError, SkipList, Timer};
///
/// let builder = SkipList::builder().start(1_000).capacity(100).seed(42).max_height(5);
/// let list: SkipList<&str> = builder.build()?;
/// assert_eq!(list.now(), 1_000);
///
/// let refused = SkipList::<&str>::builder().max_height(0).build();
/// assert_eq!(refused.unwrap_err(), BuildError::Height(0));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is built until `build` is called"]
pub struct Builder<T, M = NoMeter> {
    start: Tick,
    capacity: usize,
    seed: u64,
    max_height: usize,
    meter: M,
    value: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(crate) const fn new() -> Self {
        let seed = Heights::DEFAULT_SEED;
        Self {
            start: 0,
            capacity: 0,
            seed,
            max_height: MAX_HEIGHT,
            meter: NoMeter,
            value: PhantomData,
        }
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

    /// The seed of the heights; 1 by default. It affects the cost of searches, but not the order in
    /// which timers fire. If other parties choose which timers are cancelled, use a seed that they
    /// cannot guess.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The maximum number of levels of a timer, from 1 to 16; 16 by default, enough for 4^16
    /// timers. With `h` levels, a search in a list of more than 4^h timers takes O(n / 4^h). One
    /// level is a plain sorted list: inserting is O(n), except behind the last timer.
    pub fn max_height(mut self, levels: usize) -> Self {
        self.max_height = levels;
        self
    }

    /// Counts the work with this meter. By default nothing is counted.
    pub fn meter<N: Meter>(self, meter: N) -> Builder<T, N> {
        let Self { start, capacity, seed, max_height, value, .. } = self;
        Builder { start, capacity, seed, max_height, meter, value }
    }

    /// Builds the list. O(1) plus the allocation.
    ///
    /// # Errors
    ///
    /// If the maximum height is 0 or more than 16, or if the capacity is 2^32 or more.
    pub fn build(self) -> Result<SkipList<T, M>, BuildError> {
        if !(1..=MAX_HEIGHT).contains(&self.max_height) {
            return Err(BuildError::Height(self.max_height));
        }
        let capacity = CapacityError::check(self.capacity).map_err(BuildError::Capacity)?;
        let heights = Heights::new(self.seed, self.max_height);
        Ok(SkipList::with_parts(self.start, capacity, heights, self.meter))
    }
}

/// An invalid configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The maximum height is 0 or more than 16.
    Height(usize),
    /// The capacity is larger than the number of timers that a list can hold.
    Capacity(CapacityError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Height(levels) => {
                write!(
                    f,
                    "a maximum height of {levels}: choose from 1 to {MAX_HEIGHT} levels, one for \
                     each factor of 4 in the number of timers"
                )
            }
            Self::Capacity(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BuildError {}
