//! The page that lists the runs of a folder, made from the runs themselves.

use super::MARKDOWN;
use crate::model::Run;
use crate::store;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use wheelhouse_machine::provenance::short_commit;
use wheelhouse_present::table::{Cell, Column, Mark, Table};

/// The text before the list.
const HEAD: &str = "\
# Results

What runs of the comparison wrote, a folder each; nothing here is edited by hand. The README shows
the run named in `REFERENCE`, the hierarchical wheel's that in `SIZES`, `benches/PEERS.md` that in
`PEERS`. A run of your own stays here and out of version control; `scripts/keep-run` takes one into
it. `wheelhouse compare A B` compares two.

| what | is made again from this file alone | by |
| :--- | :--- | :--- |
| `report.md`, page and plots of a run | its `run.json.gz`, whose SHA-256 the report names | \
`wheelhouse report RUN` |
| tables of the README, the wheel's and `PEERS.md` | `run.json.gz` of the run named | \
`scripts/renew-readme` |
| tables of `SERVICE.md` | `summary.md` of the run named | `scripts/renew-readme` |
| `report.md` of services and stores | nothing: `rows.json` has its figures | a new run |
| claims | nothing: each is decided anew | `scripts/reproduce` |
| instructions | nothing: they are counted anew | `wheelhouse instructions --check` |
| `design-steps.md` | nothing | `scripts/design-steps` |
| `printed-programs.md` | nothing | `scripts/run-the-printed-code FOLDER --time FILE` |
| `scale*.md`, `counting` | nothing | the command that they name |
";

/// The page, and what is not on it.
#[derive(Debug)]
pub struct Index {
    /// The text of the page: one row for each run in the folder, the newest first.
    pub text: String,
    /// Why runs could not be read.
    pub broken: Vec<anyhow::Error>,
}

/// Makes the page of a folder.
///
/// # Errors
///
/// If the folder cannot be read, or there is no run in it.
pub fn render(folder: &Path) -> Result<Index> {
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
    let table = table(&runs);
    let text = format!("{HEAD}\n{}", table.markdown());
    Ok(Index { text, broken })
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
