//! The time of single operations.
//!
//! Each operation is timed on its own with two reads of the clock, which cost tens of nanoseconds
//! themselves. That cost is measured ([`overhead`](wheelhouse_machine::clock::overhead)), stated in
//! the results, and not subtracted: the figures are what was seen, and below about twice the
//! overhead they say little. The tail is what they are for: a slow operation cannot hide in an
//! average.

use crate::model::Latency;
use crate::stream::{Stream, single_ticks};
use hdrhistogram::Histogram;
use std::time::Instant;
use wheelhouse_workload::{Measure, Op, Phase};

/// Up to ten minutes in nanoseconds.
const HIGHEST: u64 = 600_000_000_000;

/// The distributions of all kinds of operation.
#[derive(Debug)]
pub struct Histograms {
    insert: Times,
    cancel: Times,
    tick: Times,
    advance: Times,
}

impl Default for Histograms {
    fn default() -> Self {
        Self {
            insert: Times::new(),
            cancel: Times::new(),
            tick: Times::new(),
            advance: Times::new(),
        }
    }
}

impl Histograms {
    /// Plays a stream through `apply`, one operation at a time, and times inserts, cancels and
    /// movements of the clock in the phases that measure something. To be called once for each pass
    /// over the same stream.
    pub fn record(&mut self, stream: &Stream, mut apply: impl FnMut(Op)) {
        stream.phases.iter().for_each(|phase| self.record_phase(phase, &mut apply));
        self.end_pass();
    }

    /// The same for one phase. [`end_pass`](Self::end_pass) is to follow the last.
    pub fn record_phase(&mut self, phase: &Phase, mut apply: impl FnMut(Op)) {
        for &op in &phase.ops {
            match op {
                _ if phase.measure.is_none() => apply(op),
                Op::Insert { .. } => self.insert.time(|| apply(op)),
                Op::Cancel { .. } => self.cancel.time(|| apply(op)),
                Op::Ticks { .. } => {
                    single_ticks(op).for_each(|tick| self.tick.time(|| apply(tick)))
                }
                // A jump in which everything fires is one operation; its time stands in the other
                // tables.
                Op::Advance { .. } | Op::Wake | Op::Pop { .. }
                    if phase.measure != Some(Measure::FireJump) =>
                {
                    self.advance.time(|| apply(op));
                }
                Op::Advance { .. } | Op::Wake | Op::Pop { .. } | Op::Reschedule { .. } => apply(op),
            }
        }
    }

    /// All phases were recorded.
    pub fn end_pass(&mut self) {
        [&mut self.insert, &mut self.cancel, &mut self.tick, &mut self.advance]
            .into_iter()
            .for_each(Times::end_pass);
    }

    /// The rows of the results.
    pub fn rows(&self, backend: &str, workload: &str, n: u64) -> Vec<Latency> {
        let kinds = [
            ("insert", &self.insert),
            ("cancel", &self.cancel),
            ("tick", &self.tick),
            ("advance", &self.advance),
        ];
        let timed = kinds.into_iter().filter(|(_, times)| !times.all.is_empty());
        timed.map(|(operation, times)| times.row(backend, workload, n, operation)).collect()
    }
}

/// The times of one kind of operation, over some passes.
#[derive(Debug)]
struct Times {
    all: Histogram<u64>,
    /// Of the pass under way.
    longest: u64,
    /// Of the passes before, the least of the longest.
    worst: Option<u64>,
}

impl Times {
    fn new() -> Self {
        // Three significant digits; the bounds are constants that the library accepts.
        let all = Histogram::new_with_bounds(1, HIGHEST, 3).expect("valid bounds");
        Self { all, longest: 0, worst: None }
    }

    #[inline]
    fn time(&mut self, operation: impl FnOnce()) {
        let start = Instant::now();
        operation();
        let time = (start.elapsed().as_nanos() as u64).max(1);
        self.all.saturating_record(time);
        self.longest = self.longest.max(time);
    }

    fn end_pass(&mut self) {
        let longest = std::mem::take(&mut self.longest);
        self.worst = Some(self.worst.map_or(longest, |worst| worst.min(longest)));
    }

    fn row(&self, backend: &str, workload: &str, n: u64, operation: &str) -> Latency {
        let at = |percentile| self.all.value_at_percentile(percentile);
        Latency {
            backend: backend.to_owned(),
            workload: workload.to_owned(),
            n,
            operation: operation.to_owned(),
            count: self.all.len(),
            p50: at(50.0),
            p90: at(90.0),
            p99: at(99.0),
            p999: at(99.9),
            p9999: at(99.99),
            max: self.all.max(),
            worst: self.worst.unwrap_or(self.longest),
            curve: self
                .all
                .iter_quantiles(4)
                .map(|step| (100.0 * step.quantile_iterated_to(), step.value_iterated_to()))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_hold_the_percentiles_of_what_was_recorded() {
        let mut histograms = Histograms::default();
        (1..=10_000).for_each(|ns| histograms.insert.all.saturating_record(ns));
        let rows = histograms.rows("x", "uniform", 10);
        assert_eq!(rows.len(), 1, "only what was timed gets a row");
        let row = &rows[0];
        assert_eq!((row.operation.as_str(), row.count), ("insert", 10_000));
        for (value, expected) in
            [(row.p50, 5_000), (row.p90, 9_000), (row.p9999, 9_999), (row.max, 10_000)]
        {
            assert!(value.abs_diff(expected) * 500 <= expected, "{value} is not near {expected}");
        }
        assert!(row.curve.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
    }

    #[test]
    fn a_stall_in_one_pass_is_not_the_worst() {
        let mut times = Times::new();
        for longest in [900, 70, 80] {
            times.longest = longest;
            times.end_pass();
        }
        assert_eq!(times.row("x", "uniform", 1, "tick").worst, 70);
    }
}
