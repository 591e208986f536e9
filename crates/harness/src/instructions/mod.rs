//! Counts the instructions of each operation: `wheelhouse instructions`.
//!
//! Time on a shared machine varies by a factor of two. The number of instructions does not vary,
//! and as long as the data fits into the caches, time follows it. So a change for speed is judged
//! by instructions as well as by time, and a test limits them.
//!
//! ```text
//!   plan ── streams ──> count ── valgrind, one process for each stream and structure ──> play
//!                         │
//!                         ├──> table    the tables that people read
//!                         ├──> record   the last count, in results/instructions
//!                         └──> check    the record compared with a new count
//! ```
//!
//! Callgrind counts the machine code that `wheelhouse bench` times: the same streams, made
//! beforehand; the same player; the structure. The answers are compared with the oracle's. The
//! kernel's instructions are not counted: the first touch of a page costs none here.
//!
//! Gungraun also drives callgrind, and was considered. It counts one function per process. Here the
//! phases of one stream are counted in one process, so a structure is filled once for six
//! operations. Gungraun compares with a baseline in the target folder or with limits in the source.
//! The record here is in version control, and is a table that people read. Gungraun also needs a
//! second program, installed in the same version. Here `cargo` and valgrind are enough.

pub mod check;
pub mod count;
pub mod plan;
pub mod record;
pub mod table;

use serde::{Deserialize, Serialize};

/// Instructions of one structure, of one kind of operation, on one stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstructionCount {
    /// Name of the backend.
    pub backend: String,
    /// Name of the workload or trace.
    pub workload: String,
    /// Number of timers; for a trace, how many different ones it has.
    pub n: u64,
    /// Name of the measure, as in results of the comparison.
    pub measure: String,
    /// How many operations were counted.
    pub operations: u64,
    /// The instructions of all of them together.
    pub instructions: u64,
}

impl InstructionCount {
    /// Instructions of one operation.
    pub fn per_operation(&self) -> f64 {
        self.instructions as f64 / self.operations.max(1) as f64
    }

    /// Identifies the row: two rows with the same key can be compared.
    pub fn key(&self) -> (&str, &str, u64, &str) {
        (&self.backend, &self.workload, self.n, &self.measure)
    }
}
