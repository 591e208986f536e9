//! `wheelhouse bench`.

use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::cold;
use wheelhouse_harness::options::{self, Options};

/// The folder for results, relative to the working directory.
pub(super) const RESULTS: &str = "results";

/// Measures, saves and prints.
pub(super) fn run(asked: &Options) -> Result<ExitCode> {
    // First, because it may restart the command, and a trace from a pipe can be read only once.
    cold::return_freed_memory();
    let settings = options::settings(asked, options::workspace_roster(), false)?;
    options::compare(asked, &settings, Path::new(RESULTS), false)
}
