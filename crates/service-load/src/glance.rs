//! The run in one table: of each experiment the figures that somebody asks for who chooses a
//! facility.

use crate::experiments::Experiment;
use crate::judged::{Sample, samples, table};
use crate::run::{Row, Run};
use wheelhouse_machine::provenance;
use wheelhouse_present::table::{Cell, Column, Table};

/// What is shown: the head of the column, and the figure.
const SHOWN: [(&str, Experiment, &str); 11] = [
    ("pairs/s", Experiment::PairsWindow, "pairs/s"),
    ("schedules/s", Experiment::Schedule, "jobs/s"),
    ("bytes/job", Experiment::Schedule, "bytes/job"),
    ("refreshes/s", Experiment::Refresh, "refreshes/s"),
    ("fires\np50", Experiment::Fires, "p50"),
    ("fires\np99", Experiment::Fires, "p99"),
    ("fires\np99.9", Experiment::Fires, "p99.9"),
    ("CPU/fire", Experiment::Fires, "CPU/job"),
    ("CPU/periodic\nrun", Experiment::Periodic, "CPU/run"),
    ("sessions\nlatest", Experiment::Sessions, "max"),
    ("burst\nruns/s", Experiment::Audit, "runs/s"),
];

/// The table, if enough was played to fill it.
pub(crate) fn at_a_glance(run: &Run) -> Option<Table> {
    let was_played = |it: &Experiment| run.rows.iter().any(|row| row.experiment == *it);
    if !SHOWN.iter().all(|(_, experiment, _)| was_played(experiment)) {
        return None;
    }
    let heads = SHOWN.iter().map(|(head, ..)| Column::right(*head));
    let mut table =
        Table::new("At a glance", [Column::left("facility")].into_iter().chain(heads).collect());
    for (facility, _) in &run.facilities {
        let cells =
            SHOWN.iter().map(|(_, experiment, figure)| cell(run, facility, *experiment, figure));
        table.rows.push([Cell::text(*facility)].into_iter().chain(cells).collect());
    }
    for experiment in
        Experiment::ALL.into_iter().filter(|it| SHOWN.iter().any(|(_, shown, _)| shown == it))
    {
        table.notes.push(format!("{}.", experiment.title(&run.load)));
    }
    Some(table)
}

/// A figure of a facility: a dash if it has not played, and no figure if it was wrong.
fn cell(run: &Run, facility: &str, experiment: Experiment, figure: &str) -> Cell {
    let rows: Vec<&Row> = run
        .rows
        .iter()
        .filter(|row| row.experiment == experiment && row.facility == facility)
        .collect();
    if rows.iter().any(|row| row.played.is_err()) {
        return Cell::wrong();
    }
    let samples = samples(&rows);
    let found = samples.iter().find(|sample| sample.figure.name == figure);
    found.map_or_else(Cell::missing, Sample::cell)
}

/// The table as it stands in a README, with what is asked: what was played, where, and when.
pub(crate) fn section(run: &Run) -> Option<String> {
    let mut glance = at_a_glance(run)?;
    glance.notes.push(format!("Measured on {}.", provenance::line(&run.provenance)));
    let asked = table(run).map_or(String::new(), |table| table.markdown() + "\n");
    Some(asked + &glance.markdown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Figure;
    use crate::load::Load;

    fn run(experiments: &[Experiment]) -> Run {
        let row = |&experiment| {
            let figures = SHOWN.iter().filter(|(_, shown, _)| *shown == experiment);
            let figures = figures.map(|(_, _, name)| Figure::time(name, 5_000.0)).collect();
            let row = |facility, played| Row { experiment, facility, repetition: 1, played };
            [row("wheelhouse", Ok(figures)), row("other", Err("1 did not run".to_owned()))]
        };
        Run {
            provenance: provenance::gather(1),
            load: Load::whole(),
            facilities: vec![("wheelhouse", "ours"), ("other", "another")],
            rows: experiments.iter().flat_map(row).collect(),
            interrupted: false,
        }
    }

    #[test]
    fn every_figure_that_is_shown_is_there_and_who_is_wrong_has_none() {
        let text = section(&run(&Experiment::ALL)).unwrap();
        let line = |name: &str| {
            text.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap().to_owned()
        };
        assert_eq!(
            (
                line("wheelhouse").matches("5.00 µs").count(),
                line("wheelhouse").matches('-').count()
            ),
            (SHOWN.len(), 0)
        );
        assert_eq!(line("other").matches("WRONG").count(), SHOWN.len());
        assert!(
            text.contains("| fires | wheelhouse | p50 | at most 100 µs | 5.00 µs | reached |")
                && text.contains("Measured on"),
            "{text}"
        );
    }

    #[test]
    fn a_run_of_some_experiments_has_no_such_table() {
        assert!(at_a_glance(&run(&[Experiment::Fires, Experiment::Audit])).is_none());
    }
}
