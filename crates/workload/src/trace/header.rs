//! What a trace says about itself, first and last.

use super::codec::Fields;
use super::{MAX_HEADER, TraceError};
use crate::Op;

/// Bytes of the header beside its two texts: two u64, one u32, and the lengths of the texts.
const FIXED: usize = 8 + 4 + 8 + 4 + 4;

/// What a trace says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Its name in tables.
    pub name: String,
    /// Where it comes from: system, versions, command lines, date, counts. For people to read.
    pub provenance: String,
    /// How long a tick lasts, in nanoseconds; 0 if the trace does not say.
    pub tick_ns: u64,
    /// All labels are below this: what [`Player::new`](crate::Player::new) is to be given. A reader
    /// holds the trace to it; whoever makes room for so many labels should first hold it against
    /// what room there is.
    pub labels: u32,
    /// How many operations there are, movements of the clock included.
    pub operations: u64,
}

impl Header {
    /// # Errors
    ///
    /// If the texts are too long.
    pub(super) fn encode(&self) -> Result<Vec<u8>, TraceError> {
        let length = FIXED + self.name.len() + self.provenance.len();
        if length > MAX_HEADER {
            let (found, most) = (length as u64, MAX_HEADER as u64);
            return Err(TraceError::TooLong { block: 0, what: "its length", found, most });
        }
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

/// How many operations of each kind a trace holds.
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
        // A file may claim anything; a reader compares this with what it has counted.
        self.timer_operations().wrapping_add(self.clock)
    }

    /// All but those of the clock.
    pub fn timer_operations(&self) -> u64 {
        self.inserts.wrapping_add(self.cancels).wrapping_add(self.reschedules)
    }

    /// Counts one more.
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

    pub(super) fn encode(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let fields = [self.inserts, self.cancels, self.reschedules, self.clock];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        bytes
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
