//! C25, C26: the cost of a change in a slice and in a list, and of finding the next deadline of a
//! map.
//!
//! Timers are taken at evenly spread ranks, so that a cost that depends on the rank appears as its
//! average. A list without handles is the standard library's: to remove an element, one has to walk
//! to it.

use super::drive::{delay, in_part, mean_pop_until_empty};
use crate::count::{Costs, LONGEST, random};
use crate::growth::Growth::{Constant, Linear, Logarithmic};
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::collections::LinkedList;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const LISTS: Experiment = Experiment {
    name: "list-slice-cancel",
    about: "unordered-list, sorted-list, sorted-list-rear and sorted-slice of n timers: insert, \
        cancel by handle, reschedule; cancel by a search",
    run: lists,
};

/// Operations of each kind in a sample, one for each stratum.
const STRATA: u64 = 256;

fn lists(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("Slices and lists", "steps of an operation");
    let sizes = setup.scale.linear_sizes();
    for name in ["sorted-slice", "sorted-list", "sorted-list-rear", "unordered-list"] {
        let curves = setup.curves(&sizes, |n, seed| sample(setup, name, n, seed));
        sweep.add_run(name, ["insert", "delete", "change"], curves);
    }
    sweep.add("list without handles, delete", setup.curve(&sizes, search));
    for (id, line, quote) in [
        ("C25.1", "sorted-slice, delete", "Deleting from a slice is O(n), and no less."),
        ("C25.2", "sorted-slice, change", "Changing an entry of a slice is O(n), and no less."),
        ("C25.3", "list without handles, delete", "Deleting from a list without a handle is O(n)."),
        (
            "C25.4",
            "sorted-list, delete",
            "Deleting from a list with a handle is O(n), and no less.",
        ),
        ("C25.5", "sorted-list, change", "Changing an entry of a list in order is O(n)."),
        ("C25.6", "unordered-list, change", "Changing one of a list in no order is O(n)."),
    ] {
        e.class(id, quote, [&sweep[line]], Linear);
    }
    e.sweep(&sweep);
}

/// For a timer of each stratum: moves it to the deadline of another timer and back, cancels it, and
/// inserts it again. Returns the mean steps of [insert, delete, change].
fn sample(setup: &Setup, name: &str, n: u64, seed: u64) -> [f64; 3] {
    let mut random = random(seed);
    let mut deadlines = spread_deadlines(n, &mut random);
    // Each structure is filled in the order that is cheap for it.
    if ["sorted-slice", "sorted-list"].contains(&name) {
        deadlines.reverse();
    }
    let mut counted = setup.build(name);
    let mut ids = counted.fill(deadlines.iter().copied());
    let [mut insert, mut cancel, mut change] = [0; 3];
    for (rank, other) in ranks(n, &mut random).into_iter().zip(ranks(n, &mut random)) {
        let (id, deadline, elsewhere) = (ids[rank], deadlines[rank], deadlines[other]);
        change += counted.work(|timer| timer.reschedule(id, elsewhere)).0.total();
        counted.timer.reschedule(id, deadline);
        cancel += counted.work(|timer| timer.cancel(id)).0.total();
        let (steps, id) = counted.work(|timer| timer.insert(deadline, 0));
        insert += steps.total();
        ids[rank] = id;
    }
    [insert, cancel, change].map(|steps| steps as f64 / STRATA as f64)
}

/// n ascending deadlines, a random one from each of n equal parts of the time.
fn spread_deadlines(n: u64, random: &mut Pcg64Mcg) -> Vec<Tick> {
    (0..n).map(|at| 1 + in_part(at, n, LONGEST, random)).collect()
}

/// A rank from each stratum of n, in random order.
fn ranks(n: u64, random: &mut Pcg64Mcg) -> Vec<usize> {
    let mut ranks: Vec<_> = (0..STRATA).map(|at| in_part(at, STRATA, n, random) as usize).collect();
    ranks.shuffle(random);
    ranks
}

/// The mean number of links from the head to an entry of a list without handles.
fn search(n: u64, seed: u64) -> f64 {
    let mut random = random(seed);
    let deadlines = spread_deadlines(n, &mut random);
    let list: LinkedList<Tick> = deadlines.iter().copied().collect();
    let followed = |rank: usize| {
        list.iter().take_while(|deadline| **deadline != deadlines[rank]).count() as u64 + 1
    };
    ranks(n, &mut random).into_iter().map(followed).collect::<Costs>().mean()
}

pub(super) const MAPS: Experiment = Experiment {
    name: "map-next-deadline",
    about: "hash-map, btree-map and red-black-tree of n timers: steps to take the first and know \
        the next deadline",
    run: maps,
};

/// How often the first timer is popped from a hash map, which reads all entries for it.
const TURNS: u64 = 64;

fn maps(setup: &Setup, e: &mut Evidence) {
    let mut sweep =
        Sweep::new("The next deadline of a map", "steps to take the first, know the next");
    let [hashed, read] = setup.curves(&setup.scale.linear_sizes(), |n, seed| scan(setup, n, seed));
    sweep.add("hash-map", hashed).add_hidden("hash-map, entries read", read);
    for name in ["btree-map", "red-black-tree"] {
        let curve = setup.curve(&setup.ordered_sizes(), |n, seed| {
            mean_pop_until_empty(|| setup.build(name), n, seed)
        });
        sweep.add(name, curve);
    }
    let quote = "A hash map passes all timers to find the next deadline.";
    e.class("C26.1", quote, [&sweep["hash-map, entries read"]], Linear);
    let quote = "An ordered map gives it in O(log n).";
    e.at_most("C26.4", quote, sweep.all(&["tree"]), Logarithmic);
    let next = setup.curve(&setup.scale.sizes(), |n, seed| {
        let (mut counted, mut random) = (setup.build("btree-map"), random(seed));
        counted.fill((0..n).map(|_| delay(&mut random)));
        counted.mean(1, |timer, _| _ = timer.next_wakeup())
    });
    e.at_most("C26.5", "It tells it in O(1), where nothing is taken out.", [&next], Constant);
    e.sweep(&sweep);
}

/// The mean steps to pop the first timer of a hash map and find the next deadline, and the mean
/// number of entries read.
fn scan(setup: &Setup, n: u64, seed: u64) -> [f64; 2] {
    let (mut random, mut counted) = (random(seed), setup.build("hash-map"));
    counted.fill((0..n).map(|_| delay(&mut random)));
    let [mut steps, mut read] = [0; 2];
    for value in 0..TURNS {
        let first = counted.timer.next_wakeup().expect("n timers are live");
        let (work, _) = counted.work(|timer| (timer.pop_expired(first), timer.next_wakeup()));
        steps += work.total();
        read += work.of(Work::EntryScan);
        counted.timer.insert(first + delay(&mut random), value);
    }
    [steps, read].map(|count| count as f64 / TURNS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn each_stratum_has_one_rank_and_a_search_follows_half_of_the_links() {
        let mut ranks = ranks(1_024, &mut random(1));
        ranks.sort_unstable();
        assert!(ranks.iter().enumerate().all(|(stratum, rank)| rank / 4 == stratum));
        assert!((search(1_024, 1) - 512.5).abs() < 2.0, "{}", search(1_024, 1));
    }

    /// Varghese and Lauck, scheme 2: STOP_TIMER is constant, START_TIMER is not.
    #[test]
    fn a_cancel_by_handle_needs_no_search() {
        let setup = Setup::new(&Scale::REDUCED);
        let [insert, cancel, change] = sample(&setup, "sorted-list", 1_024, 1);
        assert!(cancel == 2.0 && (insert - 1_024.0).abs() < 16.0, "{insert} {cancel}");
        assert!((change - 1_026.0).abs() < 16.0, "{change}");
        assert_eq!(scan(&setup, 1 << 10, 1)[1], 1_024.0);
    }
}
