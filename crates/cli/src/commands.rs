//! The command line and the subcommands.

#[cfg(feature = "claims")]
mod claims;
#[cfg(feature = "durable")]
mod durable;
mod instructions;
#[cfg(feature = "claims")]
mod play;
mod report;

use anyhow::{Result, ensure};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wheelhouse_harness::capacity::parse_timers;
use wheelhouse_harness::instructions::count::Play;
use wheelhouse_harness::options::{self, Options};
use wheelhouse_harness::payload::PayloadOption;
use wheelhouse_harness::report::index;
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::{compare, list, store, structure, verify};
use wheelhouse_machine::allocator;
use wheelhouse_machine::interrupt::{self, INTERRUPTED};
use wheelhouse_present::console::{print, say};
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
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
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
    Instructions(instructions::Instructions),
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
struct Output {
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Args)]
struct What {
    /// Seed of the workloads.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these workloads; traces are called trace:NAME.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    workload: Vec<String>,
    /// Only these backends; `floor` is the memory traffic without a structure.
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    backend: Vec<String>,
}

/// The folder for results, relative to the working directory.
const RESULTS: &str = "results";

pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::List { output } => list_backends(output.format),
        Command::Verify { n, what, output } => verify_answers(n, &what, output.format),
        Command::Bench { options, values } => bench(&options, values.payload),
        Command::Compare { run_a, run_b, output } => compare_runs(&run_a, &run_b, output.format),
        #[cfg(feature = "claims")]
        Command::Claims(options) => claims::run(&options),
        #[cfg(feature = "claims")]
        Command::PrintedCode(options) => claims::compare_printed(&options),
        #[cfg(feature = "service")]
        Command::Service { options } => options.play(Path::new(RESULTS), false),
        #[cfg(feature = "durable")]
        Command::Durable(asked) => durable::run(&asked),
        #[cfg(feature = "claims")]
        Command::Play(play) => play::run(&play),
        #[cfg(feature = "claims")]
        Command::PlayOperations { structure } => {
            wheelhouse_claims::front::cache::play(&structure)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Instructions(options) => instructions::run(options),
        Command::PlayStream(play) => {
            // So its arrays grow as they do in a timed run.
            allocator::map_large_blocks();
            print(play.play()?)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Report { run, with, splice, check } => {
            report::run(&run, with.as_deref(), splice.as_deref(), check)
        }
        Command::Index { folder } => list_runs(&folder),
    }
}

fn list_backends(format: Format) -> Result<ExitCode> {
    // The column of sources is left out on a terminal, since the table would be too wide.
    print(list::backends(format != Format::Table).render(format))?;
    Ok(ExitCode::SUCCESS)
}

fn verify_answers(n: u32, what: &What, format: Format) -> Result<ExitCode> {
    let all = what.workload.is_empty();
    let sources = if all { StreamSource::all() } else { StreamSource::select(&what.workload)? };
    let structures = structure::select(&what.backend)?;
    interrupt::watch();
    let verified = verify::verify(&sources, &structures, n, what.seed)?;
    print(verified.table.render(format))?;
    if interrupt::requested() {
        say("interrupted: only the rows shown were verified");
        return Ok(INTERRUPTED.into());
    }
    Ok(after_wrong_answers(verified.failures.len()))
}

fn bench(asked: &Options, payload: u16) -> Result<ExitCode> {
    allocator::map_large_blocks();
    let settings = options::settings(asked, options::workspace_roster(payload), false)?;
    options::compare(asked, &settings, Path::new(RESULTS), false)
}

fn compare_runs(run_a: &Path, run_b: &Path, format: Format) -> Result<ExitCode> {
    let (a, b) = (store::load(run_a)?, store::load(run_b)?);
    let comparison = compare::compare(&a, &b);
    comparison.warnings.iter().for_each(|warning| say(format_args!("warning: {warning}")));
    ensure!(
        !comparison.rows.is_empty(),
        "the runs have no row in common: A has {}; B has {}",
        compare::describe_rows(&a),
        compare::describe_rows(&b)
    );
    print(comparison.table().render(format))?;
    Ok(ExitCode::SUCCESS)
}

fn list_runs(folder: &Path) -> Result<ExitCode> {
    let (text, broken) = index::render(folder)?;
    print(text)?;
    broken.iter().for_each(|error| say(format_args!("error: {error:#}")));
    Ok(u8::from(!broken.is_empty()).into())
}

/// The folder of a run or a record, from its path or that of its file.
fn folder_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    if path.is_dir() { path } else { parent.unwrap_or(Path::new(".")) }
}

/// Prints the number of wrong answers, if any, and returns the exit code.
fn after_wrong_answers(failures: usize) -> ExitCode {
    if failures > 0 {
        say(format_args!("error: {failures} wrong answers: see the rows marked WRONG"));
    }
    u8::from(failures > 0).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// All examples of a command and its subcommands, without the shell's part.
    fn examples(command: &clap::Command) -> Vec<String> {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
        let own = lines.filter(|line| line.starts_with("wheelhouse "));
        let own = own.filter_map(|line| line.split(['|', '>']).next()).map(str::to_owned);
        own.chain(command.get_subcommands().flat_map(examples)).collect()
    }

    #[test]
    fn every_example_is_understood() {
        let examples = examples(&Cli::command());
        assert!(examples.len() > 10, "{examples:?}");
        for example in examples {
            // Text between quotation marks is one word.
            let words = example.split('"').enumerate().flat_map(|(at, part)| {
                if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
            });
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{example}: {error}");
            }
        }
    }

    /// The text of an option lists values, as in `--in`: 90m, 1h 30m, 2d.
    #[cfg(feature = "durable")]
    #[test]
    fn every_delay_in_the_help_is_understood() {
        let mut all = Cli::command();
        let durable = all.find_subcommand_mut("durable").unwrap();
        let moves = durable.find_subcommand_mut("move").unwrap();
        let delay = moves.get_arguments().find(|option| option.get_long() == Some("in")).unwrap();
        let help = delay.get_help().unwrap().to_string();
        for value in help.split_once(": ").unwrap().1.split(", ") {
            let line = ["wheelhouse", "durable", "move", "a.timers", "--in", value, "order-17"];
            assert!(Cli::try_parse_from(line).is_ok(), "{value}");
        }
    }
}
