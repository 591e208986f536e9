//! The table that a run ends with: structures down, operations across, the ratio to the best in
//! each field.

mod columns;

use serde_json::json;

use self::columns::{Kind, Source, sources};
use crate::model::{FLOOR, Run, Sampling};
use wheelhouse_present::stats;
use wheelhouse_present::table::{Cell, Column, Mark, Table};
use wheelhouse_present::units;

/// The number of timers that the table shows if the run has it and none was named.
pub const USUAL_N: u64 = 1_000_000;

pub use crate::stream::TRACE;

/// One table that a person can read at a glance: per structure and operation the median and its
/// ratio to the best.
///
/// Without `n`, that of [`USUAL_N`] if the run has it, otherwise its largest. A trace has its own
/// number of timers, which is the one shown. The floor (the memory traffic that no timer facility
/// can avoid) has a row and is never the best; a structure that answered wrongly has `WRONG` in
/// place of figures. Of tails nothing is best where the floor is within x3: there the machine
/// decides.
pub fn at_a_glance(run: &Run, n: Option<u64>) -> Table {
    table_of(run, n, sources)
}

/// The same with the columns that matter most, so many that the table fits a terminal.
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
            "Not measured with so many timers, since it would take too long or the run was cut \
             short; left out: {}.",
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

/// The tables of all sizes of a run one below the other: n and structure down, operations across,
/// the ratio to the best at that n in each field. Without traces, which have one size.
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

/// Appends a field to each row: what a source has of the structure that the row is about.
fn append_column(rows: &mut [Vec<Cell>], run: &Run, names: &[String], source: Option<&Source>) {
    let find = |name: &String| source.map_or(Found::Missing, |source| source.find(run, name));
    let found: Vec<Found> = names.iter().map(find).collect();
    let best = source.and_then(|source| source.best(names, &found));
    for ((row, name), found) in rows.iter_mut().zip(names).zip(&found) {
        row.push(source.map_or_else(Cell::missing, |source| source.cell(name, found, best)));
    }
}

/// The n that tables and plots show when none is named: [`USUAL_N`] if the run has it, else its
/// largest.
pub fn usual_n(run: &Run) -> Option<u64> {
    let sizes = sizes(run);
    if sizes.contains(&USUAL_N) { Some(USUAL_N) } else { sizes.last().copied() }
}

/// Every n of the run's workloads that are not traces (of the traces if there is nothing else),
/// rising.
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

/// How a structure's own row or name is to be marked.
pub fn row_mark(backend: &str) -> Mark {
    if backend == FLOOR { Mark::Muted } else { Mark::Plain }
}

/// The least figure of all but the floor.
pub fn best(names: &[String], found: &[Found]) -> Option<f64> {
    let competing = names.iter().zip(found).filter(|(name, _)| *name != FLOOR);
    competing.filter_map(|(_, found)| found.figure()).min_by(f64::total_cmp)
}

/// What there is for a field of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A figure, with the samples it is the median of (one for what is counted once).
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

/// The median of a measure, or why there is none.
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

/// Whether the backend answered wrongly on a workload at n.
pub fn is_wrong(run: &Run, backend: &str, workload: &str, n: u64) -> bool {
    run.failures.iter().any(|f| f.backend == backend && f.workload == workload && f.n == n)
}

/// A field: the figure, under it the ratio to the best of its column.
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

/// What stands under a table with the floor in it.
pub const FLOOR_NOTE: &str = "The floor moves only the bytes that no timer facility can avoid, \
                              told beforehand what fires; it does not compete.";

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
            "WRONG answers in the run: {count} (not the oracle's, so that they have no times)."
        ));
    }
    if run.interrupted {
        notes.push("The run was interrupted: rows are missing.".to_owned());
    }
    notes
}

/// Which columns are of which workload.
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

/// Who the guests are, and why some of their cells are empty.
fn guest_notes(run: &Run) -> impl Iterator<Item = String> + '_ {
    let mut versions: Vec<&str> = run.guests.iter().map(|guest| guest.version.as_str()).collect();
    versions.dedup(); // one package may be in the run twice, used in two ways
    let versions =
        (!versions.is_empty()).then(|| format!("Not of this workspace: {}.", versions.join(", ")));
    let reasons = run
        .guests
        .iter()
        .flat_map(|guest| guest.cannot.iter().map(|why| format!("{}: {why}.", guest.name)));
    versions.into_iter().chain(reasons)
}

/// How far the samples lie apart, over all fields of the table.
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
            "{about}: too few to tell how far they lie apart; no small difference here means \
             anything."
        ));
    }
    let typical = stats::median(&spreads)? * 100.0;
    let worst = stats::range(&spreads)?.1 * 100.0;
    Some(format!(
        "{about}. Spread (median absolute deviation over median): typically {typical:.1} %, at \
         most {worst:.1} %; ratios closer than that are ties."
    ))
}

/// In more of the samples than this the machine was busy.
const BUSY: f64 = 0.02;

/// How often other processes had the processor.
fn disturbance_note(run: &Run) -> Option<String> {
    let Sampling { taken, disturbed } = run.sampling;
    (disturbed as f64 > BUSY * taken as f64).then(|| {
        format!(
            "The machine was busy: in {disturbed} of {taken} samples other programs had the \
             processor, and these were left out where others remained. Stop what runs beside, and \
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
        "The run holds no rows.".to_owned()
    });
    table
}
