//! What it takes a map to say when the next timer is due, once the first has gone.
//!
//! The standard library's B-tree tells nobody of its comparisons, and [`OrderedMap`](wheelhouse_baselines::OrderedMap) reports those of a bisection instead. So
//! it is asked here with keys that count themselves.

use super::hold::{curves, delay, drain, largest, sizes};
use crate::count::{Probe, Tally, random};
use crate::experiment::Experiment;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use wheelhouse_baselines::{HashedMapDefinition, OrderedMapDefinition, RedBlackTreeDefinition};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "map-next-deadline",
    about: "hash-map, btree-map and red-black-tree of n timers: steps to take the first and know the next deadline; comparisons of the standard B-tree",
    run,
};

/// So often the first is taken out of a map that is asked as a whole.
const TURNS: u64 = 64;

fn run(scale: &Scale) -> Evidence {
    let [hashed, scanned] = curves(&scale.linear_sizes(), scale.seeds(), scan);
    let [first, insertion] = curves(&sizes(scale), scale.seeds(), compare);
    let tree = ordered::<RedBlackTreeDefinition>(scale);
    let btree = ordered::<OrderedMapDefinition>(scale);
    let scans = |curve: &Curve| curve.growth().is(Growth::Linear);
    let parts = [
        Part::maybe("a hash map passes all timers to find the next deadline", scans(&scanned)),
        Part::maybe("so does a B-tree", scans(&first)),
        Part::maybe("so does a red-black tree", scans(&tree)),
    ];
    let most = scale.linear_sizes().last().copied().unwrap_or_default();
    let figure = format!(
        "the next of {most} deadlines: {:.0} entries of a hash map read; of {}: {:.0} comparisons in a B-tree and {:.1} steps in a red-black tree",
        scanned.ends().1,
        largest(scale),
        first.ends().1,
        tree.ends().1
    );
    let rows = [
        (HashedMapDefinition::INFO.name, "take the first, know the next", &hashed),
        (HashedMapDefinition::INFO.name, "of it, entries read", &scanned),
        ("BTreeMap, keys that count", "take the first, know the next: comparisons", &first),
        ("BTreeMap, keys that count", "insert: comparisons", &insertion),
        (OrderedMapDefinition::INFO.name, "take the first, a bisection reported", &btree),
        (RedBlackTreeDefinition::INFO.name, "take the first, know the next", &tree),
    ];
    let (tables, charts) = (vec![table(&rows)], vec![chart(&[rows[0], rows[4], rows[5]])]);
    Evidence { findings: vec![Finding::new("C26", figure, parts)], tables, charts }
}

/// Steps to take the first out of a hash map and to know the next, and the entries read for it.
fn scan(n: u64, seed: u64) -> [f64; 2] {
    let mut random = random(seed);
    let mut probe = Probe::of::<HashedMapDefinition>();
    probe.fill((0..n).map(|_| delay(&mut random)));
    let (mut steps, mut read) = (Tally::default(), Tally::default());
    for value in 0..TURNS {
        let first = probe.timer.next_wakeup().expect("n timers are live");
        let (work, _) = probe.work(|timer| {
            timer.pop_expired(first);
            timer.next_wakeup()
        });
        steps.add(work.total());
        read.add(work.of(Work::EntryScan));
        probe.timer.insert(first + delay(&mut random), value);
    }
    [steps.mean(), read.mean()]
}

/// Steps to take the first out of a structure in order, which then knows the next.
fn ordered<B: Backend + 'static>(scale: &Scale) -> Curve {
    let [pop] =
        curves(&sizes(scale), scale.seeds(), |n, seed| [drain(|_| Probe::of::<B>(), n, seed)]);
    pop
}

thread_local! {
    /// Comparisons of keys, so far.
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

/// A deadline that counts how often one is compared.
#[derive(PartialEq, Eq)]
struct Counted(Tick);

impl Ord for Counted {
    fn cmp(&self, other: &Self) -> Ordering {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Comparisons of the standard library's B-tree: to take the first and know the next, and to insert.
fn compare(n: u64, seed: u64) -> [f64; 2] {
    let mut random = random(seed);
    let mut map: BTreeMap<Counted, u64> =
        (0..n).map(|value| (Counted(delay(&mut random)), value)).collect();
    let (mut first, mut insertion) = (Tally::default(), Tally::default());
    for value in 0..TURNS {
        COMPARISONS.set(0);
        let now = map.pop_first().map_or(0, |(key, _)| key.0);
        let next = map.first_key_value().map_or(now, |(key, _)| key.0);
        first.add(COMPARISONS.replace(0));
        map.insert(Counted(next + delay(&mut random)), value);
        insertion.add(COMPARISONS.get());
    }
    [first.mean(), insertion.mean()]
}

fn table(rows: &[(&str, &str, &Curve)]) -> Table {
    let mut table = Table::new(
        "The next deadline of a map",
        ["map", "operation", "smallest n", "largest n", "growth"],
    );
    for (map, operation, curve) in rows {
        table.row([*map, *operation].map(str::to_owned).into_iter().chain(curve.cells()));
    }
    table
}

fn chart(rows: &[(&str, &str, &Curve)]) -> Chart {
    let series = rows
        .iter()
        .map(|(map, _, curve)| Series { name: (*map).to_owned(), points: curve.points() });
    Chart {
        title: "The next deadline of a map".to_owned(),
        subtitle: "steps to take the first of n timers and to know when the next is due".to_owned(),
        x: "timers".to_owned(),
        y: "steps".to_owned(),
        series: series.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_b_tree_compares_to_insert_and_not_to_take_the_first() {
        let [first, insertion] = compare(1 << 10, 1);
        assert!(first == 0.0 && (8.0..30.0).contains(&insertion), "{first} {insertion}");
    }

    #[test]
    fn a_hash_map_reads_every_entry() {
        assert_eq!(scan(1 << 10, 1)[1], 1024.0);
    }
}
