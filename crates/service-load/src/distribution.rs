//! Distributions of durations.

use hdrhistogram::Histogram;

/// The longest duration that the histogram distinguishes: ten minutes. Longer ones count as this.
const LONGEST: u64 = 600_000_000_000;

/// A distribution of durations in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    histogram: Histogram<u64>,
    sum: f64,
    longest: u64,
}

impl Distribution {
    /// For values recorded while the clock runs: two digits, in 40 KiB that stay in a processor's
    /// cache.
    pub(crate) fn coarse() -> Self {
        Self::with_digits(2)
    }

    /// For values recorded afterwards: three digits.
    pub(crate) fn fine() -> Self {
        Self::with_digits(3)
    }

    fn with_digits(digits: u8) -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST, digits)
            .expect("constant bounds, which are valid");
        Self { histogram, sum: 0.0, longest: 0 }
    }

    /// Records a duration.
    pub(crate) fn record(&mut self, nanos: u64) {
        self.histogram.saturating_record(nanos.max(1));
        self.sum += nanos as f64;
        self.longest = self.longest.max(nanos);
    }

    /// Adds the values of another distribution.
    pub(crate) fn add(&mut self, other: &Self) {
        // Both have the same bounds, so no value is out of range.
        self.histogram.add(&other.histogram).expect("the same bounds");
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }

    /// The number of durations.
    pub(crate) fn len(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns `true` if there is no duration.
    pub(crate) fn is_empty(&self) -> bool {
        self.histogram.is_empty()
    }

    /// The mean duration; 0 if there is none.
    pub(crate) fn mean(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.sum / self.len() as f64 }
    }

    /// The duration that this share of all does not exceed; 0 if there is none. It never exceeds
    /// the longest, although the last bucket may round up.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        if self.is_empty() {
            0.0
        } else {
            self.histogram.value_at_quantile(share).min(self.longest) as f64
        }
    }

    /// The longest duration, exactly.
    pub(crate) fn longest(&self) -> f64 {
        self.longest as f64
    }

    /// The number of durations longer than this, to the precision of the histogram.
    pub(crate) fn longer_than(&self, nanos: u64) -> u64 {
        if self.longest <= nanos { 0 } else { self.len() - self.histogram.count_between(0, nanos) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_close_and_the_ends_exact() {
        let (mut a, mut b) = (Distribution::fine(), Distribution::fine());
        (1..=5_000).for_each(|n| a.record(n * 1_000));
        (5_001..=10_000).for_each(|n| b.record(n * 1_000));
        a.add(&b);
        assert_eq!((a.len(), a.longest(), a.mean()), (10_000, 10_000_000.0, 5_000_500.0));
        for (share, exact) in
            [(0.5, 5_000_000.0), (0.9, 9_000_000.0), (0.99, 9_900_000.0), (0.999, 9_990_000.0)]
        {
            let error = a.quantile(share) / exact - 1.0;
            assert!(error.abs() < 0.001, "{share}: {}", a.quantile(share));
        }
        assert_eq!(a.quantile(1.0), 10_000_000.0);
        assert_eq!(a.longer_than(10_000_000), 0);
        assert!(a.longer_than(9_000_000).abs_diff(1_000) < 15);
    }

    #[test]
    fn an_empty_distribution_is_zero() {
        let none = Distribution::coarse();
        assert_eq!(
            (none.mean(), none.quantile(0.5), none.longest(), none.longer_than(0)),
            (0.0, 0.0, 0.0, 0)
        );
    }
}
