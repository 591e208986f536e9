//! The subcommands, one file each.

mod bench;
#[cfg(feature = "claims")]
mod claims;
mod compare;
#[cfg(feature = "durable")]
mod durable;
mod ending;
mod index;
mod instructions;
mod list;
#[cfg(feature = "claims")]
mod play;
mod report;
#[cfg(feature = "service")]
mod service;
mod summary;
mod verify;

use crate::cli::{Cli, Command};
use anyhow::Result;
use std::process::ExitCode;

pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::List { output } => list::run(output.format),
        Command::Verify { n, what, output } => verify::run(n, &what, output.format),
        Command::Bench(asked) => bench::run(&asked),
        Command::Compare { run_a, run_b, output } => compare::run(&run_a, &run_b, output.format),
        #[cfg(feature = "claims")]
        Command::Claims(options) => claims::run(&options),
        #[cfg(feature = "claims")]
        Command::PrintedCode(options) => claims::compare_printed(&options),
        #[cfg(feature = "service")]
        Command::Service { options } => service::run(&options),
        #[cfg(feature = "durable")]
        Command::Durable(asked) => durable::run(&asked),
        #[cfg(feature = "claims")]
        Command::Play(play) => play::run(&play.into()),
        Command::Instructions(options) => instructions::run(options),
        Command::PlayStream { backend, workload, n, seed } => {
            instructions::play(backend, workload, n, seed)
        }
        Command::Report { run, with, splice, check } => {
            report::run(&run, with.as_deref(), splice.as_deref(), check)
        }
        Command::Index { folder } => index::run(&folder),
    }
}
