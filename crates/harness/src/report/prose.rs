//! The sentences of the report: how to read a plot, and reasons to doubt it.

use crate::model::Run;
use crate::plot::Subject;
use wheelhouse_machine::provenance::Provenance;
use wheelhouse_present::units;

/// Next to the answer.
pub const ANSWER: &str = "A time is the mean cost of a start, stop, move or expiry. A use is \
    judged by everything that happens to its timers, from start to end, and not by one column of \
    the table. Percentages count calls (cancels, moves and expiries), not timers.";

/// Below the provenance.
pub const SOURCE: &str = "All tables, plots and answers on this page come from run.json alone. \
    `wheelhouse report FOLDER` makes them again.";

/// Above the plots of times.
pub const TIME: &str = "One line per structure. Both axes are logarithmic: a level line means the \
    same cost at every n, and a straight slope means growth with a power of n. A line that rises a \
    little may do the same work at every n but miss the caches more often. Time alone does not \
    show a complexity class; counted operations do.";

/// Above the plots of latencies.
pub const LATENCY: &str = "An average hides the operation that made a caller wait. These curves \
    show every operation that was timed: at 99.99, the time that one operation in ten thousand \
    exceeded; at the right end, the longest of all. Each stream is played three times, and the \
    time of an operation is the shortest of the three, since a stall of the machine hits only one \
    of them. A tick is one advance of the clock, including all that it fires.";

/// Above the plot of memory.
pub fn memory(run: &Run) -> String {
    let payload = if run.payload == 8 { "eight".to_owned() } else { run.payload.to_string() };
    format!(
        "Bytes that a structure has requested from the allocator, divided by the number of live \
         timers. The payload of {payload} bytes is included. A sawtooth over n shows storage that \
         doubles."
    )
}

/// How to read one picture.
pub fn caption(subject: &Subject) -> String {
    match subject {
        Subject::Time { workload, measure } => {
            format!("{} Workload: {workload}.", measure_description(measure))
        }
        Subject::Latency { operation, .. } => match operation.as_str() {
            "tick" => {
                "A step at the right is a tick that did the work of many: a cascade, or many \
                timers due at once."
                    .to_owned()
            }
            _ => "A step at the right is an operation that paid for others: it grew the storage, \
                or cleared away cancelled timers."
                .to_owned(),
        },
        Subject::Memory => {
            "Marks: n timers live. Whiskers: the range of three figures, which are n timers live, \
             the peak while growing, and the state after churn."
                .to_owned()
        }
    }
}

fn measure_description(measure: &str) -> &'static str {
    match measure {
        "insert-cold" => {
            "Starting timers in memory that the structure has not used before. The first touch of \
             the memory is included."
        }
        "insert-warm" => {
            "Starting timers in memory that the structure has used before, in scattered places."
        }
        "cancel" => "Stopping live timers by their handles, in random order.",
        "reschedule" => "Moving live timers to new deadlines by their handles, in random order.",
        "fire-jump" => {
            "Firing all timers in one jump of the clock. Their insertions are not included."
        }
        "fire-ticks" => {
            "Firing all timers while the clock moves tick by tick. Empty ticks are included, the \
             insertions before are not."
        }
        "steady" => {
            "Each step stops a random timer and starts another, while the clock advances and some \
             timers fire."
        }
        "hold" => {
            "The hold model: the earliest timer fires and is started again with a later deadline, \
             so n timers stay live."
        }
        "mix" => "All operations of the workload or trace: total time divided by their number.",
        _ => "Time divided by the number of operations.",
    }
}

/// The story of a workload of the catalogue, and its source; `None` for a trace.
pub fn story(workload: &str) -> Option<String> {
    let found = wheelhouse_workload::find_workload(workload).ok()?;
    Some(format!("{} Source: {}.", found.story, found.source))
}

/// Reasons to doubt the figures of any run.
const CAVEATS: [&str; 5] = [
    "Every structure was checked on the same operations before it was measured: its expiries had \
     to equal the oracle's. If they did not, the cell says WRONG.",
    "Quote ratios, not nanoseconds. In each repetition all structures ran in turn, so whatever \
     slows the machine down slows all of them. Absolute times are valid for this machine at this \
     hour only.",
    "The floor plays the same operations on bare arrays and knows beforehand which timers fire. It \
     is the memory traffic that structures can hardly avoid. A structure close to the floor has \
     little left to gain.",
    "Figures are medians, because a disturbance only ever slows a repetition down. Whiskers, and \
     the spread below the table, show how far the repetitions of this process differ. Ignore \
     differences smaller than that. Another process can move a figure by more: repeat the run \
     before you believe a small ratio. Repetitions in which the thread waited for the processor \
     are left out if enough others remain.",
    "Synthetic workloads are not your program. Replay a trace of it before you choose.",
];

/// Reasons to doubt the figures.
pub fn caveats(run: &Run) -> Vec<String> {
    let Provenance { clock_overhead_ns, pinned_to, commit, .. } = &run.provenance;
    let overhead = units::time(*clock_overhead_ns);
    let unpinned = "The measuring thread was not pinned: it may have moved between processors.";
    let of_run = [
        format!(
            "Times of single operations include the overhead of reading the clock, {overhead} \
             here. A time below a few times that overhead mostly measures the clock."
        ),
        format!(
            "To repeat this run, check out commit {commit}, run the command below, and compare the \
             two runs."
        ),
    ];
    let unpinned = pinned_to.is_none().then_some(unpinned);
    CAVEATS.into_iter().chain(unpinned).map(str::to_owned).chain(of_run).collect()
}
