//! C57: Redis and SQLite as places for timers.
//!
//! `cargo bench --bench durable` schedules, cancels and runs durable jobs on both, with many
//! pending. What disks and servers take cannot be counted in steps, so the times of the run that is
//! kept decide: whether either keeps up with a million timers of half an hour, which is 556 that
//! begin and 556 that end in a second.

use crate::{By, Evidence, Experiment, Lab};
use serde::Deserialize;
use std::sync::LazyLock;

pub(super) const STORES: Experiment = Experiment {
    name: "durable-stores",
    about: "durable jobs on SQLite and Redis with many pending, in the run that is kept: \
        schedules, cancellations and runs a second, beside a million timers of half an hour",
    run,
};

const FILE: &str = include_str!("../../../../results/durable/rows.json");

/// Timers, and how long each lives, in seconds.
const TIMERS: f64 = 1e6;
const LIFE: f64 = 1_800.0;

#[derive(Default, Deserialize)]
struct Record {
    jobs: u64,
    rows: Vec<Row>,
}

/// Operations a second.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    store: String,
    /// By a producer that waits for each.
    schedule_one: f64,
    schedule_64: f64,
    cancel_64: f64,
    /// Run by a handler, and acknowledged.
    #[serde(rename = "fire-run,-ack")]
    fire: f64,
}

static RECORD: LazyLock<Record> = LazyLock::new(|| serde_json::from_str(FILE).unwrap_or_default());

fn run(_: &Lab, e: &mut Evidence) {
    let needed = TIMERS / LIFE;
    let columns = ["store", "schedule, one waits", "64 wait", "cancel, 64 wait", "run"];
    let title = format!("Operations a second with {} jobs pending", RECORD.jobs);
    let rows = RECORD.rows.iter().map(|row| {
        let figures = [row.schedule_one, row.schedule_64, row.cancel_64, row.fire];
        let [one, many, cancel, fire] = figures.map(|figure| format!("{figure:.0}"));
        [row.store.clone(), one, many, cancel, fire]
    });
    e.by(By::Time).table(title, columns, rows);
    let slowest = |store: &str| {
        let row = RECORD.rows.iter().find(|row| row.store == store);
        row.map_or(0.0, |row| row.schedule_one.min(row.cancel_64).min(row.fire))
    };
    for (id, store, name) in [("C57.3", "redis", "Redis"), ("C57.4", "sqlite", "SQLite")] {
        let slowest = slowest(store);
        e.holds(
            id,
            format!("{name} would do the job: it keeps up with a million timers."),
            slowest >= needed,
            format!("{slowest:.0} a second at the least; {needed:.0} are needed"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_that_is_kept_has_both_stores() {
        let has = |store| RECORD.rows.iter().any(|row| row.store == store && row.fire > 0.0);
        assert!(RECORD.jobs >= 100_000 && has("redis") && has("sqlite"));
    }
}
