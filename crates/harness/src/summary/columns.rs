//! The columns of the table. Each shows a measure of a workload, a tail, or memory.

use super::{CellContent, best, find_throughput, is_wrong, ratio_cell, workloads};
use crate::model::{FLOOR, Footprint, Latency, Run};
use crate::stream::{MIX, TRACE};
use wheelhouse_present::table::Cell;
use wheelhouse_present::units;

/// If the best of a tail is within this factor of the floor, the machine decides and nothing wins.
const FLOOR_DECIDES: f64 = 3.0;

/// How many columns fit next to the names in a terminal 100 characters wide.
const ESSENTIAL_COUNT: usize = 6;

/// A percentile of a distribution.
type Percentile = fn(&Latency) -> Option<u64>;

/// A cost of a trace other than time.
type FootprintFigure = fn(&Footprint) -> f64;

/// A column, and where its figures come from.
pub(super) struct TableColumn {
    pub(super) heading: String,
    pub(super) workload: String,
    pub(super) n: u64,
    pub(super) kind: ColumnKind,
}

pub(super) enum ColumnKind {
    /// Median time per operation of a measure.
    Time(String),
    /// A percentile of the time of single operations of a kind.
    Tail(&'static str, Percentile),
    /// Bytes per live timer, after churn.
    Bytes,
    /// A cost of a trace other than time.
    Footprint(FootprintFigure),
}

impl TableColumn {
    pub(super) fn content(&self, run: &Run, backend: &str) -> CellContent {
        match &self.kind {
            ColumnKind::Time(measure) => {
                find_throughput(run, backend, &self.workload, self.n, measure)
            }
            ColumnKind::Tail(..) if is_wrong(run, backend, &self.workload, self.n) => {
                CellContent::Wrong
            }
            ColumnKind::Tail(operation, percentile) => {
                let is_it = |r: &&Latency| {
                    (r.backend.as_str(), r.workload.as_str(), r.n, r.operation.as_str())
                        == (backend, self.workload.as_str(), self.n, *operation)
                };
                let found = run.latency.iter().find(is_it).and_then(percentile);
                let found = found.map(|ns| ns as f64);
                found.map_or(CellContent::Missing, |ns| CellContent::Figure(ns, vec![ns]))
            }
            ColumnKind::Bytes => {
                let row = run.memory_of(backend, self.n);
                row.map_or(CellContent::Missing, |r| {
                    CellContent::Figure(r.churned, vec![r.churned])
                })
            }
            ColumnKind::Footprint(figure) => {
                let is_it = |r: &&Footprint| r.backend == backend && r.workload == self.workload;
                let found = run.footprints.iter().find(is_it).map(figure);
                found.map_or(CellContent::Missing, |figure| {
                    CellContent::Figure(figure, vec![figure])
                })
            }
        }
    }

    /// The figure that the others are compared with, if any.
    pub(super) fn best(&self, names: &[String], contents: &[CellContent]) -> Option<f64> {
        let best = best(names, contents)?;
        let floor =
            names.iter().position(|name| name == FLOOR).and_then(|at| contents[at].figure());
        let is_machine = floor.is_some_and(|floor| floor * FLOOR_DECIDES >= best);
        (!matches!(self.kind, ColumnKind::Tail(..)) || !is_machine).then_some(best)
    }

    pub(super) fn cell(&self, backend: &str, content: &CellContent, best: Option<f64>) -> Cell {
        let show =
            if matches!(self.kind, ColumnKind::Tail(..)) { units::time } else { units::number };
        ratio_cell(backend, content, best, show)
    }

    /// Returns `true` for a mix or trace of the user.
    fn is_of_user(&self) -> bool {
        let is_named = [MIX, TRACE].iter().any(|prefix| self.workload.starts_with(prefix));
        is_named && !crate::source::StreamSource::is_known(&self.workload)
    }

    /// How important the column is to a reader: 0 is the most important.
    fn rank(&self) -> usize {
        const WANTED: [&str; 6] =
            ["tcp", "steady", "fire-ticks", "insert-warm", "tick-p99.99", "advance-p99.99"];
        let key = self.heading.replace('\n', "-");
        match self.kind {
            _ if self.is_of_user() => 0,
            ColumnKind::Bytes => 1,
            _ => WANTED.iter().position(|it| *it == key).map_or(usize::MAX, |at| at + 2),
        }
    }
}

/// The [`ESSENTIAL_COUNT`] most important of [`all_columns`], in table order.
pub(super) fn essential_columns(run: &Run, n: u64) -> Vec<TableColumn> {
    let mut ranked: Vec<(usize, TableColumn)> =
        all_columns(run, n).into_iter().enumerate().collect();
    ranked.sort_by_key(|(at, column)| (column.rank(), *at));
    ranked.truncate(ESSENTIAL_COUNT);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, column)| column).collect()
}

/// The columns for which the run has rows, in the order of the table.
pub(super) fn all_columns(run: &Run, n: u64) -> Vec<TableColumn> {
    const MEASURES: [(&str, &[&str]); 8] = [
        ("insert-cold", &["uniform"]),
        ("insert-warm", &["uniform"]),
        ("cancel", &["uniform"]),
        ("reschedule", &["uniform"]),
        ("fire-jump", &["uniform"]),
        ("fire-ticks", &["uniform"]),
        ("steady", &["steady"]),
        ("hold", &["hold-exponential"]),
    ];
    let mut columns = Vec::new();
    for (measure, preferred) in MEASURES {
        let rows = run.throughput.iter().filter(|r| r.n == n && r.measure == measure);
        if let Some(workload) = first_present(rows.map(|r| r.workload.as_str()), preferred) {
            let heading = measure.replace('-', "\n");
            columns.push(TableColumn {
                heading,
                workload,
                n,
                kind: ColumnKind::Time(measure.to_owned()),
            });
        }
    }
    columns.extend(mixes(run, n));
    columns.extend(traces(run));
    columns.extend(footprints(run));
    columns.extend(tails(run, n));
    if run.memory.iter().any(|r| r.n == n) {
        columns.push(TableColumn {
            heading: "bytes after\nchurn".to_owned(),
            workload: String::new(),
            n,
            kind: ColumnKind::Bytes,
        });
    }
    columns
}

/// The 99.9th and 99.99th percentiles of a tick; if the clock never moves tick by tick, those of
/// its other movements.
fn tails(run: &Run, n: u64) -> Vec<TableColumn> {
    const PERCENTILES: [(&str, Percentile); 2] =
        [("p99.9", |row| row.one_in(1_000)), ("p99.99", |row| row.one_in(10_000))];
    for operation in ["tick", "advance"] {
        let rows = run.latency.iter().filter(|r| r.n == n && r.operation == operation);
        let workloads = rows.map(|r| r.workload.as_str());
        if let Some(workload) = first_present(workloads, &["uniform", "steady"]) {
            let column = |(name, percentile)| TableColumn {
                heading: format!("{operation}\n{name}"),
                workload: workload.clone(),
                n,
                kind: ColumnKind::Tail(operation, percentile),
            };
            return PERCENTILES.map(column).into();
        }
    }
    Vec::new()
}

/// One column for each workload that is a mix of operations.
fn mixes(run: &Run, n: u64) -> impl Iterator<Item = TableColumn> {
    let has_rows = move |name: &String| {
        run.throughput.iter().any(|r| r.workload == *name && r.n == n && r.measure == "mix")
    };
    let names = workloads(run).into_iter().filter(|name| !name.starts_with(TRACE));
    names.filter(has_rows).map(move |workload| {
        let heading = if workload.starts_with(MIX) { "this mix" } else { &workload }.to_owned();
        TableColumn { heading, workload, n, kind: ColumnKind::Time("mix".to_owned()) }
    })
}

/// One column per trace, at the largest n it was replayed with.
fn traces(run: &Run) -> impl Iterator<Item = TableColumn> {
    let names = workloads(run).into_iter().filter(|name| name.starts_with(TRACE));
    names.filter_map(|workload| {
        let row = run.throughput.iter().filter(|r| r.workload == workload).max_by_key(|r| r.n)?;
        let heading = format!("replay\n{}", &workload[TRACE.len()..]);
        Some(TableColumn {
            heading,
            n: row.n,
            kind: ColumnKind::Time(row.measure.clone()),
            workload,
        })
    })
}

/// Two columns for each trace whose footprint was measured.
fn footprints(run: &Run) -> impl Iterator<Item = TableColumn> {
    const FIGURES: [(&str, FootprintFigure); 2] =
        [("bytes at\npeak", |it| it.peak), ("wake-ups\n", |it| it.wakeups as f64)];
    let is_measured =
        |trace: &TableColumn| run.footprints.iter().any(|r| r.workload == trace.workload);
    traces(run).filter(is_measured).flat_map(|trace| {
        FIGURES.map(|(heading, figure)| TableColumn {
            heading: heading.to_owned(),
            workload: trace.workload.clone(),
            n: trace.n,
            kind: ColumnKind::Footprint(figure),
        })
    })
}

/// The first of the preferred names that is present, otherwise the first name.
fn first_present<'a>(present: impl Iterator<Item = &'a str>, preferred: &[&str]) -> Option<String> {
    let present: Vec<&str> = present.collect();
    let wanted = preferred.iter().find(|name| present.contains(name));
    wanted.or(present.first()).map(|name| (*name).to_owned())
}
