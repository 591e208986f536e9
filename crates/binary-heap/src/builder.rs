//! Configuration.

use crate::BinaryHeap;
use core::marker::PhantomData;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, NoMeter};

/// Configures a [`BinaryHeap`]. There is nothing that could be wrong, so building does not fail; the arity is a parameter of the
/// type and checked by the compiler.
#[derive(Clone, Debug)]
pub struct Builder<T, const ARITY: usize = 2, M = NoMeter> {
    start: Tick,
    capacity: usize,
    meter: M,
    value: PhantomData<fn() -> T>,
}

impl<T, const ARITY: usize> Builder<T, ARITY> {
    pub(crate) const fn new() -> Self {
        Self { start: 0, capacity: 0, meter: NoMeter, value: PhantomData }
    }
}

impl<T, const ARITY: usize, M: Meter> Builder<T, ARITY, M> {
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

    /// What counts the work; nothing does by default.
    pub fn meter<N: Meter>(self, meter: N) -> Builder<T, ARITY, N> {
        let Self { start, capacity, value, .. } = self;
        Builder { start, capacity, meter, value }
    }

    /// Builds the heap.
    pub fn build(self) -> BinaryHeap<T, ARITY, M> {
        BinaryHeap::with_parts(self.start, self.capacity, self.meter)
    }
}
