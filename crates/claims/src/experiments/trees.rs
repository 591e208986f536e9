//! C29, C30: a red-black tree against a heap and against a skip list.
//!
//! The number of levels of a skip-list timer is derived from counts: a cancellation changes
//! [`LINKS_A_LEVEL`] links on each level. Pugh's list has a pointer a level; ours is also linked
//! backwards and two nodes ahead.

use crate::StatedGrowth::AtMost;
use crate::count::{LONGEST, Order, random};
use crate::growth::Growth::Logarithmic;
use crate::growth::mean;
use crate::instructions::Pair;
use crate::{Criterion, Evidence, EvidenceKind, Experiment, Setup, Sweep, instructions};
use rand::RngExt;
use wheelhouse_core::Timer;

pub(super) const TREES: Experiment = Experiment {
    name: "trees",
    about: "binary-heap, heap-4, red-black-tree and skip-list of n random timers: insert, cancel \
        and taking the first; the tree: insertion in order, its dearest operation; instructions",
    run,
};

const TREE: &str = "red-black-tree";
const SKIP: &str = "skip-list";
/// The largest n at which pairs are on record.
const RECORDED: u64 = 1 << 13;
/// Links that our skip list changes on each level that a timer leaves: two of the node before it,
/// one of the node before that, one of the node behind.
const LINKS_A_LEVEL: f64 = 4.0;
/// Pointers of a tree's node: parent and two children.
const TREE_POINTERS: f64 = 3.0;

fn run(setup: &Setup, e: &mut Evidence) {
    let sizes = setup.ordered_sizes();
    let mut sweep = Sweep::new("Heaps, a tree and a skip list", "steps of an operation");
    for name in ["binary-heap", "heap-4", TREE, SKIP] {
        let curves = setup.life(name, Order::Random, &sizes);
        sweep.add_run(name, ["insert", "cancel", "take the first"], curves);
    }
    let [in_order, ..] = setup.life(TREE, Order::Ascending, &sizes);
    let sentence = "A red-black tree rebalances: deadlines in order cost O(log n), not O(n).";
    e.growth("C29.1", sentence, [&in_order], AtMost(Logarithmic));
    let most = setup.scale.seeds().map(|seed| dearest(setup, seed)).fold(0.0, f64::max);
    let number = format!("the dearest operation takes {most:.1} times the mean");
    let sentence = "Its cost is stable: no operation takes many times the mean.";
    e.decide("C29.2", sentence, Criterion::IsStable(most), number);
    let both = ["binary-heap", "heap-4", TREE];
    let both = sweep.of(&both, &["insert"]).chain(sweep.of(&both, &["take"]));
    let sentence = "Taking the first and adding one is O(log n) in the tree and in a heap.";
    e.growth("C29.3", sentence, both, AtMost(Logarithmic));
    skip_list(e, &sweep);
    sweep.add(format!("{TREE}, insertion in order"), in_order);
    e.sweeps.push(sweep);
}

const TURNS: u64 = 4_096;

/// How many times the mean the dearest turn takes, in which the tree's first timer fires and
/// another is inserted.
fn dearest(setup: &Setup, seed: u64) -> f64 {
    let (mut counted, mut random) = (setup.build(TREE), random(seed));
    counted.fill(Order::Random.delays(setup.scale.largest(), seed));
    let turn = |_| {
        let first = counted.next_wakeup().expect("n timers are live");
        let at = first + random.random_range(1..=LONGEST);
        let (steps, _) = counted.work(|timer| (timer.pop_expired(first), timer.insert(at, 0)));
        steps.total() as f64
    };
    let turns: Vec<f64> = (0..TURNS).map(turn).collect();
    turns.iter().copied().fold(0.0, f64::max) / mean(&turns)
}

/// Decides the statements of C30.
fn skip_list(e: &mut Evidence, sweep: &Sweep) {
    for (id, operation) in [("C30.1", "insert"), ("C30.2", "cancel"), ("C30.3", "take the first")] {
        let sentence =
            format!("A skip list has a tree's complexity: O(log n) to {operation}, in both.");
        e.growth(id, sentence, sweep.of(&[SKIP, TREE], &[operation]), AtMost(Logarithmic));
    }
    let cancels = [sweep.of(&[SKIP], &["cancel"]), sweep.of(&[TREE], &["cancel"])];
    let [list, tree] = cancels.map(|mut it| it.next().expect("both were added"));
    let levels = list.last() / LINKS_A_LEVEL;
    let number = format!("{levels:.2} pointers a node against {TREE_POINTERS}");
    let sentence = "Pugh's skip list takes slightly more memory than the tree.";
    e.holds("C30.4", sentence, levels > TREE_POINTERS, number);
    let both = list.points().into_iter().zip(tree.points());
    let fewer = both.fold(true, |fewer, ((_, list), (_, tree))| fewer && list < tree);
    let (list, tree) = (list.last(), tree.last());
    let number =
        format!("{list:.1} links against {tree:.1}; {levels:.2} in Pugh's singly linked list");
    e.holds("C30.6", "A deletion changes fewer links in the skip list.", fewer, number);
    e.decide_by(EvidenceKind::Instructions);
    for (id, pair) in [("C30.7", Pair::StopStart), ("C30.8", Pair::Hold)] {
        let of = |name| instructions::of_pair(name, pair, RECORDED);
        let sentence =
            format!("A skip list takes fewer instructions than the tree: {}.", pair.name());
        e.exceeds(id, sentence, (of(TREE), of(SKIP)));
    }
}
