//! Turns a run into a page, its Markdown, its pictures, and the generated parts of a README.
//!
//! [`document`] decides what the report says; `wheelhouse-present` renders it.

pub mod document;
pub mod explore;
pub mod index;
pub mod picks;
pub mod prose;
pub mod uses;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::model::{FLOOR, Run};
use crate::report::explore::Explorer;
use crate::report::picks::Pick;
use crate::{plot, store, summary};
use wheelhouse_machine::provenance;
use wheelhouse_present::files::{link_from, write_whole};
use wheelhouse_present::markdown::{self, PLOTS};
use wheelhouse_present::table::{Cell, Table, markdown_escape};
use wheelhouse_present::{html, splice};

/// The page: one file that includes its pictures, styles and script.
pub const PAGE: &str = "report.html";

/// The page as Markdown, with links to the pictures.
pub const MARKDOWN: &str = "report.md";

// The names of the markers in a README: see [`splice_into`].
const SECTION: &str = "reference";
const PEERS: &str = "peers";

/// Writes `report.html`, `report.md` and `plots/*.svg` into a folder, and makes the folder if it is
/// missing. Replaces older files, since all are made from `run.json` alone. The page shows the
/// other run, if there is one, next to this one. Returns the path of the page.
///
/// # Errors
///
/// If a file cannot be written, or there are two runs and one has nothing to rank.
pub fn write(run: &Run, other: Option<&Run>, dir: &Path) -> Result<PathBuf> {
    for run in other.into_iter().chain(other.map(|_| run)) {
        ensure!(
            Explorer::new(run).is_some(),
            "the run of {} on {} has no workload with a known share of expiries, so the page \
             cannot show it next to another; measure `--workload steady` or `--mix` too",
            run.provenance.started,
            run.provenance.host
        );
    }
    let pictures = plot::all(run);
    let folder = dir.join(PLOTS);
    fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (_, picture) in &pictures {
        write_whole(&folder.join(&picture.file), picture.svg.as_bytes())?;
    }
    let document = document::build(run, other, &pictures, store::digest(dir)?);
    write_whole(&dir.join(MARKDOWN), markdown::render(&document).as_bytes())?;
    let page = dir.join(PAGE);
    write_whole(&page, html::render(&document).as_bytes())?;
    Ok(page)
}

/// Updates the generated parts of a README or page. The markers in it select the parts:
/// `reference`, the table at a glance, one picture, machine and commit; `peers`, a table for each
/// size.
///
/// `dir` is the folder of the run. With `check`, nothing is written. Returns `true` if the file was
/// up to date.
///
/// # Errors
///
/// If the page has none of these markers, or a file or folder cannot be read or written.
pub fn splice_into(run: &Run, dir: &Path, file: &Path, check: bool) -> Result<bool> {
    let folder = link_from(file, dir)?;
    if splice::has_markers(file, PEERS)? {
        let sizes = summary::sizes(run).into_iter();
        let tables = sizes.map(|n| summary::at_a_glance(run, Some(n))).collect();
        let tables = with_shared_notes_last(tables);
        return splice::splice(file, PEERS, &section(run, &folder, tables, ""), check);
    }
    splice::splice(file, SECTION, &readme_section(run, &folder), check)
}

/// Moves the notes that all tables have to the end, so that each is printed once.
fn with_shared_notes_last(mut tables: Vec<Table>) -> Vec<Table> {
    if let [first, others @ ..] = tables.as_slice()
        && !others.is_empty()
    {
        let is_shared = |note: &&String| others.iter().all(|table| table.notes.contains(note));
        let shared: Vec<_> = first.notes.iter().filter(is_shared).cloned().collect();
        tables.iter_mut().for_each(|table| table.notes.retain(|note| !shared.contains(note)));
        tables.push(Table { notes: shared, ..Table::new("Notes on all tables", Vec::new()) });
    }
    tables
}

/// How many rows the table in a README has.
const README_ROWS: usize = 6;

/// What [`splice_into`] writes at [`SECTION`]: the answer, the short table, and a picture. `folder`
/// is the run's folder as seen from the README. The table has the structures that the answer names,
/// and then others, up to six rows.
fn readme_section(run: &Run, folder: &str) -> String {
    let picture = plot::main_picture(run).map(|found| {
        let image = markdown::image(&found.title, &format!("{folder}/{PLOTS}/{}", found.file));
        format!("\n{image}\n")
    });
    let answers = picks::answers(run);
    let lines = picks::answer(run).into_iter();
    let lines: String = lines.map(|line| format!("- {}\n", markdown_escape(&line))).collect();
    let mut table = summary::in_short(run, None);
    let is_recommended = |row: &Vec<Cell>| {
        answers.iter().flat_map(Pick::best_names).any(|name| name == row[0].shown)
    };
    let (recommended, others): (Vec<_>, Vec<_>) =
        table.rows.iter().cloned().partition(is_recommended);
    let kept: Vec<_> = recommended.into_iter().chain(others).take(README_ROWS).collect();
    table.rows.retain(|row| kept.contains(row));
    if !table.rows.iter().any(|row| row[0].shown == FLOOR) {
        table.notes.retain(|note| note != summary::FLOOR_NOTE);
    }
    let rest = section(run, folder, vec![table], &picture.unwrap_or_default());
    format!("{lines}\n{rest}")
}

/// Tables of a run, a picture, and a link to everything else.
fn section(run: &Run, folder: &str, mut tables: Vec<Table>, picture: &str) -> String {
    if let Some(last) = tables.last_mut() {
        last.notes.push(format!("Measured on {}.", provenance::line(&run.provenance)));
    }
    let tables: Vec<String> = tables.iter().map(Table::markdown).collect();
    let name = folder.rsplit('/').next().unwrap_or(folder);
    format!(
        "{}{picture}\nAll tables and plots of this run: [{name}](<{folder}/{MARKDOWN}>).\n",
        tables.join("\n")
    )
}
