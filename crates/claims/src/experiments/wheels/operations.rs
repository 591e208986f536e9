//! What single operations cost among n timers, each on average over some thousand.

use crate::count::{Probe, random};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use wheelhouse_core::{Tick, Timer, TimerId};

/// Operations that are counted together: as many as hierarchical-wheel accounts for together.
const BATCH: usize = 32;
/// Such batches of a sample.
const BATCHES: usize = 128;
/// Timers that are due first of all and stay: so many that no batch could empty their slot, before which hierarchical-wheel would account for fewer together.
const ANCHORS: usize = 2 * BATCH;

/// Deadlines up to `longest` and one, at random.
fn deadlines(count: u64, longest: Tick, random: &mut Pcg64Mcg) -> Vec<Tick> {
    (0..count).map(|_| 2 + random.random_range(0..longest)).collect()
}

/// Fills a structure whose clock is at 0 with n timers at random deadlines, and those that stay. The latest goes first: where slots are sorted, each is
/// then before all others and nothing is searched. The handles of the n.
fn fill<T: Timer<u64>>(
    probe: &mut Probe<T>,
    n: u64,
    longest: Tick,
    random: &mut Pcg64Mcg,
) -> Vec<TimerId> {
    let mut delays = deadlines(n, longest, random);
    delays.sort_unstable_by(|one, other| other.cmp(one));
    let ids = probe.fill(delays);
    probe.fill([1; ANCHORS]);
    ids
}

/// Takes handles at random out of those of the live timers.
fn draw(ids: &mut Vec<TimerId>, random: &mut Pcg64Mcg) -> Vec<TimerId> {
    (0..BATCH).map(|_| ids.swap_remove(random.random_range(0..ids.len()))).collect()
}

/// Does a number of batches, with a structure that is filled anew after each few: no more than an eighth of its timers are touched, so that what the
/// touched leave behind does not count.
fn sample<T: Timer<u64>, const K: usize>(
    build: impl Fn() -> Probe<T>,
    (n, longest, seed): (u64, Tick, u64),
    mut batch: impl FnMut(&mut Probe<T>, &mut Vec<TimerId>, &mut Pcg64Mcg) -> [u64; K],
) -> [f64; K] {
    let mut random = random(seed);
    let batches = (n as usize / 8 / BATCH).clamp(1, BATCHES);
    let mut work = [0; K];
    for _ in 0..BATCHES / batches {
        let mut probe = build();
        let mut ids = fill(&mut probe, n, longest, &mut random);
        for _ in 0..batches {
            let done = batch(&mut probe, &mut ids, &mut random);
            work.iter_mut().zip(done).for_each(|(sum, done)| *sum += done);
        }
    }
    work.map(|work| work as f64 / (BATCH * (BATCHES / batches) * batches) as f64)
}

/// Mean work of an insertion and of a cancellation by handle among n timers with deadlines up to `longest`. As many come as go.
pub(super) fn insert_and_cancel<T: Timer<u64>>(
    build: impl Fn() -> Probe<T>,
    n: u64,
    longest: Tick,
    seed: u64,
) -> [f64; 2] {
    sample(build, (n, longest, seed), |probe, ids, random| {
        let gone = draw(ids, random);
        let (cancelling, ()) =
            probe.work(|timer| gone.into_iter().for_each(|id| _ = timer.cancel(id)));
        let new = deadlines(BATCH as u64, longest, random);
        let (inserting, new) =
            probe.work(|timer| new.into_iter().map(|at| timer.insert(at, 0)).collect::<Vec<_>>());
        ids.extend(new);
        [inserting.total(), cancelling.total()]
    })
}

/// Mean work of moving a timer to another random deadline, among n timers with deadlines up to `longest`.
pub(super) fn reschedule<T: Timer<u64>>(
    build: impl Fn() -> Probe<T>,
    n: u64,
    longest: Tick,
    seed: u64,
) -> f64 {
    let [work] = sample(build, (n, longest, seed), |probe, ids, random| {
        let moved = draw(ids, random);
        let to = deadlines(BATCH as u64, longest, random);
        let (work, ()) = probe
            .work(|timer| moved.iter().zip(to).for_each(|(id, to)| _ = timer.reschedule(*id, to)));
        ids.extend(moved);
        [work.total()]
    });
    work
}

/// A key that counts how often it is compared with another.
struct Key<'a> {
    number: u64,
    comparisons: &'a Cell<u64>,
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.comparisons.set(self.comparisons.get() + 1);
        self.number == other.number
    }
}

impl Eq for Key<'_> {}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

/// Mean work of cancelling by key, among n timers with deadlines up to `longest`: the comparisons of a hash map from key to handle, and what the structure does with the
/// handle. A timer comes for each that goes.
#[expect(
    clippy::mutable_key_type,
    reason = "a key is equal and hashed by its number, whatever was counted"
)]
pub(super) fn cancel_by_key<T: Timer<u64>>(
    mut probe: Probe<T>,
    n: u64,
    longest: Tick,
    seed: u64,
) -> f64 {
    let (mut random, comparisons) = (random(seed), Cell::new(0));
    let key = |number: u64| Key { number, comparisons: &comparisons };
    // A hasher without a secret of its own: the counts are to be the same each time.
    let mut handles: HashMap<Key<'_>, TimerId, BuildHasherDefault<DefaultHasher>> =
        HashMap::default();
    handles.reserve(n as usize);
    let ids = fill(&mut probe, n, longest, &mut random);
    handles.extend(ids.into_iter().enumerate().map(|(number, id)| (key(number as u64), id)));
    let mut work = 0;
    for _ in 0..BATCH * BATCHES {
        let number = random.random_range(0..n);
        let before = comparisons.get();
        let id = handles.remove(&key(number)).expect("each number is a key");
        work += comparisons.get() - before + probe.work(|timer| timer.cancel(id)).0.total();
        let id = probe.timer.insert(2 + random.random_range(0..longest), number);
        handles.insert(key(number), id);
    }
    work as f64 / (BATCH * BATCHES) as f64
}

/// Mean links followed to find a timer in the list of its slot, over all of n timers at random in so many slots.
pub(super) fn search_of_slot(n: u64, slots: u64, seed: u64) -> f64 {
    let mut random = random(seed);
    let slot_of: Vec<usize> = (0..n).map(|_| random.random_range(0..slots) as usize).collect();
    let mut lists = vec![Vec::new(); slots as usize];
    slot_of.iter().enumerate().for_each(|(timer, slot)| lists[*slot].push(timer));
    let links = |(timer, slot): (usize, &usize)| {
        lists[*slot].iter().take_while(|other| **other != timer).count() as u64 + 1
    };
    slot_of.iter().enumerate().map(links).sum::<u64>() as f64 / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::configured;

    #[test]
    fn an_insertion_into_one_wheel_writes_its_links_and_so_does_a_cancellation() {
        assert_eq!(
            insert_and_cancel(|| configured::single_wheel(4_096), 1_000, 4_000, 1),
            [4.0, 2.0]
        );
        assert_eq!(reschedule(|| configured::single_wheel(4_096), 1_000, 4_000, 1), 6.0);
    }

    #[test]
    fn a_key_takes_a_comparison_and_hardly_another_beside_the_links() {
        let steps = cancel_by_key(configured::single_wheel(4_096), 1_024, 4_000, 1);
        assert!((3.0..3.2).contains(&steps), "{steps}");
    }

    #[test]
    fn a_search_passes_half_of_a_slot() {
        assert_eq!(search_of_slot(1_000, 1, 1), 500.5);
        let steps = search_of_slot(64_000, 64, 1);
        assert!((490.0..515.0).contains(&steps), "{steps}");
    }
}
