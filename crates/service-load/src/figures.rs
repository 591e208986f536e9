//! Distributions of durations, and the processor time of the whole program.

use hdrhistogram::Histogram;
use std::time::Duration;
use wheelhouse_frame::Figure;
use wheelhouse_machine::clock::process_cpu_time;

/// The name of a figure, and its share of all durations.
pub(crate) type Quantile = (&'static str, f64);

pub(crate) const P50: Quantile = ("p50", 0.5);
pub(crate) const P90: Quantile = ("p90", 0.9);
pub(crate) const P99: Quantile = ("p99", 0.99);
pub(crate) const P99_9: Quantile = ("p99.9", 0.999);
pub(crate) const P99_99: Quantile = ("p99.99", 0.9999);

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

    pub(crate) fn record(&mut self, nanos: u64) {
        self.histogram.saturating_record(nanos.max(1));
        self.sum += nanos as f64;
        self.longest = self.longest.max(nanos);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        // Both have the same bounds, so no value is out of range.
        self.histogram.add(&other.histogram).expect("the same bounds");
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }

    pub(crate) fn len(&self) -> u64 {
        self.histogram.len()
    }

    /// The mean duration; 0 if there is none.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.len().max(1) as f64
    }

    /// The duration that this share of all does not exceed; 0 if there is none. It never exceeds
    /// the longest, although the last bucket may round up.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        self.histogram.value_at_quantile(share).min(self.longest) as f64
    }

    /// These quantiles, and the longest duration.
    pub(crate) fn figures(&self, quantiles: &[Quantile]) -> Vec<Figure> {
        let quantile = |(name, share): &Quantile| Figure::time(name, self.quantile(*share));
        let longest = Figure::time("max", self.longest()).worst();
        quantiles.iter().map(quantile).chain([longest]).collect()
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

/// The processor time that all threads of this program have used. `None` if the system does not
/// report it. On a machine that also does other work, elapsed time says little, but processor time
/// still says what a job costs.
pub(crate) fn cpu_time() -> Option<Duration> {
    process_cpu_time(std::process::id())
}

/// The processor time used between two moments, divided by a number of jobs.
pub(crate) fn cpu_figure(
    name: &'static str,
    [begin, end]: [Option<Duration>; 2],
    each: u64,
) -> Option<Figure> {
    let used = end?.checked_sub(begin?)?;
    Some(Figure::time(name, used.as_nanos() as f64 / each.max(1) as f64))
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
        for share in [0.5, 0.9, 0.99, 0.999] {
            let error = a.quantile(share) / (share * 1e7) - 1.0;
            assert!(error.abs() < 0.001, "{share}: {}", a.quantile(share));
        }
        assert_eq!((a.quantile(1.0), a.longer_than(10_000_000)), (10_000_000.0, 0));
        assert!(a.longer_than(9_000_000).abs_diff(1_000) < 15);
        let none = Distribution::coarse();
        let zeros = (none.mean(), none.quantile(0.5), none.longest(), none.longer_than(0));
        assert_eq!(zeros, (0.0, 0.0, 0.0, 0));
    }
}
