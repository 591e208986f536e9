//! What a person and a program read of a run.

use crate::experiments::Experiment;
use crate::glance;
use crate::judged::{self, Sample, missed, samples, verdict};
use crate::run::{Row, Run};
use crate::targets::OURS;
use anyhow::{Context, Result};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use wheelhouse_machine::provenance;
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::files::write_whole;
use wheelhouse_present::markdown;
use wheelhouse_present::table::{Cell, Column, Table};

/// In which form to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people, on a terminal.
    #[default]
    Table,
    /// A list of objects, one for each play.
    Json,
    /// The report as Markdown.
    Markdown,
}

/// The run in one of the forms.
///
/// # Errors
///
/// If it cannot be written as JSON.
pub fn render(run: &Run, form: Form) -> Result<String> {
    match form {
        Form::Table => {
            let last = [glance::at_a_glance(run), judged::table(run)];
            let tables = tables(run).into_iter().chain(last.into_iter().flatten());
            Ok(tables.map(|table| table.terminal() + "\n").collect())
        }
        Form::Json => rows(run),
        Form::Markdown => Ok(markdown::render(&document(run))),
    }
}

/// The report, in a folder of its own.
pub const REPORT: &str = "report.md";
/// The part of it that a README shows.
pub const SUMMARY: &str = "summary.md";

/// Writes `report.md` and `rows.json` into a folder, and a summary if all was played. Gives the
/// path of the report.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(run: &Run, dir: &Path) -> Result<PathBuf> {
    write_whole(&dir.join("rows.json"), rows(run)?.as_bytes())?;
    let page = dir.join(REPORT);
    write_whole(&page, markdown::render(&document(run)).as_bytes())?;
    if let Some(section) = glance::section(run) {
        write_whole(&dir.join(SUMMARY), section.as_bytes())?;
    }
    Ok(page)
}

/// Every play, with all of its figures and where they come from.
fn rows(run: &Run) -> Result<String> {
    let row = |row: &Row| {
        let mut object = json!({
            "experiment": row.experiment.name(),
            "what": row.experiment.title(&run.load),
            "facility": row.facility,
            "repetition": row.repetition,
            "wrong": row.played.as_ref().err(),
        });
        for figure in row.played.iter().flatten() {
            object[figure.key()] = Value::from(figure.value);
        }
        object
    };
    let provenance = serde_json::to_value(&run.provenance)
        .context("cannot write where the figures come from")?;
    let all = json!({
        "provenance": provenance,
        "interrupted": run.interrupted,
        "rows": run.rows.iter().map(row).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&all).context("cannot write the rows as JSON")? + "\n")
}

/// The report.
pub fn document(run: &Run) -> Document {
    let mut blocks = Vec::new();
    if run.interrupted {
        blocks.push(Block::Warning("The run was interrupted: plays are missing.".to_owned()));
    }
    if run.provenance.dirty {
        blocks.push(Block::Warning("The source had uncommitted changes.".to_owned()));
    }
    blocks.extend(missed(run).into_iter().map(Block::Warning));
    let first = [judged::table(run), glance::at_a_glance(run)];
    blocks.extend(first.into_iter().flatten().chain(tables(run)).map(Block::Table));
    blocks.push(Block::Heading("Who took part".to_owned()));
    blocks.push(Block::Points(
        run.facilities.iter().map(|(name, about)| format!("{name}: {about}")).collect(),
    ));
    blocks.push(Block::Heading("Where these figures come from".to_owned()));
    blocks.push(Block::Text(
        "How they come about, and how to distrust them: benches/SERVICE.md.".to_owned(),
    ));
    blocks.push(Block::Facts(provenance::lines(&run.provenance)));
    Document {
        title: "The service under load, beside others".to_owned(),
        subtitle: provenance::line(&run.provenance),
        blocks,
    }
}

/// A table for each experiment that was played.
pub fn tables(run: &Run) -> Vec<Table> {
    let played = |it: &Experiment| run.rows.iter().any(|row| row.experiment == *it);
    Experiment::ALL.into_iter().filter(played).map(|experiment| table(run, experiment)).collect()
}

fn table(run: &Run, experiment: Experiment) -> Table {
    let rows: Vec<_> = run.rows.iter().filter(|row| row.experiment == experiment).collect();
    let names = rows.iter().find_map(|row| row.played.as_ref().ok()).into_iter().flatten();
    let columns = [Column::left("facility")]
        .into_iter()
        .chain(names.map(|figure| Column::right(figure.name)));
    let mut table = Table::new(experiment.title(&run.load), columns.collect());
    for (facility, _) in &run.facilities {
        let of: Vec<_> = rows.iter().filter(|row| row.facility == *facility).copied().collect();
        if of.is_empty() {
            continue;
        }
        match of.iter().find_map(|row| row.played.as_ref().err()) {
            Some(wrong) => {
                table.rows.push(vec![Cell::text(*facility), Cell::wrong()]);
                table.notes.push(format!("WRONG: {facility}: {wrong}"));
            }
            None => {
                table.notes.extend((*facility == OURS).then(|| verdict(run, experiment)).flatten());
                table.rows.push([Cell::text(*facility)].into_iter().chain(cells(&of)).collect());
            }
        }
    }
    let repetitions = rows.iter().map(|row| row.repetition).max().unwrap_or(0);
    if repetitions > 1 {
        let spread = "±: median absolute deviation, as a share";
        let worst: Vec<_> = samples(&rows)
            .iter()
            .map(|it| it.figure)
            .filter(|it| it.is_worst)
            .map(|it| it.name)
            .collect();
        let worst = if worst.is_empty() {
            String::new()
        } else {
            format!("; {}: the worst of all", worst.join(", "))
        };
        table.notes.push(format!(
            "Medians of {repetitions} repetitions, all facilities in turn in each{worst}; {spread}."
        ));
    }
    table.notes.extend(experiment.notes().iter().map(|note| (*note).to_owned()));
    table
}

fn cells(rows: &[&Row]) -> Vec<Cell> {
    samples(rows).iter().map(Sample::cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Figure, Played};
    use crate::load::Load;

    fn run(plays: Vec<(&'static str, Played)>) -> Run {
        let mut run = Run {
            provenance: provenance::gather(1),
            load: Load::whole(),
            facilities: vec![(OURS, "ours"), ("heap-and-condvar", "another"), ("other", "third")],
            rows: Vec::new(),
            interrupted: false,
        };
        let row = |(n, (facility, played))| Row {
            experiment: Experiment::Schedule,
            facility,
            repetition: n / 2 + 1,
            played,
        };
        run.rows.extend(plays.into_iter().enumerate().map(row));
        run
    }

    /// The tables, without the breaks of their lines.
    fn shown(run: &Run) -> String {
        let text = render(run, Form::Table).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn figures(rate: f64, bytes: f64) -> Played {
        let bytes = Figure::bytes("bytes/job", bytes as usize, 1);
        Ok(vec![Figure::rate("jobs/s", 1, 1e9 / rate), bytes])
    }

    #[test]
    fn a_table_shows_medians_and_whether_what_is_asked_is_reached() {
        let run = run(vec![
            (OURS, figures(3e6, 80.0)),
            ("heap-and-condvar", figures(1e6, 97.0)),
            (OURS, figures(1e6, 120.0)),
            ("heap-and-condvar", figures(2e6, 97.0)),
        ]);
        let text = shown(&run);
        for part in [
            "2,000,000",
            "± 50 %",
            "jobs/s at least 1.4 × heap-and-condvar: 1.33 ×, MISSED",
            "bytes/job at most 90.0: 100, MISSED",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!((run.exit_code(), run.wrong().count()), (0, 0));
        let missed = missed(&run);
        assert_eq!(
            missed,
            [
                "MISSED: schedule: jobs/s at least 1.4 × heap-and-condvar: 1.33 ×",
                "MISSED: schedule: bytes/job at most 90.0: 100"
            ]
        );
        let page = render(&run, Form::Markdown).unwrap();
        assert!(page.contains(&missed[0]) && page.contains("| 1.33 × | MISSED |"), "{page}");
    }

    /// What is said of a run, in which these are the values of a figure.
    fn said(experiment: Experiment, plays: &[(&'static str, Figure)]) -> Option<String> {
        let mut run = run(plays.iter().map(|(name, figure)| (*name, Ok(vec![*figure]))).collect());
        run.facilities = plays.iter().map(|(name, _)| (*name, "")).collect();
        run.rows.iter_mut().for_each(|row| row.experiment = experiment);
        verdict(&run, experiment)
    }

    #[test]
    fn a_bound_may_be_what_others_reach() {
        let rate = |n: u64| Figure::rate("pairs/s", n, 1e9);
        let plays = [(OURS, rate(31)), ("wheelhouse-heap", rate(90)), ("tokio-sleep", rate(10))];
        let each = "Asked of wheelhouse: pairs/s at least 3 × each other row: 3.10 × the best, \
                    reached.";
        assert_eq!(said(Experiment::PairsBeside, &plays).as_deref(), Some(each));
        let tail = |nanos| Figure::time("p99.9", nanos);
        let of = |ours| said(Experiment::Fires, &[(OURS, tail(ours)), ("a-sleeper", tail(5e5))]);
        let beyond = "Asked of wheelhouse: p99.9 at most 1.00 ms beyond a-sleeper: ";
        assert_eq!(of(1.5e6), Some(format!("{beyond}1.50 ms beside 500 µs, reached.")));
        assert_eq!(of(1.6e6), Some(format!("{beyond}1.60 ms beside 500 µs, MISSED.")));
        let bytes = |n| Figure::bytes("bytes/job", n, 1);
        let tasks = [("wheelhouse-sleep", bytes(240)), ("tokio-sleep", bytes(256))];
        let no_more = "Asked of wheelhouse: bytes/job of wheelhouse-sleep no more than \
                       tokio-sleep: 240 beside 256, reached.";
        assert_eq!(said(Experiment::PairsBeside, &tasks).as_deref(), Some(no_more));
        assert_eq!(said(Experiment::PairsBeside, &plays[..1]), None, "there is nobody beside it");
    }

    #[test]
    fn of_what_is_never_to_be_exceeded_the_worst_counts() {
        let late =
            |nanos| Ok(vec![Figure::time("p50", 1_000.0), Figure::time("max", nanos).worst()]);
        let mut run = run(vec![
            (OURS, late(1e6)),
            ("other", late(1e6)),
            (OURS, late(2e6)),
            ("other", late(1e6)),
            (OURS, late(2e8)),
        ]);
        run.rows.iter_mut().for_each(|row| row.experiment = Experiment::Sessions);
        let text = shown(&run);
        for part in ["200 ms", "max: the worst of all", "max at most 100 ms: 200 ms, MISSED"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(missed(&run).len(), 1);
    }

    #[test]
    fn at_another_size_than_the_one_asked_of_nothing_is_judged() {
        let mut run = run(vec![(OURS, figures(10.0, 1e9)), ("other", figures(10.0, 1e9))]);
        run.load.pending /= 2;
        let text = shown(&run);
        let needs = "not judged, as it is asked of more: needs --jobs 1000000.";
        assert!(text.contains(needs) && !text.contains("MISSED"), "{text}");
        assert_eq!(missed(&run), Vec::<String>::new());
    }

    #[test]
    fn who_is_wrong_has_no_figures() {
        let run =
            run(vec![(OURS, figures(3e6, 500.0)), ("other", Err("1 did not run".to_owned()))]);
        let text = render(&run, Form::Markdown).unwrap();
        assert!(
            text.contains("WRONG: other: 1 did not run") && text.contains("3,000,000"),
            "{text}"
        );
        let json: Value = serde_json::from_str(&render(&run, Form::Json).unwrap()).unwrap();
        assert_eq!(json["rows"][1]["wrong"], "1 did not run");
        assert_eq!(json["rows"][0]["jobs_s_per_s"], 3e6);
        assert_eq!(run.exit_code(), 1);
    }
}
