//! The record: the outcome, the figure and the sentence of each statement.
//!
//! Two files contain it. `outcomes.toml` has the outcomes of the statements that experiments
//! decide, and their figures on the reduced range of n, which tests use.
//! `results/claims/verdicts.json`, which the report writes, has all statements, with sentences and
//! with figures on the whole range. `wheelhouse claims --record` writes the first file,
//! `wheelhouse claims --out results/claims` the second. Read the diff before you commit them.

use crate::statement::Outcome;
use crate::{Claim, DecidedStatement, Scale, claims};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

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
    pub sentence: Option<String>,
}

/// The path of the record in the workspace.
pub const PATH: &str = "crates/claims/outcomes.toml";
const FILE: &str = include_str!("../outcomes.toml");
const REPORT: &str = include_str!("../record/verdicts.json");

#[derive(Deserialize)]
struct ReportedClaim {
    statements: Vec<DecidedStatement>,
}

/// The statements of the report in `results/claims`.
pub fn reported() -> Result<Vec<DecidedStatement>> {
    let judged: Vec<ReportedClaim> =
        serde_json::from_str(REPORT).context("cannot read results/claims/verdicts.json")?;
    Ok(judged.into_iter().flat_map(|judged| judged.statements).collect())
}

/// The record, with the figures of a scale. Figures are known for the whole and the reduced range,
/// with the usual seeds.
pub fn recorded(scale: &Scale) -> Result<Record> {
    let mut record = of_experiments()?;
    if *scale != Scale::REDUCED {
        record.values_mut().for_each(|recorded| recorded.figure = None);
    }
    let claims = claims()?;
    let own: BTreeSet<&str> = claims.iter().flat_map(Claim::own_statements).collect();
    for DecidedStatement { id, sentence, number, outcome, .. } in reported()? {
        let (sentence, figure) = (Some(sentence), Some(number));
        if let Some(recorded) = record.get_mut(&id) {
            recorded.sentence = sentence;
            if *scale == Scale::WHOLE {
                recorded.figure = figure;
            }
        } else if own.contains(&*id) {
            record.insert(id, RecordedStatement { outcome, figure, sentence });
        }
    }
    Ok(record)
}

/// The first file: the statements that experiments decide.
fn of_experiments() -> Result<Record> {
    let outcomes: BTreeMap<String, (Outcome, String)> =
        toml::from_str(FILE).with_context(|| format!("cannot read {PATH}"))?;
    let recorded = |(id, (outcome, figure))| {
        (id, RecordedStatement { outcome, figure: Some(figure), sentence: None })
    };
    Ok(outcomes.into_iter().map(recorded).collect())
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
    let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let parts = text.as_bytes().chunk_by(|one, next| is_number(one) == is_number(next));
    parts.map(|part| str::from_utf8(part).expect("numbers are ASCII")).collect()
}

/// The text of the record's file.
pub fn file_text(record: &Record) -> Result<String> {
    // An array of strings is written in TOML as in JSON.
    let line = |(id, recorded): (&String, &RecordedStatement)| {
        let array = serde_json::to_string(&(recorded.outcome, recorded.figure.as_deref()))?;
        Ok(format!("\"{id}\" = {array}\n"))
    };
    let lines = record.iter().map(line).collect::<Result<String>>()?;
    Ok(format!(
        "# The outcome of each statement that an experiment decides, and its figure on the\n\
         # reduced range of n. Written by 'wheelhouse claims --record'.\n{lines}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_what_the_command_writes() -> Result<()> {
        assert_eq!(FILE, file_text(&of_experiments()?)?);
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
