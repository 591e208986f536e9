//! The subcommands.

#[cfg(feature = "claims")]
mod claims;
#[cfg(feature = "durable")]
mod durable;
mod instructions;
#[cfg(feature = "claims")]
mod play;
mod report;

use crate::cli::{Cli, Command, What};
use anyhow::{Result, ensure};
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::options::{self, Options};
use wheelhouse_harness::report::index;
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::{cold, compare, list, store, structure, verify};
use wheelhouse_machine::interrupt::{self, INTERRUPTED};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::table::Format;

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
    // First, because it may restart the command, and a trace from a pipe can be read only once.
    cold::return_freed_memory();
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
