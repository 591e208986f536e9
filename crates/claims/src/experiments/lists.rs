//! C25, C26: the cost of a change in a slice and in a list, and of finding the next deadline of a
//! map.

use crate::StatedGrowth::Is;
use crate::count::{LONGEST, Order};
use crate::growth::Growth::Linear;
use crate::life::moved;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;

pub(super) const LISTS: Experiment = Experiment {
    name: "list-slice-cancel",
    about: "sorted-list, sorted-slice and hash-map of n random timers: insert, cancel by handle, \
        reschedule, fire",
    run,
};

fn run(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("Slices, lists and maps", "steps of an operation");
    let sizes = setup.scale.linear_sizes();
    for name in ["sorted-slice", "sorted-list", "hash-map"] {
        let change = setup.curve(&sizes, |n, seed| {
            let deadlines = Order::Random.delays(n, seed);
            moved(setup.build(name), &deadlines, seed, |random| random.random_range(1..=LONGEST))
        });
        sweep.add_run(name, ["insert", "delete", "fire"], setup.life(name, Order::Random, &sizes));
        sweep.add(format!("{name}, change"), change);
    }
    for (id, line, sentence) in [
        ("C25.1", "sorted-slice, delete", "Deleting from a slice is linear."),
        ("C25.2", "sorted-slice, change", "Changing an entry of a slice is linear."),
        ("C25.4", "sorted-list, delete", "Deleting from a list with a handle is linear."),
        ("C25.5", "sorted-list, change", "Changing an entry of an ordered list is linear."),
        ("C26.1", "hash-map, fire", "A hash map reads all timers to find the next deadline."),
    ] {
        e.growth(id, sentence, sweep.all(&[line]), Is(Linear));
    }
    e.sweeps.push(sweep);
}
