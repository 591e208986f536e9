//! The stream that every backend plays: the operations of a workload or trace, all of it in memory,
//! and the right answers.

use crate::capacity;
use crate::floor::FiringScript;
use crate::model::Census;
use anyhow::{Context, Result, ensure};
use hdrhistogram::Histogram;
use std::fs::File;
use std::path::Path;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_oracle::Oracle;
use wheelhouse_workload::{Checksum, Measure, Op, Phase, Player, Workload, trace};

/// The prefix of the names of traces, which distinguishes them from workloads.
pub const TRACE: &str = "trace:";

/// The prefix of the names of the user's mixes.
pub const MIX: &str = "mix:";

/// The remedy in messages about a trace that cannot be read.
const REMEDY: &str =
    "name a trace file, as written by crates/record or scripts/record-kernel-timers";

/// Operations that are ready to be played.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The name of the workload, or `trace:` and the name of the trace.
    pub name: String,
    /// Number of timers: the n that the workload was made for, or how many different timers a trace
    /// has.
    pub n: u64,
    /// All labels are below this.
    pub labels: usize,
    /// The operations, in order.
    pub phases: Vec<Phase>,
}

impl Stream {
    /// The stream of a workload.
    pub fn from_workload(workload: &Workload, n: u32, seed: u64) -> Self {
        let phases = workload.phases(n, seed).collect();
        Self { name: workload.name.to_owned(), n: u64::from(n), labels: workload.labels(n), phases }
    }

    /// The stream of a trace in memory.
    ///
    /// # Errors
    ///
    /// If the trace is truncated, corrupt, of another version, or too long for the memory.
    pub fn from_trace(name: &str, bytes: impl std::io::Read) -> Result<Self> {
        Self::from_trace_of(name, bytes, capacity::most_operations())
    }

    /// [`from_trace`](Self::from_trace) of at most `most` operations. The header is not trusted.
    fn from_trace_of(name: &str, bytes: impl std::io::Read, most: u64) -> Result<Self> {
        let reader = trace::Reader::new(bytes)?;
        let labels = reader.header().labels as usize;
        let mut ops = Vec::new();
        for op in reader {
            ensure!(
                (ops.len() as u64) < most,
                "its operations do not fit into memory: there are more than {most}; record less"
            );
            ops.push(op?);
        }
        let of_timers =
            |op: &&Op| matches!(op, Op::Insert { .. } | Op::Cancel { .. } | Op::Reschedule { .. });
        let operations = ops.iter().filter(of_timers).count() as u64;
        let phases = vec![Phase { measure: Some(Measure::Mix), operations, ops }];
        Ok(Self { name: format!("{TRACE}{name}"), n: labels as u64, labels, phases })
    }

    /// The stream of a trace file, named after the file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is truncated, corrupt, of another version or too long for the
    /// memory.
    pub fn from_file(path: &Path) -> Result<Self> {
        let name = path
            .file_stem()
            .map_or_else(|| "unnamed".into(), |stem| stem.to_string_lossy().into_owned());
        let shown = path.display();
        ensure!(!path.is_dir(), "{shown} is a folder; {REMEDY}");
        let file =
            File::open(path).with_context(|| format!("cannot open the trace {shown}; {REMEDY}"))?;
        Self::from_trace(&name, file).with_context(|| format!("in {shown}"))
    }

    /// The operations of each measure, summed over its phases, in the order of first appearance.
    pub fn measures(&self) -> Vec<(Measure, u64)> {
        let mut sums: Vec<(Measure, u64)> = Vec::new();
        for phase in &self.phases {
            let Some(measure) = phase.measure else { continue };
            match sums.iter_mut().find(|(seen, _)| *seen == measure) {
                Some((_, sum)) => *sum += phase.operations,
                None => sums.push((measure, phase.operations)),
            }
        }
        sums
    }

    /// Returns `true` if the next phase does not continue the measure of this one. A long stretch
    /// is split into several phases.
    pub fn ends_measure(&self, phase: usize) -> bool {
        self.phases.get(phase + 1).is_none_or(|next| next.measure != self.phases[phase].measure)
    }

    /// Removes phases from the end that continue the measure of the phase before. If the stream
    /// ends with a long stretch in several phases, the first of them remains.
    pub fn shorten_last_measure(&mut self, expected: &mut ExpectedAnswers) {
        while let [.., before, last] = self.phases.as_slice()
            && before.measure.is_some()
            && before.measure == last.measure
        {
            self.phases.pop();
        }
        expected.checksums.truncate(self.phases.len());
    }

    /// The number of timers that the stream starts.
    pub fn insertions(&self) -> usize {
        let ops = self.phases.iter().flat_map(|phase| &phase.ops);
        ops.filter(|op| matches!(op, Op::Insert { .. })).count()
    }

    /// Plays the stream on the oracle and records the right answers.
    pub fn expected_answers(&self) -> ExpectedAnswers {
        let mut player = Player::new(RecordingOracle::default(), self.labels);
        let mut checksums = Vec::with_capacity(self.phases.len());
        let mut script = FiringScript::default();
        let mut label_of = Vec::with_capacity(self.insertions());
        let mut has_one_timer_per_label = true;
        for phase in &self.phases {
            player.timer_mut().is_measuring = phase.measure.is_some();
            for &op in &phase.ops {
                match op {
                    Op::Insert { label, .. } => {
                        has_one_timer_per_label &= !player.is_live(label);
                        // The player numbers the values, so a value is an index of this list.
                        label_of.push(label);
                        player.apply(op);
                    }
                    Op::Cancel { .. } | Op::Reschedule { .. } => player.apply(op),
                    Op::Advance { .. } | Op::Wake | Op::Pop { .. } => {
                        script.counts.push(fired_by(&mut player, op));
                    }
                    Op::Ticks { .. } => {
                        script
                            .counts
                            .extend(single_ticks(op).map(|tick| fired_by(&mut player, tick)));
                    }
                }
            }
            checksums.push(player.checksum());
        }
        script.fired = player.timer().fired.iter().map(|&value| label_of[value as usize]).collect();
        let script = has_one_timer_per_label.then_some(script);
        let census = player.timer().census(self);
        ExpectedAnswers { checksums, fired: player.fired(), script, census }
    }
}

/// The single advances of an [`Op::Ticks`]; none for any other operation.
pub fn single_ticks(op: Op) -> impl Iterator<Item = Op> {
    let (count, to) = if let Op::Ticks { count, to } = op { (count, to) } else { (0, 0) };
    (0..Tick::from(count)).rev().map(move |left| Op::Advance { to: to - left })
}

/// Plays an operation that moves the clock, and returns how many timers fired.
fn fired_by(player: &mut Player<RecordingOracle>, op: Op) -> u32 {
    let before = player.fired();
    player.apply(op);
    (player.fired() - before) as u32
}

/// The right answers to a stream.
#[derive(Debug, Default)]
pub struct ExpectedAnswers {
    /// The checksum after each phase.
    pub checksums: Vec<Checksum>,
    /// How many timers fire.
    pub fired: u64,
    /// The timers that fire, for the floor, which keeps no order. `None` if the stream starts a
    /// timer under the label of a live timer, as a trace may: the floor keeps one timer per label.
    pub script: Option<FiringScript>,
    /// The operations that the stream consists of.
    pub census: Census,
}

impl ExpectedAnswers {
    /// The checksum over the whole stream.
    pub fn checksum(&self) -> Checksum {
        self.checksums.last().copied().unwrap_or_default()
    }
}

/// The oracle, which also records the values that fire, and takes the census.
#[derive(Default)]
struct RecordingOracle {
    oracle: Oracle<u64>,
    fired: Vec<u64>,
    /// `true` if the current phase is measured, `false` if it is preparation.
    is_measuring: bool,
    counts: Census,
    distances: Distances,
}

/// The distances from the clock to the deadlines, over the whole range, with three significant
/// digits. The bounds are constants that the library accepts.
struct Distances(Histogram<u64>);

impl Default for Distances {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, u64::MAX, 3).expect("valid bounds"))
    }
}

impl RecordingOracle {
    fn census(&self, stream: &Stream) -> Census {
        let at = |percentile| self.distances.0.value_at_percentile(percentile);
        let distances = [50.0, 90.0, 99.0].map(at);
        let workload = stream.name.clone();
        Census { workload, n: stream.n, distances, ..self.counts.clone() }
    }

    fn record_distance(&mut self, deadline: Tick) {
        if self.is_measuring {
            let distance = deadline.saturating_sub(Timer::now(&self.oracle));
            self.distances.0.saturating_record(distance);
        }
    }
}

impl Timer<u64> for RecordingOracle {
    fn now(&self) -> Tick {
        Timer::now(&self.oracle)
    }

    fn len(&self) -> usize {
        self.oracle.len()
    }

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.record_distance(deadline);
        self.counts.starts += u64::from(self.is_measuring);
        let id = self.oracle.insert(deadline, value);
        self.counts.most_live = self.counts.most_live.max(self.oracle.len() as u64);
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        let value = self.oracle.cancel(id)?;
        self.counts.cancels += u64::from(self.is_measuring);
        Some(value)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let is_moved = self.oracle.reschedule(id, deadline);
        if is_moved {
            self.record_distance(deadline);
            self.counts.moves += u64::from(self.is_measuring);
        }
        is_moved
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.oracle.deadline(id)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        self.oracle.next_wakeup()
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>> {
        let expired = self.oracle.pop_expired(now)?;
        self.fired.push(expired.value);
        self.counts.fires += u64::from(self.is_measuring);
        Some(expired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::StreamSource;

    #[test]
    fn the_census_counts_operations_and_the_distances_of_deadlines() {
        let mix = StreamSource::Mix("stop:40,move:10,fire:5".parse().unwrap());
        let census = mix.load(2_000, 1).unwrap().expected_answers().census;
        let all = (census.starts + census.cancels + census.moves + census.fires) as f64;
        for (found, share) in [(census.cancels, 0.4), (census.moves, 0.1), (census.fires, 0.05)] {
            assert!((found as f64 / all - share).abs() < 0.02, "{census:?}");
        }
        assert_eq!(census.most_live, 2_000);
        let [half, _, most] = census.distances;
        assert!((28_000..32_000).contains(&half) && (58_000..61_000).contains(&most), "{census:?}");
    }

    #[test]
    fn a_trace_that_does_not_fit_into_memory_is_refused_while_it_is_read() {
        let shipped = trace::shipped()[0].bytes;
        let stream = Stream::from_trace("x", shipped).unwrap();
        let operations = stream.phases[0].ops.len() as u64;
        assert!(Stream::from_trace_of("x", shipped, operations).is_ok());
        let refused = Stream::from_trace_of("x", shipped, operations - 1).unwrap_err();
        assert!(refused.to_string().contains("do not fit into memory"), "{refused}");
    }

    #[test]
    fn only_the_first_phase_of_the_last_measure_remains() {
        let phase = |measure, to| Phase { measure, operations: 1, ops: vec![Op::Advance { to }] };
        let (mix, cancel) = (Some(Measure::Mix), Some(Measure::Cancel));
        let phases = [None, mix, cancel, cancel, mix, mix, mix].into_iter().zip(1..);
        let phases = phases.map(|(measure, to)| phase(measure, to)).collect();
        let mut stream = Stream { name: "x".to_owned(), n: 1, labels: 1, phases };
        let mut expected = stream.expected_answers();
        stream.shorten_last_measure(&mut expected);
        let left: Vec<_> = stream.phases.iter().map(|phase| phase.measure).collect();
        assert_eq!(left, [None, mix, cancel, cancel, mix]);
        assert_eq!(expected.checksums.len(), 5);
    }
}
