//! Configuration.

use crate::SkipList;
use crate::heights::{Heights, MAX_HEIGHT};
use core::fmt;
use core::marker::PhantomData;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, NoMeter};

/// The most timers that a list holds at a time.
pub(crate) const MAX_TIMERS: usize = u32::MAX as usize;

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

    /// How many timers to make room for at once, 2^32 - 1 at most; 0 by default. The structure
    /// grows as needed beyond it.
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// The seed of the heights; 1 by default. The order of expiries does not depend on it, the cost
    /// of a search does. Take one that nobody can guess where others choose which timers to cancel.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// On how many levels a timer stands at most, from 1 to 16; 16 by default, enough for 4^16
    /// timers. With `h` levels, a list of more than 4^h timers takes O(n / 4^h) for a search. One
    /// level is a plain sorted list: O(n) to insert, except behind the last timer.
    pub fn max_height(mut self, levels: usize) -> Self {
        self.max_height = levels;
        self
    }

    /// What counts the work; nothing does by default.
    pub fn meter<N: Meter>(self, meter: N) -> Builder<T, N> {
        let Self { start, capacity, seed, max_height, value, .. } = self;
        Builder { start, capacity, seed, max_height, meter, value }
    }

    /// Builds the list. O(1), but for the allocation.
    ///
    /// # Errors
    ///
    /// If the greatest height is zero or above 16, or there is to be room for more timers than a
    /// list can hold.
    pub fn build(self) -> Result<SkipList<T, M>, BuildError> {
        if !(1..=MAX_HEIGHT).contains(&self.max_height) {
            return Err(BuildError::Height(self.max_height));
        }
        if self.capacity > MAX_TIMERS {
            return Err(BuildError::Capacity(self.capacity));
        }
        let heights = Heights::new(self.seed, self.max_height);
        Ok(SkipList::with_parts(self.start, self.capacity, heights, self.meter))
    }
}

/// A configuration that no list can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// No level at all, or more than 16.
    Height(usize),
    /// Room for more timers than a list can hold.
    Capacity(usize),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Height(levels) => {
                write!(
                    f,
                    "a greatest height of {levels}: choose from 1 to {MAX_HEIGHT} levels, one for \
                     each factor of 4 in the number of timers"
                )
            }
            Self::Capacity(timers) => {
                write!(
                    f,
                    "a capacity of {timers}: a list holds at most {MAX_TIMERS} timers; it grows as \
                     needed, so ask for less"
                )
            }
        }
    }
}

impl core::error::Error for BuildError {}
