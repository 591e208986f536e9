//! Measures how often the classifier is right, on planted costs whose class is known.
//!
//! Each planted cost is a program that performs its steps and counts them, on data drawn from the
//! seed, so the classifier sees the noise of a count, which a formula would not have. Some are
//! hard: a staircase, a spike, a jump, a fall before the rise, a saturation, a small coefficient
//! next to a large constant, n^0.9, lg lg n, and pure noise whose mean is the same at every n and
//! whose spread grows with n.

use crate::count::random;
use crate::evidence::left_then_right;
use crate::growth::{Curve, Growth};
use crate::thresholds::{Threshold, Thresholds};
use crate::{Scale, StatedGrowth};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_present::table::{Cell, Table};

/// A cost whose class is known.
#[derive(Clone, Copy, Debug)]
pub struct PlantedCost {
    /// A description of the cost.
    pub name: &'static str,
    /// Its class; undecided if it is none of the three.
    pub class: Growth,
    /// `true` if the classifier must find the class; otherwise it may also answer "undecided".
    pub clean: bool,
    cost: Cost,
    /// Where its shape changes, as a share of the largest n; 0 if the shape is the same at every n.
    bend: f64,
}

type Cost = fn(n: u64, random: &mut Pcg64Mcg) -> f64;

const fn clean(name: &'static str, class: Growth, cost: Cost) -> PlantedCost {
    PlantedCost { name, class, clean: true, cost, bend: 0.0 }
}

const fn hard(name: &'static str, class: Growth, cost: Cost) -> PlantedCost {
    bent(name, class, 0.0, cost)
}

/// A cost whose argument is n divided by the n of the bend, in 1,024ths.
const fn bent(name: &'static str, class: Growth, bend: f64, cost: Cost) -> PlantedCost {
    PlantedCost { name, class, clean: false, cost, bend }
}

use Growth::{Constant, Linear, Logarithmic, Undecided};

/// The planted costs.
pub const PLANTED: &[PlantedCost] = &[
    clean("O(1): one to nine steps", Constant, |_, random| random.random_range(1..10) as f64),
    clean("O(1): 366 steps, within 0.1 %", Constant, |_, random| {
        366.0 + random.random_range(-0.4..0.4)
    }),
    clean("O(1), with 43 steps at one size", Constant, |n, _| if n == SPIKE { 43.0 } else { 5.0 }),
    clean("O(1), with a jump by one step", Constant, |n, _| if n < JUMP { 5.0 } else { 6.0 }),
    clean("O(log n): a bisection", Logarithmic, bisection),
    clean("O(log n): a level for every second doubling", Logarithmic, |n, random| {
        (f64::from(n.ilog2()) / 2.0).floor() + random.random_range(0.0..2.0)
    }),
    clean("O(log n): 100 steps, and half a step per doubling", Logarithmic, |n, random| {
        100.0 + 0.5 * (n as f64).log2() + random.random_range(-1.0..1.0)
    }),
    clean("O(n/M): a slot of 64", Linear, slot),
    hard("O(n): a search from the head", Linear, |n, random| random.random_range(0..n) as f64),
    hard("O(1), with noise as large as the cost", Constant, |_, random| noisy(8.0, random)),
    hard("O(log n), with noise as large", Logarithmic, |n, random| {
        noisy(2.0 * (n as f64).log2(), random)
    }),
    hard("O(n), with noise as large", Linear, |n, random| noisy(n as f64, random)),
    hard("O(1): n steps in one of n operations", Constant, |n, random| {
        if random.random_range(0..n) == 0 { n as f64 } else { 0.0 }
    }),
    bent("falls, then rises: M/n + n/M", Linear, 1.0 / 16.0, |n, random| {
        let share = n as f64 / 1_024.0;
        8.0 * (1.0 / share + share) + random.random_range(0.0..1.0)
    }),
    bent("rises, then saturates: n/(n + M)", Constant, 1.0 / 32.0, |n, random| {
        let share = n as f64 / 1_024.0;
        1.0 + 4.0 * share / (share + 1.0) + random.random_range(-0.1..0.1)
    }),
    hard("O(lg lg n)", Undecided, |n, _| (n as f64).log2().log2()),
    hard("O(log² n)", Undecided, |n, random| bisection(n, random) * f64::from(n.ilog2())),
    hard("O(sqrt n)", Undecided, |n, random| random.random_range(0..2 * n.isqrt()) as f64),
    hard("O(n^0.9)", Undecided, |n, random| (n as f64).powf(0.9) * random.random_range(0.9..1.1)),
];

/// Sizes within the ranges of both scales.
const SPIKE: u64 = 1 << 12;
const JUMP: u64 = 1 << 11;

/// An exponentially distributed cost: its standard deviation equals its mean.
fn noisy(mean: f64, random: &mut Pcg64Mcg) -> f64 {
    -mean * (1.0 - random.random::<f64>()).ln()
}

/// Comparisons of a binary search among n.
fn bisection(n: u64, random: &mut Pcg64Mcg) -> f64 {
    let wanted = random.random_range(0..n);
    let (mut low, mut high, mut steps) = (0, n, 0);
    while low < high {
        let middle = low + (high - low) / 2;
        steps += 1;
        if middle < wanted { low = middle + 1 } else { high = middle }
    }
    f64::from(steps)
}

/// The number of n timers in one of 64 slots, plus 4 steps to visit the slot. The binomial count is
/// drawn from its normal approximation.
fn slot(n: u64, random: &mut Pcg64Mcg) -> f64 {
    let (mean, spread) = (n as f64 / 64.0, (n as f64 / 64.0).sqrt());
    let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    4.0 + (mean + spread * normal).max(0.0).round()
}

/// Operations averaged in a sample: as few as in some experiments, and as many as in most.
pub const OPERATIONS: [u64; 2] = [256, 4_096];

/// Slopes, in steps per doubling, that measure how small a growth the classifier notices.
pub const SLOPES: [f64; 4] = [0.05, 0.1, 0.2, 0.5];

/// The planted costs as counted, before classification.
#[derive(Clone, Debug)]
pub struct Controls {
    /// The curves of each cost, for each of [`OPERATIONS`].
    drawn: Vec<(PlantedCost, u64, Vec<Curve>)>,
    /// The curves of each of [`SLOPES`], for each of [`OPERATIONS`].
    sloped: Vec<(f64, [Vec<Curve>; 2])>,
}

/// Draws a cost `times` times: curves of means over this number of operations.
fn curves(
    scale: &Scale,
    times: u64,
    operations: u64,
    cost: impl Fn(u64, &mut Pcg64Mcg) -> f64,
) -> Vec<Curve> {
    let seeds = scale.seeds().count() as u64;
    let curve = |time: u64| {
        let of_time = (0..seeds).map(|seed| time * seeds + seed);
        Curve::sweep(&scale.sizes(), of_time, |n, seed| {
            let mut random = random(seed ^ n << 32);
            (0..operations).map(|_| cost(n, &mut random)).sum::<f64>() / operations as f64
        })
    };
    (0..times).map(curve).collect()
}

impl Controls {
    /// Draws each planted cost `times` times, each time with different random numbers.
    pub fn draw(scale: &Scale, times: u64) -> Self {
        let of_each = |planted: &PlantedCost| {
            OPERATIONS.map(|operations| {
                let curves = curves(scale, times, operations, |n, random| {
                    let at = match planted.bend {
                        0.0 => n,
                        bend => (1_024.0 * n as f64 / (bend * scale.largest() as f64)) as u64,
                    };
                    (planted.cost)(at, random)
                });
                (*planted, operations, curves)
            })
        };
        let sloped = |slope: f64| {
            let cost = |n: u64, random: &mut Pcg64Mcg| {
                slope * (n as f64).log2() + random.random_range(1..10) as f64
            };
            (slope, OPERATIONS.map(|operations| curves(scale, times, operations, cost)))
        };
        let drawn = PLANTED.iter().flat_map(of_each).collect();
        Self { drawn, sloped: SLOPES.into_iter().map(sloped).collect() }
    }

    /// The power of the classifier: the share of draws in which it notices each of [`SLOPES`].
    pub fn power(&self, thresholds: &Thresholds) -> Table {
        let title = "How small a growth the classifier notices: the share of draws";
        let [few, many] = OPERATIONS.map(|it| format!("noticed, {it} operations a sample"));
        let mut table = Table::new(title, left_then_right(["steps per doubling", &*few, &*many]));
        for (slope, sloped) in &self.sloped {
            let grows = |curve: &&Curve| StatedGrowth::Grows.holds(curve, thresholds) == Some(true);
            let [few, many] = sloped.each_ref().map(|curves| {
                let noticed = curves.iter().filter(grows).count();
                format!("{:.0} %", 100.0 * noticed as f64 / curves.len() as f64)
            });
            table.rows.push([slope.to_string(), few, many].map(Cell::text).into());
        }
        table
    }

    /// Classifies every curve that was drawn.
    pub fn confusion(&self, thresholds: &Thresholds) -> Confusion {
        let row = |(planted, operations, curves): &(PlantedCost, u64, Vec<Curve>)| {
            let mut given = [0; 4];
            let classes = curves.iter().map(|curve| curve.shape(thresholds).class);
            classes.for_each(|class| given[class as usize] += 1);
            (*planted, *operations, given)
        };
        let [most_wrong, most_missed] =
            [Threshold::Wrong, Threshold::Missed].map(|it| thresholds.of(it));
        Confusion { rows: self.drawn.iter().map(row).collect(), most_wrong, most_missed }
    }
}

/// How often each planted cost was classified as each class.
#[derive(Clone, Debug)]
pub struct Confusion {
    /// For each planted cost and each of [`OPERATIONS`], how often it was classified as constant,
    /// logarithmic, linear, undecided.
    pub rows: Vec<(PlantedCost, u64, [u64; 4])>,
    /// The share of all classifications that may be wrong.
    most_wrong: f64,
    /// The share of all classifications that may be misses of a clean cost.
    most_missed: f64,
}

impl Confusion {
    /// The number of wrong classifications: those as another class. "Undecided" is not wrong.
    pub fn wrong(&self) -> u64 {
        let wrong = |(planted, _, given): &(PlantedCost, u64, [u64; 4])| {
            let others = Growth::ALL.iter().zip(given);
            let others = others.filter(|(class, _)| ![planted.class, Undecided].contains(*class));
            others.map(|(_, times)| times).sum::<u64>()
        };
        self.rows.iter().map(wrong).sum()
    }

    /// How often a clean cost was not given its class, with many operations a sample.
    pub fn missed(&self) -> u64 {
        let missed = |(planted, _, given): &(PlantedCost, u64, [u64; 4])| {
            given.iter().sum::<u64>() - given[planted.class as usize]
        };
        let [_, many] = OPERATIONS;
        let clean = self.rows.iter().filter(|(planted, times, _)| planted.clean && *times == many);
        clean.map(missed).sum()
    }

    /// Returns `true` if the errors and the misses are within their thresholds, so that the
    /// classifier may decide.
    pub fn is_sound(&self) -> bool {
        let tries = self.rows.iter().flat_map(|(.., given)| given).sum::<u64>() as f64;
        self.wrong() as f64 <= self.most_wrong * tries
            && self.missed() as f64 <= self.most_missed * tries
    }

    /// As a table.
    pub fn table(&self) -> Table {
        let title = "The classifier on planted costs: how often each class was given";
        let [constant, logarithmic, linear, undecided] = Growth::ALL.map(Growth::name);
        let operations = "operations a sample";
        let columns =
            ["planted cost", "its class", operations, constant, logarithmic, linear, undecided];
        let mut table = Table::new(title, left_then_right(columns));
        for (planted, operations, given) in &self.rows {
            let head = [planted.name, planted.class.name(), &operations.to_string()];
            let cells = head.map(Cell::text).into_iter();
            table.rows.push(cells.chain(given.map(|it| Cell::text(it.to_string()))).collect());
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half a step a doubling is noticed in every draw; a slope at the threshold in few.
    #[test]
    fn the_power_rises_with_the_slope() {
        let controls = Controls::draw(&Scale::REDUCED, 10);
        let power = controls.power(&Thresholds::default());
        let share = |row: usize| {
            let shown = &power.rows[row][2].shown;
            shown.trim_end_matches(" %").parse::<f64>().expect("a share")
        };
        assert!(share(0) <= 50.0 && share(3) == 100.0, "{power:?}");
        assert!((1..SLOPES.len()).all(|row| share(row - 1) <= share(row)), "{power:?}");
    }

    /// Each broken threshold hides or invents growth (for example, up to 5 steps per doubling count
    /// as constant): the controls must notice.
    #[test]
    fn a_broken_classifier_is_noticed() {
        let controls = Controls::draw(&Scale::REDUCED, 4);
        for (threshold, factor) in
            [(Threshold::NoStep, 100.0), (Threshold::Trend, 100.0), (Threshold::Exponent, 10.0)]
        {
            let broken = Thresholds::default().scaled(threshold, factor);
            assert!(!controls.confusion(&broken).is_sound(), "{threshold:?}");
        }
    }
}
