//! Operations and numbers as bytes.

use crate::Op;
use wheelhouse_core::Tick;

const INSERT: u64 = 0;
const CANCEL: u64 = 1;
const RESCHEDULE: u64 = 2;
const CLOCK: u64 = 3;
/// The kind is in so many of the lowest bits.
const KIND_BITS: u32 = 2;

const ADVANCE: u64 = 0;
const TICKS: u64 = 1;
const WAKE: u64 = 2;

/// Most bytes of an operation: three numbers of ten bytes.
pub(super) const MAX_OP: usize = 30;

/// What an operation is written relative to. Both ends keep one and pass every operation through it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    label: u32,
    clock: Tick,
}

impl Context {
    pub(super) fn encode(&mut self, op: Op, out: &mut Vec<u8>) {
        match op {
            Op::Insert { label, deadline } => {
                self.put_label(INSERT, label, out);
                put_number(self.relative(deadline), out);
            }
            Op::Cancel { label } => self.put_label(CANCEL, label, out),
            Op::Reschedule { label, deadline } => {
                self.put_label(RESCHEDULE, label, out);
                put_number(self.relative(deadline), out);
            }
            Op::Advance { to } => {
                put_number(ADVANCE << KIND_BITS | CLOCK, out);
                put_number(self.relative(to), out);
                self.clock = to;
            }
            Op::Ticks { count, to } => {
                put_number(TICKS << KIND_BITS | CLOCK, out);
                put_number(u64::from(count), out);
                put_number(self.relative(to), out);
                self.clock = to;
            }
            Op::Wake => put_number(WAKE << KIND_BITS | CLOCK, out),
        }
    }

    /// `None` if there is no operation in these bytes.
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
            ADVANCE => {
                self.clock = self.tick(fields)?;
                Some(Op::Advance { to: self.clock })
            }
            TICKS => {
                let count = u32::try_from(fields.number()?).ok()?;
                let to = self.tick(fields)?;
                self.clock = to;
                (to >= u64::from(count)).then_some(Op::Ticks { count, to }) // its first tick is not before 0
            }
            WAKE => Some(Op::Wake),
            _ => None,
        }
    }

    fn put_label(&mut self, kind: u64, label: u32, out: &mut Vec<u8>) {
        let difference = i64::from(label) - i64::from(self.label);
        put_number(zigzag(difference) << KIND_BITS | kind, out);
        self.label = label;
    }

    fn label(&mut self, difference: u64) -> Option<u32> {
        self.label =
            u32::try_from(i64::from(self.label).checked_add(unzigzag(difference))?).ok()?;
        Some(self.label)
    }

    fn relative(&self, tick: Tick) -> u64 {
        zigzag(tick.wrapping_sub(self.clock) as i64)
    }

    fn tick(&self, fields: &mut Fields<'_>) -> Option<Tick> {
        Some(self.clock.wrapping_add(unzigzag(fields.number()?) as u64))
    }
}

/// 0, -1, 1, -2, ... as 0, 1, 2, 3, ...: small either way from zero.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes numbers off the front of some bytes, and never reads past their end.
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

    /// A variable-length number; `None` if it does not end or does not fit.
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
        fn numbers_come_back(number: u64) {
            let mut bytes = Vec::new();
            put_number(number, &mut bytes);
            prop_assert!(bytes.len() <= 10);
            let mut fields = Fields::new(&bytes);
            prop_assert_eq!(fields.number(), Some(number));
            prop_assert!(fields.is_empty());
            prop_assert_eq!(zigzag(unzigzag(number)), number);
        }

        #[test]
        fn any_bytes_decode_or_do_not(bytes: Vec<u8>) {
            let mut fields = Fields::new(&bytes);
            let mut context = Context::default();
            while context.decode(&mut fields).is_some() {}
        }
    }

    #[test]
    fn a_number_that_does_not_end_or_fit_is_none() {
        assert_eq!(Fields::new(&[0x80; 9]).number(), None);
        assert_eq!(Fields::new(&[0xff; 20]).number(), None);
        let mut largest = [0xff; 10];
        largest[9] = 1;
        assert_eq!(Fields::new(&largest).number(), Some(u64::MAX));
        largest[9] = 2;
        assert_eq!(Fields::new(&largest).number(), None);
    }
}
