//! Decides how a cost grows with n, from counts.
//!
//! A sample is the mean count of an operation at one n, for each seed. A straight line through the
//! samples over lg n gives the *slope*: steps per doubling of n, with a 95 % interval over the
//! seeds. Let T be the larger of 0.05 steps and 0.2 % of the cost. The class follows from the
//! slope:
//!
//! | class | condition |
//! |---|---|
//! | constant | the slope and its interval are below T, over all sizes or over an upper half of at least four sizes; and the intervals of the upper half and of the last three sizes do not lie wholly above T |
//! | linear | the differences from size to size grow as n^p, with p and its interval within 0.05 of 1 |
//! | logarithmic | the slope and its interval are above T, the slope changes by less than a fifth of itself over the range, and the last three sizes have at least half of it |
//! | undecided | otherwise: never the nearest class |
//!
//! One size that exceeds both neighbours for most seeds is a *spike*. It is excluded from the line
//! and reported: one n at which a table is rebuilt or a slot is split says nothing about how a cost
//! grows. The same holds for one *jump*: a cost that is constant before and after it, and rises by
//! less than half, is constant, and the jump is reported.
//!
//! **O is "at most"** on every page: O(log n) holds for a constant cost. So a curve also has a
//! class that it does not exceed, even if it lies between two classes. The words *constant*,
//! *logarithmic* and *linear* are exact (Θ).
//!
//! McGeoch, Precup and Cohen (1997) show that no rule of this kind is right on every curve.
//! [`controls`](crate::controls) measures this one on planted curves.

mod shape;

pub use shape::Shape;

use crate::thresholds::Thresholds;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

words! {
    /// A class of growth.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Growth {
        /// O(1).
        Constant = "constant",
        /// Θ(log n).
        Logarithmic = "logarithmic",
        /// Θ(n).
        Linear = "linear",
        /// None of them, or the samples do not decide.
        Undecided = "undecided",
    }
}

/// A mean, and the 95 % interval around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The interval by Student's t; infinitely wide for fewer than two samples.
    pub fn of(samples: &[f64]) -> Self {
        let (n, centre) = (samples.len() as f64, mean(samples));
        let variance = samples.iter().map(|it| (it - centre).powi(2)).sum::<f64>() / (n - 1.0);
        let quantile = StudentsT::new(0.0, 1.0, n - 1.0).map(|t| t.inverse_cdf(0.975));
        let margin = quantile.map_or(f64::INFINITY, |t| t * (variance / n).sqrt());
        Self { mean: centre, low: centre - margin, high: centre + margin }
    }

    /// Multiplies the width of the interval.
    #[must_use]
    pub fn widened(self, factor: f64) -> Self {
        let margin = factor * self.margin();
        Self { low: self.mean - margin, high: self.mean + margin, ..self }
    }

    /// Half its width.
    pub fn margin(self) -> f64 {
        self.high - self.mean
    }
}

/// The costs at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The size.
    pub n: u64,
    /// The mean cost of an operation for each seed. The order of the seeds is the same at each
    /// size.
    pub costs: Vec<f64>,
}

/// A cost against n.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve(pub Vec<Sample>);

impl Curve {
    /// Takes a sample for each seed at each size.
    pub fn sweep(
        sizes: &[u64],
        seeds: impl Iterator<Item = u64> + Clone,
        mut cost: impl FnMut(u64, u64) -> f64,
    ) -> Self {
        let [curve] = curves(sizes, seeds, |n, seed| [cost(n, seed)]);
        curve
    }

    /// (n, mean cost) at each size: the line of a chart.
    pub fn points(&self) -> Vec<(f64, f64)> {
        self.0.iter().map(|sample| (sample.n as f64, mean(&sample.costs))).collect()
    }

    /// The mean cost at the smallest size.
    pub fn first(&self) -> f64 {
        self.0.first().map_or(f64::NAN, |sample| mean(&sample.costs))
    }

    /// The mean cost at the largest size.
    pub fn last(&self) -> f64 {
        self.0.last().map_or(f64::NAN, |sample| mean(&sample.costs))
    }

    /// The samples from a size upwards.
    #[must_use]
    pub fn from(&self, n: u64) -> Self {
        Self(self.0.iter().filter(|sample| sample.n >= n).cloned().collect())
    }

    /// Its class.
    pub fn growth(&self) -> Growth {
        self.shape(&Thresholds::default()).class
    }

    /// Determines how it grows. Undecided if there are fewer than four sizes or fewer than two
    /// seeds.
    pub fn shape(&self, thresholds: &Thresholds) -> Shape {
        Shape::of(&self.0, thresholds)
    }
}

/// Measures several costs in the same runs, one run for each seed at each size; returns a curve of
/// each cost.
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

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
