//! The samples of one stream: how many are enough, and which of them count.

use crate::model::{FLOOR, Run, Throughput};
use crate::stream::Stream;
use crate::structure::{StreamPlay, Structure};
use std::time::Duration;
use wheelhouse_machine::clock::WorkTime;
use wheelhouse_present::stats;
use wheelhouse_workload::Measure;

/// If there is time for the minimum number of rounds only, two samples are enough for a structure
/// that is far behind: in each measure, both take over `FAR_FACTOR` times the fastest sample and
/// agree within a factor of [`AGREEMENT_FACTOR`]. A third sample would not make it a tie.
const FAR_FACTOR: f64 = 2.0;

/// See [`FAR_FACTOR`].
const AGREEMENT_FACTOR: f64 = 1.1;

/// A sample is disturbed if the thread waited for the processor for more than this share of its
/// time. The program that ran instead has used the caches, too.
const DISTURBED_SHARE: f64 = 0.05;

/// The rows of one stream, which fill with samples: one row for each structure and measure.
pub(super) struct Samples {
    measures: Vec<(Measure, u64)>,
    rows: Vec<Throughput>,
    /// The disturbed rounds of each structure.
    disturbed: Vec<Vec<u32>>,
    taken: u64,
}

impl Samples {
    pub(super) fn new(structures: &[&dyn Structure], stream: &Stream) -> Self {
        let measures = stream.measures();
        let row = |structure: &dyn Structure, (measure, operations): (Measure, u64)| Throughput {
            backend: structure.name().to_owned(),
            workload: stream.name.clone(),
            n: stream.n,
            measure: measure.name().to_owned(),
            operations,
            ns_per_op: Vec::new(),
            rounds: Vec::new(),
        };
        let rows = structures
            .iter()
            .flat_map(|structure| measures.iter().map(|&measure| row(*structure, measure)));
        let disturbed = vec![Vec::new(); structures.len()];
        Self { rows: rows.collect(), measures, disturbed, taken: 0 }
    }

    /// Adds the rows to a run, without disturbed samples if enough others remain.
    pub(super) fn add_rows(mut self, run: &mut Run) {
        run.sampling.taken += self.taken;
        run.sampling.disturbed += self.disturbed.iter().map(Vec::len).sum::<usize>() as u64;
        for (rows, disturbed) in
            self.rows.chunks_mut(self.measures.len().max(1)).zip(&self.disturbed)
        {
            rows.iter_mut().for_each(|row| remove_disturbed(row, disturbed));
        }
        run.throughput.extend(self.rows.into_iter().filter(|row| !row.ns_per_op.is_empty()));
    }

    /// Returns `true` if two samples are enough of the structure at `at`: see [`FAR_FACTOR`].
    pub(super) fn is_far_behind(&self, at: usize) -> bool {
        let measures = self.measures.len();
        let measured = |row: &&Throughput| !row.ns_per_op.is_empty();
        let own = self.rows[at * measures..][..measures].iter().filter(measured);
        let mut ends = own.map(|row| (row, stats::range(&row.ns_per_op)));
        ends.all(|(row, ends)| {
            let of_others = self.rows.iter().filter(|it| it.measure == row.measure);
            let competing = of_others.filter(|it| it.backend != FLOOR);
            let best = competing.flat_map(|it| &it.ns_per_op).copied().min_by(f64::total_cmp);
            let (Some((least, most)), Some(best)) = (ends, best) else { return false };
            row.ns_per_op.len() >= 2 && least > best * FAR_FACTOR && most < least * AGREEMENT_FACTOR
        })
    }

    /// Adds one sample to each row of the structure at `at` whose phases it can play. The sample is
    /// the median of `plays`.
    pub(super) fn add(&mut self, at: usize, round: usize, stream: &Stream, plays: &[StreamPlay]) {
        let of_phases = |times: fn(&WorkTime) -> Duration| {
            let all = plays.iter().flat_map(|played| played.times.iter().flatten());
            all.map(times).sum::<Duration>().as_secs_f64()
        };
        let [elapsed, running] = [of_phases(|it| it.elapsed), of_phases(|it| it.running)];
        self.taken += 1;
        if elapsed - running > DISTURBED_SHARE * elapsed {
            self.disturbed[at].push(round as u32);
        }
        let measures = self.measures.len();
        let rows = &mut self.rows[at * measures..][..measures];
        // The number of operations may differ between seeds, so it is that of this stream.
        for ((measure, operations), row) in stream.measures().iter().zip(rows) {
            let times = plays.iter().filter_map(|played| time_of(*measure, stream, played));
            let times: Vec<f64> = times.map(|time| time.as_nanos() as f64).collect();
            if let Some(time) = stats::median(&times) {
                debug_assert_eq!(row.measure, measure.name());
                row.ns_per_op.push(time / (*operations).max(1) as f64);
                row.rounds.push(round as u32);
            }
        }
    }
}

/// The total time of the phases of a measure; `None` if one of them was not played.
fn time_of(measure: Measure, stream: &Stream, played: &StreamPlay) -> Option<Duration> {
    let phases = stream.phases.iter().zip(&played.times);
    let of_measure = phases.filter(|(phase, _)| phase.measure == Some(measure));
    of_measure.map(|(_, taken)| Some(taken.as_ref()?.time())).sum()
}

/// Removes the samples of disturbed rounds, if enough others remain to show their spread.
fn remove_disturbed(row: &mut Throughput, disturbed: &[u32]) {
    let kept = row.by_round().filter(|(round, _)| !disturbed.contains(round));
    let kept: Vec<(u32, f64)> = kept.collect();
    if kept.len() >= stats::MIN_SAMPLES {
        (row.rounds, row.ns_per_op) = kept.into_iter().unzip();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_workload::Phase;

    /// The rows of a structure with these samples of two measures.
    fn rows(backend: &str, samples: [&[f64]; 2]) -> [Throughput; 2] {
        let row = |(measure, samples): (&str, &[f64])| {
            let (ns_per_op, rounds) = (samples.to_vec(), (0..samples.len() as u32).collect());
            Throughput {
                backend: backend.to_owned(),
                workload: "w".to_owned(),
                n: 1,
                measure: measure.to_owned(),
                operations: 1,
                ns_per_op,
                rounds,
            }
        };
        [("a", samples[0]), ("b", samples[1])].map(row)
    }

    #[test]
    fn two_samples_are_enough_of_a_structure_far_behind_in_each_measure() {
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
        let measures = vec![(Measure::Mix, 1), (Measure::Hold, 1)];
        let samples = Samples { measures, rows, disturbed: vec![Vec::new(); of.len()], taken: 0 };
        for (at, (name, _, is_far)) in of.iter().enumerate() {
            assert_eq!(samples.is_far_behind(at), *is_far, "{name}");
        }
    }

    #[test]
    fn a_sample_is_disturbed_if_its_thread_waited_for_over_a_twentieth_of_the_time() {
        let phase = Phase { measure: Some(Measure::Mix), operations: 1, ops: Vec::new() };
        let stream = Stream { name: "w".to_owned(), n: 1, labels: 1, phases: vec![phase] };
        let play = |times: &[u64; 2]| {
            let [elapsed, running] = times.map(Duration::from_millis);
            let times = vec![Some(WorkTime { elapsed, running })];
            StreamPlay { times, checksums: Vec::new() }
        };
        for (plays, is_disturbed) in [
            (&[[100, 96]][..], false),
            (&[[100, 94]], true),
            (&[[100, 60], [900, 900]], false), // a twenty-fifth of both
            (&[[100, 40], [900, 900]], true),
        ] {
            let [row, _] = rows("a", [&[], &[]]);
            let rows = vec![Throughput { measure: "mix".to_owned(), ..row }];
            let (measures, disturbed) = (stream.measures(), vec![Vec::new()]);
            let mut samples = Samples { measures, rows, disturbed, taken: 0 };
            samples.add(0, 4, &stream, &plays.iter().map(play).collect::<Vec<_>>());
            assert_eq!(samples.disturbed[0] == [4], is_disturbed, "{plays:?}");
            assert_eq!((samples.taken, samples.rows[0].ns_per_op.len()), (1, 1));
        }
    }

    #[test]
    fn disturbed_samples_are_removed_if_enough_others_remain() {
        let [mut row, _] = rows("a", [&[10.0, 90.0, 11.0, 12.0], &[]]);
        remove_disturbed(&mut row, &[1]);
        assert_eq!((&*row.ns_per_op, &*row.rounds), (&[10.0, 11.0, 12.0][..], &[0, 2, 3][..]));
        remove_disturbed(&mut row, &[0]);
        assert_eq!(row.ns_per_op.len(), 3, "two samples show no spread");
    }
}
