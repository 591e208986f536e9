//! V8: how many timers an insertion into a sorted list passes.
//!
//! Timers arrive at random (Poisson), each waits for an interval of one distribution, and n wait on
//! average (M/G/∞). A new timer is put behind those that are due before it. How many these are
//! depends on what is *left* of the intervals of the others:
//!
//! * exponential: what is left is exponential again: n/2, from either end;
//! * uniform in 0 to 2T: what is left has the density (1 - x/2T)/T, mostly short: 2n/3 from the
//!   head;
//! * constant: all others are due before.

use super::drive::exponential;
use crate::count::random;
use crate::thresholds::Threshold::Share;
use crate::{Evidence, Experiment, Lab, Test};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::lists::LINKS_IN;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const INSERTION: Experiment = Experiment {
    name: "vl-sorted-insertion",
    about: "sorted-list and sorted-list-rear under Poisson arrivals, 128 and 512 timers on \
        average: share of the timers that an insertion passes, for three distributions",
    run,
};

/// Mean interval. Long, so that few timers share a tick.
const INTERVAL: f64 = (1 << 20) as f64;
/// Arrivals before anything is counted, and that are counted, for each timer that waits on average.
const WARM_UP: u64 = 8;
const COUNTED: u64 = 24;

type Draw = fn(&mut Pcg64Mcg) -> f64;
const INTERVALS: [(&str, Draw); 3] = [
    ("exponential", exponential),
    ("uniform", |random| 2.0 * random.random::<f64>()),
    ("constant", |_| 1.0),
];

/// The share of the timers that insertions passed, over all seeds.
fn share(lab: &Lab, list: &str, draw: Draw, n: u64) -> f64 {
    let (mut passed, mut waiting) = (0, 0);
    for seed in lab.seeds() {
        let (mut probe, mut random, mut time) = (lab.make(list), random(seed), 0.0);
        for arrival in 0..(WARM_UP + COUNTED) * n {
            time += exponential(&mut random) * INTERVAL / n as f64;
            let now = time as Tick;
            probe.timer.advance(now, |_| ());
            let others = probe.timer.len() as u64;
            let deadline = now + (draw(&mut random) * INTERVAL) as Tick;
            let (work, _) = probe.work(|timer| timer.insert(deadline, 0));
            if arrival >= WARM_UP * n {
                // Some links are written to put the timer in, the others were followed to get
                // there.
                passed += work.of(Work::Link).saturating_sub(LINKS_IN);
                waiting += others;
            }
        }
    }
    passed as f64 / waiting as f64
}

fn run(lab: &Lab, e: &mut Evidence) {
    let mut rows = Vec::new();
    let mut shares = |list: &str, interval: usize| {
        let (name, draw) = INTERVALS[interval];
        let shares = [128, 512].map(|n| share(lab, list, draw, n));
        rows.push([
            format!("{list}, {name}"),
            format!("{:.3}", shares[0]),
            format!("{:.3}", shares[1]),
        ]);
        shares
    };
    for (id, quote, list, interval, stated) in [
        (
            "V8.1",
            "An insertion from the head costs 2 + 2n/3 for exponential intervals.",
            "sorted-list",
            0,
            2.0 / 3.0,
        ),
        ("V8.2", "It costs 2 + n/2 for uniform ones.", "sorted-list", 1, 1.0 / 2.0),
        (
            "V8.3",
            "From the rear it costs 2 + n/3 for exponential ones.",
            "sorted-list-rear",
            0,
            1.0 / 3.0,
        ),
        ("V8.4", "From the rear it is O(1) for constant ones.", "sorted-list-rear", 2, 0.0),
        (
            "V8.5",
            "With the labels interchanged the figures hold: exponential is n/2.",
            "sorted-list",
            0,
            1.0 / 2.0,
        ),
        ("V8.6", "So uniform is 2n/3.", "sorted-list", 1, 2.0 / 3.0),
        ("V8.7", "So uniform from the rear is n/3.", "sorted-list-rear", 1, 1.0 / 3.0),
    ] {
        let found = shares(list, interval);
        let number = format!("{:.2} n, stated {stated:.2} n", found[1]);
        e.say(id, quote, Test::Within(found.map(|it| (it, stated)).to_vec(), Share), number);
    }
    rows.dedup();
    e.table(
        "Share of the timers that an insertion passes",
        ["list, intervals", "n = 128", "n = 512"],
        rows,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_what_is_left_of_the_intervals() {
        let lab = Lab::new(&crate::Scale::REDUCED);
        for ((name, draw), expected) in INTERVALS.into_iter().zip([0.5, 2.0 / 3.0, 1.0]) {
            let found = share(&lab, "sorted-list", draw, 128);
            assert!((found - expected).abs() < 0.02, "{name}: {found}");
        }
    }
}
