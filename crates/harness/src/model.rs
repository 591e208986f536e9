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
    /// Bytes per timer.
    pub memory: Vec<Memory>,
    /// What traces of somebody's own cost besides time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub footprints: Vec<Footprint>,
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
    /// Timers; for a trace, how many different ones are in it.
    pub n: u64,
    /// Name of the measure: `insert-cold`, `insert-warm`, `cancel`, `reschedule`, `fire-jump`,
    /// `fire-ticks`, `steady`, `hold`, `mix`.
    pub measure: String,
    /// Operations per sample.
    pub operations: u64,
    /// Nanoseconds per operation, in order of repetition. Repetition k of all backends ran in the
    /// same round.
    pub ns_per_op: Vec<f64>,
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

/// The distribution of the time of single operations.
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
    /// The longest of each pass, the shortest of these, ns: what the structure is to blame for. A
    /// stall of the machine is long in one pass; one of the structure is long in all, since each
    /// pass does the same operations.
    pub worst: u64,
    /// The curve to plot: (percentile, ns), rising in both, from 0 to 100.
    pub curve: Vec<(f64, u64)>,
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
