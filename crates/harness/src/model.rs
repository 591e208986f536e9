//! The results of a run: the measured figures, with everything needed to judge them.
//!
//! Each run has its [`Provenance`], and each row its workload, its n and its samples, so a reader
//! can compute other statistics from them.

use serde::{Deserialize, Serialize};
use std::fmt;
use wheelhouse_machine::interrupt::INTERRUPTED;
use wheelhouse_machine::provenance::Provenance;
use wheelhouse_present::units;

/// The version of this layout. A file of another version is refused with a message.
pub const SCHEMA: u32 = 1;

/// The name of the floor in tables, where it is a row among the backends.
pub const FLOOR: &str = "floor";

/// One run of the comparison.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`] at the time it was written.
    pub schema: u32,
    /// Where and when it was measured, and on which source.
    pub provenance: Provenance,
    /// The bytes of a timer's value.
    #[serde(default = "usual_payload")]
    pub payload: u16,
    /// How many seeds, counting up from that of the provenance, shared the rounds.
    #[serde(default = "one")]
    pub seeds: usize,
    /// Structures from other projects that took part.
    #[serde(rename = "guests", default, skip_serializing_if = "Vec::is_empty")]
    pub external: Vec<ExternalStructure>,
    /// The operations that the streams consisted of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub census: Vec<Census>,
    /// Time per operation.
    pub throughput: Vec<Throughput>,
    /// Time of single operations.
    pub latency: Vec<Latency>,
    /// Steps of the longest operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Steps>,
    /// Bytes per timer.
    pub memory: Vec<Memory>,
    /// The costs of the user's traces besides time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub footprints: Vec<Footprint>,
    /// How many samples were taken, and how many of them other processes disturbed.
    #[serde(default)]
    pub sampling: Sampling,
    /// Wrong answers. Their rows could not be measured.
    pub failures: Vec<Failure>,
    /// `true` if the run ended before it was complete, or is still in progress.
    pub interrupted: bool,
}

fn usual_payload() -> u16 {
    8
}

fn one() -> usize {
    1
}

impl Run {
    /// A run without rows.
    pub fn new(provenance: Provenance) -> Self {
        let (payload, seeds) = (usual_payload(), one());
        Self { schema: SCHEMA, provenance, payload, seeds, ..Self::default() }
    }

    /// The size of the values as part of a title; empty for the usual one.
    pub fn payload_in_title(&self) -> String {
        match self.payload == usual_payload() {
            true => String::new(),
            false => format!(" with values of {} bytes", self.payload),
        }
    }

    /// Adds a failure, unless there is one of the same backend on the same stream.
    pub(crate) fn add_failure(&mut self, new: Failure) {
        if !self.failures.iter().any(|old| old.is_of(&new.backend, &new.workload, new.n)) {
            self.failures.push(new);
        }
    }

    /// Removes the figures of structures that answered wrongly while they were timed.
    pub(crate) fn drop_figures_of_wrong_answers(&mut self) {
        for wrong in &self.failures {
            self.throughput.retain(|row| !wrong.is_of(&row.backend, &row.workload, row.n));
            self.latency.retain(|row| !wrong.is_of(&row.backend, &row.workload, row.n));
            self.steps.retain(|row| !wrong.is_of(&row.backend, &row.workload, row.n));
            // A footprint has no n: a trace has one.
            self.footprints.retain(|row| !wrong.is_of(&row.backend, &row.workload, wrong.n));
        }
    }

    /// The times of a measure, if they were taken. O(rows).
    pub fn throughput_of(
        &self,
        backend: &str,
        workload: &str,
        n: u64,
        measure: &str,
    ) -> Option<&Throughput> {
        self.throughput.iter().find(|row| row.key() == (backend, workload, n, measure))
    }

    /// The memory of a backend with n timers, if it was measured. O(rows).
    pub fn memory_of(&self, backend: &str, n: u64) -> Option<&Memory> {
        self.memory.iter().find(|row| row.backend == backend && row.n == n)
    }

    /// The message about an interruption, if there was one.
    pub fn interruption(&self) -> Option<&'static str> {
        match (self.interrupted, self.throughput.is_empty()) {
            (false, _) => None,
            (true, true) => Some("interrupted before anything was measured"),
            (true, false) => Some("interrupted: some rows are missing; the others are complete"),
        }
    }

    /// The exit code of the program that made this run: 0 if it is complete and all answers were
    /// right, 1 after a wrong answer, [`INTERRUPTED`] after an interruption.
    pub fn exit_code(&self) -> u8 {
        if self.interrupted { INTERRUPTED } else { u8::from(!self.failures.is_empty()) }
    }
}

/// The number of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// All samples that were taken.
    pub taken: u64,
    /// Samples during which the thread waited for the processor.
    pub disturbed: u64,
}

/// A timer facility from another project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalStructure {
    /// The name in its rows.
    pub name: String,
    /// Its package and version.
    pub version: String,
    /// The reasons for cells without figures: an operation that it lacks, and why.
    pub cannot: Vec<String>,
}

/// Time per operation of one (backend, workload, n, measure), one sample per repetition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Throughput {
    /// Name of the backend, or [`FLOOR`].
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Number of timers; for a trace, the most that are live at a time.
    pub n: u64,
    /// Name of the measure: `insert-cold`, `insert-warm`, `cancel`, `reschedule`, `fire-jump`,
    /// `fire-ticks`, `steady`, `hold`, `mix`.
    pub measure: String,
    /// Operations per sample.
    pub operations: u64,
    /// Nanoseconds per operation, in order of repetition.
    pub ns_per_op: Vec<f64>,
    /// The round of each sample, counted from 0. The samples of a round were taken one after the
    /// other, so ratios compare samples of the same round. Empty in older runs, where sample k is
    /// of round k.
    #[serde(default)]
    pub rounds: Vec<u32>,
}

impl Throughput {
    /// Backend, workload, n and measure: no two rows of a run have the same.
    pub fn key(&self) -> (&str, &str, u64, &str) {
        (&self.backend, &self.workload, self.n, &self.measure)
    }

    /// Each sample with its round.
    pub fn by_round(&self) -> impl Iterator<Item = (u32, f64)> {
        let round = |at: usize| self.rounds.get(at).copied().unwrap_or(at as u32);
        self.ns_per_op.iter().enumerate().map(move |(at, ns)| (round(at), *ns))
    }
}

/// The counts of the oracle for a stream. Preparation is left out, except in `most_live`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    /// Name of the workload or trace.
    pub workload: String,
    /// Number of timers, as in the rows of that stream.
    pub n: u64,
    /// Timers started.
    pub starts: u64,
    /// Timers cancelled before they fired. Calls that came too late are left out.
    pub cancels: u64,
    /// Timers moved. Calls that came too late are left out.
    pub moves: u64,
    /// Timers that fired.
    pub fires: u64,
    /// The most timers that were live at a time.
    pub most_live: u64,
    /// Ticks from the clock to the deadline of a timer that is started or moved: median, 90th and
    /// 99th percentile.
    pub distances: [u64; 3],
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, starts, cancels, moves, fires, most_live, distances, .. } = self;
        let all = (starts + cancels + moves + fires).max(1) as f64;
        let [starts, cancels, moves, fires] =
            [starts, cancels, moves, fires].map(|count| 100.0 * *count as f64 / all);
        let [live, half, most] = [*most_live, distances[0], distances[2]].map(units::count);
        write!(
            f,
            "{workload}: {starts:.0} % starts, {cancels:.0} % cancels, {moves:.0} % moves, \
             {fires:.0} % expiries; at most {live} timers live; half of the deadlines are within \
             {half} ticks, 99 % within {most}."
        )
    }
}

/// The distribution of the time of single operations. The stream is played several times, and the
/// time of an operation is the shortest: a stall of the machine is in one pass only, a stall of the
/// structure is in all, since each pass does the same operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Latency {
    /// Name of the backend, or [`FLOOR`].
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Number of timers.
    pub n: u64,
    /// `insert`, `cancel`, `tick` (an advance by one tick) or `advance` (any other movement of the
    /// clock).
    pub operation: String,
    /// How many operations were timed.
    pub count: u64,
    /// Median, ns.
    pub p50: u64,
    /// 90th percentile, ns.
    pub p90: u64,
    /// 99th percentile, ns.
    pub p99: u64,
    /// 99.9th percentile, ns.
    pub p999: u64,
    /// 99.99th percentile, ns.
    pub p9999: u64,
    /// The longest, ns.
    pub max: u64,
    /// The curve to plot: (percentile, ns), rising in both, from 0 to 100.
    pub curve: Vec<(f64, u64)>,
}

/// With fewer operations than this beyond it, a percentile decides nothing.
const MIN_OPERATIONS_BEYOND: u64 = 30;

impl Latency {
    /// The time that one in `many` operations exceeded: the 99.9th percentile for 1,000, the
    /// 99.99th for 10,000. `None` if fewer than thirty operations are beyond it.
    pub fn one_in(&self, many: u64) -> Option<u64> {
        let value = if many >= 10_000 { self.p9999 } else { self.p999 };
        (self.count >= MIN_OPERATIONS_BEYOND * many).then_some(value)
    }
}

/// The longest operation of a kind, in steps of the structure: nodes visited, links written, timers
/// moved, as its meter counts them. The machine has no influence on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// Name of the backend.
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Number of timers.
    pub n: u64,
    /// As in [`Latency`].
    pub operation: String,
    /// Steps of the longest operation.
    pub longest: u64,
}

/// Bytes that a structure holds, divided by the live timers. The payload is included.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Memory {
    /// Name of the backend.
    pub backend: String,
    /// Live timers.
    pub n: u64,
    /// After n insertions.
    pub live: f64,
    /// The maximum until then, read after each insertion.
    pub peak: f64,
    /// With n live again, after timers were replaced several times on average.
    pub churned: f64,
}

/// The costs of a trace, besides time, for a program that sleeps until the next wake-up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Footprint {
    /// Name of the backend.
    pub backend: String,
    /// Name of the trace.
    pub workload: String,
    /// The most bytes that the structure held, divided by the most timers that were live.
    pub peak: f64,
    /// How often the program is woken. Some structures know the next deadline only roughly, and
    /// wake the program in vain.
    pub wakeups: u64,
}

/// A wrong answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Name of the backend.
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Timers.
    pub n: u64,
    /// A sentence that says what was wrong.
    pub message: String,
}

impl Failure {
    pub(crate) fn new(backend: &str, workload: &str, n: u64, message: String) -> Self {
        Self { backend: backend.to_owned(), workload: workload.to_owned(), n, message }
    }

    /// Returns `true` if this backend answered wrongly on this stream.
    pub fn is_of(&self, backend: &str, workload: &str, n: u64) -> bool {
        (self.backend.as_str(), self.workload.as_str(), self.n) == (backend, workload, n)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {} at n = {}: {}", self.backend, self.workload, self.n, self.message)
    }
}
