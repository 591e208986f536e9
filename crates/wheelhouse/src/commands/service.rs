//! `wheelhouse service`.

use anyhow::Result;
use std::process::ExitCode;
use wheelhouse_service_load::options::Options;

pub(super) fn run(options: &Options) -> Result<ExitCode> {
    options.play(false)
}
