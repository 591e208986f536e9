//! How a cost grows with n, decided on counts.
//!
//! The samples are means of operation counts at n, 2n, 4n .., one for each seed. With D the difference from one size to the next:
//!
//! | class | is given if |
//! |---|---|
//! | constant | D, over all sizes, lies below 0.05 of a step with its whole 95 % interval, and so does each single one but for its own interval |
//! | linear | the slope of log D against log n is 1 within 0.05, its interval included; the differences, for that an additive constant does not bend them |
//! | logarithmic | D is above 0 with its whole interval and has no trend: its later half is within a quarter of its earlier half, and known to a half of it |
//! | undecided | otherwise: never the nearest class |
//!
//! A cost that falls with n counts as constant: what is asked is how fast it grows. McGeoch, Precup and Cohen (1997) show that no rule of this kind is
//! right on every curve; what this one does on planted curves is in [`controls`](crate::controls).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::fmt;

/// A step of D below this is none.
const NO_STEP: f64 = 0.05;
/// How far a slope may be from 1.
const SLOPE: f64 = 0.05;
/// How far the later half of D may be from the earlier, as a share of it.
const TREND: f64 = 0.25;

/// A class of growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Growth {
    /// O(1).
    Constant,
    /// Θ(log n).
    Logarithmic,
    /// Θ(n).
    Linear,
    /// None of them, or the samples do not tell.
    Undecided,
}

impl Growth {
    /// The word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Logarithmic => "logarithmic",
            Self::Linear => "linear",
            Self::Undecided => "undecided",
        }
    }

    /// Whether it is this class; `None` if undecided. To be made a [`Part`](crate::Part).
    pub fn is(self, class: Self) -> Option<bool> {
        (self != Self::Undecided).then_some(self == class)
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The cost at one size, a mean for each seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The size.
    pub n: u64,
    /// The mean cost of an operation, for each seed in the same order at each size.
    pub costs: Vec<f64>,
}

/// A cost against n.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve(pub Vec<Sample>);

impl Curve {
    /// Takes a sample for each seed at each size, which must be doubled from one to the next.
    pub fn sweep(
        sizes: &[u64],
        seeds: impl Iterator<Item = u64> + Clone,
        mut cost: impl FnMut(u64, u64) -> f64,
    ) -> Self {
        let mut sample =
            |&n| Sample { n, costs: seeds.clone().map(|seed| cost(n, seed)).collect() };
        Self(sizes.iter().map(&mut sample).collect())
    }

    /// (n, mean cost) at each size: a line of a chart.
    pub fn points(&self) -> Vec<(f64, f64)> {
        self.0.iter().map(|sample| (sample.n as f64, mean(&sample.costs))).collect()
    }

    /// The mean cost at the smallest size and at the largest.
    pub fn ends(&self) -> (f64, f64) {
        let at = |sample: Option<&Sample>| sample.map_or(f64::NAN, |sample| mean(&sample.costs));
        (at(self.0.first()), at(self.0.last()))
    }

    /// The greatest mean cost, at whichever size; 0 without samples.
    pub fn greatest_mean(&self) -> f64 {
        self.points().into_iter().map(|(_, cost)| cost).fold(0.0, f64::max)
    }

    /// The mean cost at the smallest size and at the largest, and its class: cells of a table.
    pub fn cells(&self) -> [String; 3] {
        let (first, last) = self.ends();
        [format!("{first:.2}"), format!("{last:.2}"), self.growth().to_string()]
    }

    /// Its class.
    pub fn growth(&self) -> Growth {
        classify(self)
    }
}

/// Several costs of one run: a curve of each, from a run for each seed at each size.
pub fn curves<const K: usize>(
    sizes: &[u64],
    seeds: impl Iterator<Item = u64> + Clone,
    mut costs: impl FnMut(u64, u64) -> [f64; K],
) -> [Curve; K] {
    let mut runs = |n: u64| seeds.clone().map(|seed| costs(n, seed)).collect::<Vec<_>>();
    let runs: Vec<_> = sizes.iter().map(|&n| (n, runs(n))).collect();
    let of = |cost: usize, runs: &[[f64; K]]| runs.iter().map(|costs| costs[cost]).collect();
    std::array::from_fn(|cost| {
        Curve(runs.iter().map(|(n, runs)| Sample { n: *n, costs: of(cost, runs) }).collect())
    })
}

/// Whether all of these are of one class; `None` if one of them is undecided.
pub fn all_are(class: Growth, growths: impl IntoIterator<Item = Growth>) -> Option<bool> {
    let are = growths.into_iter().map(|growth| growth.is(class)).collect::<Option<Vec<bool>>>()?;
    Some(are.into_iter().all(|is| is))
}

/// A mean and how well it is known.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    mean: f64,
    /// Half the width of the 95 % interval.
    margin: f64,
}

impl Estimate {
    /// By Student's t; infinitely wide for fewer than two samples.
    fn of(samples: &[f64]) -> Self {
        let (n, centre) = (samples.len() as f64, mean(samples));
        let variance = samples.iter().map(|it| (it - centre).powi(2)).sum::<f64>() / (n - 1.0);
        let quantile = StudentsT::new(0.0, 1.0, n - 1.0).map(|t| t.inverse_cdf(0.975));
        let margin = quantile.map_or(f64::INFINITY, |t| t * (variance / n).sqrt());
        Self { mean: centre, margin }
    }

    fn low(self) -> f64 {
        self.mean - self.margin
    }

    fn high(self) -> f64 {
        self.mean + self.margin
    }
}

/// The class of a curve. Undecided if it has fewer than four sizes, fewer than two seeds, or sizes that do not double.
pub fn classify(curve: &Curve) -> Growth {
    let samples = &curve.0;
    let doubling = samples
        .windows(2)
        .all(|pair| pair[1].n == 2 * pair[0].n && pair[0].costs.len() == pair[1].costs.len());
    let seeds = samples.first().map_or(0, |sample| sample.costs.len());
    if samples.len() < 4 || seeds < 2 || !doubling {
        return Growth::Undecided;
    }
    let steps = Steps::of(samples, seeds);
    if steps.constant() {
        Growth::Constant
    } else if steps.linear() {
        Growth::Linear
    } else if steps.logarithmic() {
        Growth::Logarithmic
    } else {
        Growth::Undecided
    }
}

/// The differences from size to size: for each seed, and for each size.
struct Steps {
    by_seed: Vec<Vec<f64>>,
}

impl Steps {
    fn of(samples: &[Sample], seeds: usize) -> Self {
        let of_seed = |seed: usize| {
            samples.windows(2).map(|pair| pair[1].costs[seed] - pair[0].costs[seed]).collect()
        };
        Self { by_seed: (0..seeds).map(of_seed).collect() }
    }

    /// A figure of each seed's differences, and how well it is known.
    fn estimate(&self, figure: impl Fn(&[f64]) -> f64) -> Estimate {
        Estimate::of(&self.by_seed.iter().map(|steps| figure(steps)).collect::<Vec<_>>())
    }

    fn count(&self) -> usize {
        self.by_seed[0].len()
    }

    fn constant(&self) -> bool {
        let every = (0..self.count()).all(|at| self.estimate(|steps| steps[at]).low() < NO_STEP);
        every && self.estimate(mean).high() < NO_STEP
    }

    fn linear(&self) -> bool {
        let growing = self.by_seed.iter().flatten().all(|step| *step > 0.0);
        let slope = self.estimate(|steps| slope_of(steps.iter().map(|step| step.log2())));
        growing && slope.low() > 1.0 - SLOPE && slope.high() < 1.0 + SLOPE
    }

    fn logarithmic(&self) -> bool {
        let middle = self.count() / 2;
        let earlier = self.estimate(|steps| mean(&steps[..middle]));
        let change = self.estimate(|steps| mean(&steps[middle..]) - mean(&steps[..middle]));
        let steady =
            change.mean.abs() < TREND * earlier.mean && change.margin < 2.0 * TREND * earlier.mean;
        self.estimate(mean).low() > 0.0 && earlier.low() > 0.0 && steady
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The slope of the least-squares line through values at 0, 1, 2 ...
fn slope_of(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    let (centre, middle) = (mean(&values), (values.len() - 1) as f64 / 2.0);
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let x = at as f64 - middle;
        covariance += x * (value - centre);
        variance += x * x;
    }
    covariance / variance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(cost: impl Fn(f64) -> f64) -> Growth {
        let sizes: Vec<u64> = (10..=20).map(|bits| 1 << bits).collect();
        Curve::sweep(&sizes, 1..=5, |n, seed| cost(n as f64) * (1.0 + seed as f64 * 1e-4)).growth()
    }

    #[test]
    fn classes_are_told_apart() {
        assert_eq!(curve(|_| 50.0), Growth::Constant);
        assert_eq!(curve(|n| 3.0 + 1000.0 / n), Growth::Constant);
        assert_eq!(curve(|n| 2.0 * n.log2() - 3.0), Growth::Logarithmic);
        assert_eq!(curve(|n| 4.0 + 15.0 * n / 256.0), Growth::Linear);
    }

    #[test]
    fn what_is_none_of_them_is_undecided() {
        assert_eq!(curve(f64::sqrt), Growth::Undecided);
        assert_eq!(curve(|n| n.log2().powi(2)), Growth::Undecided);
        assert_eq!(curve(|n| n * n.log2()), Growth::Undecided);
        assert_eq!(curve(|n| n * n), Growth::Undecided);
    }

    #[test]
    fn one_run_gives_several_curves() {
        let [one, two] = curves(&[2, 4], 1..=2, |n, seed| [n as f64, (n * seed) as f64]);
        assert_eq!(
            (one.points(), two.points()),
            (vec![(2.0, 2.0), (4.0, 4.0)], vec![(2.0, 3.0), (4.0, 6.0)])
        );
    }

    #[test]
    fn one_that_is_undecided_leaves_all_undecided() {
        let all = |others: &[Growth]| all_are(Growth::Linear, others.iter().copied());
        assert_eq!(all(&[Growth::Linear, Growth::Linear]), Some(true));
        assert_eq!(all(&[Growth::Linear, Growth::Constant]), Some(false));
        assert_eq!(all(&[Growth::Constant, Growth::Undecided]), None);
    }

    #[test]
    fn a_curve_is_told_by_its_ends_its_class_and_its_greatest_mean() {
        let curve = Curve::sweep(&[1, 2, 4, 8], 1..=5, |n, _| if n == 4 { 3.0 } else { 2.0 });
        assert_eq!(
            (curve.cells(), curve.greatest_mean()),
            (["2.00", "2.00", "undecided"].map(str::to_owned), 3.0)
        );
    }

    #[test]
    fn too_few_samples_decide_nothing() {
        let few = Curve::sweep(&[2, 4, 8], 1..=5, |_, _| 1.0);
        assert_eq!(few.growth(), Growth::Undecided);
        let one_seed = Curve::sweep(&[2, 4, 8, 16, 32], 1..=1, |_, _| 1.0);
        assert_eq!(one_seed.growth(), Growth::Undecided);
        let not_doubled = Curve::sweep(&[2, 4, 9, 16, 32], 1..=5, |_, _| 1.0);
        assert_eq!(not_doubled.growth(), Growth::Undecided);
    }
}
