//! The claims of the articles, as the command and the report show them.
//!
//! [`judge`](crate::judge()) decides and [`front`] counts; this module presents. [`page`] arranges
//! the report, [`question`] finds claims by words, [`tables`] makes the tables and
//! `pictures` the charts. [`write`](write()) writes the folder:
//!
//! | file | what |
//! |---|---|
//! | `index.html`, `README.md` | front, headlines and statements, for a browser and for a forge |
//! | `pages/` | a page for each claim, for both |
//! | `plots/`, `report.css` | what the pages show and how they look |
//! | `front.json`, `verdicts.json` | the table and the statements, for programs |
//! | `summary.md` | the section of the project's README |

pub mod page;
mod pictures;
pub mod question;
pub mod tables;

use crate::Judgement;
use crate::front::{self, Front};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use wheelhouse_present::document::Document;
use wheelhouse_present::files::write_whole;
use wheelhouse_present::table::Table;
use wheelhouse_present::{html, markdown};

const PAGE: &str = "index.html";
/// The same as Markdown. A forge shows a file of this name with the folder.
const MARKDOWN: &str = "README.md";
const VERDICTS: &str = "verdicts.json";
const SUMMARY: &str = "summary.md";
const FRONT: &str = "front.json";

/// Writes the report into a folder, which is created if needed. Returns the path of the page.
pub fn write(
    judgement: &Judgement,
    front: &Front,
    document: &Document,
    dir: &Path,
) -> Result<PathBuf> {
    let plots = document.pictures().map(|it| (it.file.clone(), it.svg.clone()));
    write_folder(&dir.join(markdown::PLOTS), "svg", plots.collect())?;
    let pages = dir.join(markdown::PAGES);
    let texts = document.entries().map(|it| (format!("{}.md", it.name), markdown::page(it)));
    write_folder(&pages, "md", texts.collect())?;
    let texts = document.entries().map(|it| (format!("{}.html", it.name), html::render_entry(it)));
    write_folder(&pages, "html", texts.collect())?;
    let front_json = serde_json::to_string_pretty(&front::grid(front).json())? + "\n";
    let page = dir.join(PAGE);
    for (name, content) in [
        (VERDICTS, tables::json(judgement)? + "\n"),
        (FRONT, front_json),
        (MARKDOWN, markdown::render(document)),
        (SUMMARY, summary(judgement, front)),
        (PAGE, html::render_with_files(document)),
        (html::STYLE_FILE, html::STYLE.to_owned()),
    ] {
        write_whole(&dir.join(name), content.as_bytes())?;
    }
    Ok(page)
}

/// The section for the project's README: the question and its answer, a table with a line for each
/// of some structures, and the tally.
pub fn summary(judgement: &Judgement, front: &Front) -> String {
    let brief = front::brief(front);
    let (question, answer) = (front::QUESTION, front::answer(front));
    let notes = brief.notes.join(" ");
    let table = Table { notes: Vec::new(), ..brief }.markdown_rows();
    format!("**{question}** {answer}\n\n{table}\n{notes} {}\n", tables::tally(judgement))
}

/// Writes files of one kind into a folder, and removes files of that kind from an earlier report.
fn write_folder(dir: &Path, kind: &str, files: Vec<(String, String)>) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    for (name, content) in &files {
        write_whole(&dir.join(name), content.as_bytes())?;
    }
    remove_others(dir, kind, |name| files.iter().any(|(file, _)| file == name))
}

/// Removes the files of a kind that the new report does not have.
fn remove_others(dir: &Path, kind: &str, is_kept: impl Fn(&str) -> bool) -> Result<()> {
    let cannot = || format!("cannot look through an earlier report in {}", dir.display());
    for entry in fs::read_dir(dir).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let name = entry.file_name();
        let is_of_kind = entry.path().extension().is_some_and(|it| it == kind);
        if is_of_kind && !name.to_str().is_some_and(&is_kept) {
            fs::remove_file(entry.path())
                .with_context(|| format!("cannot remove {}", entry.path().display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_an_earlier_report_has_left_are_removed() -> Result<()> {
        let dir = std::env::temp_dir().join(format!("wheelhouse-plots-{}", std::process::id()));
        fs::create_dir_all(&dir)?;
        for name in ["kept.svg", "gone.svg", "notes.txt"] {
            fs::write(dir.join(name), "")?;
        }
        remove_others(&dir, "svg", |name| name == "kept.svg")?;
        let mut left: Vec<_> =
            fs::read_dir(&dir)?.map(|it| Ok(it?.file_name())).collect::<Result<_>>()?;
        left.sort();
        fs::remove_dir_all(&dir)?;
        assert_eq!(left, ["kept.svg", "notes.txt"]);
        Ok(())
    }
}
