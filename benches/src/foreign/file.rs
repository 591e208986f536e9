//! The file that a program reads: all phases of a stream, in the format of `benches/FOREIGN.md`. A
//! record is as large as an operation in memory, so a program can play directly from the bytes of
//! the file.

use std::io::{Result, Write};
use wheelhouse_workload::{Op, Phase};

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"whplay01";

/// The record of an operation: kind, label or count, tick.
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

/// Writes the phases of a [`Part`](super::Part), whose labels are below `labels`. Fails if `out`
/// cannot be written.
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

    #[test]
    fn the_bytes_are_those_of_the_documentation() {
        let ops = vec![
            Op::Insert { label: 1, deadline: 2 },
            Op::Cancel { label: 3 },
            Op::Reschedule { label: 258, deadline: 1 << 40 },
            Op::Advance { to: 4 },
            Op::Ticks { count: 5, to: 6 },
        ];
        let mut bytes = Vec::new();
        write(&[Phase { measure: None, operations: 5, ops }], 259, &mut bytes).unwrap();
        let (head, records) = bytes.split_at(20);
        assert_eq!(head, b"whplay01\x03\x01\0\0\x01\0\0\0\x05\0\0\0");
        let expected: [&[u8]; 5] = [
            b"\x00\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0",
            b"\x01\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0",
            b"\x02\0\0\0\x02\x01\0\0\0\0\0\0\0\x01\0\0",
            b"\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0",
            b"\x04\0\0\0\x05\0\0\0\x06\0\0\0\0\0\0\0",
        ];
        assert_eq!(records, expected.concat());
    }
}
