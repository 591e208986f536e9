//! Configuration.

use crate::SkipList;
use core::marker::PhantomData;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, NoMeter};

/// Configures a [`SkipList`]. Any choice is valid, so building does not fail.
///
/// ```
/// use wheelhouse_skip_list::{SkipList, Timer};
///
/// let list: SkipList<&str> = SkipList::builder().start(1_000).capacity(100).seed(42).build();
/// assert_eq!(list.now(), 1_000);
/// ```
#[derive(Clone, Debug)]
pub struct Builder<T, M = NoMeter> {
    start: Tick,
    capacity: usize,
    seed: u64,
    meter: M,
    value: PhantomData<fn() -> T>,
}

impl<T> Builder<T> {
    pub(crate) const fn new() -> Self {
        Self { start: 0, capacity: 0, seed: 1, meter: NoMeter, value: PhantomData }
    }
}

impl<T, M: Meter> Builder<T, M> {
    /// The tick that the clock starts at; 0 by default.
    pub fn start(mut self, tick: Tick) -> Self {
        self.start = tick;
        self
    }

    /// How many timers to make room for at once; 0 by default. The structure grows as needed beyond it.
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// The seed of the heights; 1 by default. The order of expiries does not depend on it, the cost of a search does. Take one that
    /// nobody can guess where others choose which timers to cancel.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// What counts the work; nothing does by default.
    pub fn meter<N: Meter>(self, meter: N) -> Builder<T, N> {
        let Self { start, capacity, seed, value, .. } = self;
        Builder { start, capacity, seed, meter, value }
    }

    /// Builds the list.
    pub fn build(self) -> SkipList<T, M> {
        SkipList::with_parts(self.start, self.capacity, self.seed, self.meter)
    }
}
