//! C25, C26: the cost of a change in a slice and in a list, and of finding the next deadline of a
//! map.
//!
//! Timers are taken at evenly spread ranks, so that a cost that depends on the rank appears as its
//! average.

use super::drive::{delay, in_part};
use crate::count::{LONGEST, random};
use crate::growth::Growth::Linear;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const LISTS: Experiment = Experiment {
    name: "list-slice-cancel",
    about: "sorted-list and sorted-slice of n timers: insert, cancel by handle, reschedule",
    run: lists,
};

/// Operations of each kind in a sample, one for each stratum.
const STRATA: u64 = 256;

fn lists(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("Slices and lists", "steps of an operation");
    let sizes = setup.scale.linear_sizes();
    for name in ["sorted-slice", "sorted-list"] {
        let curves = setup.curves(&sizes, |n, seed| sample(setup, name, n, seed));
        sweep.add_run(name, ["insert", "delete", "change"], curves);
    }
    for (id, line, quote) in [
        ("C25.1", "sorted-slice, delete", "Deleting from a slice is O(n), and no less."),
        ("C25.2", "sorted-slice, change", "Changing an entry of a slice is O(n), and no less."),
        (
            "C25.4",
            "sorted-list, delete",
            "Deleting from a list with a handle is O(n), and no less.",
        ),
        ("C25.5", "sorted-list, change", "Changing an entry of a list in order is O(n)."),
    ] {
        e.class(id, quote, [&sweep[line]], Linear);
    }
    e.sweep(sweep);
}

/// For a timer of each stratum: moves it to the deadline of another timer and back, cancels it, and
/// inserts it again. Returns the mean steps of [insert, delete, change].
fn sample(setup: &Setup, name: &str, n: u64, seed: u64) -> [f64; 3] {
    let mut random = random(seed);
    let mut deadlines = spread_deadlines(n, &mut random);
    // Both structures are filled in the order that is cheap for them.
    deadlines.reverse();
    let mut counted = setup.build(name);
    let mut ids = counted.fill(deadlines.iter().copied());
    let [mut insert, mut cancel, mut change] = [0; 3];
    for (rank, other) in ranks(n, &mut random).into_iter().zip(ranks(n, &mut random)) {
        let (id, deadline, elsewhere) = (ids[rank], deadlines[rank], deadlines[other]);
        change += counted.work(|timer| timer.reschedule(id, elsewhere)).0.total();
        counted.reschedule(id, deadline);
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

pub(super) const MAPS: Experiment = Experiment {
    name: "map-next-deadline",
    about: "hash-map of n timers: steps to take the first and know the next deadline",
    run: maps,
};

/// How often the first timer is popped from a hash map, which reads all entries for it.
const TURNS: u64 = 64;

fn maps(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("The next deadline of a map", "entries read to take the first");
    let read = setup.curve(&setup.scale.linear_sizes(), |n, seed| scan(setup, n, seed));
    let quote = "A hash map passes all timers to find the next deadline.";
    e.class("C26.1", quote, [&read], Linear);
    sweep.add("hash-map", read);
    e.sweep(sweep);
}

/// The mean number of entries read to pop the first timer of a hash map and find the next deadline.
fn scan(setup: &Setup, n: u64, seed: u64) -> f64 {
    let (mut random, mut counted) = (random(seed), setup.build("hash-map"));
    counted.fill((0..n).map(|_| delay(&mut random)));
    let mut read = 0;
    for value in 0..TURNS {
        let first = counted.next_wakeup().expect("n timers are live");
        let (work, _) = counted.work(|timer| (timer.pop_expired(first), timer.next_wakeup()));
        read += work.of(Work::EntryScan);
        counted.insert(first + delay(&mut random), value);
    }
    read as f64 / TURNS as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    /// Varghese and Lauck, scheme 2: STOP_TIMER is constant, START_TIMER is not.
    #[test]
    fn a_cancel_by_handle_needs_no_search() {
        let setup = Setup::new(&Scale::REDUCED);
        let [insert, cancel, change] = sample(&setup, "sorted-list", 1_024, 1);
        assert!(cancel == 2.0 && (insert - 1_024.0).abs() < 16.0, "{insert} {cancel}");
        assert!((change - 1_026.0).abs() < 16.0, "{change}");
        assert_eq!(scan(&setup, 1 << 10, 1), 1_024.0);
    }
}
