//! The content of the report, in order. `wheelhouse-present` renders it.

use crate::model::Run;
use crate::plot::{Plot, Subject};
use crate::summary;
use wheelhouse_present::units;

use super::explore::{self, Explorer};
use super::{picks, prose, tables};
use wheelhouse_machine::provenance;
use wheelhouse_present::document::{Block, Document, Picture};

impl From<Plot> for Picture {
    fn from(Plot { file, title, svg, .. }: Plot) -> Self {
        Self { file, title, svg }
    }
}

/// The report of a run, shown next to another run if there is one. An empty run gets a warning.
/// `digest` is the SHA-256 of its `run.json`.
pub fn build(
    run: &Run,
    other: Option<&Run>,
    pictures: Vec<Plot>,
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
    blocks.extend(wrong_answers_section(run));
    let (times, rest): (Vec<_>, Vec<_>) =
        pictures.into_iter().partition(|p| matches!(p.subject, Subject::Time { .. }));
    let (latencies, memory): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|p| p.subject != Subject::Memory);
    blocks.extend(time_section(run, times));
    blocks.extend(latency_section(run, latencies));
    blocks.extend(memory_section(run, memory));
    blocks.push(Block::Heading("How to read this, and how far to trust it".to_owned()));
    blocks.push(Block::Points(prose::caveats(run)));
    blocks.push(Block::Heading("Where these figures come from".to_owned()));
    let mut facts = provenance::facts(&run.provenance);
    facts.extend(digest.map(|digest| ("SHA-256 of run.json", digest)));
    blocks.push(Block::Facts(facts));
    blocks.push(Block::Text(prose::SOURCE.to_owned()));
    let date: String = run.provenance.started.chars().take(10).collect();
    Document {
        title: format!("Timers compared: {} on {date}", run.provenance.host),
        subtitle: provenance::line(&run.provenance),
        blocks,
    }
}

fn warnings(run: &Run) -> Vec<Block> {
    let mut warnings = Vec::new();
    if run.throughput.is_empty()
        && run.latency.is_empty()
        && run.memory.is_empty()
        && run.failures.is_empty()
    {
        warnings.push("Nothing was measured: this run has no rows.".to_owned());
    }
    if run.interrupted {
        warnings.push("The run was interrupted: rows are missing.".to_owned());
    }
    if !run.failures.is_empty() {
        let count = run.failures.len();
        warnings.push(format!(
            "Wrong answers: {count}. They are listed below. The structures have no figures there."
        ));
    }
    if run.provenance.dirty {
        let commit = provenance::short_commit(&run.provenance.commit);
        warnings.push(format!(
            "The source had uncommitted changes: commit {commit} is not exactly what was measured."
        ));
    }
    warnings.into_iter().map(Block::Warning).collect()
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

fn wrong_answers_section(run: &Run) -> Vec<Block> {
    match tables::failures(run) {
        Some(table) => vec![Block::Heading("Wrong answers".to_owned()), Block::Table(table)],
        None => Vec::new(),
    }
}

fn time_section(run: &Run, pictures: Vec<Plot>) -> Vec<Block> {
    if run.throughput.is_empty() {
        return Vec::new();
    }
    let mut blocks =
        vec![Block::Heading("Time per operation".to_owned()), Block::Text(prose::TIME.to_owned())];
    blocks.extend(pictures.into_iter().map(picture_block));
    for (workload, table) in tables::times(run) {
        let title = format!("All figures: {}", table.title);
        let story = prose::story(&workload).map(Block::Text);
        blocks.push(Block::Folded(title, story.into_iter().chain([Block::Table(table)]).collect()));
    }
    blocks
}

/// Plots for the default n are visible, plots for others are folded.
fn latency_section(run: &Run, pictures: Vec<Plot>) -> Vec<Block> {
    if run.latency.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::Heading("Latency of single operations".to_owned()),
        Block::Text(prose::LATENCY.to_owned()),
    ];
    let default = summary::default_n(run);
    let at_default =
        |p: &Plot| matches!(&p.subject, Subject::Latency { n, .. } if Some(*n) == default);
    let (open, folded): (Vec<_>, Vec<_>) = pictures.into_iter().partition(at_default);
    blocks.extend(open.into_iter().map(picture_block));
    if !folded.is_empty() {
        blocks.push(Block::Folded(
            "The same at other n and on traces".to_owned(),
            folded.into_iter().map(picture_block).collect(),
        ));
    }
    for table in tables::latencies(run) {
        blocks.push(Block::Folded(
            format!("All figures: {}", table.title),
            vec![Block::Table(table)],
        ));
    }
    blocks
}

fn memory_section(run: &Run, pictures: Vec<Plot>) -> Vec<Block> {
    let Some(table) = tables::memory(run) else {
        return Vec::new();
    };
    let mut blocks =
        vec![Block::Heading("Memory".to_owned()), Block::Text(prose::MEMORY.to_owned())];
    blocks.extend(pictures.into_iter().map(picture_block));
    blocks.push(Block::Folded("All figures: memory".to_owned(), vec![Block::Table(table)]));
    blocks
}

fn picture_block(plot: Plot) -> Block {
    let caption = prose::caption(&plot.subject);
    Block::Picture(plot.into(), caption)
}
