//! The command line.

#[cfg(feature = "claims")]
pub(crate) mod claims;
#[cfg(feature = "durable")]
pub(crate) mod durable;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use wheelhouse_harness::capacity::parse_timers;
use wheelhouse_harness::instructions::plan::Filter;
use wheelhouse_harness::instructions::play::Play;
use wheelhouse_harness::options::Options;
use wheelhouse_harness::payload::PayloadOption;
use wheelhouse_present::table::Format;

/// Verifies, measures and compares timer structures.
#[derive(Debug, Parser)]
#[command(name = "wheelhouse", version, arg_required_else_help = true)]
#[cfg_attr(
    not(all(feature = "claims", feature = "service", feature = "durable")),
    command(after_help = "This build lacks a command of the features `claims`, `service` and \
                          `durable` of wheelhouse-cli: install it with default features")
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists the backends: structure, costs, bytes per timer.
    #[command(after_help = "Example:\n  wheelhouse list --format json")]
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Plays every workload and trace on every backend and compares all answers with the oracle's.
    #[command(after_help = "Examples:\n  wheelhouse verify\n  \
            wheelhouse verify --n 1000000 --workload uniform --backend hierarchical-wheel")]
    Verify {
        /// Number of timers (traces have a fixed size).
        #[arg(long, default_value = "10000", value_parser = parse_timers)]
        n: u32,
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        output: Output,
    },
    /// Measures time per operation, latency of single operations, and memory; writes the results to
    /// a new folder. `cargo bench` does the same.
    #[command(after_help = "Examples:\n  wheelhouse bench --quick\n  \
            wheelhouse bench --n 200000 --mix start:45,stop:40,move:10,fire:5\n  \
            wheelhouse bench --n 1e6,1e7 --backend hierarchical-wheel,binary-heap \
            --workload uniform\n  \
            wheelhouse bench --trace recorded.trace")]
    Bench {
        #[command(flatten)]
        options: Box<Options>,
        #[command(flatten)]
        values: PayloadOption,
    },
    /// Compares two runs: the ratio B / A of each row with its interval, and a verdict.
    #[command(after_help = "Example:\n  wheelhouse compare results/before results/after")]
    Compare {
        /// The folder of a run.
        run_a: PathBuf,
        /// The folder of another run.
        run_b: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Writes the report of a run into its folder: HTML, Markdown, plots as SVG.
    #[command(after_help = "Examples:\n  wheelhouse report results/2026-11-21-xeon-2c-0123456\n  \
            wheelhouse report results/after --with results/before\n  \
            wheelhouse report results/2026-11-21-xeon-2c-0123456 --splice README.md")]
    Report {
        /// The folder of a run.
        run: PathBuf,
        /// The folder of another run, shown on the page as dashed lines and a column of ratios.
        #[arg(long, value_name = "RUN", conflicts_with = "splice")]
        with: Option<PathBuf>,
        /// Renew the generated table and plot in this Markdown file, between its markers.
        #[arg(long, value_name = "FILE")]
        splice: Option<PathBuf>,
        /// With --splice: change nothing, and fail if the file is out of date.
        #[arg(long, requires = "splice")]
        check: bool,
    },
    /// Decides again which claims of five articles on timers hold; fails if an outcome, figure or
    /// sentence differs from the record, or a statement is missing.
    #[command(after_help = "Examples:\n  wheelhouse claims\n  \
            wheelhouse claims --question \"heap insert\"\n  wheelhouse claims --id C28\n  \
            wheelhouse claims --out results/claims")]
    #[cfg(feature = "claims")]
    Claims(claims::ClaimsOptions),
    /// Compares the output of the articles' code with the models. `scripts/run-the-printed-code`
    /// calls this at its end.
    #[cfg(feature = "claims")]
    #[command(hide = true)]
    PrintedCode(claims::PrintedCode),
    /// Compares the timer service under load with tokio's time driver and others: pairs of schedule
    /// and cancel, refreshes, fires at a fixed rate, periodic jobs, sessions, a burst, an idle
    /// service.
    #[command(after_help = format!(
        "{}\n\nExamples:\n  wheelhouse service --quick\n  \
         wheelhouse service --experiment pairs,fires --backend wheelhouse,tokio-sleep\n  \
         wheelhouse service --experiment fires --rate 200000 --seconds 10 \
         --out results/service",
        wheelhouse_service_load::options::known()
    ))]
    #[cfg(feature = "service")]
    Service {
        #[command(flatten)]
        options: wheelhouse_service_load::options::Options,
    },
    /// Inspects, checks and changes a store of durable timers (a SQLite file, Redis, PostgreSQL):
    /// pending and overdue jobs, dead letters, pauses, copies of files.
    #[cfg(feature = "durable")]
    #[command(subcommand)]
    Durable(durable::Durable),
    /// Plays a pair of operations on a structure. `claims --instructions` runs this under
    /// callgrind.
    #[cfg(feature = "claims")]
    #[command(hide = true)]
    Play(wheelhouse_claims::instructions::Play),
    /// Plays all operations of the claims' table on a structure. `claims --instructions --record`
    /// runs this under callgrind.
    #[cfg(feature = "claims")]
    #[command(hide = true)]
    PlayOperations {
        /// Name of the structure.
        structure: String,
    },
    /// Counts the instructions of each operation with valgrind's callgrind. Unlike times, counts
    /// have no noise. Takes about a minute on two processors.
    #[command(after_help = "Examples:\n  wheelhouse instructions --n 10000 --workload uniform\n  \
            wheelhouse instructions --out results/instructions\n  \
            wheelhouse instructions --check results/instructions")]
    Instructions(Instructions),
    /// Plays a stream on a structure. `instructions` runs this under callgrind.
    #[command(hide = true)]
    PlayStream(Play),
    /// Prints the list of all runs in a folder, as Markdown.
    #[command(after_help = "Example:\n  wheelhouse index results > results/README.md")]
    Index {
        /// The folder that holds the folders of runs.
        folder: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Output {
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Instructions {
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// Seed of the workloads.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Record the counts in this folder, and replace a record that is there.
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub(crate) out: Option<PathBuf>,
    /// Compare the counts with this record, a folder or its file; fail if an operation takes over 5
    /// % more, or is missing on either side.
    #[arg(long, value_name = "RECORD")]
    pub(crate) check: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct What {
    /// Seed of the workloads.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Only these workloads; traces are called trace:NAME.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) workload: Vec<String>,
    /// Only these backends; `floor` is the memory traffic without a structure.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) backend: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
