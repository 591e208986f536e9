//! The `wheelhouse` command.

mod cli;
mod commands;

use clap::Parser;
use std::process::ExitCode;
use wheelhouse_present::console::exit_code;

fn main() -> ExitCode {
    exit_code(commands::run(cli::Cli::parse()))
}
