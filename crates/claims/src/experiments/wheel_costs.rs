//! C50: the cost of starting and stopping a timer in each kind of wheel.

use super::drive::start_and_stop;
use crate::count::{CountedTimer, LONGEST, Order, random};
use crate::growth::Curve;
use crate::growth::Growth::Constant;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer, TimerId};

pub(super) const OPERATIONS: Experiment = Experiment {
    name: "wheel-op-costs",
    about: "five wheels: an insertion and a cancel by handle among n timers; half of all stopped \
        at one tick, in one slot, at random",
    run,
};

/// The longest deadline in a single wheel, which has twice as many slots.
const NEAR: Tick = 1 << 15;
/// Slots of the wheels that are searched: few, so that the smallest n fills them.
pub(super) const FEW: u64 = 16;
fn run(setup: &Setup, e: &mut Evidence) {
    let sizes = setup.scale.sizes();
    let mut sweep = Sweep::new("Insertion and cancel by handle", "steps of one, among n timers");
    let wheels: [(&str, u64, Tick, &[u64]); 5] = [
        ("single-wheel", 2 * NEAR, NEAR, &sizes),
        ("round-wheel", 1 << 14, LONGEST, &sizes),
        ("list-wheel", 256, LONGEST, &sizes),
        ("hierarchical-wheel", 256, LONGEST, &sizes),
        ("kafka-wheel", 20, LONGEST, &sizes),
    ];
    for (name, slots, longest, sizes) in wheels {
        let curves = setup.curves(sizes, |n, seed| {
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
    e.sweep(&sweep);
    many_in_one_slot(setup, e);
}

/// Stops half of n timers and compacts, with many timers in a slot.
fn many_in_one_slot(setup: &Setup, e: &mut Evidence) {
    let mut sweep =
        Sweep::new("Half of n timers stopped", "steps of a stop, the tidying up included");
    for order in [Order::Equal, Order::SameSlot(1 << 14), Order::Random] {
        for name in ["round-wheel", "list-wheel", "hierarchical-wheel", "kafka-wheel"] {
            let slots = if name == "round-wheel" { 1 << 14 } else { 256 };
            let curve = setup.curve(&setup.scale.sizes(), |n, seed| {
                start_and_stop(setup.build_with_slots(name, slots), order, n, seed)[1]
            });
            sweep.add(format!("{name}, {}", order.name()), curve);
        }
    }
    let quote = "Deletion is O(1) in levels of lists however crowded a slot is.";
    e.at_most("C50.8", quote, sweep.all(&["list-wheel"]), Constant);
    let quote = "It is O(1) in our wheel, too.";
    e.at_most("C50.9", quote, sweep.all(&["hierarchical-wheel"]), Constant);
    e.sweep(&sweep);
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

/// The mean number of links followed to find a timer in the list of its slot, over n timers in
/// random slots of a few.
pub(super) fn links_to_find(setup: &Setup) -> Curve {
    setup.curve(&setup.scale.linear_sizes(), |n, seed| {
        let mut random = random(seed);
        let mut lengths = [0; FEW as usize];
        // A timer behind k others is found after k links and its own.
        let links = (0..n).map(|_| {
            let length = &mut lengths[random.random_range(0..FEW) as usize];
            *length += 1;
            *length
        });
        links.sum::<u64>() as f64 / n as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn a_reschedule_costs_an_insertion_and_a_cancellation() {
        let setup = Setup::new(&Scale::REDUCED);
        let build = || setup.build_with_slots("list-wheel", 4_096);
        let [insert, cancel] = insert_and_cancel(build, 1_000, 4_000, 1);
        assert_eq!(cancel, 2.0);
        assert_eq!(reschedule(build, 1_000, 4_000, 1), insert + cancel);
    }

    #[test]
    fn many_timers_of_one_tick_cost_only_their_links() {
        let setup = Setup::new(&Scale::REDUCED);
        let crowd =
            |name, n| start_and_stop(setup.build_with_slots(name, 256), Order::Equal, n, 1)[1];
        assert_eq!(crowd("list-wheel", 1 << 13), 2.0);
        assert!(crowd("hierarchical-wheel", 1 << 12) < 3.0);
    }
}
