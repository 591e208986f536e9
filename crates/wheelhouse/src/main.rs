//! The `wheelhouse` command.

mod cli;
mod commands;

use clap::Parser;
use std::process::ExitCode;
use wheelhouse_present::console::say;

fn main() -> ExitCode {
    match commands::run(cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            say(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
