//! `wheelhouse report`.

use super::ending::{exit_code, out_of_date, tell};
use super::summary::Summary;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_harness::{report, store};

pub(super) fn run(
    dir: &Path,
    other: Option<&Path>,
    splice: Option<&Path>,
    check: bool,
) -> Result<ExitCode> {
    if let (Some(file), Some(summary)) = (splice, Summary::of(dir)) {
        return summary.splice(dir, file, check);
    }
    let run = store::load(dir)?;
    let parent = || dir.parent().context("a run is a folder, or its run.json");
    let folder = if dir.is_dir() { dir } else { parent()? };
    if let Some(file) = splice {
        let up_to_date = report::splice_into(&run, folder, file, check)?;
        if check && !up_to_date {
            return Ok(out_of_date(file));
        }
        if check {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let other = other.map(store::load).transpose()?;
    let page = report::write_with(&run, other.as_ref(), folder)?;
    tell(&run, folder, &page);
    Ok(exit_code(run.failures.len()))
}
