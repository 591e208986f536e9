//! Structures that count their work, and operations on them.

use crate::fault::{AffectedOperation, FaultKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::{CountingMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The work of one operation, or of many, by its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps([u64; Work::ALL.len()]);

impl Steps {
    /// Steps of one kind.
    pub fn of(&self, work: Work) -> u64 {
        self.0[work as usize]
    }

    /// Steps of all kinds.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The difference from `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self(std::array::from_fn(|kind| self.0[kind] - earlier.0[kind]))
    }
}

/// A structure under test. It stores numbers and counts its work.
///
/// ```
/// use wheelhouse_claims::count::CountedTimer;
/// use wheelhouse_round_wheel::RoundWheel;
/// use wheelhouse_core::{Timer, meter::CountingMeter};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // With a custom configuration ...
/// let meter = CountingMeter::default();
/// let wheel = RoundWheel::builder().slots(64).meter(meter.clone()).build()?;
/// let mut counted = CountedTimer::new(wheel, meter);
/// let (steps, id) = counted.work(|timer| timer.insert(100, 1));
/// assert!(steps.total() > 0);
/// // ... or in the default one.
/// let counted = CountedTimer::of::<wheelhouse_binary_heap::Definition<4>>();
/// # Ok(())
/// # }
/// ```
pub struct CountedTimer {
    inner: Box<dyn DynTimer>,
    meter: CountingMeter,
    faults: Vec<FaultKind>,
    /// The steps that faults add.
    extra: u64,
}

impl CountedTimer {
    /// A structure in its default configuration.
    ///
    /// # Panics
    ///
    /// If it does not count its work; all structures of this workspace do.
    pub fn of<B: Backend + 'static>() -> Self {
        let timer = B::build();
        let meter = B::meter(&timer).expect("a structure of this workspace counts its work");
        let meter = CountingMeter::clone(meter);
        Self::new(timer, meter)
    }

    /// A structure that was built with this meter.
    pub fn new(timer: impl Timer<u64> + 'static, meter: CountingMeter) -> Self {
        Self { inner: Box::new(timer), meter, faults: Vec::new(), extra: 0 }
    }

    /// The same with faults in its operations.
    #[must_use]
    pub(crate) fn with_faults(self, faults: Vec<FaultKind>) -> Self {
        Self { faults, ..self }
    }

    /// All work so far.
    pub fn steps(&self) -> Steps {
        let mut steps = Work::ALL.map(|work| self.meter.count(work));
        steps[Work::EntryScan as usize] += self.extra;
        for fault in &self.faults {
            if let FaultKind::Miscounted(work, times) = *fault {
                steps[work as usize] *= times;
            }
        }
        Steps(steps)
    }

    /// Calls `act`; returns the work it took and its result.
    pub fn work<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> (Steps, R) {
        let before = self.steps();
        let result = act(self);
        (self.steps().since(&before), result)
    }

    /// Starts timers with these delays, each with its index as value, and returns their handles.
    pub fn fill(&mut self, delays: impl IntoIterator<Item = Tick>) -> Vec<TimerId> {
        let now = self.now();
        let timers = delays.into_iter().enumerate();
        timers.map(|(value, delay)| self.insert(now.saturating_add(delay), value as u64)).collect()
    }

    /// Advances to a tick and returns the timers that fired, as (deadline, value).
    pub fn advance_to(&mut self, now: Tick) -> Vec<(Tick, u64)> {
        let mut fired = Vec::new();
        self.advance(now, |Expired { deadline, value, .. }| fired.push((deadline, value)));
        fired
    }

    /// Advances from wake-up to wake-up until no timer is left. Returns how many timers fired, how
    /// often one was moved to a lower level, and the most moves in one call.
    pub(crate) fn run_out(&mut self) -> [u64; 3] {
        let [mut fired, mut moved, mut most] = [0; 3];
        while let Some(tick) = self.next_wakeup() {
            let (steps, of_tick) = self.work(|timer| timer.advance(tick, |_| ()));
            let moves = steps.of(Work::CascadeMove);
            (fired, moved, most) = (fired + of_tick as u64, moved + moves, most.max(moves));
        }
        [fired, moved, most]
    }

    /// Counts the steps that faults add to an operation.
    fn count_extra(&mut self, called: AffectedOperation) {
        let n = self.len() as u64;
        for fault in &self.faults {
            if let FaultKind::Costlier(operation, extra_steps) = *fault
                && operation == called
            {
                self.extra += extra_steps(n);
            }
        }
    }

    fn lateness(&self) -> Tick {
        Tick::from(self.faults.iter().any(|fault| matches!(fault, FaultKind::Late)))
    }
}

/// A [`Timer`] of any type. [`Timer::advance`] itself cannot be called on a `dyn Timer`, because
/// its callback is generic.
trait DynTimer: Timer<u64> {
    fn advance_dyn(&mut self, now: Tick, on_expiry: &mut dyn FnMut(Expired<u64>)) -> usize;
}

impl<T: Timer<u64>> DynTimer for T {
    fn advance_dyn(&mut self, now: Tick, on_expiry: &mut dyn FnMut(Expired<u64>)) -> usize {
        self.advance(now, on_expiry)
    }
}

impl Timer<u64> for CountedTimer {
    fn now(&self) -> Tick {
        self.inner.now()
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.count_extra(AffectedOperation::Insert);
        self.inner.insert(deadline, value)
    }

    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        self.count_extra(AffectedOperation::Cancel);
        self.inner.cancel(id)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        self.inner.reschedule(id, deadline)
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.inner.deadline(id)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        self.inner.next_wakeup().map(|tick| tick.saturating_add(self.lateness()))
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>> {
        self.count_extra(AffectedOperation::Fire);
        let now = now.saturating_sub(self.lateness());
        self.inner.pop_expired(now)
    }

    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<u64>)) -> usize {
        self.count_extra(AffectedOperation::Fire);
        self.inner.advance_dyn(now.saturating_sub(self.lateness()), &mut on_expiry)
    }

    fn compact(&mut self) {
        self.inner.compact();
    }
}

/// The random number generator of a seed. Its numbers are the same on every machine.
pub fn random(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

words! {
    /// The order in which timers are started, by their deadlines.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Order {
        /// All at one tick, as in the articles: many timers with the same delay.
        Equal = "all equal",
        /// Each later than all before.
        Ascending = "ascending",
        /// At random.
        Random = "random",
        /// Each earlier than all before.
        Descending = "descending",
    }
}

impl Order {
    /// n delays in this order, each at least 1. Those at random are uniform in 1 to 2^20.
    pub fn delays(self, n: u64, seed: u64) -> Vec<Tick> {
        let mut random = random(seed);
        let delay = |at: u64| match self {
            Self::Random => random.random_range(1..=LONGEST),
            Self::Ascending => 1 + at,
            Self::Descending => n - at,
            Self::Equal => LONGEST,
        };
        (0..n).map(delay).collect()
    }
}

/// The longest random delay.
pub const LONGEST: Tick = 1 << 20;
