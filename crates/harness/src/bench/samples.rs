//! The samples of one stream, and when there are enough of them.

use crate::contender::{Contender, Played};
use crate::model::{FLOOR, Throughput};
use crate::stream::Stream;
use std::time::Duration;
use wheelhouse_present::stats;
use wheelhouse_workload::Measure;

/// Where there is only time for the fewest rounds, two are enough for whoever takes so many times
/// the least in each measure, if its two samples of each agree as well as this: no tie hangs on a
/// third.
const FAR: f64 = 2.0;
const AGREE: f64 = 1.1;

/// The rows of one stream, as they fill with samples: for each contender, one row for each measure.
pub(super) struct Samples {
    measures: Vec<(Measure, u64)>,
    pub(super) rows: Vec<Throughput>,
}

impl Samples {
    pub(super) fn new(contenders: &[&dyn Contender], stream: &Stream) -> Self {
        let measures = stream.measures();
        let row = |contender: &dyn Contender, (measure, operations): (Measure, u64)| Throughput {
            backend: contender.name().to_owned(),
            workload: stream.name.clone(),
            n: stream.n,
            measure: measure.name().to_owned(),
            operations,
            ns_per_op: Vec::new(),
        };
        let rows = contenders
            .iter()
            .flat_map(|contender| measures.iter().map(|&measure| row(*contender, measure)));
        Self { rows: rows.collect(), measures }
    }

    /// Whether two samples are enough of the contender at `at`: see [`FAR`].
    pub(super) fn is_far(&self, at: usize) -> bool {
        let measures = self.measures.len();
        let measured = |row: &&Throughput| !row.ns_per_op.is_empty();
        let own = self.rows[at * measures..][..measures].iter().filter(measured);
        let mut ends = own.map(|row| (row, stats::range(&row.ns_per_op)));
        ends.all(|(row, ends)| {
            let of_others = self.rows.iter().filter(|it| it.measure == row.measure);
            let competing = of_others.filter(|it| it.backend != FLOOR);
            let best = competing.flat_map(|it| &it.ns_per_op).copied().min_by(f64::total_cmp);
            let (Some((least, most)), Some(best)) = (ends, best) else { return false };
            row.ns_per_op.len() >= 2 && least > best * FAR && most < least * AGREE
        })
    }

    /// Adds one sample, the average over some plays, to each row of the contender at `at` whose
    /// phases it can play.
    pub(super) fn add<'a>(
        &mut self,
        at: usize,
        stream: &Stream,
        plays: impl IntoIterator<Item = &'a Played>,
    ) {
        let mut sums = vec![(Some(Duration::ZERO), 0_u64); self.measures.len()];
        for played in plays {
            for (phase, time) in stream.phases.iter().zip(&played.times) {
                let measure =
                    self.measures.iter().position(|(measure, _)| Some(*measure) == phase.measure);
                if let Some((sum, operations)) = measure.map(|measure| &mut sums[measure]) {
                    *sum = sum.zip(*time).map(|(sum, time)| sum + time);
                    *operations += phase.operations;
                }
            }
        }
        let rows = self.rows[at * sums.len()..].iter_mut();
        for (row, (time, operations)) in rows.zip(sums) {
            row.ns_per_op
                .extend(time.map(|time| time.as_nanos() as f64 / operations.max(1) as f64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contender with these samples of two measures.
    fn rows(backend: &str, samples: [&[f64]; 2]) -> [Throughput; 2] {
        let row = |(measure, samples): (&str, &[f64])| Throughput {
            backend: backend.to_owned(),
            workload: "w".to_owned(),
            n: 1,
            measure: measure.to_owned(),
            operations: 1,
            ns_per_op: samples.to_vec(),
        };
        [("a", samples[0]), ("b", samples[1])].map(row)
    }

    #[test]
    fn two_samples_are_enough_of_who_is_far_from_the_best_and_steady_in_each_measure() {
        let of = [
            ("best", [[10.0, 10.0].as_slice(), &[10.0, 11.0]], false),
            ("near", [&[19.0, 19.0], &[30.0, 30.0]], false),
            ("far", [&[21.0, 22.0], &[30.0, 31.0]], true),
            ("best in one", [&[90.0, 90.0], &[9.0, 9.0]], false),
            ("unsteady in one", [&[30.0, 30.0], &[30.0, 40.0]], false),
            ("played once", [&[30.0], &[30.0]], false),
            ("cannot play one", [&[30.0, 30.0], &[]], true),
            (FLOOR, [&[1.0, 1.0], &[1.0, 1.0]], false),
        ];
        let rows = of.iter().flat_map(|(name, samples, _)| rows(name, *samples)).collect();
        let samples = Samples { measures: vec![(Measure::Mix, 1), (Measure::Hold, 1)], rows };
        for (at, (name, _, far)) in of.iter().enumerate() {
            assert_eq!(samples.is_far(at), *far, "{name}");
        }
    }
}
