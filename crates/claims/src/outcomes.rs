//! The outcomes on record, a line for each statement.
//!
//! `wheelhouse claims --record` writes the file anew; whoever does so has read what changed.

use crate::statement::Outcome;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The outcomes by the ids of the statements.
pub type Record = BTreeMap<String, Outcome>;

/// The path of the file in the workspace.
pub const PATH: &str = "crates/claims/outcomes.toml";
const FILE: &str = include_str!("../outcomes.toml");

/// What is on record.
///
/// # Errors
///
/// If the file is not what it should be.
pub fn recorded() -> Result<Record> {
    toml::from_str(FILE).with_context(|| format!("cannot read {PATH}"))
}

/// The file of a record: claims in the order of their names, statements in that of their numbers.
pub fn file(record: &Record) -> String {
    let mut lines: Vec<_> = record.iter().collect();
    lines.sort_by_key(|(id, _)| {
        let (claim, number) = id.split_once('.').unwrap_or((id, ""));
        let digits = claim.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        (id.chars().next(), digits.parse::<u32>().ok(), number.parse::<u32>().ok())
    });
    let mut text = String::from(
        "# The outcome of every statement, written by 'wheelhouse claims --record'.\n",
    );
    for (id, outcome) in lines {
        // To write into a string cannot fail.
        _ = writeln!(text, "\"{id}\" = \"{outcome}\"");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() -> Result<()> {
        let ids = ["C2.1", "C2.10", "C2.2", "C10.1", "B1.1"];
        let record: Record = ids.map(|id| (id.to_owned(), Outcome::Refuted)).into();
        let text = file(&record);
        assert_eq!(toml::from_str::<Record>(&text)?, record);
        let order: Vec<_> =
            text.lines().skip(1).filter_map(|line| line.split('"').nth(1)).collect();
        assert_eq!(order, ["B1.1", "C2.1", "C2.2", "C2.10", "C10.1"]);
        Ok(())
    }

    #[test]
    fn the_file_is_as_the_command_writes_it() -> Result<()> {
        assert_eq!(FILE, file(&recorded()?));
        Ok(())
    }
}
