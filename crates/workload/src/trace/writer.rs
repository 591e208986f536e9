//! Writes traces.

use super::codec::{Context, MAX_OP};
use super::{BLOCK, END, Header, MAGIC, MAX_PACKED, MAX_RAW, Totals, TraceError, VERSION};
use crate::Op;
use flate2::{Compress, Compression, FlushCompress, Status};
use std::io::{self, Write};

/// Writes a trace, operation by operation, without seeking. It holds one block of at most 64 KiB.
///
/// The number of operations is in the header, so it must be known in advance;
/// [`finish`](Self::finish) checks it. If it is not known, use a [`LiveWriter`](super::LiveWriter).
/// A writer that is dropped without `finish` leaves a file that readers report as truncated.
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    header: Header,
    context: Context,
    totals: Totals,
    raw: Vec<u8>,
    /// Operations in `raw`.
    pending: u32,
    packer: Compress,
    packed: Vec<u8>,
    header_crc: u32,
    /// The checksum of the previous block, which the next one continues.
    crc: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    ///
    /// If the texts of the header are longer than 64 KiB together, or writing fails.
    pub fn new(mut output: W, header: Header) -> Result<Self, TraceError> {
        let (start, header_crc) = start_of_file(&header)?;
        output.write_all(&start)?;
        Ok(Self {
            output,
            header,
            context: Context::default(),
            totals: Totals::default(),
            raw: Vec::with_capacity(MAX_RAW),
            pending: 0,
            packer: Compress::new(Compression::best(), false),
            packed: Vec::with_capacity(MAX_PACKED),
            header_crc,
            crc: 0,
        })
    }

    /// Writes an operation. O(1) amortised; a full block is deflated and written.
    ///
    /// # Errors
    ///
    /// If its label is not below [`Header::labels`], if there are more operations than
    /// [`Header::operations`], or if writing fails. After a failure to write, the trace is useless.
    pub fn write(&mut self, op: Op) -> Result<(), TraceError> {
        if let Op::Insert { label, .. } | Op::Cancel { label } | Op::Reschedule { label, .. } = op {
            let labels = self.header.labels;
            if label >= labels {
                return Err(TraceError::Label { label, labels });
            }
        }
        if self.totals.operations() == self.header.operations {
            return Err(self.miscounted(self.totals.operations() + 1));
        }
        if self.raw.len() + MAX_OP > MAX_RAW {
            self.write_block()?;
        }
        let mut bytes = [0; MAX_OP];
        let length = self.context.encode(op, &mut bytes);
        self.raw.extend(&bytes[..length]);
        self.pending += 1;
        self.totals.add(op);
        Ok(())
    }

    /// Writes the end, flushes the output and returns it.
    ///
    /// # Errors
    ///
    /// If there were fewer operations than [`Header::operations`], or writing fails.
    pub fn finish(mut self) -> Result<W, TraceError> {
        if self.totals.operations() != self.header.operations {
            return Err(self.miscounted(self.totals.operations()));
        }
        if self.pending > 0 {
            self.write_block()?;
        }
        self.output.write_all(&end_of_file(self.totals, self.crc, self.header_crc))?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn miscounted(&self, written: u64) -> TraceError {
        TraceError::Operations { announced: self.header.operations, written }
    }

    fn write_block(&mut self) -> Result<(), TraceError> {
        self.packer.reset();
        self.packed.clear();
        // The buffer has room for the worst case, so one call is enough.
        match self.packer.compress_vec(&self.raw, &mut self.packed, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => {}
            _ => return Err(io::Error::other("a block could not be deflated").into()),
        }
        let mut frame = vec![BLOCK];
        for field in [
            self.raw.len() as u32,
            self.packed.len() as u32,
            self.pending,
            crc32fast::hash(&self.raw),
        ] {
            frame.extend(field.to_le_bytes());
        }
        self.crc = chained(self.crc, &[&frame, &self.packed]);
        self.output.write_all(&frame)?;
        self.output.write_all(&self.crc.to_le_bytes())?;
        self.output.write_all(&self.packed)?;
        self.raw.clear();
        self.pending = 0;
        Ok(())
    }
}

/// The first bytes of a file, and the checksum in them.
pub(super) fn start_of_file(header: &Header) -> Result<(Vec<u8>, u32), TraceError> {
    let encoded = header.encode()?;
    let mut start = MAGIC.to_vec();
    start.extend(VERSION.to_le_bytes());
    start.extend((encoded.len() as u32).to_le_bytes());
    start.extend(encoded);
    let crc = crc32fast::hash(&start);
    start.extend(crc.to_le_bytes());
    Ok((start, crc))
}

/// The last bytes of a file, after a block with the checksum `crc` and a header with `header_crc`.
pub(super) fn end_of_file(totals: Totals, crc: u32, header_crc: u32) -> Vec<u8> {
    let mut end = vec![END];
    end.extend(totals.encode());
    let crc = chained(crc, &[&end, &header_crc.to_le_bytes()]);
    end.extend(crc.to_le_bytes());
    end
}

/// The CRC-32 of some bytes, continued from the previous checksum, so that a change of their order
/// is detected.
pub(super) fn chained(before: u32, parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&before.to_le_bytes());
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}
