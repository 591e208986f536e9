//! Reports with their own summary, which is inserted into a page without changes.

use super::ending::out_of_date;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::ExitCode;
use wheelhouse_claims::report as claims;
use wheelhouse_frame::report as service;
use wheelhouse_present::files::link_from;
use wheelhouse_present::splice::{self, SpliceResult};

/// The file of a summary, the name of its section in a README, and the text and page of the link to
/// the full report.
pub(super) struct Summary {
    file: &'static str,
    section: &'static str,
    rest: (&'static str, &'static str),
}

const CLAIMS: Summary = Summary {
    file: claims::SUMMARY,
    section: claims::SECTION,
    rest: ("All claims, with data and plots", claims::MARKDOWN),
};

const SERVICE: Summary = Summary {
    file: service::SUMMARY,
    section: "service",
    rest: ("All tables of this run", service::REPORT),
};

impl Summary {
    /// The kind of the report in a folder; `None` if it has no summary.
    pub(super) fn of(dir: &Path) -> Option<Self> {
        let kind = if dir.join(claims::VERDICTS).exists() { CLAIMS } else { SERVICE };
        dir.join(kind.file).exists().then_some(kind)
    }

    /// Inserts the summary into a README. With `check`, only compares.
    pub(super) fn splice(&self, dir: &Path, file: &Path, check: bool) -> Result<ExitCode> {
        let path = dir.join(self.file);
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
