//! Shared steps of many experiments: filling structures and driving them.

use crate::count::{Costs, CountedTimer, Order, Steps, random};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer, TimerId};

/// The work at one wake-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wakeup {
    pub(super) tick: Tick,
    /// Timers that fired.
    pub(super) fired: u64,
    /// Timers that were moved to a lower level.
    pub(super) moved: u64,
}

/// Advances from wake-up to wake-up until no timer is left.
pub(super) fn wakeups<T: Timer<u64>>(counted: &mut CountedTimer<T>) -> Vec<Wakeup> {
    let mut wakeups = Vec::new();
    while let Some(tick) = counted.timer.next_wakeup() {
        let (steps, fired) = counted.work(|timer| timer.advance(tick, |_| ()));
        wakeups.push(Wakeup { tick, fired: fired as u64, moved: steps.of(Work::CascadeMove) });
    }
    wakeups
}

/// Advances to each tick from `from` to `to`. Returns (tick of firing, value) of each timer.
pub(super) fn advance_by_ticks(
    timer: &mut impl Timer<u64>,
    from: Tick,
    to: Tick,
) -> Vec<(Tick, u64)> {
    let mut fired = Vec::new();
    for tick in from..=to {
        timer.advance(tick, |expired| fired.push((tick, expired.value)));
    }
    fired
}

/// Advances to each wake-up until no timer is left. Returns the ticks of the calls, and (tick of
/// firing, value) of each timer.
pub(super) fn advance_by_wakeups(timer: &mut impl Timer<u64>) -> (Vec<Tick>, Vec<(Tick, u64)>) {
    let (mut calls, mut fired) = (Vec::new(), Vec::new());
    while let Some(tick) = timer.next_wakeup() {
        calls.push(tick);
        timer.advance(tick, |expired| fired.push((tick, expired.value)));
    }
    (calls, fired)
}

/// A random value in part `part` of `parts` equal parts of a range, so that every part is covered.
pub(super) fn in_part(part: u64, parts: u64, range: u64, random: &mut Pcg64Mcg) -> u64 {
    (part * range + random.random_range(0..range)) / parts
}

/// Starts n timers, stops a random half and compacts. Returns the mean steps of a start, over the
/// second half, and of a stop, compaction included.
pub(super) fn start_and_stop<T: Timer<u64>>(
    mut counted: CountedTimer<T>,
    order: Order,
    n: u64,
    seed: u64,
) -> [f64; 2] {
    let (half, delays) = (n as usize / 2, order.delays(n, seed));
    let mut ids = counted.fill(delays[..half].iter().copied());
    let (start, others) = (counted.steps(), counted.fill(delays[half..].iter().copied()));
    let start = counted.steps().since(&start);
    ids.extend(others);
    ids.shuffle(&mut random(seed));
    let before = counted.steps();
    ids[..half].iter().for_each(|id| _ = counted.timer.cancel(*id));
    counted.timer.compact();
    let stop = counted.steps().since(&before);
    [start, stop].map(|steps| steps.total() as f64 / half as f64)
}

/// The mean of a cost over several structures if n is small, so that the shape of a single one does
/// not decide.
pub(super) fn mean_over_copies<const K: usize>(
    enough: u64,
    n: u64,
    seed: u64,
    mut sample: impl FnMut(u64) -> [f64; K],
) -> [f64; K] {
    let copies = (enough / n).max(1);
    let mut sums = [0.0; K];
    for copy in 0..copies {
        let of_one = sample(seed << 32 | copy);
        sums.iter_mut().zip(of_one).for_each(|(sum, of_one)| *sum += of_one);
    }
    sums.map(|sum| sum / copies as f64)
}

/// The longest delay of the hold model: timers rarely share a tick.
const LONGEST: Tick = 1 << 40;
/// Turns of a sample. They are divided among several structures, so that each makes few turns for
/// its size and keeps the distribution it was filled with.
const TURNS: u64 = 4_096;
/// The least number of timers in all structures of a sample together.
const ENOUGH: u64 = 1 << 16;

/// The steps of each operation of a sample in the hold model, in which ordered structures are
/// compared.
///
/// About n timers stay live while some are popped and inserted, cancelled or moved. Delays are
/// uniform. At a random moment the rest of a delay is distributed as the smaller of two delays;
/// structures are filled with this distribution, so the model is in its steady state from the first
/// operation on. Operations of one kind follow each other. In the classic model an insertion
/// follows each pop; a heap, which uses its last place for both, then takes the same path to the
/// root every time.
#[derive(Clone, Debug, Default)]
pub(super) struct HoldSteps {
    /// Popping the first timer.
    pub(super) pop: Vec<Steps>,
    /// Inserting a timer.
    pub(super) insert: Vec<Steps>,
    /// Cancelling a random timer by its handle.
    pub(super) cancel: Vec<Steps>,
    /// Moving a random timer by its handle.
    pub(super) reschedule: Vec<Steps>,
}

impl HoldSteps {
    /// Runs the model on structures of n timers.
    pub(super) fn of<T: Timer<u64>>(
        build: impl Fn() -> CountedTimer<T>,
        n: u64,
        seed: u64,
    ) -> Self {
        let copies = (ENOUGH / n).max(1);
        let mut log = Self::default();
        for copy in 0..copies {
            HoldModel::new(build(), n, seed << 32 | copy).turns(TURNS / copies, &mut log);
        }
        log
    }

    /// The mean steps of an insertion, a cancellation, a move, and a pop.
    pub(super) fn means(&self) -> [f64; 4] {
        [&self.insert, &self.cancel, &self.reschedule, &self.pop].map(|kind| totals(kind).mean())
    }

    /// The steps of pairs of a pop and an insertion. It does not matter which insertion is in which
    /// pair.
    pub(super) fn pop_and_insert(&self) -> Costs {
        let pairs = self.pop.iter().zip(self.insert.iter().step_by(2));
        pairs.map(|(pop, insert)| pop.total() + insert.total()).collect()
    }
}

/// The total steps of each operation.
pub(super) fn totals(operations: &[Steps]) -> Costs {
    operations.iter().map(Steps::total).collect()
}

/// The mean steps of a pop, over all pops until none of n timers is left. The first few alone would
/// depend on how the structure begins.
pub(super) fn mean_pop_until_empty<T: Timer<u64>>(
    build: impl Fn() -> CountedTimer<T>,
    n: u64,
    seed: u64,
) -> f64 {
    let [mean] = mean_over_copies(ENOUGH, n, seed, |seed| {
        let (mut model, mut log) = (HoldModel::new(build(), n, seed), HoldSteps::default());
        (0..n).for_each(|_| _ = model.pop(&mut log));
        [totals(&log.pop).mean()]
    });
    mean
}

struct HoldModel<T> {
    counted: CountedTimer<T>,
    /// The handle of each timer. The value of a timer is its index here.
    ids: Vec<TimerId>,
    random: Pcg64Mcg,
}

impl<T: Timer<u64>> HoldModel<T> {
    fn new(mut counted: CountedTimer<T>, n: u64, seed: u64) -> Self {
        let mut random = random(seed);
        let ids = counted.fill((0..n).map(|_| delay(&mut random).min(delay(&mut random))));
        Self { counted, ids, random }
    }

    /// Pops `turns` timers and inserts as many, cancels `turns` timers and inserts as many, then
    /// moves `turns` timers.
    fn turns(&mut self, turns: u64, log: &mut HoldSteps) {
        let popped: Vec<u64> = (0..turns).map(|_| self.pop(log)).collect();
        popped.into_iter().for_each(|value| self.insert(value, log));
        let cancelled = self.spread_indices(turns);
        for value in &cancelled {
            let id = self.ids[*value as usize];
            log.cancel.push(self.counted.work(|timer| timer.cancel(id)).0);
        }
        cancelled.into_iter().for_each(|value| self.insert(value, log));
        for value in self.spread_indices(turns) {
            let (id, deadline) = (self.ids[value as usize], self.deadline());
            log.reschedule.push(self.counted.work(|timer| timer.reschedule(id, deadline)).0);
        }
    }

    /// Pops the first timer. A wheel may first wake to cascade it.
    fn pop(&mut self, log: &mut HoldSteps) -> u64 {
        let before = self.counted.steps();
        loop {
            let next = self.counted.timer.next_wakeup().expect("n timers are live");
            if let Some(fired) = self.counted.timer.pop_expired(next) {
                log.pop.push(self.counted.steps().since(&before));
                return fired.value;
            }
        }
    }

    fn insert(&mut self, value: u64, log: &mut HoldSteps) {
        let deadline = self.deadline();
        let (steps, id) = self.counted.work(|timer| timer.insert(deadline, value));
        log.insert.push(steps);
        self.ids[value as usize] = id;
    }

    fn deadline(&mut self) -> Tick {
        self.counted.timer.now() + delay(&mut self.random)
    }

    /// The indices of `count` timers, as far apart as possible.
    fn spread_indices(&mut self, count: u64) -> Vec<u64> {
        let n = self.ids.len() as u64;
        let from = self.random.random_range(0..n);
        (0..count).map(|at| (from + at * (n / count)) % n).collect()
    }
}

/// A random delay of the hold model.
pub(super) fn delay(random: &mut Pcg64Mcg) -> Tick {
    random.random_range(1..=LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scale, Setup};

    #[test]
    fn each_wheel_fires_the_same_by_wakeups_and_by_ticks() {
        let setup = Setup::new(&Scale::REDUCED);
        for name in ["single-wheel", "hashed-wheel", "round-wheel", "list-wheel", "kafka-wheel"] {
            let filled = || {
                let mut counted = setup.build_with_slots(name, 64);
                counted.fill([7, 300, 300, 5_000]);
                counted
            };
            let expected = [(7, 0), (300, 1), (300, 2), (5_000, 3)];
            assert_eq!(advance_by_wakeups(&mut filled().timer).1, expected, "{name}");
            assert_eq!(advance_by_ticks(&mut filled().timer, 1, 5_000), expected, "{name}");
            assert_eq!(wakeups(&mut filled()).iter().map(|it| it.fired).sum::<u64>(), 4);
        }
    }

    #[test]
    fn the_distribution_of_remaining_delays_is_stable() {
        let setup = Setup::new(&Scale::REDUCED);
        let mut model = HoldModel::new(setup.build("btree-map"), 1 << 12, 1);
        let mean_left = |model: &HoldModel<crate::count::AnyTimer>| {
            let timer = &model.counted.timer;
            let deadlines = model.ids.iter().filter_map(|id| timer.deadline(*id));
            let left = deadlines.map(|deadline| (deadline - timer.now()) as f64).sum::<f64>();
            left / model.ids.len() as f64 / LONGEST as f64
        };
        let (before, mut log) = (mean_left(&model), HoldSteps::default());
        model.turns(1 << 8, &mut log);
        // The smaller of two uniform delays is a third of the longest on average.
        assert!((before - 1.0 / 3.0).abs() < 0.02, "{before}");
        assert!((mean_left(&model) - before).abs() < 0.1);
        assert_eq!(
            (log.pop.len(), log.insert.len(), log.pop_and_insert().len()),
            (1 << 8, 2 << 8, 1 << 8)
        );
    }
}
