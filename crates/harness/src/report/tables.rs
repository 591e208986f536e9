//! The full tables of a run: every row of it.

use std::collections::BTreeSet;

use crate::model::{FLOOR, Run, Steps};
use crate::summary::{self, CellContent};
use wheelhouse_present::table::{Cell, Column, Mark, Table, distinct};
use wheelhouse_present::units;

/// The name of each workload and its table: a row for each n and structure, a column for each
/// measure, and in each cell the median and its ratio to the best at that n.
pub fn times(run: &Run) -> Vec<(String, Table)> {
    let timed = |workload: &String| run.throughput.iter().any(|r| r.workload == *workload);
    let with_table = |workload: String| {
        let table = times_of(run, &workload);
        (workload, table)
    };
    summary::workloads(run).into_iter().filter(timed).map(with_table).collect()
}

fn times_of(run: &Run, workload: &str) -> Table {
    let rows = || run.throughput.iter().filter(|r| r.workload == workload);
    let measures = distinct(rows().map(|r| r.measure.as_str()));
    let sizes: BTreeSet<u64> = rows().map(|r| r.n).collect();
    let heads = [Column::right("n"), Column::left("structure")];
    let heads = heads
        .into_iter()
        .chain(measures.iter().map(|m| Column::right(m.replace('-', "\n")).keyed(*m)));
    let mut table = Table::new(format!("{workload}, ns per operation"), heads.collect());
    let names = summary::backends(run);
    for n in sizes {
        let columns: Vec<Vec<Cell>> =
            measures.iter().map(|measure| column(run, &names, workload, n, measure)).collect();
        for (i, name) in names.iter().enumerate() {
            let fields: Vec<Cell> = columns.iter().map(|column| column[i].clone()).collect();
            if fields.iter().any(|field| !field.value.is_null()) {
                let head =
                    [Cell::count(n), Cell::text(name.clone()).marked(summary::row_mark(name))];
                table.rows.push(head.into_iter().chain(fields).collect());
            }
        }
    }
    table.notes.push(
        "Median of the repetitions, and ×ratio to the best at that n, which is marked.".to_owned(),
    );
    table
}

fn column(run: &Run, names: &[String], workload: &str, n: u64, measure: &str) -> Vec<Cell> {
    let found: Vec<CellContent> = names
        .iter()
        .map(|name| summary::find_throughput(run, name, workload, n, measure))
        .collect();
    let best = summary::best(names, &found);
    names
        .iter()
        .zip(&found)
        .map(|(name, found)| summary::ratio_cell(name, found, best, units::number))
        .collect()
}

/// One table per workload and operation: percentiles of the time of single operations.
pub fn latencies(run: &Run) -> Vec<Table> {
    let groups = distinct(run.latency.iter().map(|r| (r.workload.as_str(), r.operation.as_str())));
    groups.into_iter().map(|(workload, operation)| latencies_of(run, workload, operation)).collect()
}

fn latencies_of(run: &Run, workload: &str, operation: &str) -> Table {
    let figures =
        ["timed", "p50", "p90", "p99", "p99.9", "p99.99", "max", "most steps"].map(Column::right);
    let heads = [Column::right("n"), Column::left("structure")];
    let title = format!("{operation} ({workload}), time of one operation");
    let mut table = Table::new(title, heads.into_iter().chain(figures).collect());
    let mut rows: Vec<_> =
        run.latency.iter().filter(|r| r.workload == workload && r.operation == operation).collect();
    rows.sort_by_key(|r| (r.n, r.backend == FLOOR));
    for row in rows {
        let mut cells = vec![
            Cell::count(row.n),
            Cell::text(&row.backend).marked(summary::row_mark(&row.backend)),
        ];
        cells.push(Cell::count(row.count));
        let times = [row.p50, row.p90, row.p99, row.p999, row.p9999, row.max];
        cells.extend(times.map(|ns| Cell::figure(ns as f64, units::time(ns as f64))));
        let is_it = |it: &&Steps| {
            (&it.backend, &it.workload, it.n, &it.operation)
                == (&row.backend, &row.workload, row.n, &row.operation)
        };
        let steps = run.steps.iter().find(is_it);
        cells.push(steps.map_or_else(Cell::missing, |it| Cell::count(it.longest)));
        table.rows.push(cells);
    }
    table.notes.push("Each time includes the overhead of reading the clock.".to_owned());
    table
}

/// Bytes per timer; `None` if they were not measured.
pub fn memory(run: &Run) -> Option<Table> {
    let heads = [Column::right("n"), Column::left("structure")];
    let figures = ["live", "peak", "churned"].map(Column::right);
    let mut table = Table::new("Bytes per live timer", heads.into_iter().chain(figures).collect());
    let mut rows: Vec<_> = run.memory.iter().collect();
    rows.sort_by_key(|r| r.n);
    for row in rows {
        let mut cells = vec![
            Cell::count(row.n),
            Cell::text(&row.backend).marked(summary::row_mark(&row.backend)),
        ];
        cells.extend(
            [row.live, row.peak, row.churned]
                .map(|bytes| Cell::figure(bytes, units::number(bytes))),
        );
        table.rows.push(cells);
    }
    table.notes.push("live: after n insertions; peak: the maximum until then.".to_owned());
    table.notes.push(
        "churned: with n live again, after timers were replaced several times on average."
            .to_owned(),
    );
    (!table.rows.is_empty()).then_some(table)
}

/// The wrong answers; `None` if there are none.
pub fn failures(run: &Run) -> Option<Table> {
    let columns = vec![
        Column::left("structure"),
        Column::left("workload"),
        Column::right("n"),
        Column::left("what was wrong"),
    ];
    let mut table = Table::new("Answers that did not match the oracle's", columns);
    for failure in &run.failures {
        let names =
            [Cell::text(&failure.backend).marked(Mark::Wrong), Cell::text(&failure.workload)];
        table.rows.push(
            names
                .into_iter()
                .chain([Cell::count(failure.n), Cell::text(&failure.message)])
                .collect(),
        );
    }
    (!table.rows.is_empty()).then_some(table)
}
