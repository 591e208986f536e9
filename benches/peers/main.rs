//! `cargo bench --bench peers`: our backends beside the timer crates that others publish, in the
//! same interleaved rounds.
//!
//! See `benches/PEERS.md` for how each is used, what it cannot do, and our bias.

mod adapters;
mod competitor;
mod memory;
mod peer;
mod player;

use anyhow::Result;
use clap::Parser;
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::cold;
use wheelhouse_harness::options::{self, BenchOptions, Roster};
use wheelhouse_present::console::end;

/// Our structures beside the timer crates of others.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --bench peers --",
    after_help = "Examples:\n  cargo bench --bench peers -- --quick\n  \
        cargo bench --bench peers -- --backend grommet-core,hierarchical-wheel --n 1e7\n  \
        cargo bench --bench peers -- --n 200000 --mix stop:40,move:10,fire:5"
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
    let roster = Roster {
        all: adapters::all(),
        usual: |_| true,
        sizes: &[10_000, 1_000_000],
        quick: &[10_000, 100_000],
        seconds: (300, 45),
    };
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("results");
    let asked = options.asked();
    let settings = options::settings(&asked, roster, options.is_test())?;
    options::compare(&asked, &settings, &results, options.is_test())
}
