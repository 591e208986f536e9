//! The `wheelhouse` command.

mod cli;
mod commands;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run(cli::Cli::parse()) {
        Ok(code) => code,
        // Whoever reads the output has seen enough, as with `wheelhouse list | head -1`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    kind == Some(std::io::ErrorKind::BrokenPipe)
}
