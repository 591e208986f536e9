//! `wheelhouse instructions`.

use crate::cli::Instructions;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::cold;
use wheelhouse_harness::instructions::check::{self, Finding, TOLERANCE};
use wheelhouse_harness::instructions::count::count_instructions;
use wheelhouse_harness::instructions::plan::{CHECKED, Filter, Plan};
use wheelhouse_harness::instructions::play::Play;
use wheelhouse_harness::instructions::record::{PAGE, Record};
use wheelhouse_harness::instructions::{InstructionCount, table};
use wheelhouse_machine::{callgrind, provenance};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::table::{Format, Table};
use wheelhouse_present::units;

/// What to say where there is no valgrind.
const REMEDY: &str = "cannot run valgrind, which counts the instructions; install it \
                      (on Debian and Ubuntu: apt-get install valgrind), so that it is in the PATH";

pub(super) fn run(options: Instructions) -> Result<ExitCode> {
    // Arrays then grow as they do while they are timed, since what runs under valgrind inherits it.
    // First, because it may restart the command.
    cold::return_freed_memory();
    let Instructions { backend, n, workload, seed, out, check, output } = options;
    let backend = match check {
        Some(_) if backend.is_empty() => CHECKED.map(str::to_owned).to_vec(),
        _ => backend,
    };
    let filter = Filter { backend, n, workload };
    let plan = Plan::new(&filter, seed)?;
    // Before minutes of counting, what cannot end well is refused.
    let record = check.as_deref().map(Record::load).transpose()?;
    let valgrind = callgrind::version().context(REMEDY)?;
    warn(&plan);
    let provenance = provenance::gather(seed);
    let rows = count_instructions(&plan)?;
    let counted = Record::new(provenance, valgrind, rows);
    print(shown(&counted.rows, record.as_ref().map(|it| it.rows.as_slice()), output.format)?)?;
    if let Some(dir) = out {
        counted.save(&dir)?;
        say(format_args!("record: {}", dir.join(PAGE).display()));
    }
    match (record, check) {
        (Some(record), Some(path)) => Ok(judge(&record, &counted, &filter, &path)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// What runs under callgrind.
pub(super) fn play(backend: String, workload: String, n: u32, seed: u64) -> Result<ExitCode> {
    print(Play { backend, workload, n, seed }.play()?)?;
    Ok(ExitCode::SUCCESS)
}

/// Says what makes the counts other than they should be.
fn warn(plan: &Plan) {
    for name in &plan.left_out {
        say(format_args!("{name} is not in the registry: left out"));
    }
    if cfg!(debug_assertions) {
        say("warning: this is a debug build, whose counts say little; use cargo run --release");
    }
}

fn shown(
    rows: &[InstructionCount],
    recorded: Option<&[InstructionCount]>,
    format: Format,
) -> Result<String> {
    if format == Format::Table {
        let tables: Vec<_> = table::tables(rows, recorded).iter().map(Table::terminal).collect();
        return Ok(tables.join("\n"));
    }
    table::one_table(rows).render(format)
}

/// Holds the counts against the record, as far as the filter goes, and says what differs.
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
    let anew = format!("`wheelhouse instructions --out {}`", folder(path).display());
    if !gains.is_empty() {
        say(format_args!("less than recorded: keep the gain, and record it anew with {anew}"));
    }
    let tolerated = TOLERANCE * 100.0;
    if failures.is_empty() {
        let rows = units::count(counted.rows.len() as u64);
        say(format_args!("{rows} operations: none takes over {tolerated} % more than recorded"));
        return ExitCode::SUCCESS;
    }
    let more = failures.iter().filter(|it| matches!(it, Finding::Regressed { .. })).count();
    say(format_args!(
        "error: {more} take over {tolerated} % more than recorded, {} are missing; \
         mend the change, or record it anew with {anew} and say why in the commit",
        failures.len() - more
    ));
    ExitCode::FAILURE
}

/// The folder of a record that was named by its folder or its file.
fn folder(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(path) }
}
