//! The file that a program reads. It has all phases of a stream, little endian.
//!
//! | what | bytes |
//! |---|---|
//! | `whplay01` | 8 |
//! | labels, which are below this number | 4 |
//! | phases | 4 |
//! | for each phase: its records | 4 |
//! | for each record: kind, label, tick | 4 + 4 + 8 |
//!
//! A record is as large as an operation in memory, so a program can play directly from the bytes of
//! the file.

use std::io::{Result, Write};
use wheelhouse_workload::{Op, Phase};

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"whplay01";

/// The record of an operation: kind, label or count, tick.
///
/// # Panics
///
/// If the operation is a wake-up or a pop, which [`part_of`](super::part_of) removes.
fn record(op: Op) -> (u32, u32, u64) {
    match op {
        Op::Insert { label, deadline } => (0, label, deadline),
        Op::Cancel { label } => (1, label, 0),
        Op::Reschedule { label, deadline } => (2, label, deadline),
        Op::Advance { to } => (3, 0, to),
        Op::Ticks { count, to } => (4, count, to),
        Op::Wake | Op::Pop { .. } => unreachable!("a part has neither wake-ups nor single pops"),
    }
}

/// Writes the phases of a [`Part`](super::Part), whose labels are below `labels`.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn write(phases: &[Phase], labels: usize, mut out: impl Write) -> Result<()> {
    let number = |count: usize| u32::try_from(count).expect("fewer than 2^32").to_le_bytes();
    out.write_all(&MAGIC)?;
    out.write_all(&number(labels))?;
    out.write_all(&number(phases.len()))?;
    for phase in phases {
        out.write_all(&number(phase.ops.len()))?;
        for &op in &phase.ops {
            let (kind, label, tick) = record(op);
            out.write_all(&kind.to_le_bytes())?;
            out.write_all(&label.to_le_bytes())?;
            out.write_all(&tick.to_le_bytes())?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_workload::find_workload;

    /// Reads a file as a program does.
    fn read(bytes: &[u8]) -> (u32, Vec<Vec<Op>>) {
        let (magic, mut rest) = bytes.split_at(8);
        assert_eq!(magic, MAGIC);
        let mut word = |len: usize| {
            let (first, others) = rest.split_at(len);
            rest = others;
            first.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte))
        };
        let (labels, count) = (word(4) as u32, word(4));
        let mut phases = Vec::new();
        for _ in 0..count {
            let records = word(4);
            let ops = (0..records).map(|_| match (word(4), word(4) as u32, word(8)) {
                (0, label, deadline) => Op::Insert { label, deadline },
                (1, label, 0) => Op::Cancel { label },
                (2, label, deadline) => Op::Reschedule { label, deadline },
                (3, 0, to) => Op::Advance { to },
                (4, count, to) => Op::Ticks { count, to },
                other => panic!("{other:?}"),
            });
            phases.push(ops.collect());
        }
        assert!(rest.is_empty());
        (labels, phases)
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        let workload = find_workload("uniform").unwrap();
        let phases: Vec<Phase> = workload.phases(100, 1).collect();
        let mut bytes = Vec::new();
        write(&phases, workload.labels(100), &mut bytes).unwrap();
        let (labels, read) = read(&bytes);
        assert_eq!(labels, 100);
        assert_eq!(read, phases.into_iter().map(|phase| phase.ops).collect::<Vec<_>>());
    }

    #[test]
    fn the_bytes_are_those_of_the_documentation() {
        let ops = vec![Op::Reschedule { label: 258, deadline: 1 << 40 }];
        let mut bytes = Vec::new();
        write(&[Phase { measure: None, operations: 1, ops }], 259, &mut bytes).unwrap();
        let (head, record) = bytes.split_at(20);
        assert_eq!(head, b"whplay01\x03\x01\0\0\x01\0\0\0\x01\0\0\0");
        assert_eq!(record, b"\x02\0\0\0\x02\x01\0\0\0\0\0\0\0\x01\0\0");
    }
}
