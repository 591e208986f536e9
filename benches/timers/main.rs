//! `cargo bench`: the comparison.
//!
//! Every structure is verified on small streams, then the harness plays whole workloads and
//! recorded traces in interleaved rounds, times single operations, measures memory, and writes
//! results and report. What is printed last is the answer. `-- --help` tells what one may ask.

use anyhow::{Result, bail};
use clap::Parser;
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::bench;
use wheelhouse_harness::cold;
use wheelhouse_harness::contender;
use wheelhouse_harness::options::{self, BenchOptions};
use wheelhouse_harness::source::Source;
use wheelhouse_harness::verify;
use wheelhouse_present::console::{end, say};

/// Compares the structures on this machine.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --",
    after_help = "Examples:\n  cargo bench -- --quick\n  cargo bench -- --n 200000\n  \
        cargo bench -- --n 200000 --mix start:45,stop:40,move:10,fire:5\n  \
        cargo bench -- --trace recorded.trace\n  cargo bench -- --all --wide"
)]
struct Cli {
    #[command(flatten)]
    options: BenchOptions,
}

fn main() -> ExitCode {
    cold::forget_freed_memory();
    end(run(&Cli::parse().options))
}

fn run(options: &BenchOptions) -> Result<ExitCode> {
    // An unknown name is refused before minutes are spent.
    let asked = options.asked();
    let settings = options::settings(&asked, options::structures(), options.is_test())?;
    verify_first()?;
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("results");
    options::compare(&asked, &settings, &results, options.is_test())
}

/// No figure without a right answer.
fn verify_first() -> Result<()> {
    let sources =
        bench::usual_sources().into_iter().filter(Source::is_scalable).collect::<Vec<_>>();
    let verified = verify::verify(&sources, &contender::all(), 2_000, 1)?;
    if let Some(failure) = verified.failures.first() {
        bail!("a wrong answer: {failure}");
    }
    say("verified: every structure gives the oracle's answers");
    Ok(())
}
