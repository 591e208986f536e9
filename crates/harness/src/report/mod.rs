//! Turns a run into what a person reads: a page, its Markdown, its pictures, and the part that stands in the README.
//!
//! What the report says is decided once, in [`document`]; [`html`], [`markdown`] and [`plain`] only set it in type.

pub mod document;
pub mod html;
pub mod index;
pub mod markdown;
pub mod picks;
pub mod plain;
pub mod prose;
pub mod provenance;
pub mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::model::Run;
use crate::plot;
use crate::splice::{self, Outcome};
use crate::table::Table;
use crate::{store, summary};

/// The page: one file with its pictures and styles in it, no script.
pub const PAGE: &str = "report.html";

/// The same as Markdown, with links to the pictures.
pub const MARKDOWN: &str = "report.md";

/// The folder of the pictures.
pub const PLOTS: &str = "plots";

/// The name of the markers in a README between which a reference run is shown.
pub const SECTION: &str = "reference";

/// The name of the markers in a README between which it is said which structure to pick.
pub const PICKS: &str = "picks";

/// The name of the markers in a README between which a run with the facilities of others is shown.
pub const PEERS: &str = "peers";

/// The name of the markers between which the tables of all sizes stand one below the other.
pub const SIZES: &str = "sizes";

/// Writes `report.html`, `report.md` and `plots/*.svg` into a folder, which is made if it is missing. Older ones are
/// replaced: they are made from `run.json` and nothing else. Gives the path of the page.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(run: &Run, dir: &Path) -> Result<PathBuf> {
    let pictures = plot::all(run);
    let folder = dir.join(PLOTS);
    fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for picture in &pictures {
        store::write_whole(&folder.join(&picture.file), picture.svg.as_bytes())?;
    }
    let document = document::of(run, pictures);
    store::write_whole(&dir.join(MARKDOWN), markdown::render(&document).as_bytes())?;
    let page = dir.join(PAGE);
    store::write_whole(&page, html::render(&document).as_bytes())?;
    Ok(page)
}

/// Renews the parts of a page that come from a run. Of a reference run: between the markers named [`SECTION`], the table
/// at a glance, one picture, machine and commit; between those named [`PICKS`], which structure to pick. Of a run with
/// guests, what the page has markers for: [`PEERS`], a table for each size; [`SIZES`], one table of all sizes. `dir` is
/// the run's folder. When only checking, nothing is written. Tells whether the file was up to date.
///
/// # Errors
///
/// If the markers are missing, or a file or folder cannot be read or written.
pub fn splice_into(run: &Run, dir: &Path, file: &Path, check: bool) -> Result<bool> {
    let folder = link_from(file, dir)?;
    let sections = if run.guests.is_empty() {
        vec![(SECTION, readme_section(run, &folder)), (PICKS, picks::picks(run).markdown())]
    } else if splice::has(file, SIZES)? {
        vec![(SIZES, section(run, &folder, vec![summary::by_size(run)], ""))]
    } else {
        let sizes = summary::sizes(run).into_iter();
        let tables = sizes.map(|n| summary::at_a_glance(run, Some(n))).collect();
        vec![(PEERS, section(run, &folder, tables, ""))]
    };
    let mut up_to_date = true;
    for (name, section) in sections {
        let outcome = if check {
            splice::check(file, name, &section)
        } else {
            splice::splice(file, name, &section)
        };
        up_to_date &= outcome? == Outcome::UpToDate;
    }
    Ok(up_to_date)
}

/// What [`splice_into`] writes; `folder` is the run's folder as seen from the README.
pub fn readme_section(run: &Run, folder: &str) -> String {
    let picture = plot::emblem(run).map(|found| {
        let image = markdown::image(&found.title, &format!("{folder}/{PLOTS}/{}", found.file));
        format!("\n{image}\n")
    });
    let table = summary::at_a_glance(run, None);
    section(run, folder, vec![table], &picture.unwrap_or_default())
}

/// Tables of a run, a picture, and the way to the rest.
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

/// The way from the folder of a file to another folder, with `/` whatever the system.
fn link_from(file: &Path, dir: &Path) -> Result<String> {
    let whole = |path: &Path| {
        fs::canonicalize(path).with_context(|| format!("cannot find {}", path.display()))
    };
    let (file, dir) = (whole(file)?, whole(dir)?);
    let base: Vec<_> = file.parent().unwrap_or(Path::new("")).components().collect();
    let goal: Vec<_> = dir.components().collect();
    let common = base.iter().zip(&goal).take_while(|(a, b)| a == b).count();
    let up = base[common..].iter().map(|_| "..".to_owned());
    let down = goal[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}
