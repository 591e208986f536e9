//! The command line.

pub(crate) mod durable;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use wheelhouse_claims::instructions::Pair;
use wheelhouse_harness::capacity::parse_timers;
use wheelhouse_harness::options::Options;
use wheelhouse_present::table::Format;

/// Verifies, measures and compares timer facilities.
#[derive(Debug, Parser)]
#[command(name = "wheelhouse", version, arg_required_else_help = true)]
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
        /// Number of timers (traces are as large as they are).
        #[arg(long, default_value = "10000", value_parser = parse_timers)]
        n: u32,
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        output: Output,
    },
    /// Measures time per operation, latency of single operations, and memory; writes the results to
    /// a new folder. What `cargo bench` does, too.
    #[command(after_help = "Examples:\n  wheelhouse bench --quick\n  \
            wheelhouse bench --n 200000 --mix start:45,stop:40,move:10,fire:5\n  \
            wheelhouse bench --n 1e6,1e7 --backend hierarchical-wheel,binary-heap \
            --workload uniform\n  \
            wheelhouse bench --trace recorded.trace")]
    Bench(Box<Options>),
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
        /// The folder of another run, for the page: its lines are dashed, its ratios in a column.
        #[arg(long, value_name = "RUN", conflicts_with_all = ["splice", "print"])]
        with: Option<PathBuf>,
        /// Renew the generated table and plot in this Markdown file, between its markers.
        #[arg(long, value_name = "FILE")]
        splice: Option<PathBuf>,
        /// With --splice: change nothing, and fail if the file is out of date.
        #[arg(long, requires = "splice")]
        check: bool,
        /// Print the table and the answer again, and write nothing.
        #[arg(long, conflicts_with = "splice")]
        print: bool,
    },
    /// Says which claims of five articles on timers hold, by counting operations; fails if an
    /// outcome, figure or sentence differs from the record, or a statement is missing.
    #[command(after_help = "Examples:\n  wheelhouse claims\n  \
            wheelhouse claims --question \"heap insert\"\n  wheelhouse claims --id C28\n  \
            wheelhouse claims --id C28 --format html > c28.html\n  \
            wheelhouse claims --out results/claims")]
    Claims(ClaimsOptions),
    /// Compares what the articles' code printed with the models: what
    /// `scripts/run-the-printed-code` ends with.
    #[command(hide = true)]
    PrintedCode(PrintedCode),
    /// Compares the timer service under load with tokio's time driver and others: pairs of schedule
    /// and cancel, refreshes, fires at a rate, periodic jobs, sessions, a burst, nothing to do.
    #[command(after_help = format!(
        "{}\n\nExamples:\n  wheelhouse service --quick\n  \
         wheelhouse service --experiment pairs,fires --backend wheelhouse,tokio-sleep\n  \
         wheelhouse service --experiment fires --rate 200000 --seconds 10 \
         --out results/service",
        wheelhouse_service_load::options::known()
    ))]
    Service {
        #[command(flatten)]
        options: wheelhouse_service_load::options::Options,
    },
    /// Looks into a store of durable timers (a SQLite file, Redis, PostgreSQL): what waits, what is
    /// overdue, dead letters; checks it; retries or forgets dead letters; copies files.
    #[command(subcommand)]
    Durable(durable::Durable),
    /// Plays a pair of operations on a structure: what `claims --instructions` runs under
    /// callgrind.
    #[command(hide = true)]
    Play {
        #[arg(long)]
        backend: String,
        #[arg(long, value_parser = pair())]
        pair: Pair,
        #[arg(long)]
        n: u64,
        #[arg(long)]
        seed: u64,
    },
    /// Counts the instructions of each operation with valgrind's callgrind: free of noise, where
    /// times swing. About a minute on two processors.
    #[command(after_help = "Examples:\n  wheelhouse instructions --n 10000 --workload uniform\n  \
            wheelhouse instructions --out results/instructions\n  \
            wheelhouse instructions --check results/instructions")]
    Instructions(Instructions),
    /// Plays a stream on a structure: what `instructions` runs under callgrind.
    #[command(hide = true)]
    PlayStream {
        /// Name of the backend, or `player`, which is told on standard input how many timers fire.
        #[arg(long)]
        backend: String,
        /// Name of the workload or trace.
        #[arg(long)]
        workload: String,
        /// Timers.
        #[arg(long)]
        n: u32,
        /// Of the workload.
        #[arg(long)]
        seed: u64,
    },
    /// Prints the list of all runs in a folder, as Markdown.
    #[command(after_help = "Example:\n  wheelhouse index results > results/README.md")]
    Index {
        /// The folder that holds the folders of runs.
        folder: PathBuf,
    },
}

/// How to print.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Output {
    /// In which form to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Which claims, how far, and what becomes of it.
#[derive(Debug, Args)]
pub(crate) struct ClaimsOptions {
    /// Only these claims, with everything on each: why, data, plot.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: Vec<String>,
    /// The claims with most of these words, such as "heap insert", or others that mean the same.
    #[arg(long, value_name = "WORDS", conflicts_with = "id")]
    pub(crate) question: Option<String>,
    /// A smaller range of n, and no times: seconds instead of minutes. The outcomes should be the
    /// same.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Other seeds than 1 to 5, such as 6,7,8,9,10.
    #[arg(long, value_delimiter = ',', value_name = "SEEDS")]
    pub(crate) seeds: Vec<u64>,
    /// Decide all claims on the smaller range, and record outcomes and figures in
    /// crates/claims/outcomes.toml; with --instructions also what was counted, in
    /// crates/claims/instructions.json. Read first what has changed.
    #[arg(long, conflicts_with_all = ["id", "question", "quick", "seeds", "out"])]
    pub(crate) record: bool,
    /// In which form to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Form,
    /// Count instructions too, by valgrind's callgrind, and compare them with the record; a few
    /// minutes more. With --quick only whether they grow from 1,024 timers to 2,048.
    #[arg(long, conflicts_with = "question")]
    pub(crate) instructions: bool,
    /// Write the whole report into this folder: page, Markdown, plots, verdicts as JSON.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["id", "question"])]
    pub(crate) out: Option<PathBuf>,
}

/// What was printed, and where to.
#[derive(Debug, Args)]
pub(crate) struct PrintedCode {
    /// A file of lines: a key, a tab, what was printed.
    pub(crate) lines: PathBuf,
    /// The versions of Go and of the JDK.
    #[arg(long)]
    pub(crate) by: String,
    /// The folder of the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// In which form to print claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people, on a terminal.
    #[default]
    Table,
    /// A list of objects, one for each claim.
    Json,
    /// The report as Markdown.
    Markdown,
    /// The report as a page, its plots in it.
    Html,
}

/// Of what the instructions are counted, and what becomes of the counts.
#[derive(Debug, Args)]
pub(crate) struct Instructions {
    /// Only these backends; `player` is what plays the operations, by itself [default: the wheels
    /// to choose from, a heap, and the player; with --check all of these but the round wheel, whose
    /// allocations differ between machines].
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) backend: Vec<String>,
    /// Numbers of timers [default: 10000,100000]; traces are as large as they are.
    #[arg(long, value_delimiter = ',', value_parser = parse_timers)]
    pub(crate) n: Vec<u32>,
    /// Only these workloads; traces are called trace:NAME, and uniform-dense is uniform over about
    /// n ticks [default: those of the comparison's table, uniform-dense and the traces].
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) workload: Vec<String>,
    /// Seed of the workloads.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Record the counts in this folder, instead of a record that is there.
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub(crate) out: Option<PathBuf>,
    /// Hold the counts against this record, a folder or its file, and fail if an operation takes
    /// over 5 % more, or is missing on either side.
    #[arg(long, value_name = "RECORD")]
    pub(crate) check: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Whom and what to look at.
#[derive(Debug, Args)]
pub(crate) struct What {
    /// Seed of the workloads.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Only these workloads; traces are called trace:NAME.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) workload: Vec<String>,
    /// Only these backends; `floor` is the memory traffic alone.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) backend: Vec<String>,
}

/// Reads a pair of operations by its name.
fn pair() -> impl TypedValueParser<Value = Pair> {
    let names = PossibleValuesParser::new(Pair::ALL.map(Pair::name));
    names.try_map(|name| {
        Pair::ALL.into_iter().find(|pair| pair.name() == name).ok_or("no such pair")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn numbers_of_timers_are_bounded() {
        assert_eq!(parse_timers("1_000_000"), Ok(1_000_000));
        for wrong in ["0", "-1", "1.5", "", "4000000000"] {
            assert!(parse_timers(wrong).is_err(), "{wrong}");
        }
    }
}
