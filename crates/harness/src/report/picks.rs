//! Which structure to pick for which use: the best of a run for each, and the figure that says so.

use crate::model::{FLOOR, Run};
use crate::summary::{self, TRACE};
use wheelhouse_present::table::{Cell, Column, Table};
use wheelhouse_present::{stats, units};

/// A use, and what decides it.
struct Use {
    what: &'static str,
    by: By,
}

enum By {
    /// The time of a measure of a workload.
    Time { workload: &'static str, measure: &'static str },
    /// The time of [`EACH`] at the run's smallest number of timers, geometric mean: one operation alone would not decide it.
    Few,
    /// The time of replaying the recorded traces, geometric mean.
    Traces,
    /// The longest single operation of any kind, in `uniform`: there all timers undergo each of them.
    Tail,
    /// Bytes per timer after churn.
    Memory,
}

const USES: [Use; 7] = [
    Use {
        what: "Timeouts of connections and requests: nearly all are moved or cancelled (recorded traces)",
        by: By::Traces,
    },
    Use {
        what: "A steady mix of starting, cancelling and firing",
        by: By::Time { workload: "steady", measure: "steady" },
    },
    Use {
        what: "All fire, the clock goes tick by tick",
        by: By::Time { workload: "uniform", measure: "fire-ticks" },
    },
    Use {
        what: "A simulation: take the earliest, start another",
        by: By::Time { workload: "hold-exponential", measure: "hold" },
    },
    Use {
        what: "Few timers, whatever is done: mean of insert warm, cancel, reschedule, fire ticks, steady and hold",
        by: By::Few,
    },
    Use {
        what: "No call may stall: the longest insert, cancel or tick of the workload uniform",
        by: By::Tail,
    },
    Use { what: "Least memory, after churn", by: By::Memory },
];

/// What one does with timers, as (workload, measure).
const EACH: [(&str, &str); 6] = [
    ("uniform", "insert-warm"),
    ("uniform", "cancel"),
    ("uniform", "reschedule"),
    ("uniform", "fire-ticks"),
    ("steady", "steady"),
    ("hold-exponential", "hold"),
];

/// One row for each use that the run has figures for.
pub fn picks(run: &Run) -> Table {
    let mut columns = vec![Column::left("use"), Column::left("pick")];
    columns.extend([Column::right("figure"), Column::left("next")]);
    let mut table = Table::new("Which to pick, by this run", columns);
    let n = summary::usual_n(run);
    for Use { what, by } in USES {
        let at = if matches!(by, By::Few) { summary::sizes(run).first().copied() } else { n };
        let mut found = figures(run, &by, at);
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        let [(best, figure), rest @ ..] = found.as_slice() else { continue };
        let next = rest.first().map_or_else(
            || "-".to_owned(),
            |(name, next)| format!("{name}, ×{:.2}", next / figure),
        );
        let place = at
            .filter(|_| at != n)
            .map_or_else(String::new, |at| format!(" (n = {})", units::count(at)));
        let shown = if matches!(by, By::Memory) {
            format!("{figure:.1} bytes")
        } else {
            units::time(*figure)
        };
        table.rows.push(vec![
            Cell::text(format!("{what}{place}")),
            Cell::text(best.clone()),
            Cell::figure(*figure, shown),
            Cell::text(next),
        ]);
    }
    if let Some(n) = n {
        table.notes.push(format!(
            "n = {} unless said otherwise; medians, lower is better. A next best below ×1.1 is a tie for most purposes.",
            units::count(n)
        ));
    }
    table
}

/// The figure of each backend; one without is left out.
fn figures(run: &Run, by: &By, n: Option<u64>) -> Vec<(String, f64)> {
    let names = summary::backends(run).into_iter().filter(|name| name != FLOOR);
    names.filter_map(|name| figure(run, &name, by, n).map(|figure| (name, figure))).collect()
}

fn figure(run: &Run, name: &str, by: &By, n: Option<u64>) -> Option<f64> {
    match by {
        By::Time { workload, measure } => time(run, name, workload, measure, n),
        By::Few => {
            // Who lacks one is left out: a mean of others would not compare.
            let times =
                EACH.iter().map(|(workload, measure)| time(run, name, workload, measure, n));
            stats::geometric_mean(&times.collect::<Option<Vec<_>>>()?)
        }
        By::Traces => {
            let rows = run
                .throughput
                .iter()
                .filter(|row| row.backend == name && row.workload.starts_with(TRACE));
            stats::geometric_mean(
                &rows.filter_map(|row| stats::median(&row.ns_per_op)).collect::<Vec<_>>(),
            )
        }
        By::Tail => {
            let rows = run
                .latency
                .iter()
                .filter(|row| row.backend == name && row.workload == "uniform" && Some(row.n) == n);
            rows.map(|row| row.worst as f64).max_by(f64::total_cmp)
        }
        By::Memory => {
            let row = run.memory.iter().find(|row| row.backend == name && Some(row.n) == n)?;
            Some(row.churned)
        }
    }
}

fn time(run: &Run, name: &str, workload: &str, measure: &str, n: Option<u64>) -> Option<f64> {
    let mut rows = run.throughput.iter().filter(|row| row.backend == name && Some(row.n) == n);
    stats::median(&rows.find(|row| row.workload == workload && row.measure == measure)?.ns_per_op)
}
