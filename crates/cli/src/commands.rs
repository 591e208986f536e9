//! The subcommands, one file each.

mod bench;
mod claims;
mod compare;
mod durable;
mod ending;
mod index;
mod instructions;
mod list;
mod play;
mod report;
mod service;
mod summary;
mod verify;

use crate::cli::{Cli, Command};
use anyhow::Result;
use std::process::ExitCode;
use wheelhouse_claims::instructions::Play;

pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::List { output } => list::run(output.format),
        Command::Verify { n, what, output } => verify::run(n, &what, output.format),
        Command::Bench(asked) => bench::run(&asked),
        Command::Compare { run_a, run_b, output } => compare::run(&run_a, &run_b, output.format),
        Command::Claims(options) => claims::run(&options),
        Command::PrintedCode(options) => claims::compare_printed(&options),
        Command::Service { options } => service::run(&options),
        Command::Durable(asked) => durable::run(&asked),
        Command::Play { backend, pair, n, seed } => play::run(&Play { backend, pair, n, seed }),
        Command::Instructions(options) => instructions::run(options),
        Command::PlayStream { backend, workload, n, seed } => {
            instructions::play(backend, workload, n, seed)
        }
        Command::Report { run, print: true, .. } => report::print_again(&run),
        Command::Report { run, with, splice, check, .. } => {
            report::run(&run, with.as_deref(), splice.as_deref(), check)
        }
        Command::Index { folder } => index::run(&folder),
    }
}
