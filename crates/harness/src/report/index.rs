//! The page that lists the runs in a folder, generated from the runs.

use super::MARKDOWN;
use crate::model::Run;
use crate::store;
use anyhow::{Context, Error, Result, ensure};
use std::path::Path;
use wheelhouse_machine::provenance::short_commit;
use wheelhouse_present::table::{Cell, Column, Mark, Table};

/// The text before the list.
const HEAD: &str = include_str!("index.md");

/// Makes the page of a folder: a row for each run in it, the newest first. Also returns why some
/// runs could not be read.
///
/// # Errors
///
/// If the folder cannot be read, or there is no run in it.
pub fn render(folder: &Path) -> Result<(String, Vec<Error>)> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let (mut runs, mut broken) = (Vec::new(), Vec::new());
    for entry in entries {
        let path = entry?.path();
        if store::run_file(&path).is_some() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match store::load(&path) {
                Ok(run) => runs.push((name, run)),
                Err(error) => broken.push(error),
            }
        }
    }
    let found = !runs.is_empty() || !broken.is_empty();
    ensure!(
        found,
        "no folder in {} holds a {}; name the folder that holds the runs",
        folder.display(),
        store::RUN_FILE
    );
    runs.sort_by(|(_, a), (_, b)| b.provenance.started.cmp(&a.provenance.started));
    Ok((format!("{HEAD}\n{}", table(&runs).markdown()), broken))
}

fn table(runs: &[(String, Run)]) -> Table {
    let columns = ["run", "started", "machine", "commit", "command"].map(Column::left).into();
    let mut table = Table::new("Runs", columns);
    for (name, run) in runs {
        let provenance = &run.provenance;
        let dirty = if provenance.dirty { ", with uncommitted changes" } else { "" };
        table.rows.push(vec![
            Cell::text(format!("{name}/{MARKDOWN}")).marked(Mark::Link),
            Cell::text(&provenance.started),
            Cell::text(format!("{}, {} processors", provenance.cpu, provenance.cores)),
            Cell::text(format!("{}{dirty}", short_commit(&provenance.commit))),
            Cell::text(&provenance.command),
        ]);
    }
    table
}
