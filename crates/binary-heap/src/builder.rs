//! Configuration.

use crate::{BinaryHeap, LazyHeap};
use core::marker::PhantomData;
use wheelhouse_core::meter::{Meter, NoMeter};
use wheelhouse_core::{CapacityError, Tick};

/// Configures a [`BinaryHeap`]. The arity is a parameter of the type, which the compiler checks.
///
/// ```
/// use wheelhouse_binary_heap::{BinaryHeap, CapacityError, Timer};
///
/// let heap: BinaryHeap<&str, 4> = BinaryHeap::builder().start(1_000).capacity(100).build()?;
/// assert_eq!(heap.now(), 1_000);
///
/// let refused = BinaryHeap::<&str>::builder().capacity(1 << 40).build();
/// assert_eq!(refused.unwrap_err(), CapacityError(1 << 40));
/// # Ok::<(), CapacityError>(())
/// ```
///
/// A heap whose nodes have a single child would be a sorted list. It does not compile:
///
/// ```compile_fail
/// let list = wheelhouse_binary_heap::BinaryHeap::<&str, 1>::default();
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is built until `build` is called"]
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

    /// Allocates room for this many timers at the start, 2^32 - 1 at most; 0 by default. The
    /// structure grows beyond it as needed.
    pub fn capacity(mut self, timers: usize) -> Self {
        self.capacity = timers;
        self
    }

    /// Counts the work with this meter. By default nothing is counted.
    pub fn meter<N: Meter>(self, meter: N) -> Builder<T, ARITY, N> {
        let Self { start, capacity, value, .. } = self;
        Builder { start, capacity, meter, value }
    }

    /// Builds the heap. O(1) plus the allocation.
    ///
    /// # Errors
    ///
    /// If the capacity is 2^32 or more.
    pub fn build(self) -> Result<BinaryHeap<T, ARITY, M>, CapacityError> {
        let capacity = CapacityError::check(self.capacity)?;
        Ok(BinaryHeap::with_parts(self.start, capacity, self.meter))
    }
}

/// Configures a [`LazyHeap`].
///
/// ```
/// use wheelhouse_binary_heap::{CapacityError, LazyHeap, Timer};
///
/// let heap: LazyHeap<&str> = LazyHeap::builder().start(1_000).capacity(100).build()?;
/// assert_eq!(heap.now(), 1_000);
/// # Ok::<(), CapacityError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is built until `build` is called"]
pub struct LazyBuilder<T, M = NoMeter>(Builder<T, 4, M>);

impl<T> LazyBuilder<T> {
    pub(crate) const fn new() -> Self {
        Self(Builder::new())
    }
}

impl<T, M: Meter> LazyBuilder<T, M> {
    /// The tick that the clock starts at; 0 by default.
    pub fn start(self, tick: Tick) -> Self {
        Self(self.0.start(tick))
    }

    /// Allocates room for this many timers at the start, 2^32 - 1 at most; 0 by default. The
    /// structure grows beyond it as needed.
    pub fn capacity(self, timers: usize) -> Self {
        Self(self.0.capacity(timers))
    }

    /// Counts the work with this meter. By default nothing is counted.
    pub fn meter<N: Meter>(self, meter: N) -> LazyBuilder<T, N> {
        LazyBuilder(self.0.meter(meter))
    }

    /// Builds the heap. O(1) plus the allocation.
    ///
    /// # Errors
    ///
    /// If the capacity is 2^32 or more.
    pub fn build(self) -> Result<LazyHeap<T, M>, CapacityError> {
        let capacity = CapacityError::check(self.0.capacity)?;
        Ok(LazyHeap::with_parts(self.0.start, capacity, self.0.meter))
    }
}
