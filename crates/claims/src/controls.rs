//! Costs that are known, through the same classifier: how often is it right?
//!
//! Each planted cost is a program that really does that many steps and counts them, on data drawn from the seed, so that what the classifier sees
//! has the noise of a count and not that of a formula: as little as that of a search, or as much as its own mean. The last is noise alone: its mean is the same at every n, and
//! its spread grows with n.

use crate::count::random;
use crate::growth::{Curve, Growth};
use crate::{Scale, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// A cost that is known.
#[derive(Clone, Copy, Debug)]
pub struct Planted {
    /// What it does.
    pub name: &'static str,
    /// Its class; undecided where it is none of the three.
    pub class: Growth,
    cost: fn(n: u64, random: &mut Pcg64Mcg) -> u64,
}

/// Slots of the wheel whose scan is planted.
const SLOTS: u64 = 64;

/// The planted costs.
pub const PLANTED: [Planted; 10] = [
    Planted {
        name: "O(1): one to nine steps",
        class: Growth::Constant,
        cost: |_, random| random.random_range(1..10),
    },
    Planted { name: "O(log n): a bisection", class: Growth::Logarithmic, cost: bisection },
    Planted {
        name: "O(n): a search from the head",
        class: Growth::Linear,
        cost: |n, random| random.random_range(0..n),
    },
    Planted { name: "O(n/M): a slot of 64", class: Growth::Linear, cost: slot },
    Planted {
        name: "O(sqrt n)",
        class: Growth::Undecided,
        cost: |n, random| random.random_range(0..2 * n.isqrt()),
    },
    Planted {
        name: "O(log² n)",
        class: Growth::Undecided,
        cost: |n, random| bisection(n, random) * u64::from(n.ilog2()),
    },
    Planted {
        name: "O(1), as much noise",
        class: Growth::Constant,
        cost: |_, random| noisy(8.0, random),
    },
    Planted {
        name: "O(log n), as much noise",
        class: Growth::Logarithmic,
        cost: |n, random| noisy(2.0 * (n as f64).log2(), random),
    },
    Planted {
        name: "O(n), as much noise",
        class: Growth::Linear,
        cost: |n, random| noisy(n as f64, random),
    },
    Planted { name: "noise alone: n steps once in n times", class: Growth::Constant, cost: noise },
];

/// A cost whose spread is its mean: exponential.
fn noisy(mean: f64, random: &mut Pcg64Mcg) -> u64 {
    (-mean * (1.0 - random.random::<f64>()).ln()).round() as u64
}

/// Comparisons of a bisection among n for one of them.
fn bisection(n: u64, random: &mut Pcg64Mcg) -> u64 {
    let wanted = random.random_range(0..n);
    let (mut low, mut high, mut steps) = (0, n, 0);
    while low < high {
        let middle = low + (high - low) / 2;
        steps += 1;
        if middle < wanted { low = middle + 1 } else { high = middle }
    }
    steps
}

/// How many of n timers are in one of 64 slots, and 4 steps to look at it. A sum of many yes or no, by its normal limit.
fn slot(n: u64, random: &mut Pcg64Mcg) -> u64 {
    let (mean, spread) = (n as f64 / SLOTS as f64, (n as f64 / SLOTS as f64).sqrt());
    let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    4 + (mean + spread * normal).max(0.0).round() as u64
}

/// Nothing or very much.
fn noise(n: u64, random: &mut Pcg64Mcg) -> u64 {
    if random.random_range(0..n) == 0 { n } else { 0 }
}

/// Operations of which each sample is the mean: as few as those of the experiments that take fewest, and as many as of most.
pub const OPERATIONS: [u64; 2] = [256, 4_096];

/// How often each planted cost was given each class.
#[derive(Clone, Debug)]
pub struct Confusion {
    /// For each planted cost, how often it was called constant, logarithmic, linear, undecided; with few operations a sample, then with many.
    pub rows: Vec<(Planted, u64, [u32; 4])>,
}

/// The classes, in the order of the columns.
pub const CLASSES: [Growth; 4] =
    [Growth::Constant, Growth::Logarithmic, Growth::Linear, Growth::Undecided];

/// Puts each planted cost through the classifier so many times, with other random numbers each time.
pub fn confusion(scale: &Scale, times: u64) -> Confusion {
    let row = |planted: Planted, operations: u64| {
        let mut given = [0; 4];
        for time in 0..times {
            let growth = curve(&planted, scale, operations, time).growth();
            given[CLASSES.iter().position(|class| *class == growth).unwrap_or(3)] += 1;
        }
        (planted, operations, given)
    };
    let of_each = |planted: Planted| OPERATIONS.map(|operations| row(planted, operations));
    Confusion { rows: PLANTED.into_iter().flat_map(of_each).collect() }
}

fn curve(planted: &Planted, scale: &Scale, operations: u64, time: u64) -> Curve {
    let seeds = (0..scale.seeds).map(|seed| time * scale.seeds + seed);
    Curve::sweep(&scale.sizes(), seeds, |n, seed| {
        let mut random = random(seed ^ n << 32);
        (0..operations).map(|_| (planted.cost)(n, &mut random)).sum::<u64>() as f64
            / operations as f64
    })
}

impl Confusion {
    /// How often a class was given to what is of another: the errors that count. Undecided is none.
    pub fn wrong(&self) -> u32 {
        let wrong = |(planted, _, given): &(Planted, u64, [u32; 4])| {
            let others = CLASSES
                .iter()
                .zip(given)
                .filter(|(given, _)| ![planted.class, Growth::Undecided].contains(*given));
            others.map(|(_, times)| times).sum::<u32>()
        };
        self.rows.iter().map(wrong).sum()
    }

    /// As a table.
    pub fn table(&self) -> Table {
        let columns = ["planted", "operations a sample", "its class"]
            .into_iter()
            .chain(CLASSES.map(Growth::name));
        let mut table =
            Table::new("The classifier on planted costs: how often each class was given", columns);
        for (planted, operations, given) in &self.rows {
            let cells =
                [planted.name.to_owned(), operations.to_string(), planted.class.name().to_owned()]
                    .into_iter();
            table.row(cells.chain(given.iter().map(u32::to_string)));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardly_a_planted_cost_is_given_the_class_of_another() {
        let confusion = confusion(&Scale::REDUCED, 10);
        assert!(confusion.wrong() <= 2, "{confusion:?}");
    }

    #[test]
    fn clean_costs_are_told() {
        let told = confusion(&Scale::REDUCED, 10);
        let clean = told.rows.iter().filter(|(planted, operations, _)| {
            *operations == OPERATIONS[1] && PLANTED[..4].iter().any(|it| it.name == planted.name)
        });
        for (planted, _, given) in clean {
            let class = CLASSES
                .iter()
                .position(|class| *class == planted.class)
                .expect("one of the classes");
            assert!(given[class] >= 9, "{}: {given:?}", planted.name);
        }
    }
}
