//! `cargo bench`: the whole comparison.
//!
//! 1. Every backend is verified on small streams: a wrong answer ends the run.
//! 2. criterion measures single operations on a population of n live timers (`insert/NAME/N` and so on), with its own
//!    filters, baselines and statistics.
//! 3. The harness plays whole workloads and recorded traces in interleaved rounds, times single operations, measures
//!    memory, writes results and report, and prints the table.
//!
//! `-- --quick` is short, `-- NAME` restricts all of it to the backends whose name contains NAME, `-- --test` runs each
//! bench once to see that it works.

mod operations;
mod options;

use anyhow::{Result, bail};
use options::Options;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::cold;
use wheelhouse_harness::contender;
use wheelhouse_harness::source::Source;
use wheelhouse_harness::table::Format;
use wheelhouse_harness::{report, summary, verify};

fn main() -> ExitCode {
    cold::forget_freed_memory();
    match run(&Options::parse(std::env::args().skip(1))) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    let start = Instant::now();
    if !options.only_lists {
        verify_first()?;
        println!("1. verified: every backend gives the oracle's answers");
        println!("2. single operations on n live timers, by criterion (about a minute)");
    }
    operations::run(options);
    if let Some(filter) = options.filter.as_deref().filter(|filter| !operations::is_known(filter)) {
        bail!("nothing is called '{filter}'; there are: {}", operations::names().join(", "));
    }
    if options.only_criterion {
        return Ok(ExitCode::SUCCESS);
    }
    println!("3. whole workloads and recorded traces, in interleaved rounds (see benches/METHODOLOGY.md)");
    let code = compare(options)?;
    println!("done in {} s", start.elapsed().as_secs());
    Ok(code)
}

/// No figure without a right answer.
fn verify_first() -> Result<()> {
    let sources = bench::usual_sources().into_iter().filter(Source::is_scalable).collect::<Vec<_>>();
    let verified = verify::verify(&sources, &contender::all(), 2_000, 1)?;
    if let Some(failure) = verified.failures.first() {
        bail!("{} gives wrong answers on {}: {}", failure.backend, failure.workload, failure.message);
    }
    Ok(())
}

fn compare(options: &Options) -> Result<ExitCode> {
    let all = contender::all().into_iter();
    let contenders: Vec<_> =
        all.filter(|it| options.filter.as_ref().is_none_or(|part| it.name().contains(part))).collect();
    if contenders.is_empty() {
        println!("   left out: it is for whole backends, and '{}' names none", options.filter.as_deref().unwrap_or(""));
        return Ok(ExitCode::SUCCESS);
    }
    let (sizes, seconds) = match (options.test, options.quick) {
        (true, _) => (vec![100], 0),
        (_, quick) => (bench::usual_sizes(quick), if quick { 12 } else { 190 }),
    };
    let sources = bench::usual_sources().into_iter().filter(|source| source.is_scalable() || !options.test).collect();
    let settings = Settings { sizes, contenders, sources, seed: 1, time: Duration::from_secs(seconds), details: true };
    let scratch = std::env::temp_dir().join(format!("wheelhouse-bench-test-{}", std::process::id()));
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("results");
    let dir = bench::folder(options.test.then_some(scratch.as_path()), &results, settings.seed)?;
    let run = bench::run(&settings, &dir)?;
    let page = report::write(&run, &dir)?;
    println!("\n{}", summary::at_a_glance(&run, None).render(Format::Table)?);
    for failure in &run.failures {
        println!("WRONG: {} on {} at n = {}: {}", failure.backend, failure.workload, failure.n, failure.message);
    }
    if options.test {
        std::fs::remove_dir_all(&scratch)?;
    } else {
        println!("report: {}", page.display());
    }
    Ok(if run.failures.is_empty() && !run.interrupted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
