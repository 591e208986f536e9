//! V1 to V7: Varghese and Lauck's table of costs: seven schemes, three operations.
//!
//! n timers wait, far ahead, and the clock goes through one revolution in which nothing is due, and
//! one in which a timer is due at each tick. So what a tick costs beside the timer that it fires,
//! and how that depends on those that wait, is seen apart from how many fire.
//!
//! ```text
//!    0            R                2R                                        longest
//!    ├─ nothing ──┼─ one a tick ───┼───── n timers, at random ──────────────────┤
//! ```
//!
//! Ours are the paper's schemes with additions. What is unordered remembers a tick before which
//! nothing is due; such a tick does not look at the timers. Where the paper's schemes do, models
//! that count down decide: scheme 1 is scheme 6 with one slot.

use super::drive::anywhere;
use super::models::rounds::{Rounds, S4, Visit};
use crate::count::{AnyTimer, Probe, random};
use crate::growth::Growth::{self, Constant, Linear, Logarithmic};
use crate::scale::powers;
use crate::{Evidence, Experiment, Lab, Sweep};
use rand::RngExt;
use rand::seq::SliceRandom;
use wheelhouse_core::{Tick, Timer};

pub(super) const COSTS: Experiment = Experiment {
    name: "vl-cost-table",
    about: "the seven schemes of Varghese and Lauck with n timers: a start, a stop, and a tick \
        with and without a timer due",
    run,
};

const OPERATIONS: [&str; 4] = ["START", "STOP", "tick, one due", "tick, none due"];
/// Starts of which a sample is the mean.
const STARTS: u64 = 1_024;
/// Deadlines lie no further ahead, and a revolution is as long, where the wheel does not say
/// otherwise.
const LONGEST: Tick = (1 << 20) - 1;
const REVOLUTION: Tick = 1_024;
const MOST_SLOTS: u64 = 1 << 16;

/// A scheme: its name, the structure, its slots for n timers (0: none to choose), and the longest
/// delay.
struct Scheme {
    name: &'static str,
    structure: &'static str,
    slots: fn(n: u64) -> u64,
    longest: Tick,
    /// Slots and n are in proportion: a revolution is as long.
    grows: bool,
}

const fn scheme(name: &'static str, structure: &'static str, slots: fn(u64) -> u64) -> Scheme {
    Scheme { name, structure, slots, longest: LONGEST, grows: false }
}

static SCHEMES: [Scheme; 9] = [
    scheme("1 unordered list", "unordered-list", |_| 0),
    scheme("2 sorted list", "sorted-list", |_| 0),
    scheme("3 balanced tree", "red-black-tree", |_| 0),
    Scheme { longest: MOST_SLOTS - 1, ..scheme("4 wheel", "single-wheel", |_| MOST_SLOTS) },
    Scheme { grows: true, ..scheme("5 hash, sorted, n slots", "hashed-wheel", |n| n) },
    scheme("6 hash, unsorted, 256 slots", "round-wheel", |_| 256),
    Scheme { grows: true, ..scheme("6 hash, unsorted, n/16 slots", "round-wheel", |n| n / 16) },
    scheme("7 levels of lists", "list-wheel", |_| 256),
    scheme("our 7 levels", "hierarchical-wheel", |_| 256),
];

fn run(lab: &Lab, e: &mut Evidence) {
    let mut sweep = Sweep::new("Varghese and Lauck's table of costs", "steps of one operation");
    for scheme in &SCHEMES {
        let sizes = match scheme.structure {
            "unordered-list" | "sorted-list" => lab.scale.linear_sizes(),
            "hashed-wheel" => lab.sizes_to(MOST_SLOTS),
            // In a tree of some hundred nodes the ends show.
            "red-black-tree" => lab.ordered_sizes(),
            _ => lab.scale.sizes(),
        };
        let curves = lab.curves(&sizes, |n, seed| sample(lab, scheme, n, seed));
        sweep.run(scheme.name, OPERATIONS, curves);
    }
    let linear = lab.scale.linear_sizes();
    for (name, sizes, slots) in [
        ("1 counted down (model)", &linear, (|_| 1) as fn(u64) -> u64),
        ("6 counted down (model), 256 slots", &lab.scale.sizes(), |_| 256),
        ("6 counted down (model), n/16 slots", &lab.scale.sizes(), |n| n / 16),
    ] {
        sweep.beside(
            format!("{name}, tick, none due"),
            lab.curve(sizes, |n, seed| counted_down(n, slots(n), seed)),
        );
    }
    sweep.beside(
        "5 all in one slot, START",
        lab.curve(&linear, |n, seed| crowded_start(lab, n, seed)),
    );
    sweep.beside(
        "6 all in one slot, tick, one due",
        lab.curve(&linear, |n, seed| crowded_tick(lab, n, seed)),
    );
    sweep.beside(
        "3 unbalanced tree (model), equal intervals, START",
        lab.curve(&powers(8, 12), unbalanced),
    );
    decide(e, &sweep);
    e.sweep(&sweep);
}

fn decide(e: &mut Evidence, sweep: &Sweep) {
    use Bound::{AtMost, Exactly};
    for (id, quote, line, bound) in [
        (
            "V1.1",
            "Scheme 1, an unordered list: START is O(1).",
            "1 unordered list, START",
            AtMost(Constant),
        ),
        ("V1.2", "STOP is O(1).", "1 unordered list, STOP", AtMost(Constant)),
        (
            "V1.3",
            "PER_TICK is O(n), and no less: with a timer due.",
            "1 unordered list, tick, one due",
            Exactly(Linear),
        ),
        (
            "V1.4",
            "With none due, too, where each timer is counted down.",
            "1 counted down (model), tick, none due",
            Exactly(Linear),
        ),
        (
            "V2.1",
            "Scheme 2, a sorted list: START is O(n), and no less.",
            "2 sorted list, START",
            Exactly(Linear),
        ),
        ("V2.2", "STOP is O(1).", "2 sorted list, STOP", AtMost(Constant)),
        (
            "V2.3",
            "PER_TICK is O(1): with a timer due.",
            "2 sorted list, tick, one due",
            AtMost(Constant),
        ),
        ("V2.4", "With none due, too.", "2 sorted list, tick, none due", AtMost(Constant)),
        (
            "V3.1",
            "Scheme 3, a balanced tree: START is O(log n), and no less.",
            "3 balanced tree, START",
            Exactly(Logarithmic),
        ),
        ("V3.2", "STOP is O(log n).", "3 balanced tree, STOP", AtMost(Logarithmic)),
        ("V3.3", "It is no less, on average.", "3 balanced tree, STOP", Exactly(Logarithmic)),
        ("V3.4", "PER_TICK is O(1).", "3 balanced tree, tick, one due", AtMost(Constant)),
        (
            "V3.5",
            "Without balance equal intervals make it a list: START is O(n).",
            "3 unbalanced tree (model), equal intervals, START",
            Exactly(Linear),
        ),
        (
            "V4.1",
            "Scheme 4, a slot for each tick: START is O(1).",
            "4 wheel, START",
            AtMost(Constant),
        ),
        ("V4.2", "STOP is O(1).", "4 wheel, STOP", AtMost(Constant)),
        ("V4.3", "PER_TICK is O(1).", "4 wheel, tick, one due", AtMost(Constant)),
        (
            "V5.1",
            "Scheme 5, sorted slots: START is O(1) with a slot for each timer.",
            "5 hash, sorted, n slots, START",
            AtMost(Constant),
        ),
        (
            "V5.2",
            "It is O(n) at worst, all in one slot.",
            "5 all in one slot, START",
            Exactly(Linear),
        ),
        ("V5.3", "STOP is O(1).", "5 hash, sorted, n slots, STOP", AtMost(Constant)),
        ("V5.4", "PER_TICK is O(1).", "5 hash, sorted, n slots, tick, one due", AtMost(Constant)),
        (
            "V6.1",
            "Scheme 6, unsorted slots: START is O(1).",
            "6 hash, unsorted, 256 slots, START",
            AtMost(Constant),
        ),
        ("V6.2", "STOP is O(1).", "6 hash, unsorted, n/16 slots, STOP", AtMost(Constant)),
        (
            "V6.3",
            "PER_TICK is n/M: linear at fixed M.",
            "6 hash, unsorted, 256 slots, tick, one due",
            Exactly(Linear),
        ),
        (
            "V6.4",
            "It is O(n) at worst, all in one slot.",
            "6 all in one slot, tick, one due",
            Exactly(Linear),
        ),
        (
            "V6.5",
            "With none due it is linear at fixed M, where rounds are counted down.",
            "6 counted down (model), 256 slots, tick, none due",
            Exactly(Linear),
        ),
        (
            "V6.6",
            "Then it is constant at fixed n/M.",
            "6 counted down (model), n/16 slots, tick, none due",
            AtMost(Constant),
        ),
        (
            "V7.1",
            "Scheme 7, levels of lists: START does not grow with n.",
            "7 levels of lists, START",
            AtMost(Constant),
        ),
        ("V7.2", "STOP is O(1).", "7 levels of lists, STOP", AtMost(Constant)),
        (
            "V7.3",
            "PER_TICK is O(1) on average for the timer that is due.",
            "7 levels of lists, tick, one due",
            AtMost(Constant),
        ),
        ("V7.4", "START is O(1) in our levels, too.", "our 7 levels, START", AtMost(Constant)),
        ("V7.5", "So is STOP.", "our 7 levels, STOP", AtMost(Constant)),
    ] {
        match bound {
            AtMost(class) => e.at_most(id, quote, [&sweep[line]], class),
            Exactly(class) => e.class(id, quote, [&sweep[line]], class),
        }
    }
}

#[derive(Clone, Copy)]
enum Bound {
    AtMost(Growth),
    Exactly(Growth),
}

/// The four costs at one size.
fn sample(lab: &Lab, scheme: &Scheme, n: u64, seed: u64) -> [f64; 4] {
    let mut random = random(seed ^ n << 32);
    let slots = (scheme.slots)(n);
    let mut probe =
        if slots == 0 { lab.make(scheme.structure) } else { lab.slots(scheme.structure, slots) };
    let revolution = if scheme.grows { slots } else { REVOLUTION };
    let (first, rest) = (2 * revolution, scheme.longest - 2 * revolution);
    // The latest first: so a list that is searched from its head takes them without a search.
    let mut timers = probe.fill((0..n).rev().map(|at| first + anywhere(at, n, rest, &mut random)));
    let mut soon: Vec<Tick> = (revolution..2 * revolution).collect();
    soon.shuffle(&mut random);
    probe.fill(soon);
    let tick = |probe: &mut Probe<AnyTimer>, from: Tick| {
        probe.mean(revolution - 1, |timer, at| _ = timer.advance(from + at, |_| ()))
    };
    let (idle, due) = (tick(&mut probe, 1), tick(&mut probe, revolution));
    probe.timer.advance(2 * revolution - 1, |_| ());
    let now = probe.timer.now();
    let mut start = 0;
    for at in 0..STARTS {
        let deadline = now + 1 + anywhere(at, STARTS, rest, &mut random);
        // Undone after each, so that n stays.
        let (work, id) = probe.work(|timer| timer.insert(deadline, 0));
        start += work.total();
        probe.timer.cancel(id);
    }
    timers.shuffle(&mut random);
    let stop = probe.mean(n, |timer, at| _ = timer.cancel(timers[at as usize]));
    [start as f64 / STARTS as f64, stop, due, idle]
}

/// Timers that a tick meets where each is counted down, over whole revolutions in which none is
/// due.
fn counted_down(n: u64, slots: u64, seed: u64) -> f64 {
    let (mut random, ticks) = (random(seed ^ n << 32), 64_u64.next_multiple_of(slots));
    let mut model = Rounds::new(S4, slots, 0);
    (0..n).for_each(|at| model.add(at, 1 + ticks + anywhere(at, n, 2 * slots, &mut random), 1));
    let visits = model.hold(ticks, || 1);
    visits.iter().map(Visit::met).sum::<u64>() as f64 / ticks as f64
}

/// n deadlines in one slot of 256, in up to 2n different turns and in order, one of them in the
/// first.
fn in_one_slot(n: u64, seed: u64) -> Vec<Tick> {
    let mut random = random(seed);
    let mut turns: Vec<u64> = (1..n).map(|_| random.random_range(1..=2 * n)).chain([1]).collect();
    turns.sort_unstable();
    turns.into_iter().map(|turn| turn * 256).collect()
}

fn crowded_start(lab: &Lab, n: u64, seed: u64) -> f64 {
    let (mut probe, mut random) = (lab.slots("hashed-wheel", 256), random(seed));
    probe.fill(in_one_slot(n, seed).into_iter().rev());
    let mut steps = 0;
    for at in 0..STARTS {
        let turn = 1 + anywhere(at, STARTS, 2 * n, &mut random);
        let (work, id) = probe.work(|timer| timer.insert(turn * 256, 0));
        steps += work.total();
        probe.timer.cancel(id);
    }
    steps as f64 / STARTS as f64
}

fn crowded_tick(lab: &Lab, n: u64, seed: u64) -> f64 {
    let mut probe = lab.slots("round-wheel", 256);
    probe.fill(in_one_slot(n, seed));
    probe.mean(1, |timer, _| _ = timer.advance(256, |_| ()))
}

/// Comparisons of the last insertions into a search tree that is never balanced, of timers of one
/// length that come at random.
fn unbalanced(n: u64, seed: u64) -> f64 {
    const LAST: u64 = 64;
    let (mut random, mut deadline) = (random(seed), 0);
    // Each node: its key, and the children of lesser keys and of greater.
    let mut tree: Vec<(u64, [Option<usize>; 2])> = Vec::new();
    let mut comparisons = 0;
    for at in 0..n {
        deadline += random.random_range(1..100_u64);
        let (new, mut node) = (tree.len(), (!tree.is_empty()).then_some(0));
        tree.push((deadline, [None; 2]));
        while let Some(parent) = node {
            let side = usize::from(deadline >= tree[parent].0);
            comparisons += u64::from(at >= n - LAST);
            node = tree[parent].1[side];
            tree[parent].1[side].get_or_insert(new);
        }
    }
    comparisons as f64 / LAST as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::Curve;

    #[test]
    fn one_slot_is_the_list_in_which_each_timer_is_met_at_each_tick() {
        assert_eq!([64, 128].map(|n| counted_down(n, 1, 1)), [64.0, 128.0]);
        assert_eq!(counted_down(1_024, 256, 1), 4.0);
    }

    #[test]
    fn keys_in_order_make_a_list() {
        assert_eq!(unbalanced(1_000, 1), 999.0 - 63.0 / 2.0);
    }

    #[test]
    fn a_curve_of_the_table_is_that_of_its_scheme() {
        let lab = Lab::new(&crate::Scale::REDUCED);
        let curve =
            Curve::sweep(&[256, 512], 1..=2, |n, seed| sample(&lab, &SCHEMES[1], n, seed)[1]);
        assert_eq!((curve.first(), curve.last()), (2.0, 2.0), "a stop relinks two neighbours");
    }
}
