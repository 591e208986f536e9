//! The table at the end of a run: a row for each structure, a column for each operation, and in
//! each cell the ratio to the best.

mod columns;

use std::collections::BTreeSet;

use self::columns::{CellContent, ColumnKind, TableColumn, all_columns};
use crate::model::{FLOOR, Run, Sampling};
use crate::stream::TRACE;
use wheelhouse_present::stats;
use wheelhouse_present::table::{Cell, Column, Mark, Table, distinct};
use wheelhouse_present::units;

/// The number of timers that the table shows by default, if the run has it.
pub const DEFAULT_N: u64 = 1_000_000;

/// A table to read at a glance: for each structure and operation, the median and its ratio to the
/// best.
///
/// Without `n`, the table is for [`DEFAULT_N`] if the run has it, otherwise for its largest n. A
/// trace is shown at its own number of timers. The floor (the memory traffic that structures can
/// hardly avoid) has a row and is never the best. A structure that answered wrongly has `WRONG`
/// instead of figures. A tail has no best if it is at most 3 times the floor: noise of the machine.
pub fn at_a_glance(run: &Run, n: Option<u64>) -> Table {
    table_of(run, n, all_columns)
}

/// [`at_a_glance`] with only the most important columns, so that it fits a terminal.
pub fn in_short(run: &Run, n: Option<u64>) -> Table {
    table_of(run, n, columns::essential_columns)
}

fn table_of(run: &Run, n: Option<u64>, choose: fn(&Run, u64) -> Vec<TableColumn>) -> Table {
    let mut heads = vec![Column::left("structure")];
    let Some(n) = n.or_else(|| default_n(run)) else {
        return Table::new("At a glance: nothing was measured", heads);
    };
    let columns = choose(run, n);
    heads.extend(columns.iter().map(|column| Column::right(&column.heading)));
    let title = format!(
        "At a glance: n = {} timers{}, ns per operation unless a unit is shown",
        units::count(n),
        run.payload_in_title()
    );
    let mut table = Table::new(title, heads);
    table.notes = notes(run, n, &columns);
    table.rows = rows(run, &columns.into_iter().map(Some).collect::<Vec<_>>());
    let has_row = |name: &String| table.rows.iter().any(|row| row[0].shown == *name);
    let left_out: Vec<_> = backends(run).into_iter().filter(|name| !has_row(name)).collect();
    if !left_out.is_empty() {
        table.notes.push(format!(
            "Left out: {}. They are too slow to measure with this many timers, or the run was cut \
             short.",
            left_out.join(", ")
        ));
    }
    table
}

/// One table for all sizes of a run, including those of its traces: a row for each n and structure,
/// a column for each operation, and in each cell the ratio to the best at that n.
pub fn by_size(run: &Run) -> Table {
    let at = |n| all_columns(run, n).into_iter().filter(move |it| it.n == n);
    let sizes: BTreeSet<u64> = keys(run).map(|key| key.2).collect();
    let headings = distinct(sizes.iter().flat_map(|n| at(*n)).map(|column| column.heading));
    let title = format!(
        "By the number of timers{}, ns per operation unless a unit is shown",
        run.payload_in_title()
    );
    let mut table = table_by_size(run, &title, &headings, sizes, |heading, n| {
        at(n).find(|column| column.heading == *heading)
    });
    let same = "Median, and ×ratio to the best at that n, which is marked. Lower is better.";
    table.notes.push(same.to_owned());
    table.notes.extend(external_notes(run));
    table
}

/// A table of figures by n and structure, without rows.
pub(crate) fn empty_by_size(title: impl Into<String>, headings: &[impl AsRef<str>]) -> Table {
    let heads = [Column::right("n"), Column::left("structure")].into_iter();
    let figures = headings.iter().map(|heading| Column::right(heading.as_ref()));
    Table::new(title, heads.chain(figures).collect())
}

/// A table with a row for each n and structure, and with a column for each heading. `column` has
/// its figures at an n, if there are any.
fn table_by_size(
    run: &Run,
    title: &str,
    headings: &[String],
    sizes: impl IntoIterator<Item = u64>,
    column: impl Fn(&String, u64) -> Option<TableColumn>,
) -> Table {
    let mut table = empty_by_size(title, headings);
    for n in sizes {
        let columns: Vec<_> = headings.iter().map(|heading| column(heading, n)).collect();
        let rows = rows(run, &columns).into_iter();
        table.rows.extend(rows.map(|row| [Cell::count(n)].into_iter().chain(row).collect()));
    }
    table
}

/// The name of each workload and its table: a row for each n and structure, a column for each
/// measure, and in each cell the median and its ratio to the best at that n.
pub fn times(run: &Run) -> Vec<(String, Table)> {
    let tables = workloads(run).into_iter().map(|workload| (times_of(run, &workload), workload));
    let timed = tables.filter(|(table, _)| !table.rows.is_empty());
    timed.map(|(table, workload)| (workload, table)).collect()
}

fn times_of(run: &Run, workload: &str) -> Table {
    let rows = || run.throughput.iter().filter(|r| r.workload == workload);
    let headings = distinct(rows().map(|r| columns::heading_of(&r.measure)));
    let sizes: BTreeSet<u64> = rows().map(|r| r.n).collect();
    let title = format!("{workload}, ns per operation");
    let mut table = table_by_size(run, &title, &headings, sizes, |heading, n| {
        Some(TableColumn::of_measure(&heading.replace('\n', "-"), workload, n))
    });
    table.notes.push(
        "Median of the repetitions, and ×ratio to the best at that n, which is marked.".to_owned(),
    );
    table
}

/// A row for each structure that has a figure in one of the columns. A column without figures is
/// `None`.
fn rows(run: &Run, columns: &[Option<TableColumn>]) -> Vec<Vec<Cell>> {
    let names = backends(run);
    let contents = |column: &TableColumn| -> Vec<CellContent> {
        names.iter().map(|name| column.content(run, name)).collect()
    };
    let columns: Vec<Option<(&TableColumn, Vec<CellContent>)>> =
        columns.iter().map(|it| it.as_ref().map(|it| (it, contents(it)))).collect();
    let row = |at: usize| {
        let name = Cell::text(&names[at]).marked(row_mark(&names[at]));
        let cells = columns.iter().map(|column| match column {
            Some((column, contents)) => column.cell(&names, contents, at),
            None => Cell::missing(),
        });
        [name].into_iter().chain(cells).collect()
    };
    let has_figure =
        |at: &usize| columns.iter().flatten().any(|it| it.1[*at] != CellContent::Missing);
    (0..names.len()).filter(has_figure).map(row).collect()
}

/// The n that tables and plots show by default: [`DEFAULT_N`] if the run has it, otherwise its
/// largest.
pub fn default_n(run: &Run) -> Option<u64> {
    let sizes = sizes(run);
    if sizes.contains(&DEFAULT_N) { Some(DEFAULT_N) } else { sizes.last().copied() }
}

/// The backend, workload and n of each row. Rows of memory have no workload.
fn keys(run: &Run) -> impl Iterator<Item = (&str, &str, u64)> {
    let times = run.throughput.iter().map(|r| (&*r.backend, &*r.workload, r.n));
    let latencies = run.latency.iter().map(|r| (&*r.backend, &*r.workload, r.n));
    let memory = run.memory.iter().map(|r| (&*r.backend, "", r.n));
    let failures = run.failures.iter().map(|r| (&*r.backend, &*r.workload, r.n));
    times.chain(latencies).chain(memory).chain(failures)
}

/// Every n of the run's workloads, in ascending order. Without workloads, every n of its traces.
pub fn sizes(run: &Run) -> Vec<u64> {
    let of_traces = |is_trace| {
        let rows = keys(run).filter(move |key| key.1.starts_with(TRACE) == is_trace);
        rows.map(|key| key.2).collect::<BTreeSet<u64>>()
    };
    let sizes = of_traces(false);
    let sizes = if sizes.is_empty() { of_traces(true) } else { sizes };
    sizes.into_iter().collect()
}

/// The names of the run's backends in the order of their first rows, the floor last.
pub fn backends(run: &Run) -> Vec<String> {
    let mut names = distinct(keys(run).map(|key| key.0));
    // `false` comes before `true`, and the sort is stable: the others keep their order.
    names.sort_by_key(|name| *name == FLOOR);
    names.into_iter().map(str::to_owned).collect()
}

/// The names of the run's workloads in the order of their first rows, traces last.
pub fn workloads(run: &Run) -> Vec<String> {
    let mut names = distinct(keys(run).map(|key| key.1).filter(|name| !name.is_empty()));
    names.sort_by_key(|name| name.starts_with(TRACE));
    names.into_iter().map(str::to_owned).collect()
}

/// How the row or name of a structure is marked.
pub fn row_mark(backend: &str) -> Mark {
    if backend == FLOOR { Mark::Muted } else { Mark::Plain }
}

/// Returns `true` if the backend answered wrongly on a workload at n.
pub fn is_wrong(run: &Run, backend: &str, workload: &str, n: u64) -> bool {
    run.failures.iter().any(|it| it.is_of(backend, workload, n))
}

/// The note below a table that has a row for the floor.
pub const FLOOR_NOTE: &str = "The floor is the memory traffic that structures can hardly avoid. It \
                              knows beforehand what fires, and does not compete.";

fn notes(run: &Run, n: u64, columns: &[TableColumn]) -> Vec<String> {
    let mut notes = vec![
        "Median, and ×ratio to the best structure of the run, which is marked if it is in this \
         table. Lower is better."
            .to_owned(),
    ];
    if backends(run).iter().any(|name| name == FLOOR) {
        notes.push(FLOOR_NOTE.to_owned());
    }
    notes.extend(spread_note(run, n, columns));
    notes.extend(workload_note(n, columns));
    if columns.iter().any(|column| matches!(column.kind, ColumnKind::Tail(..))) {
        notes.push(
            "p99.99: one in ten thousand took longer; `-` if the run has too few operations for \
             that. In these columns no winner is marked if its time is at most 3 times that of \
             plain writes to arrays, as such times are noise."
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
    let shown = || columns.iter().filter(|it| !matches!(it.kind, ColumnKind::Bytes));
    let stream_of = |it: &TableColumn| match it.n == n {
        true => it.workload.clone(),
        false => format!("{}, {} timers", it.workload, units::count(it.n)),
    };
    let part = |stream: String| {
        let its = shown().filter(|it| stream_of(it) == stream);
        let headings: Vec<_> = its.map(|it| it.heading.replace('\n', " ")).collect();
        format!("{stream} ({})", headings.join(", "))
    };
    let parts: Vec<_> = distinct(shown().map(stream_of)).into_iter().map(part).collect();
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
    for column in columns {
        let ColumnKind::Time(measure) = &column.kind else { continue };
        for name in backends(run).iter().filter(|name| *name != FLOOR) {
            let row = run.throughput_of(name, &column.workload, column.n, measure);
            for samples in row.into_iter().map(|row| &row.ns_per_op) {
                repetitions.push(samples.len());
                let shows_spread = samples.len() >= stats::MIN_SAMPLES;
                spreads.extend(stats::relative_deviation(samples).filter(|_| shows_spread));
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
         most {worst:.1} %. Differences within the spread are noise. Another process can move a \
         figure by more."
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
