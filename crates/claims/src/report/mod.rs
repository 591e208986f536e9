//! The claims of the articles, as the command and the report show them.
//!
//! [`judge`](crate::judge()) decides; here it is only said: [`tables`] in rows, [`page`] as a page
//! from the first article to the last, or for a single claim, [`pictures`] the charts.
//! [`write`](write()) puts the whole into a folder.

pub mod page;
pub mod pictures;
pub mod tables;

use crate::Judgement;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use wheelhouse_present::document::{Block, Document, Picture};
use wheelhouse_present::files::write_whole;
use wheelhouse_present::{html, markdown};

/// The page.
pub const PAGE: &str = "index.html";
/// The same as Markdown, under the name that a forge shows of a folder.
pub const MARKDOWN: &str = "README.md";
/// The verdicts, for programs.
pub const VERDICTS: &str = "verdicts.json";
/// What stands in the README of the project.
pub const SUMMARY: &str = "summary.md";
/// The name of the markers in a README between which the summary is shown.
pub const SECTION: &str = "claims";

/// Writes page, Markdown, pictures, verdicts and summary into a folder, which is made if it is missing. Gives the path of the page.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(judgement: &Judgement, document: &Document, dir: &Path) -> Result<PathBuf> {
    let plots = dir.join(markdown::PLOTS);
    fs::create_dir_all(&plots)
        .with_context(|| format!("cannot make the folder {}", plots.display()))?;
    let pictures = pictures_of(&document.blocks);
    for picture in &pictures {
        write_whole(&plots.join(&picture.file), picture.svg.as_bytes())?;
    }
    remove_others(&plots, |name| pictures.iter().any(|picture| picture.file == name))?;
    write_whole(&dir.join(VERDICTS), (tables::json(judgement)? + "\n").as_bytes())?;
    write_whole(&dir.join(MARKDOWN), markdown::render(document).as_bytes())?;
    let summary = tables::tally(judgement) + "\n";
    write_whole(&dir.join(SUMMARY), summary.as_bytes())?;
    let page = dir.join(PAGE);
    write_whole(&page, html::render(document).as_bytes())?;
    Ok(page)
}

/// Removes the plots that an earlier report has left and this one does not show.
fn remove_others(plots: &Path, is_shown: impl Fn(&str) -> bool) -> Result<()> {
    let cannot =
        || format!("cannot look through the plots of an earlier report in {}", plots.display());
    for entry in fs::read_dir(plots).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let name = entry.file_name();
        let is_plot = entry.path().extension().is_some_and(|it| it == "svg");
        if is_plot && !name.to_str().is_some_and(&is_shown) {
            fs::remove_file(entry.path())
                .with_context(|| format!("cannot remove {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// All pictures of a document, those that are folded away too.
fn pictures_of(blocks: &[Block]) -> Vec<&Picture> {
    fn of(block: &Block) -> Vec<&Picture> {
        match block {
            Block::Picture(picture, _) => vec![picture],
            Block::Folded(_, blocks) => pictures_of(blocks),
            _ => Vec::new(),
        }
    }
    blocks.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_that_an_earlier_report_has_left_are_removed() -> Result<()> {
        let dir = std::env::temp_dir().join(format!("wheelhouse-plots-{}", std::process::id()));
        fs::create_dir_all(&dir)?;
        for name in ["kept.svg", "gone.svg", "notes.txt"] {
            fs::write(dir.join(name), "")?;
        }
        remove_others(&dir, |name| name == "kept.svg")?;
        let mut left: Vec<_> =
            fs::read_dir(&dir)?.map(|it| Ok(it?.file_name())).collect::<Result<_>>()?;
        left.sort();
        fs::remove_dir_all(&dir)?;
        assert_eq!(left, ["kept.svg", "notes.txt"]);
        Ok(())
    }
}
