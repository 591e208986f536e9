//! Claims in rows.

use crate::{Article, Decided, Judgement, Outcome};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use wheelhouse_present::table::{Align, Cell, Column, Mark, Table};

/// A row for each statement: what came out, and the number that decides it.
pub fn verdicts_table(judgement: &Judgement) -> Table {
    let columns = ["id", "outcome", "statement", "decided by", "the number"].map(Column::left);
    let mut table =
        Table::new("The statements of five articles, and what came of them", columns.into());
    for it in judgement.statements() {
        table.rows.push(vec![
            Cell::text(&it.id),
            outcome(it),
            Cell::text(&it.quote).wrapped(56),
            Cell::text(it.by.name()),
            Cell::text(&it.number).wrapped(40),
        ]);
    }
    table.notes = vec![tally(judgement)];
    table
}

/// The outcome; marked if another is on record.
pub fn outcome(it: &Decided) -> Cell {
    if it.as_recorded() {
        return Cell::text(it.outcome.name());
    }
    let recorded = it.recorded.map_or("none", Outcome::name);
    Cell::text(format!("{}, on record: {recorded}", it.outcome)).marked(Mark::Wrong)
}

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
        "{all} statements of {claims} claims: {confirmed} confirmed, {refuted} refuted, {undecided} undecided; {record}."
    )
}

/// Outcomes by article.
pub fn by_article(judgement: &Judgement) -> Table {
    let heads = Outcome::ALL.map(|outcome| Column::right(outcome.name()));
    let columns = [Column::left("article")].into_iter().chain(heads);
    let mut table = Table::new("Statements by article", columns.collect());
    for article in Article::ALL {
        let of = judgement.judged.iter().filter(|judged| judged.claim.article == article);
        let tallies = of.map(crate::Judged::tally);
        let sum = tallies.fold([0; 3], |sum, it| std::array::from_fn(|at| sum[at] + it[at]));
        let name = Cell::text(format!("{}: {}", article.name(), article.title()));
        table.rows.push([name].into_iter().chain(sum.map(|n| Cell::count(n as u64))).collect());
    }
    table
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
