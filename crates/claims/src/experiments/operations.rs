//! C25, C26, C27, C50: the cost of starting, stopping and moving a timer in each kind of wheel, in
//! a slice, a list and a map; the slots that a span needs.

use super::cascades::moves;
use crate::StatedGrowth::{AtMost, Grows, Is};
use crate::count::{LONGEST, Order, random};
use crate::growth::Growth::{Constant, Linear};
use crate::life::{mean_over_copies, moved, start_and_stop, steps};
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use wheelhouse_core::Tick;

pub(super) const WHEELS: Experiment = Experiment {
    name: "wheel-op-costs",
    about: "five wheels: insert, cancel by handle and reschedule among n random timers; slots of \
        list-wheel for timers over spans of 2^6 to 2^21 ticks",
    run: wheels,
};

/// The longest deadline in a single wheel, which has twice as many slots: each has several timers.
const NEAR: Tick = 1 << 6;

fn wheels(setup: &Setup, e: &mut Evidence) {
    slots(setup, e);
    let sizes = setup.scale.sizes();
    let mut sweep = Sweep::new("Inserting, cancelling, moving", "steps of one, among n timers");
    for (name, slots, longest) in [
        ("single-wheel", 2 * NEAR, NEAR),
        ("round-wheel", 1 << 14, LONGEST),
        ("list-wheel", 256, LONGEST),
        ("hierarchical-wheel", 256, LONGEST),
        ("kafka-wheel", 20, LONGEST),
    ] {
        let curves = setup.curves(&sizes, |n, seed| {
            mean_over_copies(n, seed, |seed| {
                let (mut random, build) = (random(seed), || setup.build_with_slots(name, slots));
                let all: Vec<Tick> = (0..n).map(|_| random.random_range(1..=longest)).collect();
                let [insert, cancel] = start_and_stop(build(), &all, seed, &steps);
                let change = moved(build(), &all, seed, |random| random.random_range(1..=longest));
                [insert, cancel, change]
            })
        });
        sweep.add_run(name, ["insert", "cancel", "change"], curves);
    }
    for (id, name, sentence) in [
        ("C50.1", "single-wheel", "Insertion is O(1) in a wheel with a slot for each tick."),
        ("C50.2", "round-wheel", "Insertion is O(1) in a wheel with rounds."),
        ("C50.3", "list-wheel", "Insertion is O(1) in levels of lists, the articles' wheel."),
        ("C50.4", "hierarchical-wheel", "Insertion is O(1) in our wheel."),
        ("C50.5", "kafka-wheel", "Insertion is O(1) in Kafka's levels, made on demand."),
    ] {
        e.growth(id, sentence, sweep.of(&[name], &["insert"]), AtMost(Constant));
    }
    let lists = ["single-wheel", "list-wheel", "hierarchical-wheel", "kafka-wheel"];
    let sentence = "Deletion by handle is O(1) in the four wheels of linked lists.";
    e.growth("C50.7", sentence, sweep.of(&lists, &["cancel"]), AtMost(Constant));
    let sentence = "It is O(1) in our round wheel, with the later removal of holes.";
    e.growth("C50.8", sentence, sweep.of(&["round-wheel"], &["cancel"]), AtMost(Constant));
    let sentence = "A cancel by handle costs more, the more timers there are.";
    e.growth("C27.5", sentence, sweep.all(&["cancel"]), Grows);
    let sentence = "A change by handle costs more, the more timers there are.";
    e.growth("C27.6", sentence, sweep.all(&["change"]), Grows);
    e.sweeps.push(sweep);
}

/// The number of timers in the sweep of spans.
const TIMERS: u64 = 64;

/// The slots in use for random timers over a span.
fn slots(setup: &Setup, e: &mut Evidence) {
    let spans: Vec<Tick> = [6, 9, 12, 15, 18, 21].map(|bits| 1 << bits).into();
    let mut sweep =
        Sweep::over("span in ticks", "Slots for a span", "slots in use, timers at random over it");
    let levels = setup.curve(&spans, |span, seed| {
        let mut random = random(seed);
        let delays = (1..TIMERS).map(|_| random.random_range(1..span)).chain([span - 1]);
        let moves = delays.map(|delay| moves(setup, 256, [delay]).0);
        // There is one level more than the most moves of a timer.
        (256 * (1 + moves.max().unwrap_or(0))) as f64
    });
    let sentence = "Levels of lists take space in proportion to the span.";
    let (grown, wider) = (levels.last() / levels.first(), spans[spans.len() - 1] / spans[0]);
    let number = format!("{grown:.1} times the slots for {wider} times the span");
    e.holds("C27.3", sentence, grown >= wider as f64, number);
    sweep.add("list-wheel, 256 a level", levels);
    e.sweeps.push(sweep);
}

pub(super) const LISTS: Experiment = Experiment {
    name: "list-slice-cancel",
    about: "sorted-list, sorted-slice and hash-map of n random timers: insert, cancel by handle, \
        reschedule, fire",
    run: lists,
};

fn lists(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("Slices, lists and maps", "steps of an operation");
    let sizes = setup.scale.linear_sizes();
    for name in ["sorted-slice", "sorted-list", "hash-map"] {
        let change = setup.curve(&sizes, |n, seed| {
            let deadlines = Order::Random.delays(n, seed);
            moved(setup.build(name), &deadlines, seed, |random| random.random_range(1..=LONGEST))
        });
        sweep.add_run(name, ["insert", "delete", "fire"], setup.life(name, Order::Random, &sizes));
        sweep.add(format!("{name}, change"), change);
    }
    for (id, line, sentence) in [
        ("C25.1", "sorted-slice, delete", "Deleting from a slice is linear."),
        ("C25.2", "sorted-slice, change", "Changing an entry of a slice is linear."),
        ("C25.4", "sorted-list, delete", "Deleting from a list with a handle is linear."),
        ("C25.5", "sorted-list, change", "Changing an entry of an ordered list is linear."),
        ("C26.1", "hash-map, fire", "A hash map reads all timers to find the next deadline."),
    ] {
        e.growth(id, sentence, sweep.all(&[line]), Is(Linear));
    }
    e.sweeps.push(sweep);
}
