//! The full tables of latency and memory.

use crate::model::{FLOOR, Run, Steps};
use crate::summary;
use wheelhouse_present::table::{Cell, Table, distinct};
use wheelhouse_present::units;

fn row(n: u64, backend: &str, figures: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
    let head = [Cell::count(n), Cell::text(backend).marked(summary::row_mark(backend))];
    head.into_iter().chain(figures).collect()
}

/// One table per workload and operation: percentiles of the time of single operations.
pub fn latencies(run: &Run) -> Vec<Table> {
    let groups = distinct(run.latency.iter().map(|r| (r.workload.as_str(), r.operation.as_str())));
    groups.into_iter().map(|(workload, operation)| latencies_of(run, workload, operation)).collect()
}

fn latencies_of(run: &Run, workload: &str, operation: &str) -> Table {
    let mut table = summary::empty_by_size(
        format!("{operation} ({workload}), time of one operation"),
        &["timed", "p50", "p90", "p99", "p99.9", "p99.99", "max", "most steps"],
    );
    let mut rows: Vec<_> =
        run.latency.iter().filter(|r| r.workload == workload && r.operation == operation).collect();
    rows.sort_by_key(|r| (r.n, r.backend == FLOOR));
    for r in rows {
        let times = [r.p50, r.p90, r.p99, r.p999, r.p9999, r.max];
        let times = times.map(|ns| Cell::figure(ns as f64, units::time(ns as f64)));
        let is_it = |it: &&Steps| {
            (&it.backend, &it.workload, it.n, &it.operation)
                == (&r.backend, &r.workload, r.n, &r.operation)
        };
        let steps = run.steps.iter().find(is_it);
        let steps = steps.map_or_else(Cell::missing, |it| Cell::count(it.longest));
        let figures = [Cell::count(r.count)].into_iter().chain(times).chain([steps]);
        table.rows.push(row(r.n, &r.backend, figures));
    }
    table.notes.push("Each time includes the overhead of reading the clock.".to_owned());
    table
}

/// Bytes per timer; `None` if they were not measured.
pub fn memory(run: &Run) -> Option<Table> {
    let mut table = summary::empty_by_size("Bytes per live timer", &["live", "peak", "churned"]);
    let mut rows: Vec<_> = run.memory.iter().collect();
    rows.sort_by_key(|r| r.n);
    let figures = |bytes: [f64; 3]| bytes.map(|it| Cell::figure(it, units::number(it)));
    let rows = rows.iter().map(|r| row(r.n, &r.backend, figures([r.live, r.peak, r.churned])));
    table.rows.extend(rows);
    let notes = [
        "live: after n insertions; peak: the maximum until then.",
        "churned: with n live again, after timers were replaced several times on average.",
    ];
    table.notes.extend(notes.map(str::to_owned));
    (!table.rows.is_empty()).then_some(table)
}
