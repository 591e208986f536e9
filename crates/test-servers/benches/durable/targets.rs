//! What this project asks of its own stores.
//!
//! A machine's disk decides how many syncs there are a second: where a bare database is beside,
//! what is asked is a share of what that reaches in the same minutes. The others were set on one
//! machine with 2 cores; on a slower one they say less.

use crate::play::COLUMNS;
use wheelhouse_present::table::{Cell, Column, Mark, Table};
use wheelhouse_present::units;

/// What a figure is to be.
#[derive(Clone, Copy)]
enum Bound {
    AtLeast(f64),
    AtMost(f64),
    /// At least such a share of what this row has.
    Share(f64, &'static str),
}

use Bound::{AtLeast, AtMost, Share};

/// Row, column and bound.
const TARGETS: [(&str, &str, Bound); 10] = [
    ("sqlite", "schedule\none", Share(0.8, "bare-sqlite")),
    ("sqlite", "schedule\n64", Share(0.8, "bare-sqlite")),
    ("sqlite", "schedule 64\np99 ms", AtMost(10.0)),
    ("sqlite", "schedule\nflow", AtLeast(25_000.0)),
    ("sqlite", "fire\nrun, ack", AtLeast(15_000.0)),
    ("sqlite", "open\nms", AtMost(1_000.0)),
    ("redis", "schedule\nbatch", AtLeast(75_000.0)),
    ("redis", "fire\nbatch", AtLeast(60_000.0)),
    ("postgres", "schedule\nbatch", AtLeast(35_000.0)),
    ("postgres", "fire\nbatch", AtLeast(30_000.0)),
];

/// What was asked and what was reached, of the rows that were played. `figure` is that of a row
/// and a column, if there is such a row.
pub(crate) fn table(figure: impl Fn(&str, usize) -> Option<f64>) -> Table {
    let columns = ["store", "figure", "asked", "reached", ""].map(Column::left).to_vec();
    let mut table = Table::new("What is asked of the stores", columns);
    for (row, column, bound) in TARGETS {
        let Some(at) = COLUMNS.iter().position(|name| *name == column) else { continue };
        let Some(reached) = figure(row, at) else { continue };
        let shown = |value: f64| {
            if value < 1_000.0 { format!("{value:.2}") } else { units::count(value as u64) }
        };
        let (asked, met) = match bound {
            AtLeast(least) => (format!("at least {}", shown(least)), reached >= least),
            AtMost(most) => (format!("at most {}", shown(most)), reached <= most),
            Share(share, of) => {
                let Some(theirs) = figure(of, at) else { continue };
                let least = share * theirs;
                (format!("at least {share} of {of}: {}", shown(least)), reached >= least)
            }
        };
        let verdict = Cell::text(if met { "reached" } else { "missed" });
        table.rows.push(vec![
            Cell::text(row),
            Cell::text(column.replace('\n', ", ")),
            Cell::text(asked),
            Cell::text(shown(reached)),
            verdict.marked(if met { Mark::Good } else { Mark::Bad }),
        ]);
    }
    table
}
