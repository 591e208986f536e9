//! Decodes bytes to scripts, for a fuzzer. Every sequence of bytes is a script, and a small change
//! of the bytes is usually a small change of the script.

use super::{Step, When};
use wheelhouse_core::Tick;

/// Decodes `bytes` to a script. Missing bytes at the end are read as zero.
///
/// ```
/// use wheelhouse_conformance::script::{Step, When, decode};
///
/// assert_eq!(decode(&[]), []);
/// assert_eq!(decode(&[0, 0, 5]), [Step::Insert(When::In(5))]);
/// ```
pub fn decode(bytes: &[u8]) -> Vec<Step> {
    let mut reader = Reader(bytes);
    std::iter::from_fn(|| (!reader.0.is_empty()).then(|| reader.step())).collect()
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number of this many bytes, the lowest first.
    fn number(&mut self, bytes: u32) -> u64 {
        (0..bytes).fold(0, |number, place| number | u64::from(self.byte()) << (8 * place))
    }

    fn step(&mut self) -> Step {
        match self.byte() % 16 {
            0..5 => Step::Insert(self.when()),
            5..7 => Step::Cancel(self.byte().into()),
            7 => Step::Reschedule(self.byte().into(), self.when()),
            8 => Step::Postpone(self.byte().into(), self.when()),
            9..11 => Step::Advance(self.when()),
            11..13 => Step::Pop(self.when()),
            13 => Step::Compact,
            14 => Step::Wake,
            _ => Step::Panic(self.when(), self.byte() % 8),
        }
    }

    fn when(&mut self) -> When {
        match self.byte() % 16 {
            0..4 => When::In(self.number(1)),
            4..7 => When::In(self.number(2)),
            7 => When::In(self.number(4)),
            8 => When::In(self.number(8)),
            // Around the powers of two.
            9..11 => When::In(
                (1_u64 << (self.byte() % 64)).wrapping_add(self.number(1)).wrapping_sub(128),
            ),
            11 => When::In(0),
            12 => When::Ago(self.number(1)),
            13 => When::Ago(self.number(3)),
            14 => When::At(self.number(2)),
            _ => When::At(Tick::MAX - self.number(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_can_be_written_in_bytes() {
        let bytes = [0, 4, 1, 2, 5, 9, 7, 3, 11, 8, 4, 11, 9, 12, 6, 12, 15, 0, 13, 14, 15, 11, 2];
        let expected = [
            Step::Insert(When::In(513)),
            Step::Cancel(9),
            Step::Reschedule(3, When::In(0)),
            Step::Postpone(4, When::In(0)),
            Step::Advance(When::Ago(6)),
            Step::Pop(When::At(Tick::MAX)),
            Step::Compact,
            Step::Wake,
            Step::Panic(When::In(0), 2),
        ];
        assert_eq!(decode(&bytes), expected);
    }
}
