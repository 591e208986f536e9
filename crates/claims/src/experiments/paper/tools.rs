//! What several of these experiments need: random intervals, a population that is held, a straight line.

use crate::count::{Probe, Steps};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::f64::consts::TAU;
use std::ops::RangeInclusive;
use wheelhouse_core::{Tick, Timer};

/// An exponential interval of mean 1.
pub(super) fn exponential(random: &mut Pcg64Mcg) -> f64 {
    // The argument lies above 0, so that the logarithm is finite.
    -(1.0 - random.random::<f64>()).ln()
}

/// A number of the standard normal distribution, by Box and Muller's transformation.
pub(super) fn normal(random: &mut Pcg64Mcg) -> f64 {
    let radius = (2.0 * exponential(random)).sqrt();
    radius * (TAU * random.random::<f64>()).cos()
}

/// A place in a part of a range, the one of this number of so many: as random as it takes, and chance has little to say in a mean over all parts.
pub(super) fn anywhere(part: u64, parts: u64, range: u64, random: &mut Pcg64Mcg) -> u64 {
    (part * range + random.random_range(0..range)) / parts
}

/// The work of a population that is held.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// Timers that fired, and were started again.
    pub(crate) fired: u64,
    /// Steps of each tick: bookkeeping and expiry.
    pub(crate) ticks: Vec<u64>,
    /// Steps of all starts.
    pub(crate) starts: u64,
    /// Both, by kind.
    pub(crate) work: Steps,
}

impl Held {
    /// Steps of a tick, on average.
    pub(crate) fn per_tick(&self) -> f64 {
        self.ticks.iter().sum::<u64>() as f64 / self.ticks.len() as f64
    }

    /// Steps in the life of a timer, on average: its start, its share of the ticks, its expiry.
    pub(crate) fn per_timer(&self) -> f64 {
        (self.starts + self.ticks.iter().sum::<u64>()) as f64 / self.fired as f64
    }
}

/// Goes from tick to tick and starts each timer that fires again, so that their number stays.
pub(crate) fn hold<T: Timer<u64>>(
    probe: &mut Probe<T>,
    ticks: RangeInclusive<Tick>,
    mut delay: impl FnMut() -> Tick,
) -> Held {
    let (before, mut held) = (probe.steps(), Held::default());
    for tick in ticks {
        let mut steps = 0;
        loop {
            let (work, expired) = probe.work(|timer| timer.pop_expired(tick));
            steps += work.total();
            if expired.is_none() {
                break;
            }
            held.fired += 1;
            let (work, _) = probe.work(|timer| timer.insert(tick + delay(), 0));
            held.starts += work.total();
        }
        held.ticks.push(steps);
    }
    held.work = probe.steps().since(&before);
    held
}

/// The straight line through points with the least squares of errors: its value at 0, and its slope.
pub(super) fn line(points: &[(f64, f64)]) -> (f64, f64) {
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
    use crate::count::random;
    use crate::experiments::configured::round_wheel;

    /// Mean and variance of many draws.
    fn moments(draw: fn(&mut Pcg64Mcg) -> f64) -> (f64, f64) {
        let mut random = random(1);
        let draws: Vec<f64> = (0..100_000).map(|_| draw(&mut random)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        (mean, draws.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / draws.len() as f64)
    }

    #[test]
    fn intervals_have_the_moments_of_their_distribution() {
        let (mean, variance) = moments(exponential);
        assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        let (mean, variance) = moments(normal);
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn a_line_is_found_again() {
        let points = [0.0, 1.0, 5.0, 9.0].map(|x| (x, 4.0 + 15.0 * x));
        let (at_zero, slope) = line(&points);
        assert!((at_zero - 4.0).abs() < 1e-9 && (slope - 15.0).abs() < 1e-9);
    }

    #[test]
    fn a_population_that_is_held_stays_and_fires_at_its_rate() {
        let mut probe = round_wheel(8);
        probe.fill([1, 2, 3, 4]);
        let held = hold(&mut probe, 1..=40, || 4);
        assert_eq!((held.fired, held.ticks.len(), probe.timer.len()), (40, 40, 4));
        assert!(held.per_timer() > held.per_tick());
    }
}
