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

use super::check::TOLERANCE;
use super::{InstructionCount, table};
use crate::store::load_versioned;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use wheelhouse_machine::provenance::{self, Provenance};
use wheelhouse_present::document::{Block, Document};
use wheelhouse_present::files::{create_writable, write_whole};
use wheelhouse_present::markdown;

/// The version of this layout.
const SCHEMA: u32 = 1;

/// The name of the file in its folder.
pub const FILE: &str = "instructions.json";

/// The page, under the name that a forge shows for a folder.
pub const PAGE: &str = "README.md";

/// The remedy in messages about a record that cannot be read.
const REMEDY: &str = "make one with `wheelhouse instructions --out DIR`";

/// The text above the tables.
const INTRODUCTION: &str = "Counted by callgrind, a tool of valgrind. Counts have no \
     noise. 'wheelhouse instructions --check results/instructions' counts again and fails if an \
     operation exceeds the tolerance. 'wheelhouse instructions --out results/instructions' \
     replaces the record.";

const HOW_TO_READ: [&str; 8] = [
    "The streams, the player, the structures and the machine code are those of 'wheelhouse bench'. \
     An operation here is the unit of its times per operation.",
    "Every figure includes the player: about 22 instructions of an insertion, 23 of a \
     cancellation, 26 of a reschedule and 8 of an expiry.",
    "The workload uniform: delays up to 2^20 ticks for every n; in fire ticks, up to n ticks, \
     rounded up to a power of two.",
    "The workload steady: delays up to 2^16 ticks, or 4 n if that is less.",
    "The workload hold-exponential: increments of 2^16 ticks on average.",
    "In the second table of an n, all delays are up to n ticks, rounded up to a power of two. Fire \
     ticks is the same work as in the first.",
    "Insert cold includes growing an array, with the copies that the C library makes.",
    "The kernel's work is not counted: the first touch of a page costs no instructions here. \
     Counts ignore caches. Read them together with the times.",
];

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
        create_writable(dir)?;
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
        let tolerated = TOLERANCE * 100.0;
        let check = format!("A check tolerates {tolerated} %: another compiler makes other code.");
        let how_to_read = HOW_TO_READ.map(str::to_owned).into_iter().chain([check]);
        let mut blocks = vec![Block::Text(INTRODUCTION.to_owned())];
        blocks.extend(table::tables(&self.rows, None).into_iter().map(Block::Table));
        blocks.push(Block::Heading("How to read this".to_owned()));
        blocks.push(Block::Points(how_to_read.collect()));
        blocks.push(Block::Heading("Where these figures come from".to_owned()));
        blocks.push(Block::Facts(facts));
        let title = "Instructions of each operation".to_owned();
        let subtitle = provenance::line(&self.provenance);
        markdown::render(&Document { title, subtitle, blocks })
    }
}
