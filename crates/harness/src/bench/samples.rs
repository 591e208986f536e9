//! The samples of one stream, and when there are enough of them.

use crate::contender::{Contender, Played};
use crate::model::{FLOOR, Throughput};
use crate::stream::Stream;
use std::time::Duration;
use wheelhouse_workload::Measure;

/// Where there is only time for the fewest rounds, two are enough for whoever takes so many times
/// the least, if its two agree as well as this: no tie hangs on a third.
const FAR: f64 = 2.0;
const AGREE: f64 = 1.1;

/// The rows of one stream, as they fill with samples: for each contender, one row for each measure.
pub(super) struct Samples {
    measures: Vec<(Measure, u64)>,
    pub(super) rows: Vec<Throughput>,
    /// Of each contender that competes, how long its plays took in all.
    whole: Vec<Vec<Duration>>,
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
        let whole = contenders.iter().map(|_| Vec::new()).collect();
        Self { rows: rows.collect(), measures, whole }
    }

    /// Whether two samples are enough of the contender at `at`: see [`FAR`].
    pub(super) fn is_far(&self, at: usize) -> bool {
        let shortest = self.whole.iter().flatten().min();
        let (Some(least), Some(most)) = (self.whole[at].iter().min(), self.whole[at].iter().max())
        else {
            return false;
        };
        let is_far = shortest.is_some_and(|shortest| *least > shortest.mul_f64(FAR));
        self.whole[at].len() >= 2 && is_far && *most < least.mul_f64(AGREE)
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
        if self.rows[at * sums.len()].backend != FLOOR {
            self.whole[at].push(sums.iter().filter_map(|(sum, _)| *sum).sum());
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

    #[test]
    fn two_samples_are_enough_of_who_is_far_from_the_best_and_steady() {
        let plays: [&[u64]; 5] = [&[100, 101], &[150, 150], &[300, 310], &[300, 400], &[300]];
        let whole = plays.map(|it| it.iter().copied().map(Duration::from_millis).collect());
        let samples = Samples { measures: Vec::new(), rows: Vec::new(), whole: whole.into() };
        let far: Vec<bool> = (0..plays.len()).map(|at| samples.is_far(at)).collect();
        assert_eq!(far, [false, false, true, false, false]);
    }
}
