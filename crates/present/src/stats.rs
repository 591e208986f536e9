//! The statistics of tables and comparisons.
//!
//! The samples of a row are one figure per repetition. They are few (two to some tens) and skewed:
//! other work on the machine makes a repetition slower and never faster. So everything here is
//! based on order and not on the mean. The quoted figure is the **median**. Its spread is the
//! **median absolute deviation**, the distance within which half of the samples are. Plots show the
//! whole range from the smallest to the largest sample.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// With fewer samples than this on either side there is no interval: the range of two samples says
/// nothing about a third.
pub const MIN_SAMPLES: usize = 3;

/// The number of resamples for an interval. With more, its ends move by less than their last shown
/// digit.
const RESAMPLES: usize = 2_000;

/// The middle sample, or the mean of the middle two. `None` without samples. O(k log k).
///
/// ```
/// use wheelhouse_present::stats::median;
/// assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
/// assert_eq!(median(&[]), None);
/// ```
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    median_in_place(&mut sorted)
}

/// The median absolute deviation as a share of the median: half of the samples are within this
/// distance of the median. `None` without samples or if the median is zero. 0 for a single sample,
/// which is why a table states the number of samples.
pub fn relative_deviation(samples: &[f64]) -> Option<f64> {
    let centre = median(samples)?;
    let mut distances: Vec<f64> = samples.iter().map(|s| (s - centre).abs()).collect();
    (centre != 0.0).then_some(median_in_place(&mut distances)? / centre.abs())
}

/// The smallest and the largest sample. `None` without samples.
pub fn range(samples: &[f64]) -> Option<(f64, f64)> {
    let least = samples.iter().copied().min_by(f64::total_cmp)?;
    let greatest = samples.iter().copied().max_by(f64::total_cmp)?;
    Some((least, greatest))
}

/// The geometric mean: the only mean for which it does not matter which side of the ratios is the
/// base. `None` without samples, or if one is not above zero.
pub fn geometric_mean(samples: &[f64]) -> Option<f64> {
    if samples.is_empty() || samples.iter().any(|s| s.is_nan() || *s <= 0.0) {
        return None;
    }
    let logs: f64 = samples.iter().map(|s| s.ln()).sum();
    Some((logs / samples.len() as f64).exp())
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The ratio of the median of `a` to the median of `b`, with a 95 % percentile-bootstrap interval:
/// both sides are resampled with replacement, and the interval is the middle 95 % of the resulting
/// ratios (Efron 1979). The same samples and seed give the same interval.
///
/// `None` if a side has fewer than [`MIN_SAMPLES`] samples, or a sample that is not a positive
/// number.
///
/// The sides are taken to be independent, as two runs are. If repetition k of both shared a round,
/// pairing them would narrow the interval, so this one is cautious. With very few samples the
/// interval is the range of the samples and covers less than 95 %: two sets of three samples from
/// the same machine are fully apart once in ten times, two sets of five once in 126. The interval
/// does not cover what differs from process to process, such as the layout of memory, or a change
/// of the machine between two runs.
pub fn ratio_interval(a: &[f64], b: &[f64], seed: u64) -> Option<Ratio> {
    let usable = |samples: &[f64]| samples.len() >= MIN_SAMPLES && samples.iter().all(is_usable);
    if !usable(a) || !usable(b) {
        return None;
    }
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut resample = Vec::with_capacity(a.len().max(b.len()));
    let mut median_of = |samples| resampled_median(samples, &mut resample, &mut rng);
    let ratios = (0..RESAMPLES).filter_map(|_| Some(median_of(a)? / median_of(b)?));
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let percentile = |share: f64| ratios[((RESAMPLES - 1) as f64 * share).round() as usize];
    Some(Ratio { ratio: median(a)? / median(b)?, low: percentile(0.025), high: percentile(0.975) })
}

/// The ratio of the first to the second sample of pairs that were taken together: whatever slows
/// one sample of a pair slows both. The result is the median of the ratios, and the two of them
/// between which the true median of this process is 95 times in 100 (the interval of the sign
/// test). With five pairs or fewer, the interval is the whole range, and the true median is in it
/// less often.
///
/// `None` with fewer than [`MIN_SAMPLES`] pairs, or if a sample is not a positive number.
///
/// ```
/// use wheelhouse_present::stats::paired_ratio;
/// // The second round was slow for both.
/// let ratio = paired_ratio(&[(20.0, 10.0), (63.0, 30.0), (19.0, 10.0)]).unwrap();
/// assert_eq!((ratio.low, ratio.ratio, ratio.high), (1.9, 2.0, 2.1));
/// ```
pub fn paired_ratio(pairs: &[(f64, f64)]) -> Option<Ratio> {
    if pairs.len() < MIN_SAMPLES || !pairs.iter().all(|(a, b)| is_usable(a) && is_usable(b)) {
        return None;
    }
    let mut ratios: Vec<f64> = pairs.iter().map(|(a, b)| a / b).collect();
    let ratio = median_in_place(&mut ratios)?;
    let skipped = samples_outside_interval(ratios.len());
    Some(Ratio { ratio, low: ratios[skipped], high: ratios[ratios.len() - 1 - skipped] })
}

/// Returns `true` for a finite number above zero, which a ratio needs.
fn is_usable(sample: &f64) -> bool {
    sample.is_finite() && *sample > 0.0
}

/// How many of `count` sorted samples can be left out at either end, so that the true median is
/// between the others 95 times in 100. Each sample is below the median with probability one half.
fn samples_outside_interval(count: usize) -> usize {
    // The probability that exactly k samples are below the median, and that at most k are.
    let mut exactly = 0.5_f64.powi(count as i32);
    let mut at_most = exactly;
    for k in 0..count {
        exactly *= (count - k) as f64 / (k + 1) as f64;
        at_most += exactly;
        if 2.0 * at_most > 0.05 {
            return k;
        }
    }
    unreachable!("at most `count` samples are below the median with probability 1")
}

fn resampled_median(samples: &[f64], resample: &mut Vec<f64>, rng: &mut Pcg64Mcg) -> Option<f64> {
    resample.clear();
    resample.extend((0..samples.len()).map(|_| samples[rng.random_range(0..samples.len())]));
    median_in_place(resample)
}

fn median_in_place(samples: &mut [f64]) -> Option<f64> {
    samples.sort_unstable_by(f64::total_cmp);
    let middle = samples.len() / 2;
    match samples.len() {
        0 => None,
        n if n % 2 == 1 => Some(samples[middle]),
        _ => Some((samples[middle - 1] + samples[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_does_not_move_the_median_or_its_deviation() {
        let samples = [10.0, 11.0, 9.0, 10.5, 900.0];
        assert_eq!(median(&samples), Some(10.5));
        assert_eq!(relative_deviation(&samples), Some(0.5 / 10.5));
        assert_eq!((median(&[4.0, 1.0, 3.0, 2.0]), median(&[])), (Some(2.5), None));
        assert_eq!((range(&samples), range(&[])), (Some((9.0, 900.0)), None));
        assert_eq!(relative_deviation(&[0.0, 0.0]), None);
    }

    #[test]
    fn the_geometric_mean_of_inverse_ratios_is_the_inverse() {
        let ratios = [0.5, 2.0, 4.0, 1.0];
        let inverse: Vec<f64> = ratios.iter().map(|r| 1.0 / r).collect();
        let product = geometric_mean(&ratios).unwrap() * geometric_mean(&inverse).unwrap();
        assert!((product - 1.0).abs() < 1e-12);
        for without in [&[][..], &[1.0, 0.0], &[f64::NAN]] {
            assert_eq!(geometric_mean(without), None);
        }
    }

    #[test]
    fn an_interval_needs_three_positive_samples_on_both_sides() {
        let enough = [1.0, 2.0, 3.0];
        for few in [&[1.0, 2.0][..], &[0.0, 1.0, 2.0], &[f64::NAN, 1.0, 2.0]] {
            assert_eq!(ratio_interval(few, &enough, 1), None);
            assert_eq!(ratio_interval(&enough, few, 1), None);
        }
        assert!(ratio_interval(&enough, &enough, 1).is_some());
    }

    #[test]
    fn an_interval_contains_its_ratio_and_is_the_same_for_the_same_seed() {
        let (slow, fast) = ([19.0, 20.0, 21.0, 22.0, 20.5], [10.0, 9.8, 10.2, 10.1, 11.0]);
        let ratio = ratio_interval(&slow, &fast, 7).unwrap();
        assert_eq!(Some(ratio), ratio_interval(&slow, &fast, 7));
        assert!(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high, "{ratio:?}");
        assert!(ratio.low > 1.5 && ratio.high < 2.5, "{ratio:?}");
        assert!((ratio.ratio - 20.5 / 10.1).abs() < 1e-12);
    }

    /// From tables of the sign test: of 6, 9, 12 and 15 samples, none, one, two and three are
    /// outside.
    #[test]
    fn the_interval_of_pairs_matches_the_sign_test() {
        for (count, outside) in [(3, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (15, 3)] {
            assert_eq!(samples_outside_interval(count), outside, "{count} samples");
        }
    }

    #[test]
    fn a_shared_drift_does_not_change_the_ratio() {
        let rounds: Vec<_> = (1..=5).map(|k| (11.0 * f64::from(k), 10.0 * f64::from(k))).collect();
        let ratio = paired_ratio(&rounds).unwrap();
        assert!((ratio.low - 1.1).abs() < 1e-9 && (ratio.high - 1.1).abs() < 1e-9, "{ratio:?}");
        assert_eq!(paired_ratio(&rounds[..2]), None);
        assert_eq!(paired_ratio(&[(1.0, 1.0), (1.0, 0.0), (1.0, 1.0)]), None);
    }

    /// Seven samples on each side, from the same skewed distribution: the interval must not exclude
    /// 1 much more often than in 5 of 100 cases.
    #[test]
    fn intervals_of_equal_distributions_rarely_exclude_one() {
        let mut state = 1u64;
        let mut sample = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let uniform = (state >> 11) as f64 / (1u64 << 53) as f64;
            100.0 - 5.0 * (1.0 - uniform).ln()
        };
        let mut excluded = 0;
        for round in 0..400 {
            let a: Vec<f64> = (0..7).map(|_| sample()).collect();
            let b: Vec<f64> = (0..7).map(|_| sample()).collect();
            let ratio = ratio_interval(&a, &b, round).unwrap();
            excluded += u32::from(ratio.low > 1.0 || ratio.high < 1.0);
        }
        assert!((1..=40).contains(&excluded), "{excluded} of 400 intervals exclude what is true");
    }
}
