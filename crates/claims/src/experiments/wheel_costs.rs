//! C50: the cost of starting and stopping a timer in each kind of wheel.

use crate::count::{CountedTimer, LONGEST, random};
use crate::growth::Growth::Constant;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer, TimerId};

pub(super) const OPERATIONS: Experiment = Experiment {
    name: "wheel-op-costs",
    about: "five wheels: an insertion and a cancel by handle among n timers",
    run,
};

/// The longest deadline in a single wheel, which has twice as many slots.
const NEAR: Tick = 1 << 15;

fn run(setup: &Setup, e: &mut Evidence) {
    let sizes = setup.scale.sizes();
    let mut sweep = Sweep::new("Insertion and cancel by handle", "steps of one, among n timers");
    for (name, slots, longest) in [
        ("single-wheel", 2 * NEAR, NEAR),
        ("round-wheel", 1 << 14, LONGEST),
        ("list-wheel", 256, LONGEST),
        ("hierarchical-wheel", 256, LONGEST),
        ("kafka-wheel", 20, LONGEST),
    ] {
        let curves = setup.curves(&sizes, |n, seed| {
            insert_and_cancel(|| setup.build_with_slots(name, slots), n, longest, seed)
        });
        sweep.add_run(name, ["insert", "cancel"], curves);
    }
    for (id, name, quote) in [
        ("C50.1", "single-wheel", "Insertion is O(1) in a wheel with a slot for each tick."),
        ("C50.2", "round-wheel", "It is O(1) in a wheel with rounds."),
        ("C50.3", "list-wheel", "It is O(1) in levels of lists, which are the articles' wheel."),
        ("C50.4", "hierarchical-wheel", "It is O(1) in our wheel."),
        ("C50.5", "kafka-wheel", "It is O(1) in Kafka's levels, made on demand."),
    ] {
        e.at_most(id, quote, sweep.of(&[name], &["insert"]), Constant);
    }
    let quote = "Deletion by handle is O(1) in all five.";
    e.at_most("C50.7", quote, sweep.all(&["cancel"]), Constant);
    e.sweep(sweep);
}

/// Operations that are counted together.
const BATCH: usize = 32;
/// Batches of a sample.
const BATCHES: usize = 128;
/// Timers that are due first and stay, so that no batch empties their slot.
const STAYING: usize = 2 * BATCH;

/// Random deadlines of 2 to `longest + 1`.
fn deadlines(count: u64, longest: Tick, random: &mut Pcg64Mcg) -> Vec<Tick> {
    (0..count).map(|_| 2 + random.random_range(0..longest)).collect()
}

/// Fills a structure with n timers at random deadlines. The latest is inserted first, so that
/// sorted slots need no search.
fn fill(counted: &mut CountedTimer, n: u64, longest: Tick, random: &mut Pcg64Mcg) -> Vec<TimerId> {
    let mut delays = deadlines(n, longest, random);
    delays.sort_unstable_by(|one, other| other.cmp(one));
    let ids = counted.fill(delays);
    counted.fill([1; STAYING]);
    ids
}

/// Runs all batches. The structure is replaced by a new, filled one before more than an eighth of
/// its timers were touched.
fn sample<const K: usize>(
    build: impl Fn() -> CountedTimer,
    (n, longest, seed): (u64, Tick, u64),
    mut batch: impl FnMut(&mut CountedTimer, &mut Vec<TimerId>, &mut Pcg64Mcg) -> [u64; K],
) -> [f64; K] {
    let mut random = random(seed);
    let batches = (n as usize / 8 / BATCH).clamp(1, BATCHES);
    let mut work = [0; K];
    for _ in 0..BATCHES / batches {
        let mut counted = build();
        let mut ids = fill(&mut counted, n, longest, &mut random);
        for _ in 0..batches {
            let done = batch(&mut counted, &mut ids, &mut random);
            work.iter_mut().zip(done).for_each(|(sum, done)| *sum += done);
        }
    }
    work.map(|work| work as f64 / (BATCH * (BATCHES / batches) * batches) as f64)
}

/// Removes random handles from those of the live timers and returns them.
fn draw(ids: &mut Vec<TimerId>, random: &mut Pcg64Mcg) -> Vec<TimerId> {
    (0..BATCH).map(|_| ids.swap_remove(random.random_range(0..ids.len()))).collect()
}

/// The mean steps of an insertion and of a cancellation by handle among n timers with deadlines up
/// to `longest`. The number of timers stays the same.
pub(super) fn insert_and_cancel(
    build: impl Fn() -> CountedTimer,
    n: u64,
    longest: Tick,
    seed: u64,
) -> [f64; 2] {
    sample(build, (n, longest, seed), |counted, ids, random| {
        let gone = draw(ids, random);
        let (cancelling, ()) =
            counted.work(|timer| gone.into_iter().for_each(|id| _ = timer.cancel(id)));
        let new = deadlines(BATCH as u64, longest, random);
        let (inserting, new) =
            counted.work(|timer| new.into_iter().map(|at| timer.insert(at, 0)).collect::<Vec<_>>());
        ids.extend(new);
        [inserting.total(), cancelling.total()]
    })
}

/// The mean steps of moving a timer to another random deadline.
pub(super) fn reschedule(
    build: impl Fn() -> CountedTimer,
    n: u64,
    longest: Tick,
    seed: u64,
) -> f64 {
    let [work] = sample(build, (n, longest, seed), |counted, ids, random| {
        let (moved, to) = (draw(ids, random), deadlines(BATCH as u64, longest, random));
        let (work, ()) = counted
            .work(|timer| moved.iter().zip(to).for_each(|(id, to)| _ = timer.reschedule(*id, to)));
        ids.extend(moved);
        [work.total()]
    });
    work
}
