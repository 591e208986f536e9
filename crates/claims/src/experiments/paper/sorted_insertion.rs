//! How many timers an insertion into a sorted list passes.
//!
//! Varghese and Lauck take the figures from queueing theory: timers arrive at random (Poisson), each waits for an interval of one distribution, and n wait on
//! average (M/G/∞). A new timer is put behind those that are due before it. How many these are depends on what is *left* of the intervals of the others:
//!
//! * exponential: what is left is exponential again, so that the new one is before or behind any other with equal chance: n/2;
//! * uniform in 0 to 2T: what is left has the density (1 - x/2T)/T, which is mostly short, so that two of three are due before: 2n/3;
//! * constant: all others are due before.

use super::tools::exponential;
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::{Evidence, Finding, Part, Scale, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_baselines::{SortedListDefinition, SortedListFromRearDefinition};
use wheelhouse_core::lists::LINKS_IN;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "vl-sorted-insertion",
    about: "sorted-list and sorted-list-rear under Poisson arrivals, 128 and 512 timers on average: share of the timers that an insertion passes, for three distributions of the interval",
    run,
};

/// Timers that wait, on average.
const MEANS: [u64; 2] = [128, 512];

/// Mean interval. Long, so that few timers share a tick.
const INTERVAL: f64 = (1 << 20) as f64;

/// Arrivals before anything is counted, for each timer that waits on average: longer than nearly all intervals.
const WARM_UP: u64 = 8;

/// Arrivals that are counted, likewise.
const COUNTED: u64 = 24;

/// How far a share may be from one that it is said to be.
const TOLERANCE: f64 = 0.02;

/// How long timers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interval {
    Exponential,
    Uniform,
    Constant,
}

impl Interval {
    const ALL: [Self; 3] = [Self::Exponential, Self::Uniform, Self::Constant];

    const fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::Uniform => "uniform",
            Self::Constant => "constant",
        }
    }

    fn draw(self, random: &mut Pcg64Mcg) -> Tick {
        let share = match self {
            Self::Exponential => exponential(random),
            Self::Uniform => 2.0 * random.random::<f64>(),
            Self::Constant => 1.0,
        };
        (share * INTERVAL) as Tick
    }

    /// The cost that the paper prints, from the head or from the rear.
    const fn printed(self, rear: bool) -> &'static str {
        match (self, rear) {
            (Self::Exponential, false) => "2 + 2n/3",
            (Self::Uniform, false) => "2 + n/2",
            (Self::Exponential, true) => "2 + n/3",
            (Self::Constant, true) => "O(1)",
            (Self::Constant, false) | (Self::Uniform, true) => "",
        }
    }
}

/// What insertions passed.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    insertions: u64,
    /// Timers that were passed.
    passed: u64,
    /// Timers that waited when the insertion came, summed.
    waiting: u64,
}

impl Passed {
    fn share(&self) -> f64 {
        self.passed as f64 / self.waiting as f64
    }
}

/// The steady state of n timers: Poisson arrivals, insertions into a list.
fn passed<T: Timer<u64>>(mut probe: Probe<T>, interval: Interval, n: u64, seed: u64) -> Passed {
    let (mut random, mut time, mut sum) = (random(seed), 0.0, Passed::default());
    for arrival in 0..(WARM_UP + COUNTED) * n {
        time += exponential(&mut random) * INTERVAL / n as f64;
        let now = time as Tick;
        probe.timer.advance(now, |_| ());
        let waiting = probe.timer.len() as u64;
        let deadline = now + interval.draw(&mut random);
        let (work, _) = probe.work(|timer| timer.insert(deadline, 0));
        if arrival >= WARM_UP * n {
            sum.insertions += 1;
            // Some links are written to put the timer in, the others were followed to get there.
            sum.passed += work.of(Work::Link) - LINKS_IN;
            sum.waiting += waiting;
        }
    }
    sum
}

/// What was passed with these intervals, from the head or from the rear, over all seeds.
fn measured(scale: &Scale, interval: Interval, n: u64, rear: bool) -> Passed {
    let of_seed = |seed| {
        if rear {
            passed(Probe::of::<SortedListFromRearDefinition>(), interval, n, seed)
        } else {
            passed(Probe::of::<SortedListDefinition>(), interval, n, seed)
        }
    };
    scale.seeds().map(of_seed).fold(Passed::default(), |sum, of_seed| Passed {
        insertions: sum.insertions + of_seed.insertions,
        passed: sum.passed + of_seed.passed,
        waiting: sum.waiting + of_seed.waiting,
    })
}

/// What an insertion passes with these intervals, at each of [`MEANS`].
struct Case {
    interval: Interval,
    rear: bool,
    passed: [Passed; 2],
}

impl Case {
    /// Whether the share is this at each n; nothing at all, where it is 0.
    fn is(&self, share: f64) -> bool {
        let is = |passed: &Passed| {
            if share == 0.0 {
                passed.passed == 0
            } else {
                (passed.share() - share).abs() < TOLERANCE
            }
        };
        self.passed.iter().all(is)
    }

    fn share(&self) -> f64 {
        self.passed[MEANS.len() - 1].share()
    }
}

fn run(scale: &Scale) -> Evidence {
    let cases = [false, true].map(|rear| {
        Interval::ALL.map(|interval| Case {
            interval,
            rear,
            passed: MEANS.map(|n| measured(scale, interval, n, rear)),
        })
    });
    Evidence { findings: vec![finding(&cases)], tables: vec![table(&cases)], charts: Vec::new() }
}

fn table(cases: &[[Case; 3]; 2]) -> Table {
    let columns = [
        "intervals",
        "from the",
        "n, in mean",
        "insertions",
        "passed, in mean",
        "share of n",
        "steps",
        "printed",
    ];
    let mut table = Table::new("Timers passed by an insertion into a sorted list", columns);
    for Case { interval, rear, passed } in cases.iter().flatten() {
        for sum in passed {
            let per = |count: u64| count as f64 / sum.insertions as f64;
            table.row([
                interval.name().to_owned(),
                if *rear { "rear" } else { "head" }.to_owned(),
                format!("{:.1}", per(sum.waiting)),
                sum.insertions.to_string(),
                format!("{:.1}", per(sum.passed)),
                format!("{:.3}", sum.share()),
                format!("2 + {:.3} n", sum.share()),
                interval.printed(*rear).to_owned(),
            ]);
        }
    }
    table
}

fn finding(cases: &[[Case; 3]; 2]) -> Finding {
    let [[exponential, uniform, constant], [from_rear, uniform_from_rear, constant_from_rear]] =
        cases;
    let swapped =
        exponential.is(1.0 / 2.0) && uniform.is(2.0 / 3.0) && uniform_from_rear.is(1.0 / 3.0);
    let figure = format!(
        "from the head {:.2} n exponential, {:.2} n uniform, {:.2} n constant; from the rear {:.2} n, {:.2} n, {:.2} n{}",
        exponential.share(),
        uniform.share(),
        constant.share(),
        from_rear.share(),
        uniform_from_rear.share(),
        constant_from_rear.share(),
        if swapped { ": the labels \"exponential\" and \"uniform\" are interchanged" } else { "" }
    );
    let parts = [
        Part::new(
            "exponential intervals, from the head: 2n/3 are passed",
            exponential.is(2.0 / 3.0),
        ),
        Part::new("uniform intervals, from the head: n/2 are passed", uniform.is(1.0 / 2.0)),
        Part::new("exponential intervals, from the rear: n/3 are passed", from_rear.is(1.0 / 3.0)),
        Part::new("constant intervals, from the rear: none is passed", constant_from_rear.is(0.0)),
    ];
    Finding::new("V8", figure, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of the simulation that the inventory reports: 0.50 n, 0.67 n and all of them.
    #[test]
    fn shares_are_those_of_what_is_left_of_the_intervals() {
        for (interval, share) in Interval::ALL.into_iter().zip([0.5, 2.0 / 3.0, 1.0]) {
            let sum = measured(&Scale::REDUCED, interval, 128, false);
            assert!((sum.share() - share).abs() < TOLERANCE, "{interval:?}: {}", sum.share());
            let n = sum.waiting as f64 / sum.insertions as f64;
            assert!((n - 128.0).abs() < 8.0, "{interval:?}: {n} timers");
        }
    }
}
