//! A heap and a red-black tree in the hold model: which does more, and how far the dearest operation is from the average.
//!
//! What is counted are steps, and a step of the tree may well take longer than one of the heap: its nodes are scattered in memory, the heap's path to
//! the root is not. That is beyond a count. What a count can tell is whether the *work* of one is twice that of the other.

use super::hold::{Log, curves, greatest, hold, sizes, totals};
use crate::count::{Probe, Tally};
use crate::experiment::Experiment;
use crate::growth::Curve;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use wheelhouse_baselines::RedBlackTreeDefinition;
use wheelhouse_binary_heap::Definition;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::Work;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "heap-vs-rbtree",
    about: "hold model on binary-heap, heap-4 and red-black-tree: steps of taking the first and putting another in, and of moving any; mean, p99, max",
    run,
};

/// A cost is stable if no operation takes more than so many times the average.
const STABLE: f64 = 4.0;
/// How far from 2 a ratio may be that is called the double.
const DOUBLE: std::ops::RangeInclusive<f64> = 1.5..=2.5;

/// What is counted on one structure.
struct Counted {
    name: &'static str,
    hold: Spread,
    moving: Spread,
    /// Links followed or changed by an insertion: in the tree, those of recolouring and rotations.
    links: Curve,
}

/// The costs of one kind of operation.
struct Spread {
    mean: Curve,
    p99: Curve,
    max: Curve,
    /// The dearest as a multiple of the mean of its sample.
    ratio: Curve,
}

fn run(scale: &Scale) -> Evidence {
    let [heap, heap4, tree] = [
        count::<Definition<2>>(scale),
        count::<Definition<4>>(scale),
        count::<RedBlackTreeDefinition>(scale),
    ];
    let ratios: Vec<(f64, f64)> = ratio(&tree.hold.mean, &heap.hold.mean);
    let dearest = greatest(&tree.hold.ratio).max(greatest(&tree.moving.ratio));
    let parts = [
        Part::new("an insertion into the tree rebalances it", greatest(&tree.links) > 0.0),
        Part::new(
            format!("no operation of the tree takes more than {STABLE} times the mean"),
            dearest <= STABLE,
        ),
        Part::new(
            "the tree takes twice the steps of the heap, whatever n",
            ratios.iter().all(|(_, ratio)| DOUBLE.contains(ratio)),
        ),
    ];
    let figure = ratios.first().zip(ratios.last()).map_or(String::new(), |((few, at_few), (many, at_many))| {
        format!(
            "the tree takes {at_few:.2} times the heap's steps at n = {few} and {at_many:.2} times at n = {many}; its dearest operation {dearest:.1} times its mean"
        )
    });
    let structures = [heap, heap4, tree];
    let tables = vec![
        table("Taking the first and putting another in", &structures, |it| &it.hold),
        table("Moving any timer", &structures, |it| &it.moving),
        compared(&ratios),
    ];
    Evidence {
        findings: vec![Finding::new("C29", figure, parts)],
        tables,
        charts: vec![chart(&structures)],
    }
}

fn count<B: Backend + 'static>(scale: &Scale) -> Counted {
    let [h0, h1, h2, h3, m0, m1, m2, m3, links] =
        curves(&sizes(scale), scale.seeds(), |n, seed| {
            let log: Log = hold(|_| Probe::of::<B>(), n, seed);
            let (holds, moves) = (log.holds(), totals(&log.reschedule));
            let links: Tally = log.insert.iter().map(|steps| steps.of(Work::Link)).collect();
            let [h0, h1, h2, h3] = spread(&holds);
            let [m0, m1, m2, m3] = spread(&moves);
            [h0, h1, h2, h3, m0, m1, m2, m3, links.mean()]
        });
    let hold = Spread { mean: h0, p99: h1, max: h2, ratio: h3 };
    let moving = Spread { mean: m0, p99: m1, max: m2, ratio: m3 };
    Counted { name: B::INFO.name, hold, moving, links }
}

fn spread(tally: &Tally) -> [f64; 4] {
    let (mean, max) = (tally.mean(), tally.max() as f64);
    [mean, tally.quantile(0.99) as f64, max, max / mean]
}

/// The cost of one as a multiple of that of another, at each size.
fn ratio(of: &Curve, to: &Curve) -> Vec<(f64, f64)> {
    of.points().into_iter().zip(to.points()).map(|((n, of), (_, to))| (n, of / to)).collect()
}

fn table(title: &str, structures: &[Counted], kind: impl Fn(&Counted) -> &Spread) -> Table {
    let columns = [
        "structure",
        "mean, smallest n",
        "mean, largest n",
        "p99, largest n",
        "max, largest n",
        "max by mean, any n",
        "growth",
    ];
    let mut table = Table::new(format!("{title}: steps"), columns);
    for structure in structures {
        let Spread { mean, p99, max, ratio } = kind(structure);
        let (first, last) = mean.ends();
        table.row([
            structure.name.to_owned(),
            format!("{first:.2}"),
            format!("{last:.2}"),
            format!("{:.1}", p99.ends().1),
            format!("{:.1}", max.ends().1),
            format!("{:.2}", greatest(ratio)),
            mean.growth().to_string(),
        ]);
    }
    table
}

fn compared(ratios: &[(f64, f64)]) -> Table {
    let mut table = Table::new(
        "Steps of red-black-tree as a multiple of those of binary-heap, hold model",
        ["n", "ratio"],
    );
    for (n, ratio) in ratios {
        table.row([n.to_string(), format!("{ratio:.2}")]);
    }
    table
}

fn chart(structures: &[Counted]) -> Chart {
    let line = |name: String, curve: &Curve| Series { name, points: curve.points() };
    let series = structures.iter().flat_map(|it| {
        [
            line(format!("{}, mean", it.name), &it.hold.mean),
            line(format!("{}, dearest", it.name), &it.hold.max),
        ]
    });
    Chart {
        title: "Taking the first and putting another in".to_owned(),
        subtitle: "steps of one operation on n timers, uniform delays".to_owned(),
        x: "timers".to_owned(),
        y: "steps".to_owned(),
        series: series.collect(),
    }
}
