//! Reports with their own summary, which is inserted into a page without changes.

use super::ending::out_of_date;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_frame::report::{REPORT, SUMMARY};
use wheelhouse_present::files::link_from;
use wheelhouse_present::splice::{self, SpliceResult};

/// The name of the section of a summary in a README, and the text and page of the link to the full
/// report.
pub(super) struct Summary {
    section: &'static str,
    rest: (&'static str, &'static str),
}

/// A file that only reports of claims have.
const VERDICTS: &str = "verdicts.json";

const CLAIMS: Summary =
    Summary { section: "claims", rest: ("All claims, with data and plots", "README.md") };

const SERVICE: Summary = Summary { section: "service", rest: ("All tables of this run", REPORT) };

impl Summary {
    /// The kind of the report in a folder; `None` if it has no summary.
    pub(super) fn of(dir: &Path) -> Option<Self> {
        let kind = if dir.join(VERDICTS).exists() { CLAIMS } else { SERVICE };
        dir.join(SUMMARY).exists().then_some(kind)
    }

    /// Inserts the summary into a README. With `check`, only compares.
    pub(super) fn splice(&self, dir: &Path, file: &Path, check: bool) -> Result<ExitCode> {
        let path = dir.join(SUMMARY);
        let summary = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let (text, page) = self.rest;
        let section = format!("{summary}\n[{text}](<{}/{page}>).\n", link_from(file, dir)?);
        let outcome =
            if check { splice::check } else { splice::splice }(file, self.section, &section)?;
        Ok(if check && outcome == SpliceResult::Changed {
            out_of_date(file)
        } else {
            ExitCode::SUCCESS
        })
    }
}
