//! Shared steps of many experiments: filling structures and driving them.

use crate::count::{CountedTimer, Order, random};
use crate::growth::mean;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer, TimerId};

/// The work at one wake-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wakeup {
    /// Timers that fired.
    pub(super) fired: u64,
    /// Timers that were moved to a lower level.
    pub(super) moved: u64,
}

/// Advances from wake-up to wake-up until no timer is left.
pub(super) fn wakeups(counted: &mut CountedTimer) -> Vec<Wakeup> {
    let mut wakeups = Vec::new();
    while let Some(tick) = counted.next_wakeup() {
        let (steps, fired) = counted.work(|timer| timer.advance(tick, |_| ()));
        wakeups.push(Wakeup { fired: fired as u64, moved: steps.of(Work::CascadeMove) });
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

/// A random value in part `part` of `parts` equal parts of a range, so that every part is covered.
pub(super) fn in_part(part: u64, parts: u64, range: u64, random: &mut Pcg64Mcg) -> u64 {
    (part * range + random.random_range(0..range)) / parts
}

/// Starts n timers, stops a random half and compacts. Returns the mean steps of a start, over the
/// second half, and of a stop, compaction included.
pub(super) fn start_and_stop(
    mut counted: CountedTimer,
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
    ids[..half].iter().for_each(|id| _ = counted.cancel(*id));
    counted.compact();
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
/// About n timers stay live while some are popped or cancelled, and inserted. Delays are
/// uniform. At a random moment the rest of a delay is distributed as the smaller of two delays;
/// structures are filled with this distribution, so the model is in its steady state from the first
/// operation on. Operations of one kind follow each other. In the classic model an insertion
/// follows each pop; a heap, which uses its last place for both, then takes the same path to the
/// root every time.
#[derive(Clone, Debug, Default)]
pub(super) struct HoldSteps {
    /// Popping the first timer.
    pub(super) pop: Vec<f64>,
    /// Inserting a timer.
    pub(super) insert: Vec<f64>,
    /// Cancelling a random timer by its handle.
    pub(super) cancel: Vec<f64>,
}

impl HoldSteps {
    /// Runs the model on structures of n timers.
    pub(super) fn of(build: impl Fn() -> CountedTimer, n: u64, seed: u64) -> Self {
        let copies = (ENOUGH / n).max(1);
        let mut log = Self::default();
        for copy in 0..copies {
            HoldModel::new(build(), n, seed << 32 | copy).turns(TURNS / copies, &mut log);
        }
        log
    }

    /// The mean steps of an insertion, a cancellation, and a pop.
    pub(super) fn means(&self) -> [f64; 3] {
        [&self.insert, &self.cancel, &self.pop].map(|steps| mean(steps))
    }

    /// The steps of pairs of a pop and an insertion. It does not matter which insertion is in which
    /// pair.
    pub(super) fn pop_and_insert(&self) -> Vec<f64> {
        let pairs = self.pop.iter().zip(self.insert.iter().step_by(2));
        pairs.map(|(pop, insert)| pop + insert).collect()
    }
}

/// The mean steps of a pop, over all pops until none of n timers is left. The first few alone would
/// depend on how the structure begins.
pub(super) fn mean_pop_until_empty(build: impl Fn() -> CountedTimer, n: u64, seed: u64) -> f64 {
    let [all] = mean_over_copies(ENOUGH, n, seed, |seed| {
        let (mut model, mut log) = (HoldModel::new(build(), n, seed), HoldSteps::default());
        (0..n).for_each(|_| _ = model.pop(&mut log));
        [mean(&log.pop)]
    });
    all
}

struct HoldModel {
    counted: CountedTimer,
    /// The handle of each timer. The value of a timer is its index here.
    ids: Vec<TimerId>,
    random: Pcg64Mcg,
}

impl HoldModel {
    fn new(mut counted: CountedTimer, n: u64, seed: u64) -> Self {
        let mut random = random(seed);
        let ids = counted.fill((0..n).map(|_| delay(&mut random).min(delay(&mut random))));
        Self { counted, ids, random }
    }

    /// Pops `turns` timers and inserts as many, then cancels `turns` timers and inserts as many.
    fn turns(&mut self, turns: u64, log: &mut HoldSteps) {
        let popped: Vec<u64> = (0..turns).map(|_| self.pop(log)).collect();
        popped.into_iter().for_each(|value| self.insert(value, log));
        let cancelled = self.spread_indices(turns);
        for value in &cancelled {
            let id = self.ids[*value as usize];
            log.cancel.push(self.counted.work(|timer| timer.cancel(id)).0.total() as f64);
        }
        cancelled.into_iter().for_each(|value| self.insert(value, log));
    }

    /// Pops the first timer. A wheel may first wake to cascade it.
    fn pop(&mut self, log: &mut HoldSteps) -> u64 {
        let before = self.counted.steps();
        loop {
            let next = self.counted.next_wakeup().expect("n timers are live");
            if let Some(fired) = self.counted.pop_expired(next) {
                log.pop.push(self.counted.steps().since(&before).total() as f64);
                return fired.value;
            }
        }
    }

    fn insert(&mut self, value: u64, log: &mut HoldSteps) {
        let deadline = self.deadline();
        let (steps, id) = self.counted.work(|timer| timer.insert(deadline, value));
        log.insert.push(steps.total() as f64);
        self.ids[value as usize] = id;
    }

    fn deadline(&mut self) -> Tick {
        self.counted.now() + delay(&mut self.random)
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
    fn the_distribution_of_remaining_delays_is_stable() {
        let setup = Setup::new(&Scale::REDUCED);
        let mut model = HoldModel::new(setup.build("btree-map"), 1 << 12, 1);
        let mean_left = |model: &HoldModel| {
            let timer = &model.counted;
            let deadlines = model.ids.iter().filter_map(|id| timer.deadline(*id));
            let left = deadlines.map(|deadline| (deadline - timer.now()) as f64).sum::<f64>();
            left / model.ids.len() as f64 / LONGEST as f64
        };
        let (before, mut log) = (mean_left(&model), HoldSteps::default());
        model.turns(1 << 8, &mut log);
        // The smaller of two uniform delays is a third of the longest on average.
        assert!((before - 1.0 / 3.0).abs() < 0.02, "{before}");
        assert!((mean_left(&model) - before).abs() < 0.1);
        assert_eq!((log.pop.len(), log.insert.len()), (1 << 8, 2 << 8));
    }
}
