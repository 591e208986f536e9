//! What each subcommand does.

mod claims;
mod instructions;
mod service;
mod summary;

use self::summary::Summary;
use crate::cli::{Cli, Command, Results, What};
use crate::report::instructions::{Play, play};
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_core::backend::{Info, Precision};
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::cold;
use wheelhouse_harness::compare;
use wheelhouse_harness::contender;
use wheelhouse_harness::model::Run;
use wheelhouse_harness::source::Source;
use wheelhouse_harness::{report, store, verify};
use wheelhouse_machine::interrupt::{self, INTERRUPTED};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::table::{Cell, Column, Format, Table};

/// The timed rounds of a whole run, and of a quick one.
const WHOLE: Duration = Duration::from_secs(200);
const QUICK: Duration = Duration::from_secs(20);

/// The folder that results go to, seen from where the command is run.
const RESULTS: &str = "results";

pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::List { output } => list(output.format),
        Command::Verify { n, what, output } => verify_all(n, &what, output.format),
        Command::Bench { n, quick, what, results, output } => {
            cold::forget_freed_memory();
            let sizes = if n.is_empty() { bench::usual_sizes(quick) } else { n };
            let time = if quick { QUICK } else { WHOLE };
            measure(bench_settings(sizes, time, &what)?, &results, output.format)
        }
        Command::Replay { file, backend, results, output } => {
            // First, as it may begin the command anew, and a trace that comes through a pipe can be
            // read once only.
            cold::forget_freed_memory();
            measure(replay_settings(&file, &backend)?, &results, output.format)
        }
        Command::Compare { run_a, run_b, output } => compare_runs(&run_a, &run_b, output.format),
        Command::Claims { id, quick, format, instructions, out } => {
            claims::run(&id, quick, format, instructions, out.as_deref())
        }
        Command::Service { options } => service::run(&options),
        Command::Play { backend, pair, n, seed } => {
            play(&Play { backend, pair, n, seed })?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Instructions(options) => instructions::run(options),
        Command::PlayStream(play) => {
            play.play()?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Report { run, splice, check } => report_on(&run, splice.as_deref(), check),
        Command::Index { folder } => index(&folder),
    }
}

fn bench_settings(sizes: Vec<u32>, time: Duration, what: &What) -> Result<Settings> {
    let all = what.workload.is_empty();
    let sources = if all { bench::usual_sources() } else { Source::select(&what.workload)? };
    let contenders = contender::select(&what.backend)?;
    Ok(Settings { sizes, contenders, sources, seed: what.seed, time, details: true })
}

fn replay_settings(file: &Path, backend: &[String]) -> Result<Settings> {
    let sources = vec![Source::of_file(file)?];
    let contenders = contender::select(backend)?;
    // A trace has one size, and nothing in it is random.
    let (sizes, seed) = (Vec::new(), 0);
    Ok(Settings { sizes, contenders, sources, seed, time: QUICK, details: true })
}

fn compare_runs(run_a: &Path, run_b: &Path, format: Format) -> Result<ExitCode> {
    let (a, b) = (store::load(run_a)?, store::load(run_b)?);
    let comparison = compare::compare(&a, &b);
    comparison.warnings.iter().for_each(|warning| say(format_args!("warning: {warning}")));
    ensure!(
        !comparison.rows.is_empty(),
        "the runs have no row in common: A has {}; B has {}",
        compare::contents(&a),
        compare::contents(&b)
    );
    print(comparison.table().render(format)?)?;
    Ok(ExitCode::SUCCESS)
}

fn index(folder: &Path) -> Result<ExitCode> {
    let index = report::index::render(folder)?;
    print(index.text)?;
    index.broken.iter().for_each(|error| say(format_args!("error: {error:#}")));
    Ok(u8::from(!index.broken.is_empty()).into())
}

/// Timers in the structures whose bytes `list` tells.
const LISTED: u32 = 100_000;

fn list(format: Format) -> Result<ExitCode> {
    // Where it comes from is left out on a terminal: with it the table would be wider than most.
    let for_programs = format != Format::Table;
    let names = ["backend", "structure", "source", "insert", "cancel", "reschedule", "fire"];
    let names = names.into_iter().filter(|name| for_programs || *name != "source");
    let mut columns: Vec<_> = names.map(Column::left).collect();
    columns.push(Column::right("bytes/timer").keyed("bytes-per-timer"));
    let mut table = Table::new("Backends", columns);
    table.notes.push(format!(
        "n live timers, m levels, M slots, k in a slot; amortised. \
         Bytes with a payload of eight, measured at n = {LISTED}."
    ));
    let limit = "Where an operation passes all timers, n is as large as is worth waiting for.";
    table.notes.push(limit.to_owned());
    for contender in contender::all().into_iter().chain(contender::approximate()) {
        let Some(info) = contender.info() else { continue };
        let Some(memory) = contender.memory(LISTED.min(info.most), 1) else { continue };
        let source = for_programs.then_some(info.source);
        let costs = [info.costs.insert, info.costs.cancel, info.costs.reschedule, info.costs.fire];
        let mut row = vec![Cell::text(info.name), Cell::text(info.structure).wrapped(20)];
        row.extend(source.map(Cell::text));
        row.extend(costs.map(|cost| Cell::text(cost).wrapped(15)));
        row.push(Cell::figure(memory.live, format!("{:.1}", memory.live)));
        table.rows.push(row);
        table.notes.extend(lateness_note(info));
    }
    print(table.render(format)?)?;
    Ok(ExitCode::SUCCESS)
}

/// What is to be said of a structure that is late by design.
fn lateness_note(info: Info) -> Option<String> {
    let Precision::Late(bound) = info.precision else { return None };
    let (name, thousand, million) = (info.name, bound(1_000), bound(1_000_000));
    Some(format!(
        "{name} is late by design, after 1000 ticks by up to {thousand}, \
         after 1000000 by up to {million}: in no comparison."
    ))
}

fn verify_all(n: u32, what: &What, format: Format) -> Result<ExitCode> {
    let all = what.workload.is_empty();
    let sources = if all { Source::all() } else { Source::select(&what.workload)? };
    let contenders = contender::select(&what.backend)?;
    interrupt::watch();
    let verified = verify::verify(&sources, &contenders, n, what.seed)?;
    print(verified.table.render(format)?)?;
    if interrupt::requested() {
        say("interrupted: what is not listed was not verified");
        return Ok(INTERRUPTED.into());
    }
    Ok(exit_code(verified.failures.len()))
}

fn exit_code(failures: usize) -> ExitCode {
    complain(failures);
    u8::from(failures > 0).into()
}

fn complain(failures: usize) {
    if failures > 0 {
        say(format_args!("error: {failures} wrong: see the rows marked WRONG"));
    }
}

/// Measures, keeps and prints. To be called after [`cold::forget_freed_memory`].
fn measure(settings: Settings, results: &Results, format: Format) -> Result<ExitCode> {
    let dir = bench::folder(&settings, results.out.as_deref(), Path::new(RESULTS))?;
    let run = bench::run(&settings, &dir)?;
    for failure in &run.failures {
        say(format_args!("WRONG: {failure}"));
    }
    // All that is to be kept is kept before anything is printed that may fail.
    let page = report::write(&run, &dir)?;
    let glance = wheelhouse_harness::summary::at_a_glance(&run, None);
    let printed = glance.render(format).and_then(print);
    tell(&run, &dir, &page);
    printed?;
    complain(run.failures.len());
    Ok(run.exit_code().into())
}

/// Says where everything is, and what is missing.
fn tell(run: &Run, dir: &Path, page: &Path) {
    say(format_args!("results: {}\nreport:  {}", dir.display(), page.display()));
    if run.interrupted {
        say("interrupted: the rows that are there are complete, others are missing");
    }
}

/// Says that a file is out of date.
fn out_of_date(file: &Path) -> ExitCode {
    let shown = file.display();
    say(format_args!("error: {shown} is out of date; run the same command without --check"));
    ExitCode::FAILURE
}

fn report_on(dir: &Path, splice: Option<&Path>, check: bool) -> Result<ExitCode> {
    if let (Some(file), Some(summary)) = (splice, Summary::of(dir)) {
        return summary.splice(dir, file, check);
    }
    let run = store::load(dir)?;
    let parent = || dir.parent().context("a run is a folder, or run.json in one");
    let folder = if dir.is_dir() { dir } else { parent()? };
    if let Some(file) = splice {
        let up_to_date = report::splice_into(&run, folder, file, check)?;
        if check && !up_to_date {
            return Ok(out_of_date(file));
        }
        if check {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let page = report::write(&run, folder)?;
    tell(&run, folder, &page);
    Ok(exit_code(run.failures.len()))
}
