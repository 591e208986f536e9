//! How much an operation costs more when n doubles.

use crate::growth::{Curve, Growth};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The growth for each doubling of n, with half the width of its 95 % interval over the seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slope {
    /// Steps that are added; a factor where the cost is linear.
    pub(super) mean: f64,
    pub(super) margin: f64,
    /// Whether it is a factor.
    pub(super) factor: bool,
}

impl Slope {
    /// The slope of the least-squares line of each seed; of the logarithm where growth is linear.
    pub(super) fn of(curve: &Curve, growth: Growth) -> Self {
        let factor = growth == Growth::Linear;
        let seeds = curve.0.first().map_or(0, |sample| sample.costs.len());
        let slope = |seed: usize| {
            let costs = curve.0.iter().map(|sample| sample.costs[seed]);
            if factor { least_squares(costs.map(f64::log2)).exp2() } else { least_squares(costs) }
        };
        let slopes: Vec<f64> = (0..seeds).map(slope).collect();
        let (n, mean) = (seeds as f64, slopes.iter().sum::<f64>() / seeds as f64);
        let variance = slopes.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let quantile = StudentsT::new(0.0, 1.0, n - 1.0).map(|t| t.inverse_cdf(0.975));
        let margin = quantile.map_or(f64::INFINITY, |t| t * (variance / n).sqrt());
        Self { mean, margin, factor }
    }
}

impl std::fmt::Display for Slope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.factor {
            "×"
        } else if self.mean < -0.005 {
            "-"
        } else {
            "+"
        };
        write!(f, "{sign}{:.2} ±{:.2}", self.mean.abs(), self.margin)
    }
}

/// The slope of the line through values at 0, 1, 2 ...
fn least_squares(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    let (centre, middle) =
        (values.iter().sum::<f64>() / values.len() as f64, (values.len() - 1) as f64 / 2.0);
    let terms = values.iter().enumerate().map(|(at, value)| {
        let x = at as f64 - middle;
        [x * (value - centre), x * x]
    });
    let [covariance, variance] = terms.fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
    covariance / variance
}
