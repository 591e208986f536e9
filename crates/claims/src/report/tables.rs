//! Claims in rows.

use crate::{Judged, Judgement, Verdict};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wheelhouse_present::table::{Align, Cell, Column, Table};

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
