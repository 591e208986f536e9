//! Random numbers, and delays drawn from them, whose stream never changes: it is the same on every
//! platform, in every build, with every version of the dependencies.
//!
//! The generator is PCG64-MCG (O'Neill 2014), whose stream `rand_pcg` tests against reference
//! vectors. Distributions are computed here, because `rand` may change its ranges and shuffles in a
//! later version, and the logarithms of `rand_distr` depend on the features that the rest of the
//! build enables.

use rand::Rng;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::Tick;

/// Denominator of the shares in the definitions.
pub(crate) const PER_MILLE: u64 = 1000;

/// The random numbers of one stream.
#[derive(Clone, Debug)]
pub(crate) struct Random(Pcg64Mcg);

impl Random {
    /// The numbers for a workload of this name with `n` timers. A change of any argument changes
    /// all numbers.
    pub(crate) fn new(name: &str, n: u32, seed: u64) -> Self {
        let mut state = seed;
        for byte in name.bytes().chain(n.to_le_bytes()) {
            state = mix(state ^ u64::from(byte));
        }
        Self(Pcg64Mcg::new(u128::from(mix(state)) << 64 | u128::from(mix(!state))))
    }

    fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`; 0 if `bound` is 0. Uses one multiplication (Lemire 2019) without the
    /// rejection step: the probabilities differ by at most `bound` / 2^64, which no run could
    /// detect.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// A fraction above 0 and at most 1, so its logarithm is finite.
    pub(crate) fn fraction(&mut self) -> f64 {
        ((self.word() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Returns `true` in `share` of 1,000 cases.
    pub(crate) fn chance(&mut self, share: u32) -> bool {
        self.below(PER_MILLE) < u64::from(share)
    }

    /// Exponentially distributed, by inversion.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.fraction())
    }

    /// Standard normal, by Box and Muller (1958). Their second number is not used, since this is
    /// not the slow part.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.fraction()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.fraction())
    }

    /// A number below `n`, by Zipf's law: k - 1 with a share of ln(1 + 1/k) / ln(n + 1). Except for
    /// the first few, that is proportional to 1/k. By inversion.
    pub(crate) fn zipf(&mut self, n: u64) -> u64 {
        let drawn = libm::exp(self.fraction() * libm::log(n as f64 + 1.0)) as u64;
        drawn.clamp(1, n.max(1)) - 1
    }

    /// Puts `items` in random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// The numbers 0 to `n` - 1 in random order.
    pub(crate) fn permutation(&mut self, n: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }
}

/// The finisher of SplitMix64 (Steele, Lea and Flood 2014): every bit of the input reaches every
/// bit of the output.
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

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

    #[test]
    fn ranges_are_kept_and_their_ends_are_reached() {
        let mut random = Random::new("ranges", 0, 0);
        let drawn: Vec<u64> = (0..1000).map(|_| random.between(3, 6)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&6)));
        assert_eq!(random.below(0), 0);
        assert!((0..1000).all(|_| (f64::MIN_POSITIVE..=1.0).contains(&random.fraction())));
        random.between(0, u64::MAX); // the whole range does not overflow
    }

    #[test]
    fn distributions_have_their_mean_and_spread() {
        let mut random = Random::new("moments", 0, 0);
        let count = 200_000;
        let mean = (0..count).map(|_| random.exponential(50.0)).sum::<f64>() / f64::from(count);
        assert!((mean - 50.0).abs() < 1.0, "{mean}");
        let square = (0..count).map(|_| random.normal().powi(2)).sum::<f64>() / f64::from(count);
        assert!((square - 1.0).abs() < 0.03, "{square}");
    }

    #[test]
    fn by_zipfs_law_the_tenth_is_drawn_a_tenth_as_often_as_the_first() {
        let mut random = Random::new("zipf", 0, 0);
        let mut counts = vec![0_u32; 1000];
        (0..1_000_000).for_each(|_| counts[random.zipf(1000) as usize] += 1);
        for rank in [1_u32, 2, 10, 100] {
            let share = f64::from(counts[rank as usize - 1]) / 1e6;
            let expected = (1.0 + 1.0 / f64::from(rank)).ln() / 1001_f64.ln();
            assert!((share / expected - 1.0).abs() < 0.1, "{rank}: {share} and not {expected}");
        }
        assert!(counts.iter().all(|count| *count > 0), "all are drawn");
        assert_eq!((random.zipf(1), random.zipf(0)), (0, 0));
    }

    #[test]
    fn a_permutation_holds_each_number_once() {
        let mut order = Random::new("order", 0, 0).permutation(100);
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

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
