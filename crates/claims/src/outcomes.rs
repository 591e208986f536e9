//! The record: the outcome, the figure and the sentence of each statement.
//!
//! Two files contain it. `outcomes.toml` has the outcomes, and the figures on the reduced range of
//! n, which tests use. `results/claims/verdicts.json`, which the report writes, has the sentences,
//! and the figures on the whole range. `wheelhouse claims --record` writes the first file,
//! `wheelhouse claims --out results/claims` the second. Read the diff before you commit them.

use crate::Scale;
use crate::statement::Outcome;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The statements on record, by their ids.
pub type Record = BTreeMap<String, RecordedStatement>;

/// A statement on record. A figure or a sentence that is `None` agrees with any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedStatement {
    /// The outcome.
    pub outcome: Outcome,
    /// The figure that decided it.
    pub figure: Option<String>,
    /// The sentence.
    pub quote: Option<String>,
}

/// The path of the record in the workspace.
pub const PATH: &str = "crates/claims/outcomes.toml";
const FILE: &str = include_str!("../outcomes.toml");
const REPORT: &str = include_str!("../record/verdicts.json");

/// A claim of the report.
#[derive(Deserialize)]
struct ReportedClaim {
    statements: Vec<ReportedStatement>,
}

/// A statement of the report.
#[derive(Clone, Debug, Deserialize)]
pub struct ReportedStatement {
    /// The claim and a number.
    pub id: String,
    /// The sentence.
    pub quote: String,
    /// Its figure on the whole range of n.
    pub number: String,
    /// Its outcome on the whole range.
    pub outcome: Outcome,
}

/// The statements of the report in `results/claims`.
///
/// # Errors
///
/// If the file is invalid.
pub fn reported() -> Result<Vec<ReportedStatement>> {
    let judged: Vec<ReportedClaim> =
        serde_json::from_str(REPORT).context("cannot read results/claims/verdicts.json")?;
    Ok(judged.into_iter().flat_map(|judged| judged.statements).collect())
}

/// The record, with the figures of a scale. Figures are known for the whole and the reduced range,
/// with the usual seeds.
///
/// # Errors
///
/// If a file is invalid.
pub fn recorded(scale: &Scale) -> Result<Record> {
    let outcomes: BTreeMap<String, (Outcome, String)> =
        toml::from_str(FILE).with_context(|| format!("cannot read {PATH}"))?;
    let reduced = |(id, (outcome, figure))| {
        let figure = (*scale == Scale::REDUCED).then_some(figure);
        (id, RecordedStatement { outcome, figure, quote: None })
    };
    let mut record: Record = outcomes.into_iter().map(reduced).collect();
    for it in reported()? {
        if let Some(recorded) = record.get_mut(&it.id) {
            recorded.quote = Some(it.quote);
            if *scale == Scale::WHOLE {
                recorded.figure = Some(it.number);
            }
        }
    }
    Ok(record)
}

/// The share by which a fraction may differ from the record: machines compute logarithms that
/// differ in the last digit.
const SHARE: f64 = 0.01;

/// Returns `true` if two figures agree: equal words, equal counts, and fractions within a
/// hundredth.
pub fn figures_agree(one: &str, other: &str) -> bool {
    let (one, other) = (parts(one), parts(other));
    let same = |(one, other): (&&str, &&str)| {
        one == other
            || (one.contains('.') && other.contains('.'))
                && one.parse().ok().zip(other.parse().ok()).is_some_and(|(a, b): (f64, f64)| {
                    (a - b).abs() <= SHARE * a.abs().max(b.abs()).max(0.1)
                })
    };
    one.len() == other.len() && one.iter().zip(&other).all(same)
}

/// Splits a text into numbers and the text between them.
fn parts(text: &str) -> Vec<&str> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kind = is_number(first);
        let end = rest.find(|c| is_number(c) != kind).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

/// The text of the record's file. Claims are ordered by name, statements by number.
pub fn file_text(record: &Record) -> String {
    let mut lines: Vec<_> = record.iter().collect();
    lines.sort_by_key(|(id, _)| {
        let (claim, number) = id.split_once('.').unwrap_or((id, ""));
        let digits = claim.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        (id.chars().next(), digits.parse::<u32>().ok(), number.parse::<u32>().ok())
    });
    let mut text = String::from(
        "# The outcome of every statement, and its figure on the reduced range of n. Written by\n\
         # 'wheelhouse claims --record'.\n",
    );
    for (id, RecordedStatement { outcome, figure, .. }) in lines {
        let figure = figure.as_deref().unwrap_or_default().replace('\\', "\\\\");
        let figure = figure.replace('"', "\\\"");
        // Writing into a string cannot fail.
        _ = writeln!(text, "\"{id}\" = [\"{outcome}\", \"{figure}\"]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_record_is_read_back() -> Result<()> {
        let ids = ["C2.1", "C2.10", "C2.2", "C10.1", "B1.1"];
        let figure = Some("'key' \\ \"x\", 3".to_owned());
        let recorded = RecordedStatement { outcome: Outcome::Refuted, figure, quote: None };
        let record: Record = ids.map(|id| (id.to_owned(), recorded.clone())).into();
        let text = file_text(&record);
        let read: BTreeMap<String, (Outcome, String)> = toml::from_str(&text)?;
        assert!(
            read.values().all(|(_, figure)| Some(figure) == recorded.figure.as_ref()),
            "{text}"
        );
        let order: Vec<_> =
            text.lines().skip(2).filter_map(|line| line.split('"').nth(1)).collect();
        assert_eq!(order, ["B1.1", "C2.1", "C2.2", "C2.10", "C10.1"]);
        Ok(())
    }

    #[test]
    fn the_file_is_what_the_command_writes() -> Result<()> {
        assert_eq!(FILE, file_text(&recorded(&Scale::REDUCED)?));
        Ok(())
    }

    #[test]
    fn counts_are_equal_and_fractions_within_a_hundredth() {
        assert!(figures_agree("not from 416 of 512 starts", "not from 416 of 512 starts"));
        assert!(!figures_agree("not from 400 of 512 starts", "not from 416 of 512 starts"));
        assert!(figures_agree("4.56 to 39.0: constant", "4.58 to 39.0: constant"));
        assert!(!figures_agree("4.56 to 39.0: constant", "4.66 to 39.0: constant"));
        assert!(!figures_agree("4.56: constant", "4.56: linear") && !figures_agree("1", "1.0"));
    }
}
