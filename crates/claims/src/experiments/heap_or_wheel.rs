//! C32, C43, C46: a heap or a wheel? Starting, stopping and firing separately. Steps decide growth,
//! instructions decide order.

use crate::StatedGrowth::{AtMost, Grows, Is};
use crate::count::Order;
use crate::growth::Growth::{Constant, Logarithmic};
use crate::instructions::Pair;
use crate::{Criterion, Evidence, EvidenceKind, Experiment, Setup, Sweep, instructions};

const HEAPS: [&str; 2] = ["binary-heap", "heap-4"];
const STRUCTURES: [&str; 4] = ["binary-heap", "heap-4", "lazy-heap", "list-wheel"];
/// A few timers, for which heaps are recommended.
const FEW: u64 = 16;

pub(super) const BURST: Experiment = Experiment {
    name: "heap-vs-wheel",
    about: "steps to start, stop and fire n timers on three heaps and a wheel, in four orders; \
        instructions of workloads and traces on both, and with 16 timers",
    run,
};

fn run(setup: &Setup, e: &mut Evidence) {
    let sizes = setup.ordered_sizes();
    let mut sweep = Sweep::new("Starting, stopping, firing", "steps of each, the mean of n");
    for name in STRUCTURES {
        for order in Order::ALL {
            let curves = setup.life(name, order, &sizes);
            sweep.add_run(&format!("{name}, {}", order.name()), ["start", "stop", "fire"], curves);
        }
    }
    by_steps(e, &sweep);
    by_instructions(e);
    e.sweeps.push(sweep);
}

fn by_steps(e: &mut Evidence, sweep: &Sweep) {
    let heap = (&HEAPS[..], AtMost(Logarithmic));
    let wheel = (&["list-wheel"][..], AtMost(Constant));
    for (id, operation, (structures, stated), sentence) in [
        ("C32.1", "start", heap, "Creating a timer in a heap is O(log n), in any order."),
        ("C32.3", "stop", heap, "Deleting a timer from a heap is O(log n), in any order."),
        ("C32.6", "start", wheel, "Creating is O(1) in a wheel of lists, in any order."),
        ("C32.7", "stop", wheel, "Deleting is O(1) in a wheel of lists, in any order."),
    ] {
        e.growth(id, sentence, sweep.of(structures, &[operation]), stated);
    }
    let sentence =
        "If all timers have one deadline, creating one in a heap costs more, the more there are.";
    e.growth("C32.2", sentence, sweep.of(&HEAPS, &["all equal", "start"]), Grows);
    let sentence = "With random deadlines, firing is logarithmic in a heap.";
    e.growth("C32.10", sentence, sweep.of(&HEAPS, &["random", "fire"]), Is(Logarithmic));
    let sentence = "Starting a task is O(log n).";
    e.growth("C46.2", sentence, sweep.of(&HEAPS, &["start"]), AtMost(Logarithmic));
    let sentence = "With random deadlines, taking the first task is logarithmic.";
    e.growth("C46.6", sentence, sweep.of(&HEAPS, &["random", "fire"]), Is(Logarithmic));
    let sentence = "With random deadlines, firing is O(1) in a wheel of lists.";
    e.growth("C43.2", sentence, sweep.of(&["list-wheel"], &["random", "fire"]), AtMost(Constant));
    let sentence = "A heap that defers deletion, as Go's does, deletes in O(1), with the clean-up.";
    e.growth("C32.14", sentence, sweep.of(&["lazy-heap"], &["stop"]), AtMost(Constant));
}

/// Decides which of the two is better, by instructions.
fn by_instructions(e: &mut Evidence) {
    let on = |measure| instructions::compared("binary-heap", "list-wheel", measure);
    let pairs: Vec<_> = ["mix", "steady", "hold"].into_iter().flat_map(on).collect();
    let ratios = || pairs.iter().map(|(heap, wheel)| heap / wheel);
    let (least, most) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
    let sentence = "A wheel of lists takes fewer instructions than a heap in all mixes and traces.";
    let number = format!("the heap takes {least:.2} to {most:.2} times as many");
    e.decide_by(EvidenceKind::Instructions);
    e.decide("C43.5", sentence, Criterion::Exceeds(pairs), number);
    for (id, pair, what) in [
        ("C46.7", Pair::Hold, "take the first, add one"),
        ("C46.8", Pair::StopStart, "stop one, start one"),
    ] {
        let of = |name| instructions::of_pair(name, pair, FEW);
        let sentence =
            format!("With {FEW} tasks a heap takes fewer instructions than a wheel: {what}.");
        e.exceeds(id, sentence, (of("list-wheel"), of("binary-heap")));
    }
}
