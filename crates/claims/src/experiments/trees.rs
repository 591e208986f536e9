//! C29, C30: a heap, a red-black tree and a skip list in the hold model.
//!
//! The number of levels of a skip-list timer is derived from counts: a cancellation changes
//! [`LINKS_A_LEVEL`] links on each level. Pugh's list has a pointer a level; ours is also linked
//! backwards and two nodes ahead.

use super::drive::{HoldSteps, mean_pop_until_empty, start_and_stop};
use crate::count::Order;
use crate::growth::Growth::Logarithmic;
use crate::growth::mean;
use crate::thresholds::Threshold::{Ahead, Spread};
use crate::{Criterion, Evidence, EvidenceKind, Experiment, Setup, Sweep, instruction_record};

pub(super) const TREE: Experiment = Experiment {
    name: "heap-vs-rbtree",
    about: "hold model on binary-heap, heap-4 and red-black-tree: taking the first and putting \
        another in; insertion in order",
    run: heap_and_tree,
};

/// The largest n at which pairs are on record.
const RECORDED: u64 = 1 << 13;

fn heap_and_tree(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("Taking the first, putting another in", "steps of both");
    let mut costliest = 0.0_f64;
    for name in ["binary-heap", "heap-4", "red-black-tree"] {
        let curve = setup.curve(&setup.ordered_sizes(), |n, seed| {
            let holds = HoldSteps::of(|| setup.build(name), n, seed).pop_and_insert();
            if name == "red-black-tree" {
                let most = holds.iter().copied().fold(0.0, f64::max);
                costliest = costliest.max(most / mean(&holds));
            }
            mean(&holds)
        });
        sweep.add(name, curve);
    }
    let quote = "Taking the first and adding one is O(log n) in both.";
    e.at_most("C29.3", quote, sweep.all(&[]), Logarithmic);
    let in_order = setup.curve(&setup.ordered_sizes(), |n, seed| {
        start_and_stop(setup.build("red-black-tree"), Order::Ascending, n, seed)[0]
    });
    let quote = "A red-black tree rebalances: deadlines in order cost O(log n), not O(n).";
    e.at_most("C29.1", quote, [&in_order], Logarithmic);
    sweep.add("red-black-tree, insertion in order", in_order);
    let number = format!("the dearest operation takes {costliest:.1} times the mean");
    let quote = "Its cost is stable: no operation takes many times the mean.";
    e.decide("C29.2", quote, Criterion::AtMostTimes(costliest, Spread), number);
    e.sweep(sweep);
}

pub(super) const SKIP: Experiment = Experiment {
    name: "skip-vs-rbtree",
    about: "skip-list and red-black-tree of n timers: insert, cancel and taking the first, links \
        of a cancel, pointers of a timer",
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
    let number = format!("{levels:.2} pointers a node against {TREE_POINTERS}");
    let quote = "Pugh's skip list takes slightly more memory than the tree.";
    e.holds("C30.4", quote, levels > TREE_POINTERS, number);
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
    e.sweep(sweep);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    /// With p = 1/4 a timer is on 4/3 levels, which is Pugh's 1 / (1 - p) pointers.
    #[test]
    fn the_counted_levels_are_those_of_pugh() {
        let setup = Setup::new(&Scale::REDUCED);
        let log = HoldSteps::of(|| setup.build("skip-list"), 1 << 10, 1);
        let levels = mean(&log.cancel) / LINKS_A_LEVEL;
        assert!((levels - 4.0 / 3.0).abs() < 0.02, "{levels}");
    }
}
