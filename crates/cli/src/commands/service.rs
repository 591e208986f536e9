//! `wheelhouse service`.

use super::bench::RESULTS;
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_service_load::options::Options;

pub(super) fn run(options: &Options) -> Result<ExitCode> {
    options.play(Path::new(RESULTS), false)
}
