//! The columns of the table. Each shows a measure of a workload, a tail, or memory.

use super::{is_wrong, row_mark, workloads};
use crate::model::{FLOOR, Footprint, Latency, Run};
use crate::source::StreamSource;
use crate::stream::{MIX, TRACE};
use serde_json::json;
use wheelhouse_present::stats;
use wheelhouse_present::table::{Cell, Mark};
use wheelhouse_present::units;

/// If the best of a tail is within this factor of the floor, the machine decides and nothing wins.
const FLOOR_DECIDES: f64 = 3.0;

/// How many columns fit next to the names in a terminal 100 characters wide.
const ESSENTIAL_COUNT: usize = 6;

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

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CellContent {
    /// A median, a percentile, or bytes.
    Figure(f64),
    /// The backend answered wrongly on that workload.
    Wrong,
    /// Not measured.
    Missing,
}

impl TableColumn {
    fn new(heading: impl Into<String>, workload: &str, n: u64, kind: ColumnKind) -> Self {
        Self { heading: heading.into(), workload: workload.to_owned(), n, kind }
    }

    pub(super) fn of_measure(measure: &str, workload: &str, n: u64) -> Self {
        Self::new(heading_of(measure), workload, n, ColumnKind::Time(measure.to_owned()))
    }

    pub(super) fn content(&self, run: &Run, backend: &str) -> CellContent {
        let workload = self.workload.as_str();
        let figure = match &self.kind {
            _ if is_wrong(run, backend, workload, self.n) => return CellContent::Wrong,
            ColumnKind::Bytes => run.memory_of(backend, self.n).map(|row| row.churned),
            ColumnKind::Footprint(figure) => {
                let is_it = |r: &&Footprint| r.backend == backend && r.workload == workload;
                run.footprints.iter().find(is_it).map(figure)
            }
            ColumnKind::Time(measure) => run
                .throughput_of(backend, workload, self.n, measure)
                .and_then(|row| stats::median(&row.ns_per_op)),
            ColumnKind::Tail(operation, percentile) => {
                let is_it = |r: &&Latency| {
                    (r.backend.as_str(), r.workload.as_str(), r.n, r.operation.as_str())
                        == (backend, workload, self.n, *operation)
                };
                run.latency.iter().find(is_it).and_then(percentile).map(|ns| ns as f64)
            }
        };
        figure.map_or(CellContent::Missing, CellContent::Figure)
    }

    /// The figure that the others are compared with, if any: the smallest, except the floor's.
    fn best(&self, names: &[String], contents: &[CellContent]) -> Option<f64> {
        let figures = names.iter().zip(contents).filter_map(|(name, content)| match content {
            CellContent::Figure(figure) => Some((name == FLOOR, *figure)),
            _ => None,
        });
        let (floor, others): (Vec<_>, Vec<_>) = figures.partition(|(is_floor, _)| *is_floor);
        let best = others.into_iter().map(|it| it.1).min_by(f64::total_cmp)?;
        let is_machine = floor.first().is_some_and(|floor| floor.1 * FLOOR_DECIDES >= best);
        (!matches!(self.kind, ColumnKind::Tail(..)) || !is_machine).then_some(best)
    }

    /// The cell of a structure: its figure, and below it the ratio to the best of the column.
    pub(super) fn cell(&self, names: &[String], contents: &[CellContent], at: usize) -> Cell {
        let value = match contents[at] {
            CellContent::Figure(value) => value,
            CellContent::Wrong => return Cell::wrong(),
            CellContent::Missing => return Cell::missing(),
        };
        let is_tail = matches!(self.kind, ColumnKind::Tail(..));
        let figure = if is_tail { units::time(value) } else { units::number(value) };
        let (best, is_floor) = (self.best(names, contents), names[at] == FLOOR);
        let ratio = best.filter(|best| *best > 0.0).map(|best| value / best);
        let shown = match ratio {
            Some(ratio) if !is_floor => format!("{figure}\n×{ratio:.2}"),
            _ => figure,
        };
        let is_best = !is_floor && best == Some(value);
        let mark = if is_best { Mark::Best } else { row_mark(&names[at]) };
        Cell { shown, value: json!({ "figure": value, "ratio": ratio }), mark }
    }

    /// How important the column is to a reader: 0 is the most important.
    fn rank(&self) -> usize {
        const WANTED: [&str; 6] =
            ["tcp", "steady", "fire-ticks", "insert-warm", "tick-p99.99", "advance-p99.99"];
        let key = self.heading.replace('\n', "-");
        match self.kind {
            ColumnKind::Bytes => 1,
            _ if !StreamSource::is_known(&self.workload) => 0,
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
    /// Measures, each with its preferred workload.
    const MEASURES: [(&str, &str); 8] = [
        ("insert-cold", "uniform"),
        ("insert-warm", "uniform"),
        ("cancel", "uniform"),
        ("reschedule", "uniform"),
        ("fire-jump", "uniform"),
        ("fire-ticks", "uniform"),
        ("steady", "steady"),
        ("hold", "hold-exponential"),
    ];
    let mut columns = Vec::new();
    for (measure, preferred) in MEASURES {
        let rows = run.throughput.iter().filter(|r| r.n == n && r.measure == measure);
        if let Some(workload) = first_present(rows.map(|r| r.workload.as_str()), &[preferred]) {
            columns.push(TableColumn::of_measure(measure, &workload, n));
        }
    }
    columns.extend(mixes(run, n));
    columns.extend(traces(run));
    columns.extend(footprints(run));
    columns.extend(tails(run, n));
    if run.memory.iter().any(|r| r.n == n) {
        columns.push(TableColumn::new("bytes after\nchurn", "", n, ColumnKind::Bytes));
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
            let column = |(name, percentile)| {
                let kind = ColumnKind::Tail(operation, percentile);
                TableColumn::new(format!("{operation}\n{name}"), &workload, n, kind)
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
        let heading = if workload.starts_with(MIX) { "this mix" } else { &workload };
        TableColumn::new(heading, &workload, n, ColumnKind::Time("mix".to_owned()))
    })
}

/// One column per trace, at the largest n it was replayed with.
fn traces(run: &Run) -> impl Iterator<Item = TableColumn> {
    let names = workloads(run).into_iter().filter(|name| name.starts_with(TRACE));
    names.filter_map(|workload| {
        let row = run.throughput.iter().filter(|r| r.workload == workload).max_by_key(|r| r.n)?;
        let heading = format!("replay\n{}", &workload[TRACE.len()..]);
        Some(TableColumn::new(heading, &workload, row.n, ColumnKind::Time(row.measure.clone())))
    })
}

/// Two columns for each trace whose footprint was measured.
fn footprints(run: &Run) -> impl Iterator<Item = TableColumn> {
    const FIGURES: [(&str, FootprintFigure); 2] =
        [("bytes at\npeak", |it| it.peak), ("wake-ups", |it| it.wakeups as f64)];
    let is_measured =
        |trace: &TableColumn| run.footprints.iter().any(|r| r.workload == trace.workload);
    traces(run).filter(is_measured).flat_map(|trace| {
        FIGURES.map(|(heading, figure)| {
            TableColumn::new(heading, &trace.workload, trace.n, ColumnKind::Footprint(figure))
        })
    })
}

pub(super) fn heading_of(measure: &str) -> String {
    measure.replace('-', "\n")
}

/// The first of the preferred names that is present, otherwise the first name.
fn first_present<'a>(present: impl Iterator<Item = &'a str>, preferred: &[&str]) -> Option<String> {
    let present: Vec<&str> = present.collect();
    let wanted = preferred.iter().find(|name| present.contains(name));
    wanted.or(present.first()).map(|name| (*name).to_owned())
}
