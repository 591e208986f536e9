//! Instructions of each operation, counted: `wheelhouse instructions`.
//!
//! Time on a shared machine swings by a factor of two; the number of instructions does not swing at
//! all. In the caches time follows it, so a change for speed is judged by it, beside time, and a
//! test can hold it.
//!
//! ```text
//!   plan ── streams ──> count ── valgrind, one process for each stream and structure ──> play
//!                         │
//!                         ├──> table    what people read
//!                         ├──> record   what is kept in results/instructions
//!                         └──> check    what is kept against what is counted now
//! ```
//!
//! Callgrind counts the machine code that `wheelhouse bench` times: the same streams, made
//! beforehand; the same player; the structure. The answers are compared with the oracle's. The
//! player alone is a row of the table. The kernel's instructions are not counted: the first touch
//! of a page costs none here.
//!
//! Gungraun drives callgrind, too, and was considered. It counts one function in each process. Here
//! the phases of one stream are counted in one process, so that a structure is filled once for six
//! operations. It compares with a baseline in the target folder or with limits in the source, while
//! this record is in version control and is a table that people read. And it needs a second
//! program, installed in the same version. Here `cargo` and valgrind are enough.

pub mod check;
pub mod count;
pub mod plan;
pub mod play;
mod prose;
pub mod record;
pub mod table;

use serde::{Deserialize, Serialize};

/// Instructions of one structure, of one kind of operation, on one stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the backend, or `player`.
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Timers; for a trace, how many different ones are in it.
    pub n: u64,
    /// Name of the measure, as in results of the comparison.
    pub measure: String,
    /// How many operations were counted.
    pub operations: u64,
    /// Instructions of all of them.
    pub instructions: u64,
}

impl Row {
    /// Instructions of one operation.
    pub fn per_operation(&self) -> f64 {
        self.instructions as f64 / self.operations.max(1) as f64
    }

    /// What it is of: two rows with the same are comparable.
    pub fn key(&self) -> (&str, &str, u64, &str) {
        (&self.backend, &self.workload, self.n, &self.measure)
    }
}
