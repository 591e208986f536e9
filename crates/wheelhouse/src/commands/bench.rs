//! `wheelhouse bench`.

use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::cold;
use wheelhouse_harness::options::{self, Options};

/// The folder that results go to, seen from where the command is run.
pub(super) const RESULTS: &str = "results";

/// Measures, keeps and prints.
pub(super) fn run(asked: &Options) -> Result<ExitCode> {
    // First, because it may restart the command, and a trace from a pipe can be read only once.
    cold::return_freed_memory();
    let settings = options::settings(asked, options::workspace_roster(), false)?;
    options::compare(asked, &settings, Path::new(RESULTS), false)
}
