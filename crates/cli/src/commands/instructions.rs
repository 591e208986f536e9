//! `wheelhouse instructions`.

use super::{Output, folder_of};
use anyhow::{Context, Result};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wheelhouse_harness::instructions::check::{self, TOLERANCE};
use wheelhouse_harness::instructions::count::count_instructions;
use wheelhouse_harness::instructions::plan::{CHECKED, Filter, Plan};
use wheelhouse_harness::instructions::record::{PAGE, Record};
use wheelhouse_harness::instructions::table;
use wheelhouse_machine::{callgrind, provenance};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::files::create_writable;
use wheelhouse_present::units;

/// The message if valgrind is not installed.
const REMEDY: &str = "cannot run valgrind, which counts the instructions; install it \
                      (on Debian and Ubuntu: apt-get install valgrind) or add it to the PATH";

#[derive(Debug, Args)]
pub(crate) struct Instructions {
    #[command(flatten)]
    filter: Filter,
    /// Seed of the workloads.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Record the counts in this folder, and replace a record that is there.
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    out: Option<PathBuf>,
    /// Compare the counts with this record, a folder or its file; fail if an operation takes over 5
    /// % more, or is missing on either side.
    #[arg(long, value_name = "RECORD")]
    check: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(options: Instructions) -> Result<ExitCode> {
    let Instructions { mut filter, seed, out, check, output } = options;
    if check.is_some() && filter.backend.is_empty() {
        filter.backend = CHECKED.map(str::to_owned).to_vec();
    }
    let plan = Plan::new(&filter, seed)?;
    // These errors are found before minutes of counting.
    let record = check.as_deref().map(Record::load).transpose()?;
    out.as_deref().map(create_writable).transpose()?;
    let valgrind = callgrind::version().context(REMEDY)?;
    if cfg!(debug_assertions) {
        say("warning: counts of a debug build are not comparable; use cargo run --release");
    }
    let provenance = provenance::gather(seed);
    let rows = count_instructions(&plan)?;
    let counted = Record::new(provenance, valgrind, rows);
    let recorded = record.as_ref().map(|it| it.rows.as_slice());
    print(table::render(&counted.rows, recorded, output.format))?;
    if let Some(dir) = out {
        counted.save(&dir)?;
        say(format_args!("record: {}", dir.join(PAGE).display()));
    }
    match (record, check) {
        (Some(record), Some(path)) => Ok(judge(&record, &counted, &filter, &path)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Compares the counts with the rows of the record that the filter covers, and prints the
/// differences.
fn judge(record: &Record, counted: &Record, filter: &Filter, path: &Path) -> ExitCode {
    let build_differences = check::build_differences(&record.provenance, &counted.provenance);
    build_differences.iter().for_each(|difference| say(format_args!("note: {difference}")));
    let covered = record.rows.iter().filter(|row| filter.covers(row)).cloned();
    let findings = check::findings(&covered.collect::<Vec<_>>(), &counted.rows);
    for finding in &findings {
        let word = if finding.is_failure() { "error" } else { "less" };
        say(format_args!("{word}: {finding}"));
    }
    let (failures, gains): (Vec<_>, Vec<_>) = findings.iter().partition(|it| it.is_failure());
    let record_command = format!("`wheelhouse instructions --out {}`", folder_of(path).display());
    if !gains.is_empty() {
        say(format_args!(
            "counts are below the record: to keep the gain, record it with {record_command}"
        ));
    }
    let tolerated = TOLERANCE * 100.0;
    if failures.is_empty() {
        let rows = units::count(counted.rows.len() as u64);
        say(format_args!("{rows} operations: none takes over {tolerated} % more than recorded"));
        return ExitCode::SUCCESS;
    }
    let more = failures.iter().filter(|it| !it.is_missing()).count();
    say(format_args!(
        "error: {more} take over {tolerated} % more than recorded, {} are missing; \
         fix the change, or record it with {record_command} and say why in the commit",
        failures.len() - more
    ));
    ExitCode::FAILURE
}
