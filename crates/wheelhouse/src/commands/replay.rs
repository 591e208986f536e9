//! `wheelhouse replay`.

use super::bench::{QUICK, measure};
use crate::cli::Results;
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::bench::Settings;
use wheelhouse_harness::source::Source;
use wheelhouse_harness::{cold, contender};
use wheelhouse_present::table::Format;

pub(super) fn run(
    file: &Path,
    backend: &[String],
    results: &Results,
    format: Format,
) -> Result<ExitCode> {
    // First, as it may begin the command anew, and a trace that comes through a pipe can be
    // read once only.
    cold::forget_freed_memory();
    measure(settings(file, backend)?, results, format)
}

fn settings(file: &Path, backend: &[String]) -> Result<Settings> {
    let sources = vec![Source::of_file(file)?];
    let contenders = contender::select(backend)?;
    // A trace has one size, and nothing in it is random.
    let (sizes, seed) = (Vec::new(), 0);
    Ok(Settings { sizes, contenders, sources, seed, time: QUICK, details: true })
}
