//! The header of a trace, and the totals at its end.

use super::codec::Fields;
use super::{MAX_HEADER, TraceError, check_length};
use crate::Op;

/// Bytes of the header without its two texts: two u64, one u32, and the lengths of the texts.
const FIXED: usize = 8 + 4 + 8 + 4 + 4;

/// The header of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Its name. The comparison names a trace after its file.
    pub name: String,
    /// Its origin, as text: system, versions, command lines, date, counts.
    pub provenance: String,
    /// The length of a tick in nanoseconds; 0 if it is unknown.
    pub tick_ns: u64,
    /// All labels are below this: the argument of [`Player::new`](crate::Player::new). A reader
    /// checks that they are. Before you allocate memory for this number of labels, compare it with
    /// the memory that there is.
    pub labels: u32,
    /// The number of operations, including movements of the clock.
    pub operations: u64,
}

impl Header {
    /// # Errors
    ///
    /// If the texts are too long.
    pub(super) fn encode(&self) -> Result<Vec<u8>, TraceError> {
        let length = FIXED + self.name.len() + self.provenance.len();
        check_length(0, "its length", length as u64, MAX_HEADER)?;
        let mut bytes = Vec::with_capacity(length);
        bytes.extend(self.tick_ns.to_le_bytes());
        bytes.extend(self.labels.to_le_bytes());
        bytes.extend(self.operations.to_le_bytes());
        for text in [&self.name, &self.provenance] {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        Ok(bytes)
    }

    /// `None` if these are not the bytes of a header.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        let (tick_ns, labels, operations) = (fields.u64()?, fields.u32()?, fields.u64()?);
        let (name, provenance) = (text(&mut fields)?, text(&mut fields)?);
        fields.is_empty().then_some(Self { name, provenance, tick_ns, labels, operations })
    }
}

fn text(fields: &mut Fields<'_>) -> Option<String> {
    let length = fields.u32()? as usize;
    String::from_utf8(fields.bytes(length)?.to_vec()).ok()
}

/// The number of operations of each kind in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Insertions.
    pub inserts: u64,
    /// Cancellations.
    pub cancels: u64,
    /// Reschedules.
    pub reschedules: u64,
    /// Movements of the clock: advances, ticks, wakes, pops.
    pub clock: u64,
}

impl Totals {
    /// All of them.
    pub fn operations(&self) -> u64 {
        // Wraps around: a file may claim any numbers. A reader compares this with its own count.
        self.timer_operations().wrapping_add(self.clock)
    }

    /// All operations except movements of the clock.
    pub fn timer_operations(&self) -> u64 {
        self.inserts.wrapping_add(self.cancels).wrapping_add(self.reschedules)
    }

    #[inline]
    pub(crate) fn add(&mut self, op: Op) {
        let kind = match op {
            Op::Insert { .. } => &mut self.inserts,
            Op::Cancel { .. } => &mut self.cancels,
            Op::Reschedule { .. } => &mut self.reschedules,
            Op::Advance { .. } | Op::Ticks { .. } | Op::Wake | Op::Pop { .. } => &mut self.clock,
        };
        *kind += 1;
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        [self.inserts, self.cancels, self.reschedules, self.clock].map(u64::to_le_bytes).concat()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        Some(Self {
            inserts: fields.u64()?,
            cancels: fields.u64()?,
            reschedules: fields.u64()?,
            clock: fields.u64()?,
        })
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { inserts, cancels, reschedules, clock } = self;
        write!(
            f,
            "trace: {inserts} inserts, {cancels} cancels, {reschedules} reschedules, {clock} \
             movements of the clock"
        )
    }
}
