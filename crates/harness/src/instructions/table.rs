//! The tables that people read: one for each n and span, and one for the traces.

use super::InstructionCount;
use super::check::percent;
use super::plan::{DENSE, dense_span};
use crate::stream::TRACE;
use serde_json::json;
use wheelhouse_present::table::{Cell, Column, Format, Table, distinct};
use wheelhouse_present::units;
use wheelhouse_workload::Measure;

/// The rows in a format: tables for people, one object per row for programs. In a table, a figure
/// that differs from the record has its change.
pub fn render(
    rows: &[InstructionCount],
    recorded: Option<&[InstructionCount]>,
    format: Format,
) -> String {
    match format {
        Format::Table => {
            let tables = tables(rows, recorded);
            tables.iter().map(Table::terminal).collect::<Vec<_>>().join("\n")
        }
        Format::Json => format!("{:#}\n", json!(rows)),
    }
}

pub(super) fn tables(
    rows: &[InstructionCount],
    recorded: Option<&[InstructionCount]>,
) -> Vec<Table> {
    // Streams are counted from the longest, and shown from the smallest.
    let mut sorted: Vec<&InstructionCount> = rows.iter().collect();
    sorted.sort_by_key(|row| (order(row), column(row)));
    let groups = sorted.chunk_by(|a, b| title(a) == title(b));
    groups.map(|rows| table(title(rows[0]), rows, recorded)).collect()
}

/// The order of the tables: smallest n first, the dense span after the other, traces last.
fn order(row: &InstructionCount) -> (bool, u64, bool) {
    let is_trace = row.workload.starts_with(TRACE);
    (is_trace, if is_trace { 0 } else { row.n }, row.workload == DENSE)
}

/// The position of a row's column: that of its measure in all tables of the comparison.
fn column(row: &InstructionCount) -> usize {
    Measure::ALL.iter().position(|measure| measure.name() == row.measure).unwrap_or(usize::MAX)
}

/// The title of the table that a row is in.
fn title(row: &InstructionCount) -> String {
    let n = units::count(row.n);
    match row.workload.as_str() {
        name if name.starts_with(TRACE) => "Instructions per operation, recorded traces".to_owned(),
        DENSE => {
            let span = u32::try_from(row.n).map_or(0, |n| dense_span(n).trailing_zeros());
            format!("Instructions per operation, n = {n}, delays up to 2^{span} ticks")
        }
        _ => format!("Instructions per operation, n = {n}, workloads of the comparison"),
    }
}

/// The heading of a row's column: its measure, or the name of its trace or mix.
fn head(row: &InstructionCount) -> String {
    match row.workload.strip_prefix(TRACE) {
        Some(trace) => trace.to_owned(),
        None if row.measure == Measure::Mix.name() => row.workload.clone(),
        None => row.measure.replace('-', " "),
    }
}

fn table(
    title: String,
    rows: &[&InstructionCount],
    recorded: Option<&[InstructionCount]>,
) -> Table {
    let heads = distinct(rows.iter().map(|row| head(row)));
    let backends = distinct(rows.iter().map(|row| row.backend.clone()));
    let columns = heads.iter().map(|head| Column::right(head.clone()));
    let first = std::iter::once(Column::left("structure"));
    let mut table = Table::new(title, first.chain(columns).collect());
    for backend in &backends {
        let cell_of = |column: &String| {
            let row = rows.iter().find(|row| row.backend == *backend && head(row) == *column);
            row.map_or_else(Cell::missing, |row| cell(row, recorded))
        };
        let name = Cell::text(backend.clone());
        table.rows.push(std::iter::once(name).chain(heads.iter().map(cell_of)).collect());
    }
    table
}

fn cell(row: &InstructionCount, recorded: Option<&[InstructionCount]>) -> Cell {
    let now = row.per_operation();
    let before = recorded.and_then(|rows| rows.iter().find(|it| it.key() == row.key()));
    let before = before.map(InstructionCount::per_operation).filter(|before| differs(*before, now));
    let change = before.map_or(String::new(), |before| format!("\n{}", percent(before, now)));
    Cell::figure(now, units::number(now) + &change)
}

/// Returns `true` if two figures differ enough to be shown. The address of an array can make a copy
/// of it a few instructions longer.
fn differs(before: f64, now: f64) -> bool {
    (now / before - 1.0).abs() >= 0.000_5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        backend: &str,
        workload: &str,
        n: u64,
        measure: &str,
        instructions: u64,
    ) -> InstructionCount {
        InstructionCount {
            backend: backend.to_owned(),
            workload: workload.to_owned(),
            n,
            measure: measure.to_owned(),
            operations: 10,
            instructions,
        }
    }

    #[test]
    fn each_n_and_span_has_a_table_and_all_traces_share_one() {
        let rows = [
            row("list-wheel", "trace:nginx", 123, "mix", 900),
            row("list-wheel", "uniform", 100_000, "cancel", 500),
            row("list-wheel", "uniform", 10_000, "cancel", 400),
            row("list-wheel", DENSE, 10_000, "cancel", 300),
            row("list-wheel", "steady", 10_000, "steady", 2000),
            row("list-wheel", "tcp", 10_000, "mix", 700),
            row("list-wheel", "often-moved", 10_000, "mix", 800),
            row("binary-heap", "uniform", 10_000, "cancel", 100),
        ];
        let tables = tables(&rows, None);
        let titles: Vec<_> = tables.iter().map(|table| table.title.as_str()).collect();
        let parts = ["n = 10,000, workloads", "10,000, delays up to 2^14", "n = 100,000", "traces"];
        assert_eq!(titles.len(), parts.len());
        assert!(titles.iter().zip(parts).all(|(title, part)| title.contains(part)), "{titles:?}");
        let lines = |row: &Vec<Cell>| row.iter().map(Cell::line).collect::<Vec<_>>();
        let shown: Vec<_> = tables[0].rows.iter().map(lines).collect();
        let wanted =
            [["list-wheel", "40.0", "200", "70.0", "80.0"], ["binary-heap", "10.0", "-", "-", "-"]];
        assert_eq!(shown, wanted, "each mix has a column");
        assert_eq!(tables[3].columns[1].name, "nginx");
    }

    #[test]
    fn a_figure_that_differs_from_the_record_shows_the_change() {
        let before = [row("list-wheel", "uniform", 10_000, "cancel", 1000)];
        let now = [row("list-wheel", "uniform", 10_000, "cancel", 900)];
        let shown =
            |now: &[InstructionCount]| tables(now, Some(&before))[0].rows[0][1].shown.clone();
        assert_eq!(shown(&now), "90.0\n-10.0 %");
        assert_eq!(shown(&before), "100");
    }
}
