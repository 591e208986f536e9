//! What each subcommand does: a file for each.

mod bench;
mod claims;
mod compare;
mod ending;
mod index;
mod instructions;
mod list;
mod play;
mod replay;
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
        Command::Bench { n, quick, what, results, output } => {
            bench::run(n, quick, &what, &results, output.format)
        }
        Command::Replay { file, backend, results, output } => {
            replay::run(&file, &backend, &results, output.format)
        }
        Command::Compare { run_a, run_b, output } => compare::run(&run_a, &run_b, output.format),
        Command::Claims { id, quick, format, instructions, out } => {
            claims::run(&id, quick, format, instructions, out.as_deref())
        }
        Command::Service { options } => service::run(&options),
        Command::Play { backend, pair, n, seed } => play::run(&Play { backend, pair, n, seed }),
        Command::Instructions(options) => instructions::run(options),
        Command::PlayStream { backend, workload, n, seed } => {
            instructions::play(backend, workload, n, seed)
        }
        Command::Report { run, splice, check } => report::run(&run, splice.as_deref(), check),
        Command::Index { folder } => index::run(&folder),
    }
}
