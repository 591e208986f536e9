//! What a change and a deletion cost in a slice and in a list, with a handle and without.
//!
//! Timers are taken at evenly spread ranks, one from each of [`STRATA`] parts of all, so that a cost that depends on the rank is met as it is on average. A list without
//! handles is that of the standard library: to take an element out of it is to walk there.

use super::hold::curves;
use crate::count::{LONGEST, Probe, Tally, random};
use crate::experiment::Experiment;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::collections::LinkedList;
use wheelhouse_baselines::{
    SortedListDefinition, SortedListFromRearDefinition, SortedSliceDefinition,
    UnorderedListDefinition,
};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "list-slice-cancel",
    about: "unordered-list, sorted-list, sorted-list-rear and sorted-slice of n timers: steps of insert, cancel by handle and reschedule; cancel by search",
    run,
};

/// As many operations of each kind are a sample.
const STRATA: u64 = 256;

/// What a structure takes on average.
struct Costs {
    name: &'static str,
    insert: Curve,
    cancel: Curve,
    reschedule: Curve,
}

fn run(scale: &Scale) -> Evidence {
    // Each is filled in the order that is cheap for it.
    let slice = count::<SortedSliceDefinition>(scale, Fill::Descending);
    let list = count::<SortedListDefinition>(scale, Fill::Descending);
    let rear = count::<SortedListFromRearDefinition>(scale, Fill::Ascending);
    let unordered = count::<UnorderedListDefinition>(scale, Fill::Ascending);
    let searched = Curve::sweep(&scale.linear_sizes(), 1..=scale.seeds, search);
    let linear = |curve: &Curve| curve.growth().is(Growth::Linear);
    let parts = [
        Part::maybe("to delete from a slice is linear", linear(&slice.cancel)),
        Part::maybe("to change an entry of a slice is linear", linear(&slice.reschedule)),
        Part::maybe("to delete from a list without a handle is linear", linear(&searched)),
        Part::maybe("to delete from a list with a handle is linear", linear(&list.cancel)),
        Part::maybe("to change an entry of a list in order is linear", linear(&list.reschedule)),
        Part::maybe(
            "to change an entry of a list without order is linear",
            linear(&unordered.reschedule),
        ),
    ];
    let most = scale.linear_sizes().last().copied().unwrap_or_default();
    let figure = format!(
        "a deletion at n = {most}: {:.0} steps in a slice, {:.0} in a list that is searched, {:.0} with a handle",
        slice.cancel.ends().1,
        searched.ends().1,
        list.cancel.ends().1
    );
    let structures = [slice, list, rear, unordered];
    let (tables, charts) =
        (vec![table(&structures, &searched)], vec![chart(&structures, searched)]);
    Evidence { findings: vec![Finding::new("C25", figure, parts)], tables, charts }
}

/// The order in which a structure is filled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    Ascending,
    Descending,
}

fn count<B: Backend + 'static>(scale: &Scale, fill: Fill) -> Costs {
    let [insert, cancel, reschedule] =
        curves(&scale.linear_sizes(), scale.seeds(), |n, seed| sample::<B>(n, seed, fill));
    Costs { name: B::INFO.name, insert, cancel, reschedule }
}

/// Takes out, puts in again, and moves to the place of another and back, a timer of each stratum.
fn sample<B: Backend + 'static>(n: u64, seed: u64, fill: Fill) -> [f64; 3] {
    let mut random = random(seed);
    let mut deadlines = spread(n, &mut random);
    if fill == Fill::Descending {
        deadlines.reverse();
    }
    let mut probe = Probe::of::<B>();
    let mut ids = probe.fill(deadlines.iter().copied());
    let (mut insert, mut cancel, mut reschedule) =
        (Tally::default(), Tally::default(), Tally::default());
    for (rank, other) in ranks(n, &mut random).into_iter().zip(ranks(n, &mut random)) {
        let (id, deadline, elsewhere) = (ids[rank], deadlines[rank], deadlines[other]);
        reschedule.add(probe.work(|timer| timer.reschedule(id, elsewhere)).0.total());
        probe.timer.reschedule(id, deadline);
        cancel.add(probe.work(|timer| timer.cancel(id)).0.total());
        let (steps, id) = probe.work(|timer| timer.insert(deadline, 0));
        insert.add(steps.total());
        ids[rank] = id;
    }
    [insert.mean(), cancel.mean(), reschedule.mean()]
}

/// n deadlines in order, one at random from each of n equal parts of the time.
fn spread(n: u64, random: &mut Pcg64Mcg) -> Vec<Tick> {
    (0..n).map(|at| 1 + (at * LONGEST + random.random_range(0..LONGEST)) / n).collect()
}

/// A rank from each stratum of n, in any order.
fn ranks(n: u64, random: &mut Pcg64Mcg) -> Vec<usize> {
    let mut ranks: Vec<_> =
        (0..STRATA).map(|at| ((at * n + random.random_range(0..n)) / STRATA) as usize).collect();
    ranks.shuffle(random);
    ranks
}

/// The links followed from the head to an entry of a list without handles.
fn search(n: u64, seed: u64) -> f64 {
    let mut random = random(seed);
    let deadlines = spread(n, &mut random);
    let list: LinkedList<Tick> = deadlines.iter().copied().collect();
    let followed = |rank: usize| {
        list.iter().take_while(|deadline| **deadline != deadlines[rank]).count() as u64 + 1
    };
    ranks(n, &mut random).into_iter().map(followed).collect::<Tally>().mean()
}

fn table(structures: &[Costs], searched: &Curve) -> Table {
    let mut table = Table::new(
        "Steps of an operation",
        ["structure", "operation", "smallest n", "largest n", "growth"],
    );
    let mut row = |structure: &str, operation: &str, curve: &Curve| {
        table.row([structure, operation].map(str::to_owned).into_iter().chain(curve.cells()));
    };
    for Costs { name, insert, cancel, reschedule } in structures {
        row(name, "insert", insert);
        row(name, "cancel by handle", cancel);
        row(name, "reschedule by handle", reschedule);
    }
    row("list without handles", "links followed to cancel by search", searched);
    table
}

fn chart(structures: &[Costs], searched: Curve) -> Chart {
    let line = |name: String, curve: &Curve| Series { name, points: curve.points() };
    let mut series: Vec<_> =
        structures.iter().map(|it| line(format!("{}, cancel", it.name), &it.cancel)).collect();
    series.extend(
        structures.iter().map(|it| line(format!("{}, reschedule", it.name), &it.reschedule)),
    );
    // The two sorted lists cancel alike, and so do those without order move.
    series.retain(|it| !it.name.starts_with(SortedListFromRearDefinition::INFO.name));
    series.push(line("list without handles, cancel".to_owned(), &searched));
    Chart {
        title: "Slices and lists".to_owned(),
        subtitle: "steps to cancel and to change one of n timers".to_owned(),
        x: "timers".to_owned(),
        y: "steps".to_owned(),
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_one_of_each_stratum() {
        let mut ranks = ranks(1_024, &mut random(1));
        ranks.sort_unstable();
        assert!(ranks.iter().enumerate().all(|(stratum, rank)| rank / 4 == stratum));
    }

    #[test]
    fn a_search_follows_half_of_the_links_on_average() {
        assert!((search(1_024, 1) - 512.5).abs() < 2.0, "{}", search(1_024, 1));
    }

    /// Varghese and Lauck, scheme 2: STOP_TIMER is constant, START_TIMER is not.
    #[test]
    fn a_handle_spares_the_search() {
        let [insert, cancel, reschedule] =
            sample::<SortedListDefinition>(1_024, 1, Fill::Descending);
        // Two links are changed to take an entry out; a link and a comparison for each passed.
        assert!(
            cancel == 2.0 && (insert - 1_024.0).abs() < 16.0 && (reschedule - 1_026.0).abs() < 16.0,
            "{insert} {cancel} {reschedule}"
        );
    }
}
