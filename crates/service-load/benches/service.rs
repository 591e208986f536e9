//! `cargo bench --bench service`: the timer service under load, compared with tokio's time driver
//! and others.
//!
//! See `benches/SERVICE.md` for what is measured, how each facility is used, and which biases are
//! known.

use clap::Parser;
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_frame::options::CargoArguments;
use wheelhouse_present::console::exit_code;
use wheelhouse_service_load::options::{Options, known};

/// The timer service under load, compared with others.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --bench service --",
    after_help = format!(
        "{}\n\nExamples:\n  cargo bench --bench service -- --quick\n  \
         cargo bench --bench service -- --experiment fires --backend wheelhouse,tokio-sleep",
        known()
    )
)]
struct Bench {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    called: CargoArguments,
}

fn main() -> ExitCode {
    let Bench { options, called } = Bench::parse();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    exit_code(options.of_bench().play(&results, called.is_test()))
}
