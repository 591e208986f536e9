//! The page that lists the runs in a folder, generated from the runs.

use super::MARKDOWN;
use crate::store;
use anyhow::{Context, Error, Result, ensure};
use serde_json::Value;
use std::path::Path;
use wheelhouse_frame::report::ROWS;
use wheelhouse_machine::provenance::{Provenance, short_commit};
use wheelhouse_present::table::{Cell, Column, Mark, Table};

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
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match provenance_of(&path) {
            None => (),
            Some(Ok(provenance)) => runs.push((name, provenance)),
            Some(Err(error)) => broken.push(error),
        }
    }
    let found = !runs.is_empty() || !broken.is_empty();
    ensure!(
        found,
        "no folder in {} holds a {} or {ROWS}; name the folder that holds the runs",
        folder.display(),
        store::RUN_FILE
    );
    runs.sort_by(|(_, a), (_, b)| b.started.cmp(&a.started));
    Ok((format!("{HEAD}\n{}", table(&runs).markdown()), broken))
}

/// The provenance of the run in a folder, if it holds one: a run of structures, or the rows of any
/// other experiment.
fn provenance_of(folder: &Path) -> Option<Result<Provenance>> {
    if store::run_file(folder).is_some() {
        return Some(store::load(folder).map(|run| run.provenance));
    }
    let file = folder.join(ROWS);
    let read = || {
        let mut rows: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
        anyhow::Ok(serde_json::from_value(rows["provenance"].take())?)
    };
    file.is_file().then(|| read().with_context(|| format!("{} is damaged", file.display())))
}

fn table(runs: &[(String, Provenance)]) -> Table {
    let columns = ["run", "started", "machine", "commit", "command"].map(Column::left).into();
    let mut table = Table::new("Runs", columns);
    for (name, provenance) in runs {
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
