//! The time and the steps of single operations. `benches/METHODOLOGY.md` states the limits of these
//! times.
//!
//! A scheduler takes the processor away for milliseconds, and then one operation looks that slow.
//! But each pass plays the same stream, so the time of an operation is its *minimum* over several
//! passes: a stall would have to hit it in all of them.

use crate::model::{Latency, Steps};
use crate::stream::{Stream, single_ticks};
use hdrhistogram::Histogram;
use std::time::Instant;
use wheelhouse_workload::{Measure, Op, Phase};

/// The kinds of operation.
pub const KINDS: [&str; 4] = ["insert", "cancel", "tick", "advance"];

/// How often a stream is played. Two stalls of the machine may hit one operation, three do not.
pub const PASSES: usize = 3;

/// Plays a phase one operation at a time. `play` receives the index of the kind in [`KINDS`], or
/// `None` if the operation is not measured.
pub fn single_operations(phase: &Phase, mut play: impl FnMut(Option<usize>, Op)) {
    for &op in &phase.ops {
        match op {
            _ if phase.measure.is_none() => play(None, op),
            Op::Insert { .. } => play(Some(0), op),
            Op::Cancel { .. } => play(Some(1), op),
            Op::Ticks { .. } => single_ticks(op).for_each(|tick| play(Some(2), tick)),
            // A jump that fires everything is a single operation. Other tables have its time.
            Op::Advance { .. } | Op::Wake | Op::Pop { .. }
                if phase.measure != Some(Measure::FireJump) =>
            {
                play(Some(3), op);
            }
            Op::Advance { .. } | Op::Wake | Op::Pop { .. } | Op::Reschedule { .. } => {
                play(None, op);
            }
        }
    }
}

/// The minimum time of each operation over several passes, by kind.
#[derive(Debug, Default)]
pub struct OperationTimes([MinimumTimes; 4]);

impl OperationTimes {
    /// Plays a stream through `apply`, one operation at a time, and times inserts, cancels and
    /// movements of the clock in the phases that measure something. Call it once for each pass over
    /// the same stream.
    pub fn record(&mut self, stream: &Stream, mut apply: impl FnMut(Op)) {
        stream.phases.iter().for_each(|phase| self.record_phase(phase, &mut apply));
        self.end_pass();
    }

    /// The same for one phase. Call [`end_pass`](Self::end_pass) after the last phase.
    pub fn record_phase(&mut self, phase: &Phase, mut apply: impl FnMut(Op)) {
        single_operations(phase, |kind, op| match kind {
            Some(kind) => self.0[kind].time(|| apply(op)),
            None => apply(op),
        });
    }

    /// Ends a pass, after all phases were recorded.
    pub fn end_pass(&mut self) {
        self.0.iter_mut().for_each(|it| it.next = 0);
    }

    /// The rows of the results.
    pub fn rows(&self, backend: &str, workload: &str, n: u64) -> Vec<Latency> {
        let kinds = KINDS.into_iter().zip(&self.0).filter(|(_, it)| !it.times.is_empty());
        kinds.map(|(operation, times)| times.row(backend, workload, n, operation)).collect()
    }
}

/// The minimum time of each operation of one kind, ns.
#[derive(Debug, Default)]
struct MinimumTimes {
    times: Vec<u32>,
    /// The index of the next operation in this pass.
    next: usize,
}

impl MinimumTimes {
    #[inline]
    fn time(&mut self, operation: impl FnOnce()) {
        let start = Instant::now();
        operation();
        // Not 0, which a logarithmic axis cannot show, and at most 4 s, so that 32 bits suffice.
        self.record(start.elapsed().as_nanos().clamp(1, u32::MAX.into()) as u32);
    }

    #[inline]
    fn record(&mut self, time: u32) {
        match self.times.get_mut(self.next) {
            Some(least) => *least = time.min(*least),
            None => self.times.push(time),
        }
        self.next += 1;
    }

    fn row(&self, backend: &str, workload: &str, n: u64, operation: &str) -> Latency {
        // Three significant digits; the bounds are constants that the library accepts.
        let mut all = Histogram::<u64>::new_with_bounds(1, u32::MAX.into(), 3).expect("valid");
        self.times.iter().for_each(|ns| all.saturating_record((*ns).into()));
        let at = |percentile| all.value_at_percentile(percentile);
        let [p50, p90, p99, p999, p9999] = [50.0, 90.0, 99.0, 99.9, 99.99].map(at);
        let (count, max) = (all.len(), all.max());
        let curve = all.iter_quantiles(4);
        let curve = curve
            .map(|step| (100.0 * step.quantile_iterated_to(), step.value_iterated_to()))
            .collect();
        Latency {
            backend: backend.to_owned(),
            workload: workload.to_owned(),
            n,
            operation: operation.to_owned(),
            count,
            p50,
            p90,
            p99,
            p999,
            p9999,
            max,
            curve,
        }
    }
}

/// The longest operation of each kind, in steps.
#[derive(Debug, Default)]
pub struct LongestSteps([Option<u64>; 4]);

impl LongestSteps {
    /// Records the steps of an operation of a kind.
    #[inline]
    pub fn record(&mut self, kind: usize, steps: u64) {
        self.0[kind] = self.0[kind].max(Some(steps));
    }

    /// The rows of the results.
    pub fn rows(&self, backend: &str, workload: &str, n: u64) -> Vec<Steps> {
        let row = |(operation, longest): (&str, &Option<u64>)| {
            longest.map(|longest| Steps {
                backend: backend.to_owned(),
                workload: workload.to_owned(),
                n,
                operation: operation.to_owned(),
                longest,
            })
        };
        KINDS.into_iter().zip(&self.0).filter_map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_have_the_percentiles_of_the_recorded_times() {
        let mut times = OperationTimes::default();
        (1..=10_000).for_each(|ns| times.0[0].record(ns));
        let rows = times.rows("x", "uniform", 10);
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

    /// In each pass, the machine stalls at another operation, and the structure at the last one.
    #[test]
    fn the_minimum_removes_stalls_of_the_machine_but_not_of_the_structure() {
        let mut times = OperationTimes::default();
        for pass in 0..PASSES {
            (0..1_000).for_each(|at| times.0[2].record(if at == pass { 4_000_000 } else { 50 }));
            times.0[2].record(9_000);
            times.end_pass();
        }
        let row = times.rows("x", "uniform", 1).remove(0);
        assert_eq!((row.count, row.p999), (1_001, 50));
        assert!(row.max.abs_diff(9_000) < 20, "{}", row.max);
    }

    #[test]
    fn the_steps_of_the_longest_operation_of_each_kind_are_kept() {
        let mut longest = LongestSteps::default();
        [(0, 3), (0, 9), (0, 4), (2, 0)].into_iter().for_each(|(kind, steps)| {
            longest.record(kind, steps);
        });
        let rows = longest.rows("x", "uniform", 7);
        let of = |row: &Steps| (row.operation.clone(), row.longest);
        let expected = [("insert".to_owned(), 9), ("tick".to_owned(), 0)];
        assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), expected);
    }
}
