//! The record: a count that is kept in a folder, for comparison with later counts.
//!
//! ```text
//! results/instructions/
//!   instructions.json   every row, with machine, compiler, commit and command
//!   README.md           the tables
//! ```
//!
//! There is one record. Recording again replaces it, and the older ones are in the history of the
//! repository. Times are different: a new run never replaces an older one.

use super::{InstructionCount, prose, table};
use crate::store::load_versioned;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use wheelhouse_machine::provenance::{self, Provenance};
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::files::write_whole;
use wheelhouse_present::markdown;

/// The version of this layout.
const SCHEMA: u32 = 1;

/// The name of the file in its folder.
pub const FILE: &str = "instructions.json";

/// The page, under the name that a forge shows for a folder.
pub const PAGE: &str = "README.md";

/// The remedy in messages about a record that cannot be read.
const REMEDY: &str = "make one with `wheelhouse instructions --out DIR`";

/// The rows of one count, and where they come from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    schema: u32,
    /// Where and when it was counted, and on which source.
    pub provenance: Provenance,
    /// The version of valgrind.
    pub valgrind: String,
    /// Everything that was counted.
    pub rows: Vec<InstructionCount>,
}

impl Record {
    /// A record of rows that were just counted.
    pub fn new(provenance: Provenance, valgrind: String, rows: Vec<InstructionCount>) -> Self {
        Self { schema: SCHEMA, provenance, valgrind, rows }
    }

    /// Writes the file and the page into a folder, and makes the folder if it is missing.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn save(&self, dir: &Path) -> Result<()> {
        let shown = dir.display();
        let cannot = || format!("cannot make the folder {shown}; name a writable one with --out");
        fs::create_dir_all(dir).with_context(cannot)?;
        let json = serde_json::to_string_pretty(self).context("cannot write the record as JSON")?;
        write_whole(&dir.join(FILE), (json + "\n").as_bytes())?;
        write_whole(&dir.join(PAGE), self.page().as_bytes())
    }

    /// Reads a record from its folder or its file.
    ///
    /// # Errors
    ///
    /// If there is none, it is damaged, or it is of another version. The message says what to do.
    pub fn load(path: &Path) -> Result<Self> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        load_versioned(&file, SCHEMA, "record of instructions", REMEDY)
    }

    fn page(&self) -> String {
        let mut facts = provenance::facts(&self.provenance);
        // These two belong to measurements of time.
        facts.retain(|(name, _)| !["pinned", "clock overhead"].contains(name));
        facts.push(("valgrind", self.valgrind.clone()));
        let tables = table::tables(&self.rows, None).into_iter().map(Block::Table);
        let mut blocks = vec![Block::Text(prose::INTRODUCTION.to_owned())];
        blocks.extend(tables);
        blocks.push(Block::Heading("How to read this".to_owned()));
        blocks.push(Block::Points(prose::how_to_read()));
        blocks.push(Block::Heading("Where these figures come from".to_owned()));
        blocks.push(Block::Facts(facts));
        let title = "Instructions of each operation".to_owned();
        let subtitle = provenance::line(&self.provenance);
        markdown::render(&Document { title, subtitle, blocks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use wheelhouse_machine::provenance::gather;

    fn scratch(name: &str) -> PathBuf {
        let name = format!("wheelhouse-record-{}-{name}", std::process::id());
        std::env::temp_dir().join(name)
    }

    fn record() -> Record {
        let row = InstructionCount {
            backend: "list-wheel".to_owned(),
            workload: "uniform".to_owned(),
            n: 10_000,
            measure: "cancel".to_owned(),
            operations: 10_000,
            instructions: 400_000,
        };
        Record::new(gather(1), "valgrind-3.19.0".to_owned(), vec![row])
    }

    #[test]
    fn a_saved_record_is_loaded_from_its_folder_or_file() -> Result<()> {
        let (dir, written) = (scratch("kept"), record());
        written.save(&dir)?;
        let read = [Record::load(&dir)?, Record::load(&dir.join(FILE))?];
        let page = fs::read_to_string(dir.join(PAGE))?;
        fs::remove_dir_all(&dir)?;
        for read in read {
            assert_eq!((&read.rows, &read.valgrind), (&written.rows, &written.valgrind));
            assert_eq!(read.provenance.rustc, written.provenance.rustc);
        }
        assert!(page.contains("| list-wheel | 40.0 |"), "{page}");
        for part in [&written.provenance.rustc, "valgrind-3.19.0"] {
            assert!(page.contains(part), "{part} in:\n{page}");
        }
        Ok(())
    }

    #[test]
    fn an_invalid_record_is_refused_with_the_remedy() -> Result<()> {
        let file = scratch("no-record.json");
        let message = |error: Option<anyhow::Error>| format!("{:#}", error.unwrap());
        let missing = message(Record::load(&file).err());
        fs::write(&file, r#"{"schema": 99}"#)?;
        let other = message(Record::load(&file).err());
        fs::remove_file(&file)?;
        for (text, part) in [(missing, "no record"), (other, "layout 99")] {
            let has_remedy = text.contains("wheelhouse instructions --out");
            assert!(text.contains(part) && has_remedy, "{text}");
        }
        Ok(())
    }
}
