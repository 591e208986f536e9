//! Configuration.

use crate::KafkaWheel;
use core::marker::PhantomData;
use wheelhouse_core::meter::{Meter, NoMeter};
use wheelhouse_core::{SlotCount, SlotCountError, Tick, WheelError};

/// Kafka's own.
pub(crate) const DEFAULT_SLOTS: usize = 20;

/// Configures a [`KafkaWheel`].
///
/// ```
/// use wheelhouse_kafka_wheel::{KafkaWheel, SlotCountError, Timer, WheelError};
///
/// let wheel: KafkaWheel<&str> = KafkaWheel::builder().slots(60).start(1_000).build()?;
/// assert_eq!(wheel.now(), 1_000);
///
/// let refused = KafkaWheel::<&str>::builder().slots(1).build();
/// assert_eq!(refused.unwrap_err(), WheelError::Slots(SlotCountError::TooFew(1)));
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
    /// The number of slots of each wheel, from 2 to 65,536; 20 by default, as in Kafka. It need be no power of two. More slots are fewer levels; each slot
    /// takes 8 bytes.
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
    /// If the number of slots is zero, one or above 65,536, or if there is to be room for more timers than a wheel can hold.
    pub fn build(self) -> Result<KafkaWheel<T, M>, WheelError> {
        match SlotCount::new(self.slots) {
            Ok(_) | Err(SlotCountError::NotPowerOfTwo(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let capacity = WheelError::check_capacity(self.capacity)?;
        Ok(KafkaWheel::with_parts(self.slots, self.start, capacity, self.meter))
    }
}
