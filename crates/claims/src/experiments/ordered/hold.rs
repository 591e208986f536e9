//! The hold model, in which structures with an order are compared: about n timers stay, while some are taken out and put in, cancelled or moved.
//!
//! Delays are uniform. A timer that is looked at when many have come and gone has part of its delay behind it, and what is left of a uniform delay is
//! distributed as the lesser of two. So that is what a structure is filled with, and the model is in its steady state from the first operation on.
//!
//! Operations of one kind follow each other, up to a sixteenth of n. In the classic model each one out is followed by one in; then a heap, which takes the last place for both, goes the same
//! way to the root every time, and what it meets there is soon earlier than all that come: it would look cheaper the longer one looks.

use crate::Scale;
use crate::count::{Probe, Steps, Tally, random};
use crate::growth::Curve;
pub(super) use crate::growth::curves;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer, TimerId};

/// The longest delay: so long that hardly two timers are due at one tick.
pub(super) const LONGEST: Tick = 1 << 40;

/// So many turns are a sample. They are shared out among structures of n timers, each of which has few turns for its size and so stays as it was filled.
const TURNS: u64 = 4_096;

/// The structures of a sample hold so many timers together, at least: what one small structure happens to look like is not to decide.
const ENOUGH: u64 = 1 << 16;

/// The least size, as a power of two. In smaller structures a good part of all timers is near the root, or the end, which costs less: that each size costs more than the
/// last is not growth then, and comes to an end.
const LEAST: u32 = 10;

/// What the operations of a sample took, each on its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Taking the first out.
    pub(super) pop: Vec<Steps>,
    /// Putting another in: half of them for those that were popped, half for those that were cancelled.
    pub(super) insert: Vec<Steps>,
    /// Taking any out by its handle.
    pub(super) cancel: Vec<Steps>,
    /// Moving any by its handle.
    pub(super) reschedule: Vec<Steps>,
}

impl Log {
    /// A pop and the insertion that follows it, as one operation.
    pub(super) fn holds(&self) -> Tally {
        // Of each structure's insertions the first half are for the popped; which is which does not matter.
        self.pop
            .iter()
            .zip(self.insert.iter().step_by(2))
            .map(|(pop, insert)| pop.total() + insert.total())
            .collect()
    }
}

/// The steps of operations, of whichever kind.
pub(super) fn totals(operations: &[Steps]) -> Tally {
    operations.iter().map(Steps::total).collect()
}

/// Runs the model on structures of n timers, which are built for a seed each.
pub(super) fn hold<T: Timer<u64>>(build: impl Fn(u64) -> Probe<T>, n: u64, seed: u64) -> Log {
    let copies = (ENOUGH / n).max(1);
    let mut log = Log::default();
    for copy in 0..copies {
        let seed = seed << 32 | copy;
        let mut model = Hold::new(build(seed), n, seed);
        model.turns(TURNS / copies, &mut log);
    }
    log
}

/// Mean steps to take the first out, until none of n is left. All of them: what the first few cost depends on how the structure looks at its edge, which in a
/// small tree is another than in a large one.
pub(super) fn drain<T: Timer<u64>>(build: impl Fn(u64) -> Probe<T>, n: u64, seed: u64) -> f64 {
    let copies = (ENOUGH / n).max(1);
    let of_copy = |copy| {
        let seed = seed << 32 | copy;
        let mut model = Hold::new(build(seed), n, seed);
        let mut log = Log::default();
        (0..n).for_each(|_| _ = model.pop(&mut log));
        totals(&log.pop).mean()
    };
    (0..copies).map(of_copy).sum::<f64>() / copies as f64
}

struct Hold<T> {
    probe: Probe<T>,
    /// The handle of each timer, whose value is its number here.
    ids: Vec<TimerId>,
    random: Pcg64Mcg,
}

impl<T: Timer<u64>> Hold<T> {
    fn new(mut probe: Probe<T>, n: u64, seed: u64) -> Self {
        let mut random = random(seed);
        let ids = probe.fill((0..n).map(|_| delay(&mut random).min(delay(&mut random))));
        Self { probe, ids, random }
    }

    /// Takes so many out and puts as many in, cancels so many and puts as many in, and moves so many.
    fn turns(&mut self, turns: u64, log: &mut Log) {
        let popped: Vec<u64> = (0..turns).map(|_| self.pop(log)).collect();
        popped.into_iter().for_each(|value| self.insert(value, log));
        let cancelled = self.any(turns);
        for value in &cancelled {
            let id = self.ids[*value as usize];
            log.cancel.push(self.probe.work(|timer| timer.cancel(id)).0);
        }
        cancelled.into_iter().for_each(|value| self.insert(value, log));
        for value in self.any(turns) {
            let (id, deadline) = (self.ids[value as usize], self.deadline());
            log.reschedule.push(self.probe.work(|timer| timer.reschedule(id, deadline)).0);
        }
    }

    /// Takes the first out.
    fn pop(&mut self, log: &mut Log) -> u64 {
        let first = self.probe.timer.next_wakeup().expect("n timers are live");
        let (steps, fired) = self.probe.work(|timer| timer.pop_expired(first));
        log.pop.push(steps);
        fired.expect("a structure in order wakes for its first timer").value
    }

    fn insert(&mut self, value: u64, log: &mut Log) {
        let deadline = self.deadline();
        let (steps, id) = self.probe.work(|timer| timer.insert(deadline, value));
        log.insert.push(steps);
        self.ids[value as usize] = id;
    }

    fn deadline(&mut self) -> Tick {
        self.probe.timer.now() + delay(&mut self.random)
    }

    /// The numbers of so many timers, as far apart as can be.
    fn any(&mut self, count: u64) -> Vec<u64> {
        let n = self.ids.len() as u64;
        let from = self.random.random_range(0..n);
        (0..count).map(|at| (from + at * (n / count)) % n).collect()
    }
}

/// A delay from 1 to [`LONGEST`].
pub(super) fn delay(random: &mut Pcg64Mcg) -> Tick {
    random.random_range(1..=LONGEST)
}

/// The sizes of a scale, all so many times larger that the least is at least [`LEAST`].
pub(super) fn sizes(scale: &Scale) -> Vec<u64> {
    let up = LEAST.saturating_sub(scale.from);
    (scale.from + up..=scale.to + up).map(|bits| 1 << bits).collect()
}

/// The largest of [`sizes`].
pub(super) fn largest(scale: &Scale) -> u64 {
    1 << (scale.to + LEAST.saturating_sub(scale.from))
}

/// The greatest of a curve, at whichever size and seed.
pub(super) fn greatest(curve: &Curve) -> f64 {
    curve.0.iter().flat_map(|sample| &sample.costs).copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_baselines::OrderedMapDefinition;

    /// What is left of the delays, on average, as a part of the longest.
    fn mean_left<T: Timer<u64>>(model: &Hold<T>) -> f64 {
        let timer = &model.probe.timer;
        let left = model
            .ids
            .iter()
            .filter_map(|id| timer.deadline(*id))
            .map(|deadline| (deadline - timer.now()) as f64);
        left.sum::<f64>() / model.ids.len() as f64 / LONGEST as f64
    }

    #[test]
    fn what_is_left_of_the_delays_stays_as_it_was_filled() {
        let mut model = Hold::new(Probe::of::<OrderedMapDefinition>(), 1 << 12, 1);
        let before = mean_left(&model);
        let mut log = Log::default();
        model.turns(1 << 8, &mut log);
        // The lesser of two uniform delays is a third of the longest on average.
        assert!((before - 1.0 / 3.0).abs() < 0.02, "{before}");
        assert!((mean_left(&model) - before).abs() < 0.1);
        assert_eq!((log.pop.len(), log.insert.len(), log.holds().len()), (1 << 8, 2 << 8, 1 << 8));
        assert_eq!(model.probe.timer.len(), 1 << 12);
    }

    #[test]
    fn curves_are_taken_from_one_run() {
        let mut runs = 0;
        let [n, seeds] =
            curves(&[2, 4], (Scale { seeds: 2, ..Scale::REDUCED }).seeds(), |n, seed| {
                runs += 1;
                [n as f64, seed as f64]
            });
        assert_eq!(
            (runs, n.points(), seeds.points()),
            (4, vec![(2.0, 2.0), (4.0, 4.0)], vec![(2.0, 1.5), (4.0, 1.5)])
        );
        assert_eq!(greatest(&seeds), 2.0);
    }
}
