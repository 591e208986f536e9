//! What a run leaves behind: the measured figures, with all that is needed to judge them.
//!
//! A figure never stands alone. Each run carries its [`Provenance`], and each row the workload, n
//! and the samples it came from, so that a reader can compute another statistic than ours.

use serde::{Deserialize, Serialize};
use std::fmt;
use wheelhouse_machine::interrupt::INTERRUPTED;
use wheelhouse_machine::provenance::Provenance;
use wheelhouse_present::units;

/// The version of this layout; a file of another version is refused with a message that says so.
pub const SCHEMA: u32 = 1;

/// The name under which the floor stands among the backends.
pub const FLOOR: &str = "floor";

/// One run of the comparison.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`] when it was written.
    pub schema: u32,
    /// Where, when and of what.
    pub provenance: Provenance,
    /// Those who took part that are not of this workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<Guest>,
    /// What the streams were made of.
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
    /// What traces of somebody's own cost besides time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub footprints: Vec<Footprint>,
    /// How many samples were taken, and how many of these were left out because other processes
    /// had the processor meanwhile.
    #[serde(default)]
    pub sampling: Sampling,
    /// Rows that could not be measured because the backend's answers were wrong.
    pub failures: Vec<Failure>,
    /// Whether the run was ended before it was complete, or is still under way.
    pub interrupted: bool,
}

impl Run {
    /// The times of a measure, if they were taken. O(rows).
    pub fn throughput_of(
        &self,
        backend: &str,
        workload: &str,
        n: u64,
        measure: &str,
    ) -> Option<&Throughput> {
        self.throughput.iter().find(|row| {
            (row.backend.as_str(), row.workload.as_str(), row.n, row.measure.as_str())
                == (backend, workload, n, measure)
        })
    }

    /// The memory of a backend with so many timers, if it was measured. O(rows).
    pub fn memory_of(&self, backend: &str, n: u64) -> Option<&Memory> {
        self.memory.iter().find(|row| row.backend == backend && row.n == n)
    }

    /// What a program that made this run is to exit with: 0 if it is complete and all answers were
    /// right.
    pub fn exit_code(&self) -> u8 {
        match self.interrupted {
            true => INTERRUPTED,
            false => u8::from(!self.failures.is_empty()),
        }
    }
}

/// How many samples there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// All that were taken.
    pub taken: u64,
    /// Those during which the thread waited for the processor.
    pub disturbed: u64,
}

/// Somebody else's timer facility.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// The name that its rows have.
    pub name: String,
    /// Its package and version.
    pub version: String,
    /// What it cannot do, and why: its cells without figures.
    pub cannot: Vec<String>,
}

/// Time per operation of one (backend, workload, n, measure), one sample per repetition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Throughput {
    /// Name of the backend, or [`FLOOR`].
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Timers; for a trace, the most that are live at a time.
    pub n: u64,
    /// Name of the measure: `insert-cold`, `insert-warm`, `cancel`, `reschedule`, `fire-jump`,
    /// `fire-ticks`, `steady`, `hold`, `mix`.
    pub measure: String,
    /// Operations per sample.
    pub operations: u64,
    /// Nanoseconds per operation, in order of repetition.
    pub ns_per_op: Vec<f64>,
    /// The round of each sample, from 0 on: those of one round were taken one after the other, so
    /// that a ratio compares these. Empty in older runs, where sample k is of round k.
    #[serde(default)]
    pub rounds: Vec<u32>,
}

impl Throughput {
    /// Each sample with its round.
    pub fn by_round(&self) -> impl Iterator<Item = (u32, f64)> {
        let round = |at: usize| self.rounds.get(at).copied().unwrap_or(at as u32);
        self.ns_per_op.iter().enumerate().map(move |(at, ns)| (round(at), *ns))
    }
}

/// What was found in a stream when the oracle played it. Preparation is left out but for the live
/// timers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    /// Name of the workload or trace.
    pub workload: String,
    /// Timers, as in the rows of that stream.
    pub n: u64,
    /// Timers started.
    pub starts: u64,
    /// Timers cancelled before they fired; calls that came too late are left out.
    pub cancels: u64,
    /// Timers moved; calls that came too late are left out.
    pub moves: u64,
    /// Timers that fired.
    pub fires: u64,
    /// The most timers that were live at a time.
    pub most_live: u64,
    /// From the clock to the deadline where a timer was started or moved, in ticks: median, 90th
    /// and 99th percentile.
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
/// time of an operation is its least: a stall of the machine is in one pass, one of the structure
/// in all, since each pass does the same operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Latency {
    /// Name of the backend, or [`FLOOR`].
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Timers.
    pub n: u64,
    /// `insert`, `cancel`, `tick` (an advance by one tick) or `advance` (one of the workload's
    /// own).
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

/// With fewer operations beyond it, a percentile decides nothing.
const BEYOND: u64 = 30;

impl Latency {
    /// The 99.9th percentile for 1,000, the 99.99th for 10,000; `None` if fewer than thirty
    /// operations are beyond it.
    pub fn one_in(&self, many: u64) -> Option<u64> {
        let value = if many >= 10_000 { self.p9999 } else { self.p999 };
        (self.count >= BEYOND * many).then_some(value)
    }
}

/// The longest operations of a kind, in steps of the structure: nodes visited, links written,
/// timers moved, as its meter counts them. No machine has a part in that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// Name of the backend.
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Timers.
    pub n: u64,
    /// As in [`Latency`].
    pub operation: String,
    /// Steps of the longest.
    pub longest: u64,
}

/// Bytes that a structure holds, divided by the live timers; the payload of eight bytes is
/// included.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Memory {
    /// Name of the backend.
    pub backend: String,
    /// Live timers.
    pub n: u64,
    /// After n insertions.
    pub live: f64,
    /// The most it held between two insertions on the way there.
    pub peak: f64,
    /// With n live again, after every timer was replaced several times over.
    pub churned: f64,
}

/// What the timers of a trace cost a program that sleeps until the next wake-up, besides time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Footprint {
    /// Name of the backend.
    pub backend: String,
    /// Name of the trace.
    pub workload: String,
    /// The most bytes that the structure held, divided by the most timers that were live.
    pub peak: f64,
    /// How often the program is woken. Some structures know the next deadline only about, and have
    /// it woken in vain.
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
    /// What was wrong, in a sentence.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {} at n = {}: {}", self.backend, self.workload, self.n, self.message)
    }
}
