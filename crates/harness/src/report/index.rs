//! The page that lists the runs of a folder, made from the runs themselves.

use super::MARKDOWN;
use super::provenance::short;
use crate::store;
use crate::table::{Cell, Column, Table};
use anyhow::{Context, Result};
use std::path::Path;

/// The text of the page: one row for each run in the folder, the newest first.
///
/// # Errors
///
/// If the folder or a run in it cannot be read.
pub fn render(folder: &Path) -> Result<String> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut runs = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.join("run.json").is_file() {
            runs.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), store::load(&path)?));
        }
    }
    runs.sort_by(|(_, a), (_, b)| b.provenance.started.cmp(&a.provenance.started));
    let columns = ["run", "started", "machine", "commit", "command"].map(Column::left).into();
    let mut table = Table::new("Runs", columns);
    for (name, run) in runs {
        let provenance = &run.provenance;
        let dirty = if provenance.dirty { ", with uncommitted changes" } else { "" };
        table.rows.push(vec![
            Cell::text(format!("{name}/{MARKDOWN}")),
            Cell::text(&provenance.started),
            Cell::text(format!("{}, {} processors", provenance.cpu, provenance.cores)),
            Cell::text(format!("{}{dirty}", short(&provenance.commit))),
            Cell::text(&provenance.command),
        ]);
    }
    Ok(format!(
        "# Results\n\nWhat runs of the comparison wrote, a folder each; nothing here is edited by hand. `run.json` holds every sample,\n\
         `report.md` and `report.html` show them, `wheelhouse compare A B` compares two. The README shows the run named in `REFERENCE`.\n\n{}",
        table.markdown()
    ))
}
