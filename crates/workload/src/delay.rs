//! Distributions of delays, as data.

use crate::random::Random;
use wheelhouse_core::Tick;

/// The delay of a timer, or the time until an event, in ticks.
///
/// Drawn delays are rounded up and are at least one tick.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Delay {
    Constant(Tick),
    /// Every number of ticks in a range is equally likely, both ends included.
    Uniform {
        least: Tick,
        most: Tick,
    },
    /// Memoryless: the time between independent events.
    Exponential {
        mean: f64,
    },
    /// Heavy-tailed: most are short, some very long. With a shape of 2 or less, only the cap makes
    /// the variance finite.
    Pareto {
        /// The exponent of the tail.
        shape: f64,
        least: f64,
        /// Longer ones are cut to this.
        most: Tick,
    },
    /// The logarithm is normally distributed, as response times of servers. Given by two quantiles,
    /// the form in which they are published.
    LogNormal {
        /// Half of them are shorter.
        median: f64,
        /// Three quarters of them are shorter.
        upper_quartile: f64,
        /// Longer ones are cut to this.
        most: Tick,
    },
    /// One of several distributions, each with its share in 1,000.
    Mixture(&'static [(u32, Delay)]),
}

/// The 0.75 quantile of the standard normal distribution.
const NORMAL_UPPER_QUARTILE: f64 = 0.674_489_750_196_081_7;

impl Delay {
    pub(crate) fn draw(&self, random: &mut Random) -> Tick {
        match *self {
            Self::Constant(ticks) => ticks.max(1),
            Self::Uniform { least, most } => random.between(least.max(1), most.max(1)),
            Self::Exponential { mean } => rounded_up(random.exponential(mean)),
            Self::Pareto { shape, least, most } => {
                rounded_up(least * libm::pow(random.fraction(), -1.0 / shape)).min(most)
            }
            Self::LogNormal { median, upper_quartile, most } => {
                let sigma = libm::log(upper_quartile / median) / NORMAL_UPPER_QUARTILE;
                rounded_up(median * libm::exp(sigma * random.normal())).min(most)
            }
            Self::Mixture(parts) => Self::pick(parts, random).draw(random),
        }
    }

    /// Draws the remaining time of a delay that began earlier, so that a stream does not start with
    /// all timers at their beginning. The remaining time of a memoryless delay has the same
    /// distribution as the delay; for all others it is a uniform part of a drawn delay.
    pub(crate) fn draw_remaining(&self, random: &mut Random) -> Tick {
        let whole = self.draw(random);
        match self {
            Self::Exponential { .. } => whole,
            _ => random.between(1, whole),
        }
    }

    fn pick(parts: &'static [(u32, Self)], random: &mut Random) -> Self {
        let mut draw = random.below(parts.iter().map(|&(share, _)| u64::from(share)).sum());
        for &(share, part) in parts {
            match draw.checked_sub(u64::from(share)) {
                Some(rest) => draw = rest,
                None => return part,
            }
        }
        Self::Constant(1) // only if the mixture is empty
    }
}

/// Rounds up to at least 1; numbers that do not fit become `Tick::MAX`.
fn rounded_up(ticks: f64) -> Tick {
    (libm::ceil(ticks) as Tick).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(delay: Delay) -> f64 {
        let mut random = Random::new("mean", 0, 7);
        let count = 400_000;
        (0..count).map(|_| delay.draw(&mut random) as f64).sum::<f64>() / f64::from(count)
    }

    #[track_caller]
    fn assert_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found} is not about {expected}");
    }

    #[test]
    fn means_are_as_their_formulas_say() {
        assert_close(mean(Delay::Constant(9)), 9.0, 1e-9);
        assert_close(mean(Delay::Uniform { least: 1, most: 99 }), 50.0, 0.01);
        assert_close(mean(Delay::Exponential { mean: 5000.0 }), 5000.0, 0.01);
        assert_close(
            mean(Delay::Pareto { shape: 3.0, least: 1000.0, most: Tick::MAX }),
            1500.0,
            0.01,
        );
        let parts = &[(900, Delay::Constant(10)), (100, Delay::Constant(110))];
        assert_close(mean(Delay::Mixture(parts)), 20.0, 0.01);
    }

    #[test]
    fn log_normal_meets_its_two_quantiles() {
        let delay = Delay::LogNormal { median: 2000.0, upper_quartile: 6000.0, most: Tick::MAX };
        let mut random = Random::new("quantiles", 0, 7);
        let mut drawn: Vec<Tick> = (0..100_000).map(|_| delay.draw(&mut random)).collect();
        drawn.sort_unstable();
        assert_close(drawn[50_000] as f64, 2000.0, 0.03);
        assert_close(drawn[75_000] as f64, 6000.0, 0.03);
    }

    #[test]
    fn delays_are_between_one_tick_and_their_cap() {
        let mut random = Random::new("edges", 0, 7);
        let capped = Delay::Pareto { shape: 0.1, least: 1.0, most: 50 };
        assert!((0..1000).all(|_| (1..=50).contains(&capped.draw(&mut random))));
        assert_eq!(Delay::Constant(0).draw(&mut random), 1);
        assert_eq!(Delay::Mixture(&[]).draw(&mut random), 1);
        assert_eq!(Delay::Exponential { mean: 0.0 }.draw(&mut random), 1);
        let mut remaining = (0..1000).map(|_| Delay::Constant(8).draw_remaining(&mut random));
        assert!(remaining.all(|delay| (1..=8).contains(&delay)));
    }
}
