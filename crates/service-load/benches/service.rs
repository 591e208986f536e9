//! `cargo bench --bench service`: the timer service under load, beside tokio's time driver and
//! others.
//!
//! See `benches/SERVICE.md` for what is measured, how each is used, and what is unfair to whom.

use clap::Parser;
use std::process::ExitCode;
use wheelhouse_present::console::end;
use wheelhouse_present::files;
use wheelhouse_service_load::options::Options;

/// The timer service under load, beside others.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --bench service --",
    after_help = concat!(
        "Examples:\n",
        "  cargo bench --bench service -- --quick\n",
        "  cargo bench --bench service -- --experiment fires --facility wheelhouse,tokio-sleep"
    )
)]
struct Bench {
    #[command(flatten)]
    options: Options,
    /// Play everything once and very short, to see that it works.
    #[arg(long)]
    test: bool,
    /// What cargo bench says.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let mut bench = Bench::parse();
    let here = files::where_cargo_was_called();
    bench.options.out = bench.options.out.map(|out| here.join(out));
    // Without cargo bench's `--bench`, this is `cargo test --benches`.
    end(bench.options.play(bench.test || !bench.bench))
}
