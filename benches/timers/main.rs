//! `cargo bench`: the comparison.
//!
//! Every structure is verified on small streams. Then the harness plays whole workloads and
//! recorded traces in interleaved rounds, times single operations, measures memory, and writes the
//! results and the report. The answer is printed last. `-- --help` lists the options.

use anyhow::{Result, bail};
use clap::Parser;
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::options::{self, BenchOptions};
use wheelhouse_harness::payload::PayloadOption;
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::{bench, structure, verify};
use wheelhouse_machine::allocator;
use wheelhouse_present::console::{exit_code, say};

/// Compares the structures on this machine.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --",
    after_help = "Examples:\n  cargo bench -- --quick\n  cargo bench -- --n 200000\n  \
        cargo bench -- --n 200000 --mix start:45,stop:40,move:10,fire:5\n  \
        cargo bench -- --trace recorded.trace\n  cargo bench -- --all"
)]
struct Cli {
    #[command(flatten)]
    options: BenchOptions,
    #[command(flatten)]
    values: PayloadOption,
}

fn main() -> ExitCode {
    allocator::map_large_blocks();
    exit_code(run(&Cli::parse()))
}

fn run(cli: &Cli) -> Result<ExitCode> {
    let options = &cli.options;
    // Unknown names are refused before minutes of work.
    let asked = options.resolved();
    let roster = options::workspace_roster(cli.values.payload);
    let settings = options::settings(&asked, roster, options.is_test())?;
    verify_first()?;
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("results");
    options::compare(&asked, &settings, &results, options.is_test())
}

/// Verifies the answers of all structures, which must be right before anything is timed.
fn verify_first() -> Result<()> {
    let sources =
        bench::default_sources().into_iter().filter(StreamSource::is_scalable).collect::<Vec<_>>();
    let verified = verify::verify(&sources, &structure::all(), 2_000, 1)?;
    if let Some(failure) = verified.failures.first() {
        bail!("a wrong answer: {failure}");
    }
    say("verified: every structure gives the oracle's answers");
    Ok(())
}
