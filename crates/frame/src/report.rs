//! The report of a run, for people and for programs.

use crate::bound;
use crate::experiment::Experiment;
use crate::figure::Sample;
use crate::run::{Row, Run};
use anyhow::Result;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use wheelhouse_machine::provenance;
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::files::write_whole;
use wheelhouse_present::markdown;
use wheelhouse_present::table::{Cell, Column, Format, Table};

/// The name of the report, in the folder of the run.
pub const REPORT: &str = "report.md";

/// The name of the part that a README shows.
pub const SUMMARY: &str = "summary.md";

/// The name of the file with every play, for programs.
pub const ROWS: &str = "rows.json";

/// The run in one of the formats: all tables for people, all plays for programs.
pub fn render<E: Experiment>(run: &Run<E>, format: Format) -> String {
    match format {
        Format::Table => {
            let last = [E::at_a_glance(run), bound::table(run)];
            let tables = tables(run).into_iter().chain(last.into_iter().flatten());
            tables.map(|table| table.terminal() + "\n").collect()
        }
        Format::Json => rows(run),
    }
}

/// Writes the report and the rows into a folder, and a summary if there are figures for one.
/// Returns the path of the report.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write<E: Experiment>(run: &Run<E>, dir: &Path) -> Result<PathBuf> {
    write_rows(run, dir)?;
    let page = dir.join(REPORT);
    write_whole(&page, markdown::render(&document(run)).as_bytes())?;
    if let Some(summary) = summary(run) {
        write_whole(&dir.join(SUMMARY), summary.as_bytes())?;
    }
    Ok(page)
}

pub(crate) fn write_rows<E: Experiment>(run: &Run<E>, dir: &Path) -> Result<()> {
    write_whole(&dir.join(ROWS), rows(run).as_bytes())
}

/// The summary for a page: the bounds and the table at a glance, as far as there are any.
fn summary<E: Experiment>(run: &Run<E>) -> Option<String> {
    let mut tables: Vec<_> =
        [bound::table(run), E::at_a_glance(run)].into_iter().flatten().collect();
    let measured = format!("Measured on {}.", provenance::line(&run.provenance));
    tables.last_mut()?.notes.push(measured);
    Some(tables.iter().map(|table| table.markdown() + "\n").collect())
}

/// All plays with their figures and the provenance, as JSON.
fn rows<E: Experiment>(run: &Run<E>) -> String {
    let row = |row: &Row<E>| {
        let mut object = json!({
            "experiment": row.experiment.name(),
            "what": row.experiment.title(&run.load),
            "backend": row.contender,
            "round": row.round,
            "wrong": row.played.as_ref().err(),
        });
        for figure in row.played.iter().flatten() {
            object[figure.key()] = Value::from(figure.value);
        }
        object
    };
    let all = json!({
        "provenance": run.provenance,
        "interrupted": run.interrupted,
        "rows": run.rows.iter().map(row).collect::<Vec<_>>(),
    });
    format!("{all:#}\n")
}

fn document<E: Experiment>(run: &Run<E>) -> Document {
    let mut blocks = Vec::new();
    if run.interrupted {
        blocks.push(Block::Warning("The run was interrupted: plays are missing.".to_owned()));
    }
    if run.provenance.dirty {
        blocks.push(Block::Warning("The source had uncommitted changes.".to_owned()));
    }
    blocks.extend(bound::missed(run).into_iter().map(Block::Warning));
    let first = [bound::table(run), E::at_a_glance(run)];
    blocks.extend(first.into_iter().flatten().chain(tables(run)).map(Block::Table));
    blocks.push(Block::Heading("Contenders".to_owned()));
    let about = run.contenders.iter().map(|(name, about)| format!("{name}: {about}"));
    blocks.push(Block::Points(about.collect()));
    blocks.push(Block::Heading("Where these figures come from".to_owned()));
    blocks.extend(E::METHOD.map(|page| {
        Block::Text(format!("How they are measured, and how far to trust them: {page}."))
    }));
    let mut facts = provenance::facts(&run.provenance);
    facts.push(("SHA-256 of rows.json", digest(rows(run))));
    blocks.push(Block::Facts(facts));
    let (title, subtitle) = (E::TITLE.to_owned(), provenance::line(&run.provenance));
    Document { title, subtitle, blocks }
}

/// The SHA-256 of a file with this content, in hexadecimal digits. Reports name that of their run,
/// and `scripts/check-runs` compares it with the kept file.
pub fn digest(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A table for each experiment that was played.
fn tables<E: Experiment>(run: &Run<E>) -> Vec<Table> {
    E::ALL.iter().filter(|it| run.has_plays_of(**it)).map(|it| table(run, *it)).collect()
}

fn table<E: Experiment>(run: &Run<E>, experiment: E) -> Table {
    let title = format!("{}: {}", experiment.name(), experiment.title(&run.load));
    let mut table = Table::new(title, vec![Column::left("backend")]);
    let mut worst = Vec::new();
    for (contender, _) in &run.contenders {
        let cells: Vec<Cell> = match run.samples_of(experiment, contender) {
            None => continue,
            Some(Err(wrong)) => {
                table.notes.push(format!("WRONG: {contender}: {wrong}"));
                vec![Cell::wrong()]
            }
            Some(Ok(samples)) => {
                // A row may lack the last columns.
                for sample in samples.iter().skip(table.columns.len() - 1) {
                    table.columns.push(Column::right(sample.figure.name));
                    worst.extend(sample.figure.is_worst.then_some(sample.figure.name));
                }
                samples.iter().map(Sample::cell).collect()
            }
        };
        table.rows.push([Cell::text(*contender)].into_iter().chain(cells).collect());
    }
    let played = run.rows.iter().filter(|row| row.experiment == experiment);
    let rounds = played.map(|row| row.round).max().unwrap_or(0);
    if rounds > 1 {
        let worst = match worst.as_slice() {
            [] => String::new(),
            names => format!("; {}: the worst of all rounds", names.join(", ")),
        };
        table.notes.push(format!(
            "Medians of {rounds} interleaved rounds{worst}. ±: median absolute deviation, in \
             percent of the median."
        ));
    }
    table.notes.extend(experiment.notes().iter().map(|note| (*note).to_owned()));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Figure, Played};
    use crate::testing::{TestExperiment, run};

    fn figures(rate: f64, longest: f64) -> Played {
        Ok(vec![Figure::rate("pairs/s", 1, 1e9 / rate), Figure::time("max", longest).worst()])
    }

    /// The tables, without line breaks.
    fn shown(run: &Run<TestExperiment>) -> String {
        render(run, Format::Table).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_table_shows_medians_and_whether_bounds_are_reached() {
        let plays =
            [("ours", 3e6, 1e6), ("other", 1e6, 1e6), ("ours", 1e6, 2e8), ("other", 2e6, 1e6)];
        let plays = plays.map(|(name, rate, longest)| (name, figures(rate, longest)));
        let run = run(TestExperiment::PairsNear, 10, plays);
        let text = shown(&run);
        for part in ["2,000,000", "± 50 %", "200 ms", "max: the worst of all", "1.33 ×", "MISSED"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let page = markdown::render(&document(&run));
        for part in ["MISSED: pairs-near, pairs/s of ours", "plays nothing", "benches/NOTHING.md"] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn a_report_names_the_digest_of_its_rows() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest("abc"), abc);
        let run = run(TestExperiment::PairsNear, 10, [("ours", figures(3e6, 5e2))]);
        let page = markdown::render(&document(&run));
        let of_rows = digest(render(&run, Format::Json));
        assert!(page.contains(&format!("- SHA-256 of rows.json: {of_rows}\n")), "{page}");
    }

    #[test]
    fn a_row_may_lack_the_last_columns() {
        let short = Ok(vec![Figure::rate("pairs/s", 1, 1e3)]);
        let text = shown(&run(
            TestExperiment::PairsNear,
            10,
            [("other", short), ("ours", figures(3e6, 5e2))],
        ));
        assert!(text.contains("max") && text.contains("500 ns"), "{text}");
    }

    #[test]
    fn a_wrong_answer_has_no_figures() {
        let wrong = Err("1 did not run".to_owned());
        let plays = [("ours", figures(3e6, 5e2)), ("other", wrong)];
        let run = run(TestExperiment::PairsNear, 10, plays);
        let text = shown(&run);
        assert!(text.contains("WRONG: other: 1 did not run"), "{text}");
        assert!(text.contains("3,000,000"), "{text}");
        let json: Value = serde_json::from_str(&render(&run, Format::Json)).unwrap();
        assert_eq!(json["rows"][1]["wrong"], "1 did not run");
        assert_eq!(json["rows"][0]["pairs_s_per_s"], 3e6);
    }
}
