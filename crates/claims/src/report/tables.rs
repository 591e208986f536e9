//! Claims in rows.

use crate::thresholds::{Threshold, Thresholds};
use crate::{Judgement, Outcome};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use wheelhouse_present::table::{Align, Cell, Column, Table};

/// How many statements hold, do not, and are undecided, in a line.
pub fn tally(judgement: &Judgement) -> String {
    let [confirmed, refuted, undecided] = judgement.tally();
    let all = confirmed + refuted + undecided;
    let record = match judgement.unexpected().count() {
        0 => "all as on record".to_owned(),
        n => format!("{n} otherwise than on record"),
    };
    let claims = judgement.judged.len();
    format!(
        "{all} statements of {claims} claims: {confirmed} confirmed, {refuted} refuted, \
         {undecided} undecided; {record}."
    )
}

/// The outcomes, for programs.
pub fn verdicts(judgement: &Judgement) -> Value {
    let entry = |judged: &crate::Judged| {
        let claim = &judged.claim;
        json!({
            "id": claim.id, "article": claim.article.name(), "line": claim.line,
            "says": claim.says, "experiment": claim.experiment, "article-figure": claim.figure,
            "because": judged.because(), "source": claim.source, "statements": judged.statements,
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

/// Every threshold, its value, and the statements that come out otherwise with half and with
/// double.
pub fn thresholds(judgement: &Judgement) -> Table {
    let columns = [
        Column::left("threshold"),
        Column::right("value"),
        Column::left("otherwise at half"),
        Column::left("otherwise at double"),
    ];
    let mut table = Table::new("All numbers of our own, and what hangs on them", columns.into());
    for threshold in Threshold::ALL {
        let otherwise = |factor| {
            let changed = judgement.with(*threshold, factor);
            let told = |(id, outcome): &(_, Outcome)| format!("{id} {outcome}");
            let told = changed.iter().map(told).collect::<Vec<_>>().join(", ");
            if told.is_empty() { "none".to_owned() } else { told }
        };
        let value = Thresholds::default().of(*threshold);
        table.rows.push(vec![
            Cell::text(threshold.what()).wrapped(40),
            Cell::figure(value, value.to_string()),
            Cell::text(otherwise(0.5)).wrapped(40),
            Cell::text(otherwise(2.0)).wrapped(40),
        ]);
    }
    table
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
