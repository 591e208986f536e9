//! `wheelhouse report`.

use super::{after_wrong_answers, folder_of};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_frame::report::{REPORT, SUMMARY};
use wheelhouse_harness::{report, store};
use wheelhouse_present::console::say;
use wheelhouse_present::files::link_from;
use wheelhouse_present::splice;

pub(super) fn run(
    dir: &Path,
    other: Option<&Path>,
    file: Option<&Path>,
    check: bool,
) -> Result<ExitCode> {
    if let Some(file) = file.filter(|_| dir.join(SUMMARY).exists()) {
        let up_to_date = splice_summary(dir, file, check)?;
        return Ok(if check { checked(file, up_to_date) } else { ExitCode::SUCCESS });
    }
    let (run, folder) = (store::load(dir)?, folder_of(dir));
    if let Some(file) = file {
        let up_to_date = report::splice_into(&run, folder, file, check)?;
        if check {
            return Ok(checked(file, up_to_date));
        }
    }
    let other = other.map(store::load).transpose()?;
    let page = report::write(&run, other.as_ref(), folder)?;
    say(format_args!("results: {}\nreport:  {}", folder.display(), page.display()));
    run.interruption().into_iter().for_each(say);
    Ok(after_wrong_answers(run.failures.len()))
}

/// Inserts the summary of a run, which is not changed, into a page. The section is named after the
/// page, and in the README it is that of the claims. With `check`, only compares. Returns `true` if
/// the file was up to date.
fn splice_summary(dir: &Path, file: &Path, check: bool) -> Result<bool> {
    // A file that only reports of claims have.
    let is_of_claims = dir.join("verdicts.json").exists();
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let (section, text, page) = if is_of_claims {
        ("claims", "All claims, with data and plots", "README.md")
    } else {
        (stem.as_str(), "All tables of this run", REPORT)
    };
    let path = dir.join(SUMMARY);
    let summary = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let content = format!("{summary}\n[{text}](<{}/{page}>).\n", link_from(file, dir)?);
    splice::splice(file, section, &content, check)
}

/// The exit code of a check, with a message if the file is out of date.
fn checked(file: &Path, up_to_date: bool) -> ExitCode {
    if up_to_date {
        return ExitCode::SUCCESS;
    }
    let shown = file.display();
    say(format_args!("error: {shown} is out of date; run the same command without --check"));
    ExitCode::FAILURE
}
