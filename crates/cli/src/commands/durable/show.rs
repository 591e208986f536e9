//! `wheelhouse durable inspect`: prints the counts.

use super::counts::{Count, Counts, DUE};
use super::place::Opened;
use super::times::{date, distance};
use serde_json::{Value, json};
use wheelhouse_durable::store::{Dead, Key, Kind, Timestamp};
use wheelhouse_present::table::{Cell, Column, Format, Table};
use wheelhouse_present::units;

/// The number of characters of a reason or key that a table shows; JSON has all of them.
const REASON: usize = 60;

pub(super) fn all(opened: &Opened, counts: &Counts, format: Format) -> String {
    let (jobs, dead) = (jobs(counts), dead(counts));
    if format == Format::Json {
        let all = json!({
            "name": opened.name,
            "store": opened.kind,
            "format": opened.format,
            "bytes": opened.bytes,
            "now": date(counts.now),
            "shard": counts.shard,
            "paused": counts.paused,
            "jobs": jobs.json(),
            "dead": dead.json(),
        });
        return format!("{all:#}");
    }
    let now = date(counts.now);
    let now = now.as_str().unwrap_or_default();
    let Opened { name, kind, format, bytes, .. } = opened;
    let size = bytes
        .map_or_else(String::new, |bytes| format!(", {} with its journal", units::bytes(bytes)));
    let mut out = format!("{name}: {kind}, format {format}{size}; its clock: {now}\n");
    out += &summary(counts);
    // The tables have no list of queues: an empty queue and a wrong name look the same.
    if *kind == "PostgreSQL" && counts.is_empty() {
        out += "the database has nothing in this queue: check its name\n";
    }
    for table in [jobs, dead].iter().filter(|table| !table.rows.is_empty()) {
        out += &format!("\n{}", table.terminal());
    }
    out
}

/// The lines above the tables.
fn summary(counts: &Counts) -> String {
    let Count { numbers, first } = &counts.total;
    let (lost, overdue) = (numbers[DUE - 1], numbers[DUE]);
    let mut out = counts.shard.as_ref().map_or_else(String::new, |shard| format!("{shard}\n"));
    out += &match first {
        None => "no job is waiting\n".to_owned(),
        Some((at, key)) if *at <= counts.now => {
            let distance = distance(*at, counts.now);
            format!("{overdue} overdue; the oldest, {key}, was due {distance}\n")
        }
        Some((at, key)) => {
            format!("nothing is overdue; the next, {key}, is due {}\n", distance(*at, counts.now))
        }
    };
    for kind in &counts.paused {
        let what = if kind.is_empty() { "everything" } else { kind };
        out += &format!("{what} is paused; to resume: `wheelhouse durable resume`\n");
    }
    if lost > 0 {
        out += &format!(
            "{lost} leases have expired: their workers are gone, their jobs can be claimed\n"
        );
    }
    out
}

fn jobs(counts: &Counts) -> Table {
    let states = ["pending", "leased", "closed", "replaced", "lease\nended", "due"];
    let ahead =
        [("in 1 min", "due-in-1-min"), ("in 1 h", "due-in-1-h"), ("in 1 day", "due-in-1-day")];
    let first = [("first", "first-due"), ("its key", "first-key")];
    let mut columns = vec![Column::left("kind")];
    columns.extend(states.map(Column::right));
    columns.extend(ahead.map(|(name, key)| Column::right(name).keyed(key)));
    columns.extend(first.map(|(name, key)| Column::left(name).keyed(key)));
    let mut table = Table::new("Jobs by kind", columns);
    let row = |name: &str, count: &Count| {
        let mut row = vec![Cell::text(name)];
        row.extend(count.numbers.map(Cell::count));
        match &count.first {
            Some((at, key)) => row.extend([moment(*at, counts.now), key_cell(key)]),
            None => row.extend([Cell::missing(), Cell::missing()]),
        }
        row
    };
    table.rows = counts.kinds.iter().map(|(kind, count)| row(kind, count)).collect();
    if table.rows.len() > 1 {
        table.rows.push(row("(all)", &counts.total));
    }
    table.notes.push(
        "The columns from `due` count waiting jobs, pending or replaced; each includes the column \
         before. Closed: cancelled while a worker has it. Replaced: waits for the end of an older \
         run."
            .to_owned(),
    );
    table
}

fn dead(counts: &Counts) -> Table {
    let columns = ["kind", "dead", "newest", "key", "generation", "attempts", "reason"];
    let is_figure = |name| ["dead", "generation", "attempts"].contains(&name);
    let columns = columns.map(|name| Column::new(name, is_figure(name))).into();
    let mut table = Table::new("Dead letters by kind, with the newest of each", columns);
    let row = |(kind, (count, newest)): (&Kind, &(u64, Dead))| {
        let Dead { job, reason, at } = newest;
        let generation = Value::from(job.generation);
        vec![
            Cell::text(&**kind),
            Cell::count(*count),
            moment(*at, counts.now),
            key_cell(&job.key),
            Cell { value: generation, ..Cell::text(job.generation.to_string()) },
            Cell::count(job.attempt.into()),
            Cell { shown: short(reason), ..Cell::text(reason) },
        ]
    };
    table.rows = counts.dead.iter().map(row).collect();
    table.notes.push(
        "`wheelhouse durable dump --dead` shows all of them; `retry` and `forget` take their \
         generations."
            .to_owned(),
    );
    table
}

/// A time: the distance from now for people, the date for programs.
fn moment(at: Timestamp, now: Timestamp) -> Cell {
    Cell { value: date(at), ..Cell::text(distance(at, now)) }
}

fn key_cell(key: &Key) -> Cell {
    let text = key.to_string();
    Cell { shown: short(&text), ..Cell::text(text) }
}

/// The text on one line, cut to `REASON` characters.
fn short(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(REASON) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
