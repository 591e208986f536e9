//! Structures that count their work, and operations on them.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::{CountingMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The work of one operation, or of many, by its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps([u64; Work::ALL.len()]);

impl Steps {
    /// The counts of a meter so far.
    pub fn counted(meter: &CountingMeter) -> Self {
        Self(Work::ALL.map(|work| meter.count(work)))
    }

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

/// A structure under test. It stores numbers and counts its work. `T` is any [`Timer`] that was
/// built with a [`CountingMeter`], by default a structure of any type.
///
/// ```
/// use wheelhouse_claims::count::CountedTimer;
/// use wheelhouse_round_wheel::RoundWheel;
/// use wheelhouse_core::{Timer, meter::CountingMeter};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // With a custom configuration ...
/// let wheel = RoundWheel::builder().slots(64).meter(CountingMeter::default()).build()?;
/// let mut counted = CountedTimer::new(wheel, RoundWheel::meter);
/// let (steps, id) = counted.work(|timer| timer.insert(100, 1));
/// assert!(steps.total() > 0);
/// // ... or in the default one.
/// let counted = CountedTimer::of::<wheelhouse_binary_heap::Definition<4>>();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CountedTimer<T = AnyTimer> {
    /// The structure.
    pub timer: T,
    meter: fn(&T) -> &CountingMeter,
}

impl CountedTimer {
    /// A structure in its default configuration.
    ///
    /// # Panics
    ///
    /// If it does not count its work; all structures of this workspace do.
    pub fn of<B: Backend + 'static>() -> Self {
        CountedTimer::new(B::build(), |timer| {
            B::meter(timer).expect("a structure of this workspace counts its work")
        })
        .boxed()
    }
}

impl<T: Timer<u64>> CountedTimer<T> {
    /// A structure that was built with a [`CountingMeter`], and the function that returns the
    /// meter.
    pub fn new(timer: T, meter: fn(&T) -> &CountingMeter) -> Self {
        Self { timer, meter }
    }

    /// The same structure behind a pointer, so that an experiment is compiled once and not for each
    /// structure.
    pub fn boxed(self) -> CountedTimer
    where
        T: 'static,
    {
        CountedTimer { timer: AnyTimer(Box::new(self)), meter: |any| any.0.meter() }
    }

    /// All work so far.
    pub fn steps(&self) -> Steps {
        Steps::counted((self.meter)(&self.timer))
    }

    /// Calls `act`; returns the work it took and its result.
    pub fn work<R>(&mut self, act: impl FnOnce(&mut T) -> R) -> (Steps, R) {
        let before = self.steps();
        let result = act(&mut self.timer);
        (self.steps().since(&before), result)
    }

    /// Starts timers with these delays, each with its index as value, and returns their handles.
    pub fn fill(&mut self, delays: impl IntoIterator<Item = Tick>) -> Vec<TimerId> {
        let now = self.timer.now();
        let timers = delays.into_iter().enumerate();
        timers
            .map(|(value, delay)| self.timer.insert(now.saturating_add(delay), value as u64))
            .collect()
    }

    /// Advances to a tick and returns the timers that fired, as (deadline, value).
    pub fn advance_to(&mut self, now: Tick) -> Vec<(Tick, u64)> {
        advance_to(&mut self.timer, now)
    }

    /// The mean number of steps of an operation that is repeated `times` times.
    pub fn mean(&mut self, times: u64, mut act: impl FnMut(&mut T, u64)) -> f64 {
        let (steps, ()) = self.work(|timer| (0..times).for_each(|time| act(timer, time)));
        steps.total() as f64 / times as f64
    }
}

pub(crate) fn advance_to(timer: &mut impl Timer<u64>, now: Tick) -> Vec<(Tick, u64)> {
    let mut fired = Vec::new();
    timer.advance(now, |Expired { deadline, value, .. }| fired.push((deadline, value)));
    fired
}

/// A structure of any type under test. [`Timer`] itself is not dyn compatible, because its callback
/// is generic.
pub struct AnyTimer(Box<dyn DynTimer>);

impl AnyTimer {
    /// Advances to a tick and returns the timers that fired, as (deadline, value).
    pub fn advance_to(&mut self, now: Tick) -> Vec<(Tick, u64)> {
        advance_to(self, now)
    }

    /// Moves the clock and fires the earliest timer that is due, if any: (deadline, value).
    pub fn pop(&mut self, now: Tick) -> Option<(Tick, u64)> {
        self.pop_expired(now).map(|Expired { deadline, value, .. }| (deadline, value))
    }
}

impl std::fmt::Debug for AnyTimer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyTimer").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The operations of a [`CountedTimer`], without type parameters.
trait DynTimer {
    fn meter(&self) -> &CountingMeter;
    fn now(&self) -> Tick;
    fn len(&self) -> usize;
    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId;
    fn cancel(&mut self, id: TimerId) -> Option<u64>;
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool;
    fn deadline(&self, id: TimerId) -> Option<Tick>;
    fn next_wakeup(&self) -> Option<Tick>;
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>>;
    fn advance(&mut self, now: Tick, on_expiry: &mut dyn FnMut(Expired<u64>)) -> usize;
    fn compact(&mut self);
}

impl<T: Timer<u64>> DynTimer for CountedTimer<T> {
    fn meter(&self) -> &CountingMeter {
        (self.meter)(&self.timer)
    }

    fn now(&self) -> Tick {
        self.timer.now()
    }

    fn len(&self) -> usize {
        self.timer.len()
    }

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.timer.insert(deadline, value)
    }

    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        self.timer.cancel(id)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        self.timer.reschedule(id, deadline)
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timer.deadline(id)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        self.timer.next_wakeup()
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>> {
        self.timer.pop_expired(now)
    }

    fn advance(&mut self, now: Tick, on_expiry: &mut dyn FnMut(Expired<u64>)) -> usize {
        self.timer.advance(now, on_expiry)
    }

    fn compact(&mut self) {
        self.timer.compact();
    }
}

impl Timer<u64> for AnyTimer {
    fn now(&self) -> Tick {
        self.0.now()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.0.insert(deadline, value)
    }

    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        self.0.cancel(id)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        self.0.reschedule(id, deadline)
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.0.deadline(id)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        self.0.next_wakeup()
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>> {
        self.0.pop_expired(now)
    }

    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<u64>)) -> usize {
        self.0.advance(now, &mut on_expiry)
    }

    fn compact(&mut self) {
        self.0.compact();
    }
}

/// The costs of many operations of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs(Vec<u64>);

impl Costs {
    /// Adds an operation.
    pub fn add(&mut self, cost: u64) {
        self.0.push(cost);
    }

    /// The number of operations so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there is no operation yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mean cost; NaN without operations.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<u64>() as f64 / self.0.len() as f64
    }

    /// The cost that a share of the operations, such as 0.99, does not exceed; 0 without
    /// operations. O(n).
    pub fn quantile(&self, share: f64) -> u64 {
        let mut sorted = self.0.clone();
        let rank = (share * sorted.len() as f64).ceil() as usize;
        let at = rank.clamp(1, sorted.len().max(1)) - 1;
        if sorted.is_empty() { 0 } else { *sorted.select_nth_unstable(at).1 }
    }

    /// The cost of the most expensive operation; 0 without operations.
    pub fn max(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

impl Extend<u64> for Costs {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, costs: I) {
        self.0.extend(costs);
    }
}

impl FromIterator<u64> for Costs {
    fn from_iter<I: IntoIterator<Item = u64>>(costs: I) -> Self {
        Self(costs.into_iter().collect())
    }
}

/// The random number generator of a seed. Its numbers are the same on every machine.
pub fn random(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

/// The order in which timers are started, by their deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// At random.
    Random,
    /// Each later than all before.
    Ascending,
    /// Each earlier than all before.
    Descending,
    /// All at one tick.
    Equal,
    /// All in one slot of a wheel with this number of slots.
    SameSlot(u64),
}

impl Order {
    /// The name in tables.
    pub fn name(self) -> String {
        match self {
            Self::Random => "random".to_owned(),
            Self::Ascending => "ascending".to_owned(),
            Self::Descending => "descending".to_owned(),
            Self::Equal => "all equal".to_owned(),
            Self::SameSlot(slots) => format!("all = c mod {slots}"),
        }
    }

    /// n delays in this order, each at least 1. Those at random are uniform in 1 to 2^20.
    pub fn delays(self, n: u64, seed: u64) -> Vec<Tick> {
        let mut random = random(seed);
        let delay = |at: u64| match self {
            Self::Random => random.random_range(1..=LONGEST),
            Self::Ascending => 1 + at,
            Self::Descending => n - at,
            Self::Equal => LONGEST,
            Self::SameSlot(slots) => (1 + random.random_range(0..LONGEST / slots)) * slots,
        };
        (0..n).map(delay).collect()
    }
}

/// The longest random delay.
pub const LONGEST: Tick = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_a_mean_a_quantile_and_a_maximum() {
        let costs: Costs = (1..=100).collect();
        assert_eq!(
            (costs.mean(), costs.quantile(0.99), costs.quantile(1.0), costs.max()),
            (50.5, 99, 100, 100)
        );
        assert_eq!((Costs::default().quantile(0.5), Costs::default().max()), (0, 0));
    }

    #[test]
    fn delays_are_in_the_order_of_their_name() {
        assert_eq!(Order::Ascending.delays(4, 1), [1, 2, 3, 4]);
        assert_eq!(Order::Descending.delays(4, 1), [4, 3, 2, 1]);
        assert!(
            Order::SameSlot(256).delays(100, 1).iter().all(|delay| delay % 256 == 0 && *delay > 0)
        );
        assert_ne!(Order::Random.delays(4, 1), Order::Random.delays(4, 2));
    }
}
