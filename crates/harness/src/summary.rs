//! The table at the end of a run: a row for each structure, a column for each operation, and in
//! each cell the ratio to the best.

mod columns;

use serde_json::json;

use self::columns::{Kind, Source, sources};
use crate::model::{FLOOR, Run, Sampling};
use wheelhouse_present::stats;
use wheelhouse_present::table::{Cell, Column, Mark, Table};
use wheelhouse_present::units;

/// The number of timers that the table shows by default, if the run has it.
pub const USUAL_N: u64 = 1_000_000;

pub use crate::stream::TRACE;

/// A table to read at a glance: for each structure and operation, the median and its ratio to the
/// best.
///
/// Without `n`, the table is for [`USUAL_N`] if the run has it, otherwise for its largest n. A
/// trace is shown at its own number of timers. The floor (the memory traffic that no timer facility
/// can avoid) has a row and is never the best. A structure that answered wrongly has `WRONG`
/// instead of figures. A tail has no best if the floor is within ×3 of it: that is machine noise.
pub fn at_a_glance(run: &Run, n: Option<u64>) -> Table {
    table_of(run, n, sources)
}

/// [`at_a_glance`] with only the most important columns, so that it fits a terminal.
pub fn in_short(run: &Run, n: Option<u64>) -> Table {
    table_of(run, n, columns::essential)
}

fn table_of(run: &Run, n: Option<u64>, columns: fn(&Run, u64) -> Vec<Source>) -> Table {
    let Some(n) = n.or_else(|| usual_n(run)) else {
        return nothing(run);
    };
    let sources = columns(run, n);
    let known = sizes(run);
    let title = format!(
        "At a glance: n = {} timers, ns per operation unless a unit is shown",
        units::count(n)
    );
    let mut columns = vec![Column::left("structure")];
    columns.extend(sources.iter().map(|s| Column::right(&s.heading)));
    let mut table = Table::new(title, columns);
    let measured =
        |name: &String| sources.iter().any(|source| source.find(run, name) != Found::Missing);
    let (names, left_out): (Vec<_>, Vec<_>) = backends(run).into_iter().partition(measured);
    table.rows =
        names.iter().map(|name| vec![Cell::text(name.clone()).marked(row_mark(name))]).collect();
    for source in &sources {
        append_column(&mut table.rows, run, &names, Some(source));
    }
    table.notes = notes(run, n, &sources);
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
    let at = |n| -> Vec<Source> {
        let all = sources(run, n).into_iter();
        all.filter(|source| !source.workload.starts_with(TRACE)).collect()
    };
    let mut headings: Vec<String> = Vec::new();
    for source in sizes.iter().flat_map(|n| at(*n)) {
        if !headings.contains(&source.heading) {
            headings.push(source.heading);
        }
    }
    let mut columns = vec![Column::right("n"), Column::left("structure")];
    columns.extend(headings.iter().map(Column::right));
    let title = "By the number of timers, ns per operation unless a unit is shown";
    let mut table = Table::new(title, columns);
    for n in &sizes {
        let sources = at(*n);
        let measured = |name: &String| sources.iter().any(|s| s.find(run, name) != Found::Missing);
        let names: Vec<String> = backends(run).into_iter().filter(measured).collect();
        let start = table.rows.len();
        table.rows.extend(names.iter().map(|name| {
            let size = Cell::figure(*n as f64, units::count(*n));
            vec![size, Cell::text(name.clone()).marked(row_mark(name))]
        }));
        for heading in &headings {
            let source = sources.iter().find(|source| source.heading == *heading);
            append_column(&mut table.rows[start..], run, &names, source);
        }
    }
    let same = "Median, and ×ratio to the best at that n, which is marked. Lower is better.";
    table.notes.push(same.to_owned());
    table.notes.extend(guest_notes(run));
    table
}

/// Appends a cell to each row: the figure that `source` has for the structure of the row.
fn append_column(rows: &mut [Vec<Cell>], run: &Run, names: &[String], source: Option<&Source>) {
    let find = |name: &String| source.map_or(Found::Missing, |source| source.find(run, name));
    let found: Vec<Found> = names.iter().map(find).collect();
    let best = source.and_then(|source| source.best(names, &found));
    for ((row, name), found) in rows.iter_mut().zip(names).zip(&found) {
        row.push(source.map_or_else(Cell::missing, |source| source.cell(name, found, best)));
    }
}

/// The n that tables and plots show by default: [`USUAL_N`] if the run has it, otherwise its
/// largest.
pub fn usual_n(run: &Run) -> Option<u64> {
    let sizes = sizes(run);
    if sizes.contains(&USUAL_N) { Some(USUAL_N) } else { sizes.last().copied() }
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
    let throughput = run.throughput.iter().map(|r| &r.backend);
    let others =
        run.latency.iter().map(|r| &r.backend).chain(run.memory.iter().map(|r| &r.backend));
    let all = throughput.chain(others).chain(run.failures.iter().map(|r| &r.backend));
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.sort_by_key(|name| name == FLOOR);
    names
}

/// The names of the run's workloads in the order of their first rows, traces last.
pub fn workloads(run: &Run) -> Vec<String> {
    let rows = run.throughput.iter().map(|r| &r.workload);
    let mut names: Vec<String> = Vec::new();
    for name in rows
        .chain(run.latency.iter().map(|r| &r.workload))
        .chain(run.failures.iter().map(|r| &r.workload))
    {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.sort_by_key(|name| name.starts_with(TRACE));
    names
}

/// How the row or name of a structure is marked.
pub fn row_mark(backend: &str) -> Mark {
    if backend == FLOOR { Mark::Muted } else { Mark::Plain }
}

/// The smallest figure, not counting the floor's.
pub fn best(names: &[String], found: &[Found]) -> Option<f64> {
    let competing = names.iter().zip(found).filter(|(name, _)| *name != FLOOR);
    competing.filter_map(|(_, found)| found.figure()).min_by(f64::total_cmp)
}

/// The content of a table cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A figure and the samples whose median it is; a single sample for latency and memory.
    Figure(f64, Vec<f64>),
    /// The backend answered wrongly on that workload.
    Wrong,
    /// Not measured.
    Missing,
}

impl Found {
    fn figure(&self) -> Option<f64> {
        match self {
            Found::Figure(value, _) => Some(*value),
            _ => None,
        }
    }
}

/// The median of a measure, or the reason that there is none.
pub fn find_throughput(run: &Run, backend: &str, workload: &str, n: u64, measure: &str) -> Found {
    if is_wrong(run, backend, workload, n) {
        return Found::Wrong;
    }
    let row = run.throughput_of(backend, workload, n, measure);
    match row.and_then(|row| Some((stats::median(&row.ns_per_op)?, row.ns_per_op.clone()))) {
        Some((median, samples)) => Found::Figure(median, samples),
        None => Found::Missing,
    }
}

/// Returns `true` if the backend answered wrongly on a workload at n.
pub fn is_wrong(run: &Run, backend: &str, workload: &str, n: u64) -> bool {
    run.failures.iter().any(|f| f.backend == backend && f.workload == workload && f.n == n)
}

/// A cell: the figure, and below it the ratio to the best of its column.
pub fn ratio_cell(
    backend: &str,
    found: &Found,
    best: Option<f64>,
    show: fn(f64) -> String,
) -> Cell {
    let value = match found {
        Found::Figure(value, _) => *value,
        Found::Wrong => return Cell::wrong(),
        Found::Missing => return Cell::missing(),
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

fn notes(run: &Run, n: u64, sources: &[Source]) -> Vec<String> {
    let mut notes = vec![
        "Median, and ×ratio to the best of the column, which is marked. Lower is better."
            .to_owned(),
    ];
    if backends(run).iter().any(|name| name == FLOOR) {
        notes.push(FLOOR_NOTE.to_owned());
    }
    notes.extend(spread_note(run, n, sources));
    notes.extend(workload_note(n, sources));
    if sources.iter().any(|source| matches!(source.kind, Kind::Tail(..))) {
        notes.push(
            "p99.99: one in ten thousand took longer. No winner is marked if the floor is within \
             ×3 of the best: that is machine noise."
                .to_owned(),
        );
    }
    notes.extend(guest_notes(run));
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
fn workload_note(n: u64, sources: &[Source]) -> Option<String> {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for source in sources.iter().filter(|s| !matches!(s.kind, Kind::Bytes)) {
        let own_n = if source.n == n {
            String::new()
        } else {
            format!(", {} timers", units::count(source.n))
        };
        let workload = format!("{}{own_n}", source.workload);
        let heading = source.heading.replace('\n', " ");
        match parts.iter_mut().find(|(name, _)| *name == workload) {
            Some((_, headings)) => headings.push(heading),
            None => parts.push((workload, vec![heading])),
        }
    }
    let parts: Vec<String> =
        parts.into_iter().map(|(name, heads)| format!("{name} ({})", heads.join(", "))).collect();
    (!parts.is_empty()).then(|| format!("Workloads: {}.", parts.join("; ")))
}

/// The versions of structures from other projects, and why some of their cells are empty.
fn guest_notes(run: &Run) -> impl Iterator<Item = String> + '_ {
    let mut versions: Vec<&str> = run.guests.iter().map(|guest| guest.version.as_str()).collect();
    versions.dedup(); // a package may be in the run twice, used in two ways
    let versions =
        (!versions.is_empty()).then(|| format!("From other projects: {}.", versions.join(", ")));
    let reasons = run
        .guests
        .iter()
        .flat_map(|guest| guest.cannot.iter().map(|why| format!("{}: {why}.", guest.name)));
    versions.into_iter().chain(reasons)
}

/// The number of repetitions, and their spread over all cells of the table.
fn spread_note(run: &Run, n: u64, sources: &[Source]) -> Option<String> {
    let mut repetitions: Vec<usize> = Vec::new();
    let mut spreads: Vec<f64> = Vec::new();
    for source in sources.iter().filter(|s| matches!(s.kind, Kind::Time(_))) {
        for name in backends(run).iter().filter(|name| *name != FLOOR) {
            if let Found::Figure(_, samples) = source.find(run, name) {
                repetitions.push(samples.len());
                let tells = samples.len() >= stats::FEWEST;
                spreads.extend(stats::relative_deviation(&samples).filter(|_| tells));
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

fn nothing(run: &Run) -> Table {
    let mut table =
        Table::new("At a glance: nothing was measured", vec![Column::left("structure")]);
    table.notes.push(if run.interrupted {
        "The run was interrupted before its first row.".to_owned()
    } else {
        "The run has no rows.".to_owned()
    });
    table
}
