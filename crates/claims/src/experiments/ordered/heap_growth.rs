//! Does a heap need its entries in one piece, what does the growth of that piece cost, and is the room given back?
//!
//! What a `Vec` copies when it grows no meter is told of, and what room a structure has is its own affair. So a binary heap is written here once more, over storage that
//! counts ([`rooms`](super::rooms)): one array that doubles, as in binary-heap and skip-list; the same, shrunk when three quarters of it are unused; pieces, taken and given back one by one; and the
//! segments of this workspace's arena, in which red-black-tree has its nodes. That it is the same heap is seen from its steps, which a test holds to those of binary-heap.

use super::hold::curves;
use super::rooms::{Array, PIECE, Pieces, Room, Segmented, Shrinking};
use crate::count::{Order, Tally};
use crate::experiment::Experiment;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use std::collections::BTreeMap;
use wheelhouse_core::Tick;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "heap-growth",
    about: "a heap over an array, a shrinking array, pieces and segments: entries copied by the worst insertion and on average, room held after all timers are gone",
    run,
};

/// A binary heap over some storage.
#[derive(Default)]
struct Heap<R> {
    room: R,
    /// Comparisons and placements.
    steps: u64,
}

impl<R: Room> Heap<R> {
    fn insert(&mut self, deadline: Tick) {
        let mut place = self.room.len();
        self.room.push(deadline);
        while place > 0 {
            let parent = (place - 1) / 2;
            self.steps += 1;
            if self.room.at(parent) <= deadline {
                break;
            }
            self.put(place, self.room.at(parent));
            place = parent;
        }
        self.put(place, deadline);
    }

    fn pop(&mut self) -> Option<Tick> {
        let last = self.room.pop()?;
        if self.room.len() == 0 {
            return Some(last);
        }
        let (first, mut place) = (self.room.at(0), 0);
        while let Some(child) = self.lesser_child(place).filter(|child| self.room.at(*child) < last)
        {
            self.put(place, self.room.at(child));
            place = child;
        }
        self.put(place, last);
        Some(first)
    }

    fn lesser_child(&self, place: usize) -> Option<usize> {
        let (left, right) = (2 * place + 1, 2 * place + 2);
        let has = |child: usize| (child < self.room.len()).then_some(child);
        has(right).filter(|right| self.room.at(*right) < self.room.at(left)).or_else(|| has(left))
    }

    fn put(&mut self, place: usize, deadline: Tick) {
        self.steps += 1;
        self.room.put(place, deadline);
    }
}

/// What a storage copies and holds.
struct Counted {
    name: &'static str,
    /// Entries copied by the worst insertion.
    worst: Curve,
    /// Entries copied by an insertion, on average.
    mean: Curve,
    /// Entries copied by taking one out: the worst, and on average.
    worst_pop: Curve,
    mean_pop: Curve,
    /// Entries that there is room for with all timers in it, and after all are gone.
    full: Curve,
    gone: Curve,
    /// Steps of all insertions, for each size.
    steps: Vec<u64>,
    /// Whether all came out in order.
    in_order: bool,
}

fn run(scale: &Scale) -> Evidence {
    let [array, shrinking] = [count::<Array>(scale), count::<Shrinking>(scale)];
    let [pieces, segmented] = [count::<Pieces>(scale), count::<Segmented>(scale)];
    let constant = |curve: &Curve| curve.growth().is(Growth::Constant);
    let kept = array.gone.ends().1 / array.full.ends().1;
    let parts = [
        Part::new(
            "a heap in pieces is out of order, or takes other steps",
            !pieces.in_order || pieces.steps != array.steps,
        ),
        Part::maybe(
            "the worst insertion into an array copies in proportion to n",
            array.worst.growth().is(Growth::Linear),
        ),
        Part::maybe(
            "an insertion into an array copies the more, the more timers there are, on average",
            constant(&array.mean).map(|it| !it),
        ),
        Part::new(
            "the worst insertion into pieces copies as much",
            pieces.worst.ends().1 >= array.worst.ends().1,
        ),
        Part::new("an array keeps its room when all timers are gone", kept >= 1.0),
        Part::new(
            "an array that shrinks keeps more than a piece",
            shrinking.gone.ends().1 > PIECE as f64,
        ),
        Part::maybe(
            "to shrink it costs the more, the more timers there are, on average",
            constant(&shrinking.mean_pop).map(|it| !it),
        ),
    ];
    let figure = format!(
        "n = {}: the worst insertion copies {:.0} entries, the average {:.2}; in pieces {:.0} references and {:.3}",
        scale.largest(),
        array.worst.ends().1,
        array.mean.ends().1,
        pieces.worst.ends().1,
        pieces.mean.ends().1
    );
    let storages = [array, shrinking, pieces, segmented];
    Evidence {
        findings: vec![Finding::new("C58", figure, parts)],
        tables: vec![table(&storages)],
        charts: vec![chart(&storages)],
    }
}

/// What is copied does not depend on the deadlines, so that one run at each size stands for all seeds.
fn count<R: Room>(scale: &Scale) -> Counted {
    let (mut steps, mut in_order) = (Vec::new(), true);
    let mut runs: BTreeMap<u64, [f64; 6]> = BTreeMap::new();
    let [worst, mean, worst_pop, mean_pop, full, gone] =
        curves(&scale.sizes(), scale.seeds(), |n, _| {
            *runs.entry(n).or_insert_with(|| {
                let Life { costs, steps: of_all, is_sorted } = live::<R>(n);
                steps.push(of_all);
                in_order &= is_sorted;
                costs
            })
        });
    Counted { name: R::NAME, worst, mean, worst_pop, mean_pop, full, gone, steps, in_order }
}

/// A heap from its first timer to its last.
struct Life {
    costs: [f64; 6],
    steps: u64,
    is_sorted: bool,
}

/// Inserts n timers at random and takes all of them out.
fn live<R: Room>(n: u64) -> Life {
    let mut heap = Heap::<R>::default();
    let mut before = 0;
    let mut copied =
        |heap: &Heap<R>| heap.room.copied() - std::mem::replace(&mut before, heap.room.copied());
    let insertions: Tally = Order::Random
        .delays(n, 1)
        .into_iter()
        .map(|deadline| {
            heap.insert(deadline);
            copied(&heap)
        })
        .collect();
    let (steps, full) = (heap.steps, heap.room.room() as f64);
    let (mut pops, mut is_sorted, mut last) = (Tally::default(), true, 0);
    while let Some(deadline) = heap.pop() {
        pops.add(copied(&heap));
        is_sorted &= last <= deadline;
        last = deadline;
    }
    let gone = heap.room.room() as f64;
    let costs =
        [insertions.max() as f64, insertions.mean(), pops.max() as f64, pops.mean(), full, gone];
    Life { costs, steps, is_sorted: is_sorted && pops.len() as u64 == n }
}

fn table(storages: &[Counted]) -> Table {
    let title = "A binary heap over four storages, at the largest n: entries copied (references, of pieces), and room";
    let columns = [
        "storage",
        "worst insert",
        "growth",
        "mean",
        "growth",
        "worst pop",
        "mean",
        "room when full",
        "room when all are gone",
    ];
    let mut table = Table::new(title, columns);
    for it in storages {
        table.row([
            it.name.to_owned(),
            format!("{:.0}", it.worst.ends().1),
            it.worst.growth().to_string(),
            format!("{:.3}", it.mean.ends().1),
            it.mean.growth().to_string(),
            format!("{:.0}", it.worst_pop.ends().1),
            format!("{:.3}", it.mean_pop.ends().1),
            format!("{:.0}", it.full.ends().1),
            format!("{:.0}", it.gone.ends().1),
        ]);
    }
    table
}

fn chart(storages: &[Counted]) -> Chart {
    let line = |name: String, curve: &Curve| Series { name, points: curve.points() };
    let series = storages.iter().flat_map(|it| {
        [
            line(format!("{}, worst insertion", it.name), &it.worst),
            line(format!("{}, mean", it.name), &it.mean),
        ]
    });
    Chart {
        title: "What growing costs a heap".to_owned(),
        subtitle: "entries copied by one insertion, of n in a row".to_owned(),
        x: "timers".to_owned(),
        y: "entries copied".to_owned(),
        // What copies nothing has no place on a logarithmic axis.
        series: series.filter(|line| line.points.iter().all(|(_, copied)| *copied > 0.0)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Probe;
    use wheelhouse_binary_heap::Definition;

    fn steps<R: Room>(delays: &[Tick]) -> u64 {
        let mut heap = Heap::<R>::default();
        delays.iter().for_each(|deadline| heap.insert(*deadline));
        heap.steps
    }

    #[test]
    fn the_heap_over_any_storage_takes_the_steps_of_binary_heap() {
        let delays = Order::Random.delays(3_000, 7);
        let mut probe = Probe::of::<Definition<2>>();
        probe.fill(delays.iter().copied());
        let steps = [
            steps::<Array>(&delays),
            steps::<Shrinking>(&delays),
            steps::<Pieces>(&delays),
            steps::<Segmented>(&delays),
        ];
        assert_eq!(steps, [probe.steps().total(); 4]);
    }

    #[test]
    fn an_array_doubles_and_keeps_its_room_and_pieces_give_it_back() {
        let Life { costs: [worst, mean, worst_pop, .., full, gone], is_sorted, .. } =
            live::<Array>(1 << 12);
        assert_eq!((worst, worst_pop, full, gone), (2048.0, 0.0, 4096.0, 4096.0));
        assert!(is_sorted && mean < 1.0);
        let Life { costs: [worst, .., full, gone], is_sorted, .. } = live::<Pieces>(1 << 12);
        assert!(
            is_sorted && worst <= 4.0 && (full, gone) == (4096.0, 1024.0),
            "{worst} {full} {gone}"
        );
        let Life { costs: [.., gone], is_sorted, .. } = live::<Shrinking>(1 << 12);
        assert!(is_sorted && gone < 16.0, "{gone}");
    }
}
