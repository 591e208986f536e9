//! Classifies a curve: slope, spikes, jump, power of n.

use super::{Growth, Interval, Sample, mean};
use crate::thresholds::{Threshold, Thresholds};
use serde::Serialize;

/// How a cost grows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shape {
    /// Its class.
    pub class: Growth,
    /// The lowest class that it is known not to exceed.
    pub at_most: Growth,
    /// Steps per doubling of n.
    pub slope: Interval,
    /// The change of the slope over the range, as a share of the slope.
    pub trend: Interval,
    /// The power of n that the differences from size to size follow, if all are above 0.
    pub exponent: Option<Interval>,
    /// The mean cost over all sizes.
    pub level: f64,
    /// Sizes whose cost stands out from both neighbours.
    pub spikes: Vec<u64>,
    /// For a cost that is constant except for one jump: the size of the jump, and its height.
    pub jump: Option<(u64, f64)>,
}

/// The number of largest sizes that are also examined separately.
const LAST: usize = 3;

impl Shape {
    pub(super) fn of(samples: &[Sample], thresholds: &Thresholds) -> Self {
        let spikes = spikes(samples, thresholds);
        let smooth: Vec<Sample> =
            samples.iter().filter(|sample| !spikes.contains(&sample.n)).cloned().collect();
        let shape = Self { spikes, ..Self::smooth(&smooth, thresholds) };
        if shape.class == Growth::Constant {
            return shape;
        }
        let most = thresholds.of(Threshold::Jump) * shape.level;
        let jump = jump(&smooth).filter(|(_, by)| *by < most);
        let level = jump.map(|(n, _)| Self::smooth(&levelled(&smooth, n), thresholds).class);
        if level != Some(Growth::Constant) {
            return shape;
        }
        Self { class: Growth::Constant, at_most: Growth::Constant, jump, ..shape }
    }

    /// The slope, or the exponent of a linear cost, with half the width of its interval.
    pub fn per_doubling(&self) -> String {
        let text = match self.exponent.filter(|_| self.class == Growth::Linear) {
            Some(power) => format!("n^{:.2}±{:.2}", power.mean, power.margin()),
            // The sum is never -0.
            None => format!("{:+.2}±{:.2}", self.slope.mean + 0.0, self.slope.margin()),
        };
        text.replace("-0.00", "+0.00").replace("±0", "±")
    }

    fn smooth(samples: &[Sample], thresholds: &Thresholds) -> Self {
        let seeds = samples.first().map_or(0, |sample| sample.costs.len());
        let width = thresholds.of(Threshold::Width);
        let each = |figure: Figure<'_>| {
            let of_seed = |seed| {
                let point = |it: &Sample| ((it.n as f64).log2(), it.costs[seed]);
                figure(&samples.iter().map(point).collect::<Vec<_>>())
            };
            Interval::of(&(0..seeds).map(of_seed).collect::<Vec<_>>()).widened(width)
        };
        let slope = each(&|points| line(points).1);
        let upper = each(&|points| line(&points[points.len() / 2..]).1);
        // The last sizes show a rise after a fall (not constant) and a saturation (not
        // logarithmic).
        let end = each(&|points| line(&points[points.len().saturating_sub(LAST)..]).1);
        let change = each(&change);
        let share = |it: f64| it / slope.mean;
        let trend =
            Interval { mean: share(change.mean), low: share(change.low), high: share(change.high) };
        let level = mean(&samples.iter().map(|it| mean(&it.costs)).collect::<Vec<_>>());
        let mut shape = Self {
            class: Growth::Undecided,
            at_most: Growth::Undecided,
            slope,
            trend,
            exponent: exponent(samples, seeds).map(|it| it.widened(width)),
            level,
            spikes: Vec::new(),
            jump: None,
        };
        // An interval needs at least two seeds.
        let sizes = samples.len() as f64;
        if sizes >= thresholds.of(Threshold::Sizes) && seeds >= 2 {
            shape.class = shape.classify(sizes, upper, end, thresholds);
            shape.at_most = shape.bound(thresholds);
        }
        shape
    }

    fn classify(
        &self,
        sizes: f64,
        upper: Interval,
        end: Interval,
        thresholds: &Thresholds,
    ) -> Growth {
        let none = thresholds
            .of(Threshold::NoStep)
            .max(thresholds.of(Threshold::Relative) * self.level.abs());
        let (off, bend) = (thresholds.of(Threshold::Exponent), thresholds.of(Threshold::Trend));
        let is_one = |it: Interval| it.low > 1.0 - off && it.high < 1.0 + off;
        let has_upper_half = sizes >= thresholds.of(Threshold::UpperHalf);
        let is_flat =
            (self.slope.high < none && upper.low < none) || (has_upper_half && upper.high < none);
        if is_flat && end.low < none {
            Growth::Constant
        } else if self.exponent.is_some_and(is_one) {
            Growth::Linear
        } else if self.slope.low > none
            && self.trend.mean.abs() < bend
            && self.trend.margin() < thresholds.of(Threshold::Margin) * bend
            && end.high > thresholds.of(Threshold::End) * self.slope.mean
        {
            Growth::Logarithmic
        } else {
            Growth::Undecided
        }
    }

    /// The class that the cost does not exceed. A cost that rises ever more slowly is at most
    /// logarithmic, even if its class is undecided.
    fn bound(&self, thresholds: &Thresholds) -> Growth {
        let below_one = |it: Interval| it.high < 1.0 + thresholds.of(Threshold::Exponent);
        // The trend is a share of the slope: if the slope is negative, so is the trend of a cost
        // that falls and then rises.
        let rises = self.slope.mean > 0.0 && self.slope.high.is_finite();
        if self.class != Growth::Undecided {
            self.class
        } else if rises && self.trend.high < thresholds.of(Threshold::Trend) {
            Growth::Logarithmic
        } else if self.exponent.is_some_and(below_one) {
            Growth::Linear
        } else {
            Growth::Undecided
        }
    }
}

/// A figure computed from points over lg n.
type Figure<'a> = &'a dyn Fn(&[(f64, f64)]) -> f64;

/// The sizes that exceed both neighbours by a share, and by a step, for most seeds. The first and
/// the last size are never spikes: a rise there may be growth.
fn spikes(samples: &[Sample], thresholds: &Thresholds) -> Vec<u64> {
    let (share, steps) = (thresholds.of(Threshold::Spike), thresholds.of(Threshold::SpikeSteps));
    let stands_out = |around: &&[Sample]| {
        let [before, at, after] = around else { return false };
        let over = |seed: &usize| {
            let beside = before.costs[*seed].max(after.costs[*seed]);
            at.costs[*seed] > ((1.0 + share) * beside).max(beside + steps)
        };
        let seeds = (0..at.costs.len()).filter(over).count() as f64;
        seeds > thresholds.of(Threshold::SpikeSeeds) * at.costs.len() as f64
    };
    samples.windows(3).filter(stands_out).map(|around| around[1].n).collect()
}

/// The size at which the mean cost rises most above the size before it, and by how much.
fn jump(samples: &[Sample]) -> Option<(u64, f64)> {
    let rise = |pair: &[Sample]| (pair[1].n, mean(&pair[1].costs) - mean(&pair[0].costs));
    samples.windows(2).map(rise).max_by(|one, other| one.1.total_cmp(&other.1))
}

/// The samples with the rise at size n subtracted from n upwards.
fn levelled(samples: &[Sample], n: u64) -> Vec<Sample> {
    let at = samples.iter().position(|sample| sample.n == n).unwrap_or(0);
    let level = |(number, sample): (usize, &Sample)| {
        let by = |seed: usize| {
            if number < at { 0.0 } else { samples[at].costs[seed] - samples[at - 1].costs[seed] }
        };
        let costs = sample.costs.iter().enumerate().map(|(seed, cost)| cost - by(seed)).collect();
        Sample { n: sample.n, costs }
    };
    samples.iter().enumerate().map(level).collect()
}

/// The power of n that the differences from size to size follow. Differences cancel an additive
/// constant, which would bend the line.
fn exponent(samples: &[Sample], seeds: usize) -> Option<Interval> {
    let of_seed = |seed: usize| {
        let difference = |pair: &[Sample]| {
            let step = pair[1].costs[seed] - pair[0].costs[seed];
            (step > 0.0).then(|| ((pair[0].n as f64).log2(), step.log2()))
        };
        Some(line(&samples.windows(2).map(difference).collect::<Option<Vec<_>>>()?).1)
    };
    Some(Interval::of(&(0..seeds).map(of_seed).collect::<Option<Vec<_>>>()?))
}

/// By how much the slope of the least-squares parabola changes from the first half of the range to
/// the second.
fn change(points: &[(f64, f64)]) -> f64 {
    let (from, to) = (points.first().map_or(0.0, |it| it.0), points.last().map_or(0.0, |it| it.0));
    let middle = points.iter().map(|it| it.0).sum::<f64>() / points.len() as f64;
    let (at, slope) = line(points);
    // The squared distance from the middle, made orthogonal to the straight line, is fitted to the
    // residuals of that line: its coefficient is the curvature.
    let squares: Vec<(f64, f64)> = points.iter().map(|(x, _)| (*x, (x - middle).powi(2))).collect();
    let (square_at, square_slope) = line(&squares);
    let (mut covariance, mut variance) = (0.0, 0.0);
    for ((x, y), (_, square)) in points.iter().zip(&squares) {
        let rest = square - square_at - square_slope * x;
        covariance += rest * (y - at - slope * x);
        variance += rest * rest;
    }
    covariance / variance * (to - from)
}

/// The least-squares line through points: its value at 0, and its slope.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = covariance / points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>();
    (mean_y - slope * mean_x, slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::Curve;

    fn shape(cost: impl Fn(f64) -> f64) -> Shape {
        let sizes: Vec<u64> = (10..=20).map(|bits| 1 << bits).collect();
        let noisy = |n, seed| cost(n as f64) * (1.0 + seed as f64 * 1e-5);
        Curve::sweep(&sizes, 1..=5, noisy).shape(&Thresholds::default())
    }

    #[test]
    fn any_other_growth_is_undecided() {
        assert_eq!(shape(|n| n * n.log2()).class, Growth::Undecided);
        let late = |n: f64| 5.0 + (n / 60_000.0).log2().max(0.0);
        assert_eq!(shape(late).class, Growth::Undecided);
    }

    #[test]
    fn a_bound_is_at_most() {
        assert_eq!(shape(|n| n.log2().log2()).at_most, Growth::Logarithmic);
        assert_eq!(shape(f64::sqrt).at_most, Growth::Linear);
        assert_eq!(shape(|n| n * n.log2()).at_most, Growth::Undecided);
        let falls_then_rises = shape(|n| 131_072.0 / n + n / 131_072.0);
        assert!(falls_then_rises.slope.high < 0.0, "{falls_then_rises:?}");
        assert_eq!(falls_then_rises.at_most, Growth::Undecided);
    }

    #[test]
    fn a_spike_is_reported_and_excluded() {
        let spiky = shape(|n| if n == 65_536.0 { 43.0 } else { 5.0 });
        assert_eq!((spiky.class, spiky.spikes), (Growth::Constant, vec![65_536]));
        assert!(shape(|n| n).spikes.is_empty());
    }

    #[test]
    fn one_jump_is_not_growth_and_two_are() {
        let jumps = |n: f64| if n < 200_000.0 { 5.0 } else { 6.0 };
        assert_eq!(shape(jumps).class, Growth::Constant);
        assert!(shape(jumps).jump.is_some_and(|(n, by)| n == 1 << 18 && (by - 1.0).abs() < 0.01));
        let twice = shape(|n| jumps(n) + f64::from(u8::from(n > 5_000.0)));
        assert_ne!(twice.class, Growth::Constant);
    }

    #[test]
    fn too_few_samples_decide_nothing() {
        assert_eq!(Curve::sweep(&[2, 4, 8], 1..=5, |_, _| 1.0).growth(), Growth::Undecided);
        assert_eq!(Curve::sweep(&[2, 4, 8, 16, 32], 1..=1, |_, _| 1.0).growth(), Growth::Undecided);
    }
}
