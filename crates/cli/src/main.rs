//! The `wheelhouse` command.

mod cli;
mod commands;

use clap::Parser;
use std::process::ExitCode;
use wheelhouse_present::console::end;

fn main() -> ExitCode {
    end(commands::run(cli::Cli::parse()))
}
