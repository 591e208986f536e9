//! The time of single operations.
//!
//! Each operation is timed on its own with two reads of the clock, which cost tens of nanoseconds themselves. That cost is
//! measured ([`clock_overhead`]), stated in the results, and not subtracted: the figures are what was seen, and below about
//! twice the overhead they say little. The tail is what they are for: a slow operation cannot hide in an average.

use crate::model::Latency;
use crate::stream::{Stream, single_ticks};
use hdrhistogram::Histogram;
use std::time::Instant;
use wheelhouse_workload::{Measure, Op};

/// Up to ten minutes in nanoseconds.
const HIGHEST: u64 = 600_000_000_000;

/// One histogram for each kind of operation.
#[derive(Debug)]
pub struct Histograms {
    insert: Histogram<u64>,
    cancel: Histogram<u64>,
    tick: Histogram<u64>,
}

impl Default for Histograms {
    fn default() -> Self {
        // Three significant digits; the bounds are constants that the library accepts.
        let new = || Histogram::new_with_bounds(1, HIGHEST, 3).expect("valid bounds");
        Self { insert: new(), cancel: new(), tick: new() }
    }
}

impl Histograms {
    /// Plays a stream through `apply`, one operation at a time, and times inserts, cancels and single ticks of the
    /// phases that measure something.
    pub fn record(&mut self, stream: &Stream, mut apply: impl FnMut(Op)) {
        for phase in &stream.phases {
            for &op in &phase.ops {
                match op {
                    Op::Insert { .. } if phase.measure.is_some() => time(&mut self.insert, || apply(op)),
                    Op::Cancel { .. } if phase.measure.is_some() => time(&mut self.cancel, || apply(op)),
                    Op::Ticks { .. } if phase.measure == Some(Measure::FireTicks) => {
                        single_ticks(op).for_each(|tick| time(&mut self.tick, || apply(tick)));
                    }
                    _ => apply(op),
                }
            }
        }
    }

    /// The rows of the results.
    pub fn rows(&self, backend: &str, workload: &str, n: u64) -> Vec<Latency> {
        let kinds = [("insert", &self.insert), ("cancel", &self.cancel), ("tick", &self.tick)];
        let timed = kinds.into_iter().filter(|(_, histogram)| !histogram.is_empty());
        timed.map(|(operation, histogram)| row(histogram, backend, workload, n, operation)).collect()
    }
}

#[inline]
fn time(histogram: &mut Histogram<u64>, operation: impl FnOnce()) {
    let start = Instant::now();
    operation();
    histogram.saturating_record((start.elapsed().as_nanos() as u64).max(1));
}

fn row(histogram: &Histogram<u64>, backend: &str, workload: &str, n: u64, operation: &str) -> Latency {
    let at = |percentile| histogram.value_at_percentile(percentile);
    Latency {
        backend: backend.to_owned(),
        workload: workload.to_owned(),
        n,
        operation: operation.to_owned(),
        count: histogram.len(),
        p50: at(50.0),
        p90: at(90.0),
        p99: at(99.0),
        p999: at(99.9),
        p9999: at(99.99),
        max: histogram.max(),
        curve: histogram
            .iter_quantiles(4)
            .map(|step| (100.0 * step.quantile_iterated_to(), step.value_iterated_to()))
            .collect(),
    }
}

/// What two reads of the clock cost: the median of many pairs with nothing between them, in nanoseconds.
pub fn clock_overhead() -> f64 {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, HIGHEST, 3).expect("valid bounds");
    for _ in 0..100_000 {
        time(&mut histogram, || ());
    }
    histogram.value_at_percentile(50.0) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_hold_the_percentiles_of_what_was_recorded() {
        let mut histograms = Histograms::default();
        (1..=10_000).for_each(|ns| histograms.insert.saturating_record(ns));
        let rows = histograms.rows("x", "uniform", 10);
        assert_eq!(rows.len(), 1, "only what was timed gets a row");
        let row = &rows[0];
        assert_eq!((row.operation.as_str(), row.count), ("insert", 10_000));
        for (value, expected) in [(row.p50, 5_000), (row.p90, 9_000), (row.p9999, 9_999), (row.max, 10_000)] {
            assert!(value.abs_diff(expected) * 500 <= expected, "{value} is not near {expected}");
        }
        assert!(row.curve.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
    }
}
