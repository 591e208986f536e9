//! C29, C30: a heap, a red-black tree and a skip list in the hold model.
//!
//! The number of levels of a skip-list timer is derived from counts: a cancellation changes
//! [`LINKS_A_LEVEL`] links on each level. It yields the pointers of Pugh's list, one a level, and
//! the bytes of our list, which is linked backwards and two nodes ahead.

use super::drive::{HoldSteps, mean_pop_until_empty, start_and_stop, totals};
use crate::count::Order;
use crate::growth::Growth::Logarithmic;
use crate::thresholds::Threshold::{Ahead, Much, Spread};
use crate::{Criterion, Evidence, EvidenceKind, Experiment, Setup, Sweep, instruction_record};
use wheelhouse_baselines::Tree;
use wheelhouse_skip_list::SkipList;

pub(super) const TREE: Experiment = Experiment {
    name: "heap-vs-rbtree",
    about: "hold model on binary-heap, heap-4 and red-black-tree: taking the first and putting \
        another in, moving any; mean, p99, max",
    run: heap_and_tree,
};

/// The largest n at which pairs are on record.
const RECORDED: u64 = 1 << 13;

fn heap_and_tree(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("Taking the first, putting another in", "steps of both");
    let mut spread = Vec::new();
    for name in ["binary-heap", "heap-4", "red-black-tree"] {
        let mut costliest = 0.0_f64;
        let [hold, p99, max, moving] = setup.curves(&setup.ordered_sizes(), |n, seed| {
            let log = HoldSteps::of(|| setup.build(name), n, seed);
            let (holds, moves) = (log.pop_and_insert(), totals(&log.reschedule));
            for tally in [&holds, &moves] {
                costliest = costliest.max(tally.max() as f64 / tally.mean());
            }
            let [p99, max] = [holds.quantile(0.99), holds.max()].map(|steps| steps as f64);
            [holds.mean(), p99, max, moves.mean()]
        });
        sweep.add_run(name, ["mean", "p99", "max"], [hold, p99, max]);
        sweep.add_hidden(format!("{name}, moving any"), moving);
        spread.push((costliest, name));
    }
    let tree = spread.last().map_or(f64::NAN, |(costliest, _)| *costliest);
    let in_order = setup.curve(&setup.ordered_sizes(), |n, seed| {
        start_and_stop(setup.build("red-black-tree"), Order::Ascending, n, seed)[0]
    });
    let quote = "A red-black tree rebalances: deadlines in order cost O(log n), not O(n).";
    e.at_most("C29.1", quote, [&in_order], Logarithmic);
    sweep.add_hidden("red-black-tree, insertion in order", in_order);
    let number = format!("the dearest operation takes {tree:.1} times the mean");
    let quote = "Its cost is stable: no operation takes many times the mean.";
    e.decide("C29.2", quote, Criterion::Within(vec![(tree, 0.0)], Spread), number);
    let quote = "Taking the first and adding one is O(log n) in both.";
    e.at_most("C29.3", quote, sweep.all(&["mean"]), Logarithmic);
    let of = |name| instruction_record::pair_instructions(name, "hold", RECORDED);
    let quote = "Our tree takes twice the instructions of our heap, or more.";
    e.decide_by(EvidenceKind::Instructions).exceeds(
        "C29.7",
        quote,
        (of("red-black-tree"), of("binary-heap")),
        Much,
    );
    e.decide_by(EvidenceKind::Counts);
    e.sweep(&sweep);
}

pub(super) const SKIP: Experiment = Experiment {
    name: "skip-vs-rbtree",
    about: "skip-list and red-black-tree of n timers: insert, cancel and taking the first, links \
        of a cancel, pointers and bytes a timer",
    run: list_and_tree,
};

/// Links that our skip list changes on each level that a timer leaves: two of the node before it,
/// one of the node before that, one of the node behind.
const LINKS_A_LEVEL: f64 = 4.0;
/// Pointers of a tree's node: parent and two children.
const TREE_POINTERS: f64 = 3.0;

fn list_and_tree(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("A skip list and a tree", "steps of an operation");
    for name in ["skip-list", "red-black-tree"] {
        let curves = setup.curves(&setup.ordered_sizes(), |n, seed| {
            let log = HoldSteps::of(|| setup.build(name), n, seed);
            let [insert, cancel, ..] = log.means();
            [insert, cancel, mean_pop_until_empty(|| setup.build(name), n, seed)]
        });
        sweep.add_run(name, ["insert", "cancel", "take the first"], curves);
    }
    for (id, operation) in [("C30.1", "insert"), ("C30.2", "cancel"), ("C30.3", "take the first")] {
        let quote = format!("It has a tree's complexity: to {operation} is O(log n) in both.");
        e.at_most(id, quote, sweep.all(&[operation]), Logarithmic);
    }
    let levels = sweep["skip-list, cancel"].last() / LINKS_A_LEVEL;
    let bytes = [levels * SkipList::<u64>::NODE_BYTES as f64, Tree::NODE_BYTES as f64];
    let number = format!("{levels:.2} pointers a node against {TREE_POINTERS}");
    let quote = "Pugh's skip list takes slightly more memory than the tree.";
    e.holds("C30.4", quote, levels > TREE_POINTERS, number);
    let number = format!("{:.1} bytes a node against {:.0}", bytes[0], bytes[1]);
    e.holds("C30.5", "The skip list here does.", bytes[0] > bytes[1], number);
    let [list, tree] = ["skip-list, cancel", "red-black-tree, cancel"].map(|it| sweep[it].points());
    let fewer = list.iter().zip(&tree).all(|((_, list), (_, tree))| list < tree);
    let number = format!(
        "{:.1} links against {:.1}; {levels:.2} in Pugh's list, linked one way",
        sweep["skip-list, cancel"].last(),
        sweep["red-black-tree, cancel"].last()
    );
    e.holds("C30.6", "A deletion changes fewer links in the skip list.", fewer, number);
    e.decide_by(EvidenceKind::Instructions);
    for (id, pair) in [("C30.7", "stop-start"), ("C30.8", "hold")] {
        let of = |name| instruction_record::pair_instructions(name, pair, RECORDED);
        let quote = format!("A skip list is better than the tree: {pair}, on instructions.");
        e.exceeds(id, quote, (of("red-black-tree"), of("skip-list")), Ahead);
    }
    e.decide_by(EvidenceKind::Counts).sweep(&sweep);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;
    use crate::count::Costs;
    use wheelhouse_core::meter::Work;

    /// With p = 1/4 a timer is on 4/3 levels, which is Pugh's 1 / (1 - p) pointers.
    #[test]
    fn the_counted_levels_are_those_of_pugh() {
        let setup = Setup::new(&Scale::REDUCED);
        let log = HoldSteps::of(|| setup.build("skip-list"), 1 << 10, 1);
        let links: Costs = log.cancel.iter().map(|steps| steps.of(Work::Link)).collect();
        assert!((links.mean() / LINKS_A_LEVEL - 4.0 / 3.0).abs() < 0.05, "{}", links.mean());
        assert!(log.cancel.iter().all(|steps| steps.total() == steps.of(Work::Link)));
    }
}
