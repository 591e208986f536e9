//! Encodes and decodes operations and numbers.

use crate::Op;
use wheelhouse_core::Tick;

const INSERT: u64 = 0;
const CANCEL: u64 = 1;
const RESCHEDULE: u64 = 2;
const CLOCK: u64 = 3;
/// The number of lowest bits that hold the kind.
const KIND_BITS: u32 = 2;

const ADVANCE: u64 = 0;
const TICKS: u64 = 1;
const WAKE: u64 = 2;
const POP: u64 = 3;

/// The most bytes of an operation: three numbers of ten bytes.
pub(super) const MAX_OP: usize = 30;

/// The label and clock that an operation is relative to. Writer and reader each keep one, and pass
/// every operation through it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    label: u32,
    clock: Tick,
}

impl Context {
    /// Puts an operation at the beginning of `out` and returns its length.
    // Inlined for a recorder, which calls it with a constant kind, so that only that arm is
    // compiled.
    #[inline(always)]
    pub(super) fn encode(&mut self, op: Op, out: &mut [u8; MAX_OP]) -> usize {
        match op {
            Op::Insert { label, deadline } => {
                put_two(self.labelled(INSERT, label), self.relative(deadline), out)
            }
            Op::Cancel { label } => put_number(self.labelled(CANCEL, label), out, 0),
            Op::Reschedule { label, deadline } => {
                put_two(self.labelled(RESCHEDULE, label), self.relative(deadline), out)
            }
            Op::Advance { to } => put_two(ADVANCE << KIND_BITS | CLOCK, self.moved(to), out),
            Op::Ticks { count, to } => {
                let length = put_two(TICKS << KIND_BITS | CLOCK, count.into(), out);
                put_number(self.moved(to), out, length)
            }
            Op::Wake => put_number(WAKE << KIND_BITS | CLOCK, out, 0),
            Op::Pop { to } => put_two(POP << KIND_BITS | CLOCK, self.moved(to), out),
        }
    }

    /// `None` if the bytes are not an operation.
    pub(super) fn decode(&mut self, fields: &mut Fields<'_>) -> Option<Op> {
        let first = fields.number()?;
        let (kind, rest) = (first & ((1 << KIND_BITS) - 1), first >> KIND_BITS);
        Some(match kind {
            INSERT => Op::Insert { label: self.label(rest)?, deadline: self.tick(fields)? },
            CANCEL => Op::Cancel { label: self.label(rest)? },
            RESCHEDULE => Op::Reschedule { label: self.label(rest)?, deadline: self.tick(fields)? },
            _ => self.decode_clock(rest, fields)?,
        })
    }

    fn decode_clock(&mut self, kind: u64, fields: &mut Fields<'_>) -> Option<Op> {
        match kind {
            ADVANCE => Some(Op::Advance { to: self.moved_to(fields)? }),
            TICKS => {
                let count = u32::try_from(fields.number()?).ok()?;
                let to = self.moved_to(fields)?;
                // The first tick must not be before 0.
                (to >= u64::from(count)).then_some(Op::Ticks { count, to })
            }
            WAKE => Some(Op::Wake),
            POP => Some(Op::Pop { to: self.moved_to(fields)? }),
            _ => None,
        }
    }

    /// The first number of an operation on a label.
    #[inline]
    fn labelled(&mut self, kind: u64, label: u32) -> u64 {
        let difference = i64::from(label) - i64::from(self.label);
        self.label = label;
        zigzag(difference) << KIND_BITS | kind
    }

    /// Moves the clock to a tick, and returns the encoded difference.
    #[inline]
    fn moved(&mut self, to: Tick) -> u64 {
        let way = self.relative(to);
        self.clock = to;
        way
    }

    fn label(&mut self, difference: u64) -> Option<u32> {
        self.label =
            u32::try_from(i64::from(self.label).checked_add(unzigzag(difference))?).ok()?;
        Some(self.label)
    }

    #[inline]
    fn relative(&self, tick: Tick) -> u64 {
        zigzag(tick.wrapping_sub(self.clock) as i64)
    }

    fn moved_to(&mut self, fields: &mut Fields<'_>) -> Option<Tick> {
        self.clock = self.tick(fields)?;
        Some(self.clock)
    }

    fn tick(&self, fields: &mut Fields<'_>) -> Option<Tick> {
        Some(self.clock.wrapping_add(unzigzag(fields.number()?) as u64))
    }
}

/// Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ..., so that small negative numbers are short too.
#[inline]
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[inline]
fn put_two(first: u64, second: u64, out: &mut [u8; MAX_OP]) -> usize {
    let length = put_number(first, out, 0);
    put_number(second, out, length)
}

/// Writes a number at an index, and returns the index after it.
// Numbers have random lengths, so writing them byte by byte costs a mispredicted branch for each:
// more than the rest of a recorder's work. So eight bytes are always written, and the next number
// overwrites those after the end.
#[inline]
fn put_number(number: u64, out: &mut [u8; MAX_OP], at: usize) -> usize {
    if number >= 1 << 56 {
        return put_long_number(number, out, at);
    }
    let length = (70 - (number | 1).leading_zeros() as usize) / 7;
    // Spreads seven bits into each byte by halving: 28 bits per half, 14 per quarter, 7 per byte.
    let halves = (number & 0x00ff_ffff_f000_0000) << 4 | number & 0x0fff_ffff;
    let quarters = (halves & 0x0fff_c000_0fff_c000) << 2 | halves & 0x0000_3fff_0000_3fff;
    let bytes = (quarters & 0x3f80_3f80_3f80_3f80) << 1 | quarters & 0x007f_007f_007f_007f;
    let all_but_last = (1_u64 << (8 * (length - 1))) - 1;
    let continued = bytes | 0x8080_8080_8080_8080 & all_but_last;
    out[at..at + 8].copy_from_slice(&continued.to_le_bytes());
    at + length
}

#[cold]
fn put_long_number(mut number: u64, out: &mut [u8; MAX_OP], mut at: usize) -> usize {
    while number >= 0x80 {
        out[at] = number as u8 | 0x80;
        number >>= 7;
        at += 1;
    }
    out[at] = number as u8;
    at + 1
}

/// Reads numbers from the front of a slice, and never past its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a variable-length number; `None` if it does not end or does not fit into 64 bits.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = u64::from(self.array::<1>()?[0]);
            let bits = byte & 0x7f;
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_decoded_as_encoded(number: u64, bits in 0..64_u32) {
            let number = number >> bits; // of all lengths
            let mut bytes = [0xff; MAX_OP];
            let end = put_number(number, &mut bytes, 20);
            prop_assert_eq!(end - 20, (1..10).find(|n| number >> (7 * n) == 0).unwrap_or(10));
            let mut fields = Fields::new(&bytes[20..end]);
            prop_assert_eq!(fields.number(), Some(number));
            prop_assert!(fields.is_empty());
            prop_assert_eq!(zigzag(unzigzag(number)), number);
        }

        #[test]
        fn decoding_any_bytes_does_not_panic(bytes: Vec<u8>) {
            let mut fields = Fields::new(&bytes);
            let mut context = Context::default();
            while context.decode(&mut fields).is_some() {}
        }
    }

    #[test]
    fn a_number_that_is_truncated_or_too_large_is_none() {
        assert_eq!(Fields::new(&[0x80; 9]).number(), None);
        assert_eq!(Fields::new(&[0xff; 20]).number(), None);
        let mut largest = [0xff; 10];
        largest[9] = 1;
        assert_eq!(Fields::new(&largest).number(), Some(u64::MAX));
        largest[9] = 2;
        assert_eq!(Fields::new(&largest).number(), None);
    }
}
