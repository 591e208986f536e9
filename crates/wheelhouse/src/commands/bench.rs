//! `wheelhouse bench`, and what it shares with `wheelhouse replay`.

use super::ending::{complain, tell};
use crate::cli::{Results, What};
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::source::Source;
use wheelhouse_harness::{cold, contender, report, summary};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::table::Format;

/// The timed rounds of a whole run, and of a quick one.
const WHOLE: Duration = Duration::from_secs(200);
pub(super) const QUICK: Duration = Duration::from_secs(20);

/// The folder that results go to, seen from where the command is run.
const RESULTS: &str = "results";

pub(super) fn run(
    n: Vec<u32>,
    quick: bool,
    what: &What,
    results: &Results,
    format: Format,
) -> Result<ExitCode> {
    cold::forget_freed_memory();
    let sizes = if n.is_empty() { bench::usual_sizes(quick) } else { n };
    let time = if quick { QUICK } else { WHOLE };
    measure(settings(sizes, time, what)?, results, format)
}

fn settings(sizes: Vec<u32>, time: Duration, what: &What) -> Result<Settings> {
    let all = what.workload.is_empty();
    let sources = if all { bench::usual_sources() } else { Source::select(&what.workload)? };
    let contenders = contender::select(&what.backend)?;
    Ok(Settings { sizes, contenders, sources, seed: what.seed, time, details: true })
}

/// Measures, keeps and prints. To be called after [`cold::forget_freed_memory`].
pub(super) fn measure(settings: Settings, results: &Results, format: Format) -> Result<ExitCode> {
    let dir = bench::folder(&settings, results.out.as_deref(), Path::new(RESULTS))?;
    let run = bench::run(&settings, &dir)?;
    for failure in &run.failures {
        say(format_args!("WRONG: {failure}"));
    }
    // All that is to be kept is kept before anything is printed that may fail.
    let page = report::write(&run, &dir)?;
    let glance = summary::at_a_glance(&run, None);
    let printed = glance.render(format).and_then(print);
    tell(&run, &dir, &page);
    printed?;
    complain(run.failures.len());
    Ok(run.exit_code().into())
}
