//! The content of the report, in order. `wheelhouse-present` renders it.

use crate::model::{FLOOR, Failure, Run, Steps};
use crate::plot::Subject;
use crate::summary;
use wheelhouse_present::units;

use super::explore::{self, Explorer};
use super::{picks, prose};
use wheelhouse_machine::provenance;
use wheelhouse_present::document::{Block, Document, Picture};
use wheelhouse_present::table::{Cell, Table, distinct};

/// The report of a run, shown next to another run if there is one. An empty run gets a warning.
/// `digest` is the SHA-256 of its `run.json`.
pub fn build(
    run: &Run,
    other: Option<&Run>,
    pictures: &[(Subject, Picture)],
    digest: Option<String>,
) -> Document {
    let mut blocks = warnings(run);
    let other = other.and_then(Explorer::new);
    let explorer = Explorer::new(run).map(|it| explore::render(&it, other.as_ref()));
    blocks.extend(explorer.map(Block::Interactive));
    let answer = picks::answer(run);
    if !answer.is_empty() {
        blocks.push(Block::Heading("The answer of this run".to_owned()));
        blocks.push(Block::Text(prose::ANSWER.to_owned()));
        blocks.push(Block::Points(answer));
    }
    blocks.push(Block::Table(summary::at_a_glance(run, None)));
    blocks.push(Block::Table(picks::table(run)));
    blocks.extend(other_sizes(run));
    if !run.failures.is_empty() {
        blocks.push(Block::Heading("Wrong answers".to_owned()));
        blocks.push(Block::Points(run.failures.iter().map(Failure::to_string).collect()));
    }
    blocks.extend(figures(run, pictures));
    blocks.push(Block::Heading("How to read this, and how far to trust it".to_owned()));
    blocks.push(Block::Points(prose::caveats(run)));
    blocks.push(Block::Heading("Where these figures come from".to_owned()));
    let mut facts = provenance::facts(&run.provenance);
    facts.push(("bytes of a value", run.payload.to_string()));
    facts.push(("seeds", run.seeds.to_string()));
    facts.extend(digest.map(|digest| ("SHA-256 of run.json", digest)));
    blocks.push(Block::Facts(facts));
    blocks.push(Block::Text(prose::SOURCE.to_owned()));
    let date: String = run.provenance.started.chars().take(10).collect();
    let title = format!("Timers compared: {} on {date}", run.provenance.host);
    Document { title, subtitle: provenance::line(&run.provenance), blocks }
}

fn warnings(run: &Run) -> Vec<Block> {
    let is_empty = run.throughput.is_empty() && run.latency.is_empty() && run.memory.is_empty();
    let wrong = run.failures.len();
    let commit = provenance::short_commit(&run.provenance.commit);
    let warnings = [
        (is_empty && wrong == 0, "Nothing was measured: this run has no rows.".to_owned()),
        (run.interrupted, "The run was interrupted: rows are missing.".to_owned()),
        (
            wrong > 0,
            format!(
                "Wrong answers: {wrong}. They are listed below. The structures have no figures \
                 there."
            ),
        ),
        (
            run.provenance.dirty,
            format!(
                "The source had uncommitted changes: commit {commit} is not exactly what was \
                 measured."
            ),
        ),
    ];
    let shown = warnings.into_iter().filter(|(is_shown, _)| *is_shown);
    shown.map(|(_, text)| Block::Warning(text)).collect()
}

/// The table at a glance for every other n, folded.
fn other_sizes(run: &Run) -> Option<Block> {
    let default = summary::default_n(run)?;
    let others: Vec<u64> = summary::sizes(run).into_iter().filter(|n| *n != default).collect();
    let tables = others.iter().map(|n| Block::Table(summary::at_a_glance(run, Some(*n)))).collect();
    let named: Vec<String> = others.iter().map(|n| units::count(*n)).collect();
    (!others.is_empty())
        .then(|| Block::Folded(format!("The same at n = {}", named.join("; ")), tables))
}

/// The sections with pictures and full tables. Pictures for the default n are visible, those for
/// others are folded.
fn figures(run: &Run, pictures: &[(Subject, Picture)]) -> Vec<Block> {
    let drawn = |is_it: &dyn Fn(&Subject) -> bool| -> Vec<Block> {
        let shown = pictures.iter().filter(|(subject, _)| is_it(subject));
        let block =
            |(subject, it): &(_, Picture)| Block::Picture(it.clone(), prose::caption(subject));
        shown.map(block).collect()
    };
    let with_story = |(workload, table): (String, Table)| (prose::story(&workload), table);
    let times = summary::times(run).into_iter().map(with_story).collect();
    let pictures = drawn(&|it| matches!(it, Subject::Time { .. }));
    let mut blocks = section("Time per operation", prose::TIME, pictures, times);

    let default = summary::default_n(run);
    let is_open = |it: &Subject| matches!(it, Subject::Latency { n, .. } if Some(*n) == default);
    let mut pictures = drawn(&is_open);
    let others = drawn(&|it| matches!(it, Subject::Latency { .. }) && !is_open(it));
    if !others.is_empty() {
        pictures.push(Block::Folded("The same at other n and on traces".to_owned(), others));
    }
    let latencies = latency_tables(run).into_iter().map(|table| (None, table)).collect();
    let title = "Latency of single operations";
    blocks.extend(section(title, prose::LATENCY, pictures, latencies));

    let memory = memory_table(run).into_iter().map(|table| (None, table)).collect();
    let pictures = drawn(&|it| *it == Subject::Memory);
    blocks.extend(section("Memory", &prose::memory(run), pictures, memory));
    blocks
}

/// A section with pictures and folded tables, each with a text about it if there is one. Without
/// tables, there is no section.
fn section(
    title: &str,
    text: &str,
    pictures: Vec<Block>,
    tables: Vec<(Option<String>, Table)>,
) -> Vec<Block> {
    if tables.is_empty() {
        return Vec::new();
    }
    let folded = tables.into_iter().map(|(about, table)| {
        let title = format!("All figures: {}", table.title);
        let about = about.map(Block::Text).into_iter();
        Block::Folded(title, about.chain([Block::Table(table)]).collect())
    });
    let head = [Block::Heading(title.to_owned()), Block::Text(text.to_owned())];
    head.into_iter().chain(pictures).chain(folded).collect()
}

fn row(n: u64, backend: &str, figures: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
    let head = [Cell::count(n), Cell::text(backend).marked(summary::row_mark(backend))];
    head.into_iter().chain(figures).collect()
}

/// One table per workload and operation: percentiles of the time of single operations.
pub fn latency_tables(run: &Run) -> Vec<Table> {
    let groups = distinct(run.latency.iter().map(|r| (r.workload.as_str(), r.operation.as_str())));
    groups
        .into_iter()
        .map(|(workload, operation)| latency_table(run, workload, operation))
        .collect()
}

fn latency_table(run: &Run, workload: &str, operation: &str) -> Table {
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
pub fn memory_table(run: &Run) -> Option<Table> {
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
