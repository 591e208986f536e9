//! `cargo bench --bench peers`: our backends beside the timer crates that others publish, in the same interleaved rounds.
//!
//! See `benches/PEERS.md` for how each is used, what it cannot do, and our bias.

mod adapters;
mod competitor;
mod memory;
mod peer;
mod player;

use anyhow::Result;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::capacity::timers;
use wheelhouse_harness::source::Source;
use wheelhouse_harness::{cold, contender, report, summary};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::table::Format;

/// Our backends beside the timer crates of others.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --bench peers --",
    after_help = "Examples:\n  cargo bench --bench peers -- --quick\n  cargo bench --bench peers -- --backend grommet-core --backend hierarchical-wheel --n 10_000_000"
)]
struct Options {
    /// At most three minutes: 10,000 and 100,000 timers.
    #[arg(long)]
    quick: bool,
    /// Only these, by their names in the table.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    backend: Vec<String>,
    /// Only these workloads or traces.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    workload: Vec<String>,
    /// How many timers; 10,000 and a million unless given.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = timers)]
    n: Vec<u32>,
    /// How long the timed rounds may take, in seconds.
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// How to print the table.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Where to put the results: a folder that is new or empty.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run everything once, measure nothing.
    #[arg(long)]
    test: bool,
    /// What cargo bench says.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    cold::forget_freed_memory();
    match run(&Options::parse()) {
        Ok(code) => code,
        Err(error) => {
            say(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    let start = Instant::now();
    let test = options.test || !options.bench;
    let sizes = match options.n.as_slice() {
        [] if test => vec![200],
        [] if options.quick => vec![10_000, 100_000],
        [] => vec![10_000, 1_000_000],
        named => named.to_vec(),
    };
    let usual = if test {
        0
    } else if options.quick {
        45
    } else {
        300
    };
    let time = Duration::from_secs(options.time.unwrap_or(usual));
    let (contenders, sources) = (
        contender::select_from(adapters::all(), &options.backend)?,
        sources(&options.workload, test)?,
    );
    let settings = Settings { sizes, contenders, sources, seed: 1, time, details: !test };
    let scratch =
        std::env::temp_dir().join(format!("wheelhouse-peers-test-{}", std::process::id()));
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("results");
    let out = options.out.as_deref().or(test.then_some(scratch.as_path()));
    let dir = bench::folder(&settings, out, &results)?;
    let run = bench::run(&settings, &dir)?;
    // All that is to be kept is kept before anything is printed that may fail.
    let page = report::write(&run, &dir)?;
    for failure in &run.failures {
        say(format_args!("WRONG: {failure}"));
    }
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch)?;
    } else {
        say(format_args!("report: {}", page.display()));
    }
    for &n in &settings.sizes {
        print(format_args!(
            "{}\n",
            summary::at_a_glance(&run, Some(u64::from(n))).render(options.format)?
        ))?;
    }
    say(format_args!("done in {} s", start.elapsed().as_secs()));
    Ok(run.exit_code().into())
}

/// The workloads and traces of these names; the usual ones if none is named.
fn sources(names: &[String], test: bool) -> Result<Vec<Source>> {
    if names.is_empty() {
        return Ok(bench::usual_sources()
            .into_iter()
            .filter(|source| source.is_scalable() || !test)
            .collect());
    }
    Source::select(names)
}
