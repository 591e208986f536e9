//! `cargo bench --bench peers`: our backends compared with published timer crates, in the same
//! interleaved rounds.
//!
//! `benches/PEERS.md` says how each crate is used, which phases it cannot play, and describes our
//! bias.

mod adapters;
mod competitor;
mod edges;
mod foreign;
mod memory;
mod peer;
mod player;

use anyhow::Result;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wheelhouse_benches::printed;
use wheelhouse_harness::model::FLOOR;
use wheelhouse_harness::options::{self, BenchOptions, Roster};
use wheelhouse_machine::allocator;
use wheelhouse_present::console::exit_code;
use wheelhouse_present::files;

/// Compares our structures with other timer crates.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --bench peers --",
    after_help = "Examples:\n  cargo bench --bench peers -- --quick\n  \
        cargo bench --bench peers -- --backend grommet-core,hierarchical-wheel --n 1e7\n  \
        cargo bench --bench peers -- --n 200000 --mix stop:40,move:10,fire:5\n  \
        cargo bench --bench peers -- --foreign --workload same-deadline --n 1e5,1e6"
)]
struct Cli {
    #[command(flatten)]
    options: BenchOptions,
    /// Compare programs in Go, Java and C++ with a few of our structures; see benches/FOREIGN.md.
    #[arg(long)]
    foreign: bool,
    /// Add your own program, which plays streams as described in benches/FOREIGN.md:
    /// NAME=real:PATH, or NAME=virtual:PATH if its clock can be moved.
    #[arg(long, value_name = "NAME=CLOCK:PATH")]
    program: Vec<foreign::Named>,
    /// Write a verdict on the wheels and heaps that the articles compare into this file.
    #[arg(long, value_name = "FILE", requires = "out")]
    verdict: Option<PathBuf>,
}

fn main() -> ExitCode {
    allocator::map_large_blocks();
    exit_code(run(&Cli::parse()))
}

fn run(cli: &Cli) -> Result<ExitCode> {
    let options = &cli.options;
    let mut all = adapters::all();
    if cli.foreign {
        all.extend(foreign::all()?);
    }
    let here = files::where_cargo_was_called();
    all.extend(foreign::named(&cli.program, &here)?);
    let roster = Roster {
        all,
        is_default: if cli.foreign { is_beside_programs } else { |_| true },
        sizes: &[10_000, 1_000_000],
        quick_sizes: &[10_000, 100_000],
        seconds: (300, 45),
        payload: 8,
    };
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("results");
    let asked = options.resolved();
    let mut settings = options::settings(&asked, roster, options.is_test())?;
    if options.is_test() {
        settings.sources.extend(edges::traces());
    }
    let code = options::compare(&asked, &settings, &results, options.is_test())?;
    if let Some((file, run)) = cli.verdict.as_ref().zip(asked.common.out.as_ref()) {
        printed::write(run, &here.join(file))?;
    }
    Ok(code)
}

/// Returns `true` for programs and for those of our structures that are compared with them.
fn is_beside_programs(name: &str) -> bool {
    const OURS: [&str; 6] =
        ["hierarchical-wheel", "list-wheel", "binary-heap", "heap-4", "lazy-heap", FLOOR];
    OURS.contains(&name) || adapters::all().iter().all(|it| it.name() != name)
}
