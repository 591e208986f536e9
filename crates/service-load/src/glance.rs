//! The run in one table: for each experiment the figures that matter when you choose a facility.

use crate::experiments::Experiment;
use wheelhouse_frame::run::Run;
use wheelhouse_frame::{Experiment as _, Sample};
use wheelhouse_present::table::{Cell, Column, Table};

/// The columns: head, experiment, and name of the figure.
const SHOWN: [(&str, Experiment, &str); 16] = [
    ("pairs/s", Experiment::PairsWindow, "pairs/s"),
    ("64 producers\np99.99", Experiment::Producers, "p99.99"),
    ("schedules/s", Experiment::Schedule, "jobs/s"),
    ("bytes/job", Experiment::Schedule, "bytes/job"),
    ("refreshes/s", Experiment::Refresh, "refreshes/s"),
    ("fires\np50", Experiment::Fires, "p50"),
    ("fires\np99", Experiment::Fires, "p99"),
    ("fires\np99.9", Experiment::Fires, "p99.9"),
    ("CPU/fire", Experiment::Fires, "CPU/job"),
    ("CPU/fire\nat 300,000/s", Experiment::Fires300k, "CPU/job"),
    ("slow jobs\np99.9", Experiment::SlowJobs, "p99.9"),
    ("1 ms jobs\np99", Experiment::MillisecondJobs, "p99"),
    ("CPU/periodic\nrun", Experiment::Periodic, "CPU/run"),
    ("sessions\nlatest", Experiment::Sessions, "max"),
    ("server\nprocessors", Experiment::Server, "processors"),
    ("burst\nruns/s", Experiment::Audit, "runs/s"),
];

/// The table, or `None` if some of its experiments were not played.
pub(crate) fn at_a_glance(run: &Run<Experiment>) -> Option<Table> {
    if !SHOWN.iter().all(|(_, experiment, _)| run.has_plays_of(*experiment)) {
        return None;
    }
    let heads = SHOWN.iter().map(|(head, ..)| Column::right(*head));
    let columns = [Column::left("backend")].into_iter().chain(heads).collect();
    let mut table = Table::new("At a glance", columns);
    for (name, _) in &run.contenders {
        let cells =
            SHOWN.iter().map(|(_, experiment, figure)| cell(run, name, *experiment, figure));
        table.rows.push([Cell::text(*name)].into_iter().chain(cells).collect());
    }
    for it in Experiment::ALL.iter().filter(|it| SHOWN.iter().any(|(_, shown, _)| shown == *it)) {
        table.notes.push(format!("{}: {}.", it.name(), it.title(&run.load)));
    }
    Some(table)
}

/// The cell of a facility: a dash if it has not played, "WRONG" if the play failed.
fn cell(run: &Run<Experiment>, facility: &str, experiment: Experiment, figure: &str) -> Cell {
    match run.samples_of(experiment, facility) {
        None => Cell::missing(),
        Some(Err(_)) => Cell::wrong(),
        Some(Ok(samples)) => {
            let found = samples.iter().find(|sample| sample.figure.name == figure);
            found.map_or_else(Cell::missing, Sample::cell)
        }
    }
}
