//! Claims in rows.

use crate::{Article, Judged, Judgement, Verdict};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wheelhouse_present::table::{Align, Cell, Column, Mark, Table};

/// A row for each claim: what came out, what decides it, what the article gives.
pub fn verdicts_table(judgement: &Judgement) -> Table {
    let columns = ["id", "verdict", "what is claimed", "what decides it", "the article's figure"]
        .map(Column::left);
    let mut table =
        Table::new("The claims of five articles, and what came of them", columns.into());
    for judged in &judgement.judged {
        let (claim, figure) = (&judged.claim, decisive(judged));
        table.rows.push(vec![
            Cell::text(&claim.id),
            verdict(judged),
            Cell::text(&claim.says).wrapped(50),
            Cell::text(figure).wrapped(46),
            Cell::text(claim.figure.as_deref().unwrap_or("-")).wrapped(22),
        ]);
    }
    table.notes = vec![tally(judgement)];
    table
}

/// The figure that decides, or what the sources say where none does.
fn decisive(judged: &Judged) -> &str {
    if judged.verdict == Verdict::Documentation { &judged.claim.because } else { &judged.figure }
}

/// The verdict; marked if another is on record.
pub fn verdict(judged: &Judged) -> Cell {
    if judged.as_expected() {
        return Cell::text(judged.verdict.name());
    }
    Cell::text(format!("{}, on record: {}", judged.verdict, judged.claim.expected))
        .marked(Mark::Wrong)
}

/// How many of each verdict there are, in a line.
pub fn tally(judgement: &Judgement) -> String {
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    for judged in &judgement.judged {
        *counts.entry(judged.verdict).or_default() += 1;
    }
    let counts: Vec<_> =
        counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    let unexpected = judgement.unexpected().count();
    let record = match unexpected {
        0 => "all as on record".to_owned(),
        n => format!("{n} otherwise than on record"),
    };
    format!("{} claims: {}; {record}.", judgement.judged.len(), counts.join(", "))
}

/// Verdicts by article.
pub fn by_article(judgement: &Judgement) -> Table {
    const VERDICTS: [Verdict; 5] = [
        Verdict::Confirmed,
        Verdict::Nuanced,
        Verdict::Refuted,
        Verdict::Undecided,
        Verdict::Documentation,
    ];
    let columns = [Column::left("article")]
        .into_iter()
        .chain(VERDICTS.map(|verdict| Column::right(verdict.name())));
    let mut table = Table::new("Verdicts by article", columns.collect());
    for article in Article::ALL {
        let count = |verdict| {
            let of = judgement
                .judged
                .iter()
                .filter(|it| it.claim.article == article && it.verdict == verdict);
            Cell::count(of.count() as u64)
        };
        let name = Cell::text(format!("{}: {}", article.name(), article.title()));
        table.rows.push([name].into_iter().chain(VERDICTS.map(count)).collect());
    }
    table
}

/// The verdicts, for programs: with the parts of each claim and whether they hold.
pub fn verdicts(judgement: &Judgement) -> Value {
    let entry = |judged: &Judged| {
        let claim = &judged.claim;
        let evidence =
            judgement.evidence_on(claim).and_then(|evidence| evidence.finding(&claim.id));
        json!({
            "id": claim.id, "article": claim.article.name(), "line": claim.line, "says": claim.says, "test": claim.test,
            "experiment": claim.experiment, "verdict": judged.verdict.name(), "expected": claim.expected.name(),
            "figure": judged.figure, "article-figure": claim.figure, "because": claim.because, "source": claim.source,
            "parts": evidence.map(|found| &found.parts),
        })
    };
    judgement.judged.iter().map(entry).collect()
}

/// [`verdicts`] as text.
///
/// # Errors
///
/// If it cannot be written as JSON.
pub fn json(judgement: &Judgement) -> Result<String> {
    serde_json::to_string_pretty(&verdicts(judgement)).context("cannot write the verdicts as JSON")
}

/// A table of an experiment as the report shows tables.
pub fn counted(table: &crate::Table) -> Table {
    let align = |at: usize| if at == 0 || is_words(table, at) { Align::Left } else { Align::Right };
    let columns = table.columns.iter().enumerate().map(|(at, name)| match align(at) {
        Align::Left => Column::left(name.as_str()),
        Align::Right => Column::right(name.as_str()),
    });
    let mut shown = Table::new(table.title.clone(), columns.collect());
    shown.rows = table.rows.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
    shown
}

/// Whether a column holds words and no figures.
fn is_words(table: &crate::Table, at: usize) -> bool {
    let starts_as_figure =
        |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || "-+.".contains(c));
    !table.rows.iter().filter_map(|row| row.get(at)).any(starts_as_figure)
}
