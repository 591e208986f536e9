//! Is the chunked, lazily cancelling wheel of `wheelhouse-hierarchical-wheel` ahead of the one in the textbooks, and from
//! which number of timers on?
//!
//! Plays the usual workloads and recorded traces on both, checks every answer against the oracle, times them in
//! interleaved rounds beside the floor (the memory traffic that no timer facility can avoid), writes the results into a
//! folder and prints a table for each number of timers. Takes some minutes.
//!
//! ```text
//! cargo run --release -p wheelhouse-benches --example textbook -- FOLDER [NUMBER_OF_TIMERS]
//! ```
//!
//! FOLDER must be new or empty. Without a number of timers, it is 100,000 and 1,000,000. Ends with an error if an
//! answer was wrong or the run was interrupted.

mod wheel;

use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::contender::{contender, select};
use wheelhouse_harness::model::Run;
use wheelhouse_harness::summary;
use wheelhouse_harness::table::Format;

const USAGE: &str = "usage: textbook FOLDER [NUMBER_OF_TIMERS]";
const SIZES: [u32; 2] = [100_000, 1_000_000];
const TIME: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let (out, sizes) = arguments()?;
    let mut contenders = select(&["hierarchical-wheel".to_owned(), "floor".to_owned()])?;
    contenders.push(contender::<wheel::Definition>());
    let settings = Settings { sizes, contenders, sources: bench::usual_sources(), seed: 1, time: TIME, details: true };
    let dir = bench::folder(Some(&out), Path::new("results"), settings.seed)?;
    let run = bench::run(&settings, &dir)?;
    for &n in &settings.sizes {
        println!("{}", summary::at_a_glance(&run, Some(u64::from(n))).render(Format::default())?);
    }
    eprintln!("results: {}", dir.display());
    judge(&run)
}

/// The folder for the results and the numbers of timers.
fn arguments() -> Result<(PathBuf, Vec<u32>)> {
    let mut arguments = std::env::args_os().skip(1);
    let out = arguments.next().context(USAGE)?;
    let Some(n) = arguments.next() else { return Ok((out.into(), SIZES.to_vec())) };
    ensure!(arguments.next().is_none(), USAGE);
    let n = n.to_str().and_then(|n| n.replace('_', "").parse().ok()).filter(|n| *n > 0);
    Ok((out.into(), vec![n.with_context(|| format!("the number of timers is one as in 1_000_000; {USAGE}"))?]))
}

/// Figures count only if every answer was the oracle's.
fn judge(run: &Run) -> Result<()> {
    for failure in &run.failures {
        eprintln!("WRONG: {} on {} at n = {}: {}", failure.backend, failure.workload, failure.n, failure.message);
    }
    ensure!(run.failures.is_empty(), "{} wrong: see the rows marked WRONG", run.failures.len());
    if run.interrupted {
        bail!("interrupted: the rows above are complete, others are missing");
    }
    Ok(())
}
