//! The table at the end of a run: a row for each structure, a column for each operation, and in
//! each cell the ratio to the best.

mod columns;

use serde_json::json;

use self::columns::{ColumnKind, TableColumn, all_columns};
use crate::model::{FLOOR, Run, Sampling};
use wheelhouse_present::stats;
use wheelhouse_present::table::{Cell, Column, Mark, Table, distinct};
use wheelhouse_present::units;

/// The number of timers that the table shows by default, if the run has it.
pub const DEFAULT_N: u64 = 1_000_000;

pub use crate::stream::TRACE;

/// A table to read at a glance: for each structure and operation, the median and its ratio to the
/// best.
///
/// Without `n`, the table is for [`DEFAULT_N`] if the run has it, otherwise for its largest n. A
/// trace is shown at its own number of timers. The floor (the memory traffic that no timer facility
/// can avoid) has a row and is never the best. A structure that answered wrongly has `WRONG`
/// instead of figures. A tail has no best if the floor is within ×3 of it: that is machine noise.
pub fn at_a_glance(run: &Run, n: Option<u64>) -> Table {
    table_of(run, n, all_columns)
}

/// [`at_a_glance`] with only the most important columns, so that it fits a terminal.
pub fn in_short(run: &Run, n: Option<u64>) -> Table {
    table_of(run, n, columns::essential_columns)
}

fn table_of(run: &Run, n: Option<u64>, choose: fn(&Run, u64) -> Vec<TableColumn>) -> Table {
    let Some(n) = n.or_else(|| default_n(run)) else {
        return empty_table(run);
    };
    let columns = choose(run, n);
    let known = sizes(run);
    let title = format!(
        "At a glance: n = {} timers, ns per operation unless a unit is shown",
        units::count(n)
    );
    let mut heads = vec![Column::left("structure")];
    heads.extend(columns.iter().map(|column| Column::right(&column.heading)));
    let mut table = Table::new(title, heads);
    let measured = |name: &String| {
        columns.iter().any(|column| column.content(run, name) != CellContent::Missing)
    };
    let (names, left_out): (Vec<_>, Vec<_>) = backends(run).into_iter().partition(measured);
    table.rows =
        names.iter().map(|name| vec![Cell::text(name.clone()).marked(row_mark(name))]).collect();
    for column in &columns {
        append_column(&mut table.rows, run, &names, Some(column));
    }
    table.notes = notes(run, n, &columns);
    if !left_out.is_empty() {
        table.notes.push(format!(
            "Left out: {}. They are too slow to measure with this many timers, or the run was cut \
             short.",
            left_out.join(", ")
        ));
    }
    if !known.contains(&n) {
        let known: Vec<String> = known.into_iter().map(units::count).collect();
        table.notes.push(format!(
            "The run has no rows at n = {}; it has: {}.",
            units::count(n),
            known.join("; ")
        ));
    }
    table
}

/// One table for all sizes of a run: a row for each n and structure, a column for each operation,
/// and in each cell the ratio to the best at that n. Traces are left out: each has a single size.
pub fn by_size(run: &Run) -> Table {
    let sizes = sizes(run);
    let at = |n| -> Vec<TableColumn> {
        let all = all_columns(run, n).into_iter();
        all.filter(|column| !column.workload.starts_with(TRACE)).collect()
    };
    let headings: Vec<String> =
        distinct(sizes.iter().flat_map(|n| at(*n)).map(|column| column.heading));
    let mut heads = vec![Column::right("n"), Column::left("structure")];
    heads.extend(headings.iter().map(Column::right));
    let title = "By the number of timers, ns per operation unless a unit is shown";
    let mut table = Table::new(title, heads);
    for n in &sizes {
        let columns = at(*n);
        let measured = |name: &String| {
            columns.iter().any(|column| column.content(run, name) != CellContent::Missing)
        };
        let names: Vec<String> = backends(run).into_iter().filter(measured).collect();
        let start = table.rows.len();
        table.rows.extend(names.iter().map(|name| {
            let size = Cell::figure(*n as f64, units::count(*n));
            vec![size, Cell::text(name.clone()).marked(row_mark(name))]
        }));
        for heading in &headings {
            let column = columns.iter().find(|column| column.heading == *heading);
            append_column(&mut table.rows[start..], run, &names, column);
        }
    }
    let same = "Median, and ×ratio to the best at that n, which is marked. Lower is better.";
    table.notes.push(same.to_owned());
    table.notes.extend(external_notes(run));
    table
}

/// Appends a cell to each row: the figure that `column` has for the structure of the row.
fn append_column(
    rows: &mut [Vec<Cell>],
    run: &Run,
    names: &[String],
    column: Option<&TableColumn>,
) {
    let content =
        |name: &String| column.map_or(CellContent::Missing, |column| column.content(run, name));
    let contents: Vec<CellContent> = names.iter().map(content).collect();
    let best = column.and_then(|column| column.best(names, &contents));
    for ((row, name), content) in rows.iter_mut().zip(names).zip(&contents) {
        row.push(column.map_or_else(Cell::missing, |column| column.cell(name, content, best)));
    }
}

/// The n that tables and plots show by default: [`DEFAULT_N`] if the run has it, otherwise its
/// largest.
pub fn default_n(run: &Run) -> Option<u64> {
    let sizes = sizes(run);
    if sizes.contains(&DEFAULT_N) { Some(DEFAULT_N) } else { sizes.last().copied() }
}

/// Every n of the run's workloads, in ascending order. Without workloads, every n of its traces.
pub fn sizes(run: &Run) -> Vec<u64> {
    let rows = || {
        let throughput = run.throughput.iter().map(|r| (r.workload.as_str(), r.n));
        let latency = run.latency.iter().map(|r| (r.workload.as_str(), r.n));
        let failures = run.failures.iter().map(|r| (r.workload.as_str(), r.n));
        throughput.chain(latency).chain(failures).chain(run.memory.iter().map(|r| ("", r.n)))
    };
    let mut sizes: Vec<u64> =
        rows().filter(|(workload, _)| !workload.starts_with(TRACE)).map(|(_, n)| n).collect();
    if sizes.is_empty() {
        sizes = rows().map(|(_, n)| n).collect();
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The names of the run's backends in the order of their first rows, the floor last.
pub fn backends(run: &Run) -> Vec<String> {
    let times = run.throughput.iter().map(|r| &r.backend);
    let others =
        run.latency.iter().map(|r| &r.backend).chain(run.memory.iter().map(|r| &r.backend));
    let all = times.chain(others).chain(run.failures.iter().map(|r| &r.backend));
    let mut names = distinct(all);
    names.sort_by_key(|name| *name == FLOOR);
    names.into_iter().cloned().collect()
}

/// The names of the run's workloads in the order of their first rows, traces last.
pub fn workloads(run: &Run) -> Vec<String> {
    let times = run.throughput.iter().map(|r| &r.workload);
    let others = run.latency.iter().map(|r| &r.workload);
    let mut names = distinct(times.chain(others).chain(run.failures.iter().map(|r| &r.workload)));
    names.sort_by_key(|name| name.starts_with(TRACE));
    names.into_iter().cloned().collect()
}

/// How the row or name of a structure is marked.
pub fn row_mark(backend: &str) -> Mark {
    if backend == FLOOR { Mark::Muted } else { Mark::Plain }
}

/// The smallest figure, not counting the floor's.
pub fn best(names: &[String], contents: &[CellContent]) -> Option<f64> {
    let competing = names.iter().zip(contents).filter(|(name, _)| *name != FLOOR);
    competing.filter_map(|(_, content)| content.figure()).min_by(f64::total_cmp)
}

/// The content of a table cell.
#[derive(Clone, Debug, PartialEq)]
pub enum CellContent {
    /// A figure and the samples whose median it is; a single sample for latency and memory.
    Figure(f64, Vec<f64>),
    /// The backend answered wrongly on that workload.
    Wrong,
    /// Not measured.
    Missing,
}

impl CellContent {
    fn figure(&self) -> Option<f64> {
        match self {
            CellContent::Figure(value, _) => Some(*value),
            _ => None,
        }
    }
}

/// The median of a measure, or the reason that there is none.
pub fn find_throughput(
    run: &Run,
    backend: &str,
    workload: &str,
    n: u64,
    measure: &str,
) -> CellContent {
    if is_wrong(run, backend, workload, n) {
        return CellContent::Wrong;
    }
    let row = run.throughput_of(backend, workload, n, measure);
    match row.and_then(|row| Some((stats::median(&row.ns_per_op)?, row.ns_per_op.clone()))) {
        Some((median, samples)) => CellContent::Figure(median, samples),
        None => CellContent::Missing,
    }
}

/// Returns `true` if the backend answered wrongly on a workload at n.
pub fn is_wrong(run: &Run, backend: &str, workload: &str, n: u64) -> bool {
    run.failures.iter().any(|f| f.backend == backend && f.workload == workload && f.n == n)
}

/// A cell: the figure, and below it the ratio to the best of its column.
pub fn ratio_cell(
    backend: &str,
    content: &CellContent,
    best: Option<f64>,
    show: fn(f64) -> String,
) -> Cell {
    let value = match content {
        CellContent::Figure(value, _) => *value,
        CellContent::Wrong => return Cell::wrong(),
        CellContent::Missing => return Cell::missing(),
    };
    let ratio = best.filter(|best| *best > 0.0).map(|best| value / best);
    let shown = match ratio {
        Some(ratio) if backend != FLOOR => format!("{}\n×{ratio:.2}", show(value)),
        _ => show(value),
    };
    let mark = if backend != FLOOR && best == Some(value) { Mark::Best } else { row_mark(backend) };
    Cell { shown, value: json!({ "figure": value, "ratio": ratio }), mark }
}

/// The note below a table that has a row for the floor.
pub const FLOOR_NOTE: &str = "The floor is the memory traffic that no timer facility can avoid. It \
                              knows beforehand what fires, and does not compete.";

fn notes(run: &Run, n: u64, columns: &[TableColumn]) -> Vec<String> {
    let mut notes = vec![
        "Median, and ×ratio to the best of the column, which is marked. Lower is better."
            .to_owned(),
    ];
    if backends(run).iter().any(|name| name == FLOOR) {
        notes.push(FLOOR_NOTE.to_owned());
    }
    notes.extend(spread_note(run, n, columns));
    notes.extend(workload_note(n, columns));
    if columns.iter().any(|column| matches!(column.kind, ColumnKind::Tail(..))) {
        notes.push(
            "p99.99: one in ten thousand took longer. No winner is marked if the floor is within \
             ×3 of the best: that is machine noise."
                .to_owned(),
        );
    }
    notes.extend(external_notes(run));
    notes.extend(disturbance_note(run));
    if !run.failures.is_empty() {
        let count = run.failures.len();
        notes.push(format!(
            "WRONG answers in the run: {count}. They differ from the oracle's, and have no times."
        ));
    }
    if run.interrupted {
        notes.push("The run was interrupted: rows are missing.".to_owned());
    }
    notes
}

/// Names the workload of each column.
fn workload_note(n: u64, columns: &[TableColumn]) -> Option<String> {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for column in columns.iter().filter(|it| !matches!(it.kind, ColumnKind::Bytes)) {
        let own_n = if column.n == n {
            String::new()
        } else {
            format!(", {} timers", units::count(column.n))
        };
        let workload = format!("{}{own_n}", column.workload);
        let heading = column.heading.replace('\n', " ");
        match parts.iter_mut().find(|(name, _)| *name == workload) {
            Some((_, headings)) => headings.push(heading),
            None => parts.push((workload, vec![heading])),
        }
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(name, headings)| format!("{name} ({})", headings.join(", ")))
        .collect();
    (!parts.is_empty()).then(|| format!("Workloads: {}.", parts.join("; ")))
}

/// The versions of structures from other projects, and why some of their cells are empty.
fn external_notes(run: &Run) -> impl Iterator<Item = String> + '_ {
    let mut versions: Vec<&str> = run.external.iter().map(|it| it.version.as_str()).collect();
    versions.dedup(); // a package may be in the run twice, used in two ways
    let versions =
        (!versions.is_empty()).then(|| format!("From other projects: {}.", versions.join(", ")));
    let reasons = run
        .external
        .iter()
        .flat_map(|it| it.cannot.iter().map(|why| format!("{}: {why}.", it.name)));
    versions.into_iter().chain(reasons)
}

/// The number of repetitions, and their spread over all cells of the table.
fn spread_note(run: &Run, n: u64, columns: &[TableColumn]) -> Option<String> {
    let mut repetitions: Vec<usize> = Vec::new();
    let mut spreads: Vec<f64> = Vec::new();
    for column in columns.iter().filter(|it| matches!(it.kind, ColumnKind::Time(_))) {
        for name in backends(run).iter().filter(|name| *name != FLOOR) {
            if let CellContent::Figure(_, samples) = column.content(run, name) {
                repetitions.push(samples.len());
                let shows_spread = samples.len() >= stats::MIN_SAMPLES;
                spreads.extend(stats::relative_deviation(&samples).filter(|_| shows_spread));
            }
        }
    }
    let (fewest, most) = (repetitions.iter().min()?, repetitions.iter().max()?);
    let count = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
    let about = format!("n = {}, {count} repetitions", units::count(n));
    if spreads.is_empty() {
        return Some(format!(
            "{about}: too few to know their spread, so ignore small differences."
        ));
    }
    let typical = stats::median(&spreads)? * 100.0;
    let worst = stats::range(&spreads)?.1 * 100.0;
    Some(format!(
        "{about}. Spread (median absolute deviation over median): typically {typical:.1} %, at \
         most {worst:.1} %; ratios closer than that are ties."
    ))
}

/// The machine was busy if more than this share of the samples was disturbed.
const BUSY: f64 = 0.02;

/// A warning if other processes often had the processor.
fn disturbance_note(run: &Run) -> Option<String> {
    let Sampling { taken, disturbed } = run.sampling;
    (disturbed as f64 > BUSY * taken as f64).then(|| {
        format!(
            "The machine was busy: other programs used the processor during {disturbed} of {taken} \
             samples, which were left out if enough others remained. Stop other programs and \
             measure again."
        )
    })
}

fn empty_table(run: &Run) -> Table {
    let mut table =
        Table::new("At a glance: nothing was measured", vec![Column::left("structure")]);
    table.notes.push(if run.interrupted {
        "The run was interrupted before its first row.".to_owned()
    } else {
        "The run has no rows.".to_owned()
    });
    table
}
