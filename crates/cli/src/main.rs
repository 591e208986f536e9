//! The `wheelhouse` command.

mod commands;

use clap::Parser;
use std::process::ExitCode;
use wheelhouse_present::console::exit_code;

fn main() -> ExitCode {
    exit_code(commands::run(commands::Cli::parse()))
}
