//! The sentences of the report: how to read a picture, and what speaks against believing it.

use crate::model::Run;
use crate::plot::Subject;
use wheelhouse_present::stats;
use wheelhouse_present::units;

/// Introduces the sentences of the answer.
pub const ANSWER: &str = "Times are of a start, a stop, a move or an expiry. A use is judged by \
    all that happens to its timers, from start to end.";

/// After the facts.
pub const SOURCE: &str = "All tables, plots and answers of this page are made from run.json, and \
    from nothing else: `wheelhouse report` with its folder makes them again.";

/// Before the times.
pub const TIME: &str = "One line per structure. Both axes are logarithmic: a level line costs the \
    same at every n, a straight slope grows with a power of n. A line that rises a little may do \
    the same work at every n and miss the caches more often: time alone does not decide a \
    complexity class, counted operations do.";

/// Before the latencies.
pub const LATENCY: &str = "An average hides the operation that made a caller wait. These curves \
    show every one that was timed: at 99.99 stands the time that one operation in ten thousand \
    exceeded, at the right end the longest of all. Each stream is played three times, and the time \
    of an operation is its least: a stall of the machine is in one of them. A tick is one advance \
    of the clock with all that it fires.";

/// Before the memory.
pub const MEMORY: &str = "Bytes that a structure has asked the allocator for, divided by the live \
    timers; the payload of eight bytes is included. A sawtooth over n is storage that doubles.";

/// How to read one picture.
pub fn caption(subject: &Subject) -> String {
    match subject {
        Subject::Time { workload, measure } => {
            format!("{} Workload: {workload}.", measured(measure))
        }
        Subject::Latency { operation, .. } => match operation.as_str() {
            "tick" => {
                "A step at the right is a tick that did the work of many: a cascade, or many \
                timers due at once."
                    .to_owned()
            }
            _ => "A step at the right is an operation that paid for others: storage that grew, or \
                what was cancelled cleared away."
                .to_owned(),
        },
        Subject::Memory => {
            "Marks: with n timers live. Whiskers: from the least to the greatest of that, the peak \
             while growing, and the state after churn."
                .to_owned()
        }
    }
}

/// What a measure measures.
fn measured(measure: &str) -> &'static str {
    match measure {
        "insert-cold" => {
            "Starting timers in memory that the structure has not used before: the first touch is \
             included."
        }
        "insert-warm" => {
            "Starting timers in memory that the structure has used before, in scattered places."
        }
        "cancel" => "Stopping live timers by their handles, in random order.",
        "reschedule" => "Moving live timers to new deadlines by their handles, in random order.",
        "fire-jump" => "Firing all timers in one jump of the clock.",
        "fire-ticks" => {
            "Firing all timers while the clock goes tick by tick; empty ticks are included."
        }
        "steady" => {
            "Each step stops a timer at random and starts another, while the clock goes on and \
             some fire."
        }
        "hold" => {
            "The hold model: the earliest timer fires and is started again later, n live all the \
             time."
        }
        "mix" => "The operations as the workload or trace has them, time divided by their number.",
        _ => "Time divided by the number of operations.",
    }
}

/// What happens in a workload of the catalogue, and where it comes from; `None` for a trace.
pub fn story(workload: &str) -> Option<String> {
    let found = wheelhouse_workload::find_workload(workload).ok()?;
    Some(format!("{} Source: {}.", found.story, found.source))
}

/// How to distrust the figures, with this run's own numbers.
pub fn doubts(run: &Run) -> Vec<String> {
    let p = &run.provenance;
    let mut points = vec![
        "Every figure was taken after the same operations were checked: the structure's expiries \
         had to equal the oracle's, otherwise the field says WRONG."
            .to_owned(),
        "Quote ratios, not nanoseconds. All structures ran in turn within each repetition, so that \
         what slows the machine down slows them all; the absolute times belong to this machine and \
         this hour."
            .to_owned(),
        "The floor plays the same operations on bare arrays, told beforehand which timers fire: \
         the memory traffic that no timer facility can avoid. What is near it has little left to \
         gain."
            .to_owned(),
        "The median is shown because a disturbed repetition is only ever slower. Whiskers and the \
         spread beneath the table show how far repetitions lie apart; a difference smaller than \
         that is none. Repetitions in which the thread waited for the processor are left out."
            .to_owned(),
    ];
    points.extend(spread(run));
    points.push(format!(
        "Times of single operations include the overhead of the clock, {} here: below a few times \
         that, they measure the clock.",
        units::time(p.clock_overhead_ns)
    ));
    if p.pinned_to.is_none() {
        points.push(
            "The measuring thread was not pinned to a processor: it may have moved between them."
                .to_owned(),
        );
    }
    points.push(
        "Synthetic workloads are nobody's program. Replay a trace of your own before you choose."
            .to_owned(),
    );
    points.push(format!(
        "To repeat it: check out commit {}, run the command named below, and compare the two runs.",
        p.commit
    ));
    points
}

/// How many repetitions there are, and how far they lie apart over all rows.
fn spread(run: &Run) -> Option<String> {
    let counts: Vec<f64> = run.throughput.iter().map(|r| r.ns_per_op.len() as f64).collect();
    let (fewest, most) = stats::range(&counts)?;
    let spreads: Vec<f64> =
        run.throughput.iter().filter_map(|r| stats::relative_deviation(&r.ns_per_op)).collect();
    let typical = stats::median(&spreads)? * 100.0;
    let noisy = spreads.iter().filter(|s| **s > 0.1).count();
    let repetitions =
        if fewest == most { format!("{fewest}") } else { format!("{fewest} to {most}") };
    Some(format!(
        "This run: {} rows of {repetitions} repetitions, median absolute deviation typically \
         {typical:.1} % of the median, above 10 % in {noisy} rows.",
        run.throughput.len()
    ))
}
