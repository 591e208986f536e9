//! A skip list and a red-black tree: the same class, but which has more links, and which does less?
//!
//! On how many levels a timer of the list stands is counted, not assumed: a cancellation changes [`LINKS_A_LEVEL`] links on each. From it follow the pointers of the list
//! as Pugh printed it, one for each level, and the bytes of the one here, which is linked both ways and two ahead.

use super::hold::{curves, drain, greatest, hold, largest, sizes, totals};
use crate::count::{Probe, Tally};
use crate::experiment::Experiment;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use wheelhouse_baselines::{RedBlackTreeDefinition, Tree};
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::{CountingMeter, Work};
use wheelhouse_skip_list::{Definition, SkipList};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "skip-vs-rbtree",
    about: "skip-list and red-black-tree of n timers: steps of insert, cancel and taking the first, links of a cancel, pointers and bytes a timer",
    run,
};

/// Links that the skip list here changes on each level a timer leaves: two of the node before, one of the node before that, one of the node behind.
const LINKS_A_LEVEL: f64 = 4.0;
/// Parent and two children.
const TREE_POINTERS: f64 = 3.0;

/// The costs of a structure.
struct Costs {
    name: &'static str,
    insert: Curve,
    cancel: Curve,
    /// The dearest cancellation of a sample.
    dearest_cancel: Curve,
    pop: Curve,
    /// Comparisons of an insertion.
    comparisons: Curve,
}

fn run(scale: &Scale) -> Evidence {
    let list = count(Definition::INFO.name, scale, |seed| {
        let list = SkipList::builder()
            .seed(seed)
            .meter(CountingMeter::default())
            .build()
            .expect("the greatest height is the default");
        Probe::new(list, SkipList::meter)
    });
    let tree =
        count(RedBlackTreeDefinition::INFO.name, scale, |_| Probe::of::<RedBlackTreeDefinition>());
    let levels = list.cancel.ends().1 / LINKS_A_LEVEL;
    let bytes = [levels * SkipList::<u64>::NODE_BYTES as f64, Tree::NODE_BYTES as f64];
    let parts = [
        Part::maybe("an insertion is of the same class in both", same(&list.insert, &tree.insert)),
        Part::maybe(
            "a cancellation is of the same class in both",
            same(&list.cancel, &tree.cancel),
        ),
        Part::maybe("taking the first is of the same class in both", same(&list.pop, &tree.pop)),
        Part::new("Pugh's list has more pointers than the tree", levels > TREE_POINTERS),
        Part::new("the list here takes more bytes than the tree here", bytes[0] > bytes[1]),
        Part::new(
            "a cancellation follows or changes fewer links in the list, on average, at every n",
            below(&list.cancel, &tree.cancel),
        ),
        Part::new(
            "the list takes fewer steps for an insertion, at every n",
            below(&list.insert, &tree.insert),
        ),
        Part::new(
            "the list takes fewer steps to take the first, at every n",
            below(&list.pop, &tree.pop),
        ),
    ];
    let (of_list, of_tree) = (list.insert.ends().1, tree.insert.ends().1);
    let figure = format!(
        "{levels:.2} pointers a timer against {TREE_POINTERS}; an insertion at n = {} takes {of_list:.1} steps against {of_tree:.1}",
        largest(scale)
    );
    let tables = vec![steps(&[&list, &tree]), memory(levels, bytes)];
    Evidence {
        findings: vec![Finding::new("C30", figure, parts)],
        tables,
        charts: vec![chart(&[&list, &tree])],
    }
}

fn count<T: Timer<u64>>(
    name: &'static str,
    scale: &Scale,
    build: impl Fn(u64) -> Probe<T>,
) -> Costs {
    let [insert, cancel, dearest_cancel, pop, comparisons] =
        curves(&sizes(scale), scale.seeds(), |n, seed| {
            let log = hold(&build, n, seed);
            let cancels = totals(&log.cancel);
            let comparisons: Tally =
                log.insert.iter().map(|steps| steps.of(Work::Comparison)).collect();
            [
                totals(&log.insert).mean(),
                cancels.mean(),
                cancels.max() as f64,
                drain(&build, n, seed),
                comparisons.mean(),
            ]
        });
    Costs { name, insert, cancel, dearest_cancel, pop, comparisons }
}

/// Whether two costs are of one class; unknown if the class of one is.
fn same(a: &Curve, b: &Curve) -> Option<bool> {
    let (a, b) = (a.growth(), b.growth());
    if a == Growth::Undecided { None } else { b.is(a) }
}

/// Whether a cost is below another at every size.
fn below(a: &Curve, b: &Curve) -> bool {
    a.points().iter().zip(b.points()).all(|((_, a), (_, b))| *a < b)
}

fn steps(structures: &[&Costs]) -> Table {
    let mut table = Table::new(
        "Steps of an operation",
        ["structure", "operation", "smallest n", "largest n", "growth"],
    );
    for it in structures {
        let operations = [
            ("insert", &it.insert),
            ("of it, comparisons", &it.comparisons),
            ("cancel", &it.cancel),
            ("take the first", &it.pop),
        ];
        for (operation, curve) in operations {
            table.row([it.name, operation].map(str::to_owned).into_iter().chain(curve.cells()));
        }
        table.row([
            it.name.to_owned(),
            "dearest cancel, any n".to_owned(),
            String::new(),
            greatest(&it.dearest_cancel).to_string(),
            String::new(),
        ]);
    }
    table
}

fn memory(levels: f64, bytes: [f64; 2]) -> Table {
    let mut table = Table::new(
        "Links and bytes a timer, key and handle aside where they are in another array",
        ["structure", "links", "bytes"],
    );
    let row =
        |name: &str, links: f64, bytes: String| [name.to_owned(), format!("{links:.2}"), bytes];
    table.row(row("skip list of Pugh, p = 1/4", levels, String::new()));
    // Two to the next and the one behind, one back, one to tower or timer.
    table.row(row("skip-list", LINKS_A_LEVEL * levels, format!("{:.1}", bytes[0])));
    table.row(row("red-black-tree, and a colour", TREE_POINTERS, format!("{:.1}", bytes[1])));
    table
}

fn chart(structures: &[&Costs]) -> Chart {
    let line = |name: String, curve: &Curve| Series { name, points: curve.points() };
    let of = |it: &&Costs| {
        let kinds = [("insert", &it.insert), ("cancel", &it.cancel), ("take the first", &it.pop)];
        kinds.map(|(kind, curve)| line(format!("{}, {kind}", it.name), curve))
    };
    Chart {
        title: "A skip list and a tree".to_owned(),
        subtitle: "steps of one operation on n timers, uniform delays".to_owned(),
        x: "timers".to_owned(),
        y: "steps".to_owned(),
        series: structures.iter().flat_map(of).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With p = 1/4 a timer stands on 4/3 levels, which is Pugh's 1 / (1 - p) pointers.
    #[test]
    fn the_levels_that_are_counted_are_those_of_pugh() {
        let list = hold(|_| Probe::of::<Definition>(), 1 << 10, 1);
        let links: Tally = list.cancel.iter().map(|steps| steps.of(Work::Link)).collect();
        assert!((links.mean() / LINKS_A_LEVEL - 4.0 / 3.0).abs() < 0.05, "{}", links.mean());
        assert!(list.cancel.iter().all(|steps| steps.total() == steps.of(Work::Link)));
    }
}
