//! Writes traces.

use super::codec::{Context, MAX_OP};
use super::{BLOCK, END, Header, MAGIC, MAX_PACKED, Totals, TraceError, VERSION};
use crate::Op;
use flate2::{Compress, Compression, FlushCompress, Status};
use std::io::{self, Seek, SeekFrom, Write};

/// Bytes that a [`Writer`] reserves in the provenance of its header for a remark at the end.
pub const REMARK: usize = 64;
const UNFINISHED: &str = "; not finished";

/// Tag, lengths, two checksums.
const FRAME: usize = 21;
/// The bytes that the deflate format puts before stored bytes: a tag, the length, and the inverted
/// length.
const STORED: usize = 5;
/// The most bytes in one stored part.
const MAX_STORED: usize = u16::MAX as usize;
const MAX_BLOCK: usize = FRAME + STORED + MAX_STORED;
/// Tag, totals, checksum.
const END_OF_FILE: u64 = 37;

/// Writes a trace, operation by operation, before their number is known.
///
/// It counts labels and operations, and at the end it goes back and writes them into the header. So
/// its output must be able to seek: a file can, a pipe cannot. It holds one block of at most 64 KiB
/// and writes it in one call, so its output needs no buffer. To be fast while the operations
/// happen, it does not deflate, and an operation takes four to six bytes;
/// [`deflating`](Self::deflating) makes it two. A writer that is dropped without
/// [`finish`](Self::finish) leaves a file that readers report as truncated.
///
/// ```
/// use std::io::Cursor;
/// use wheelhouse_workload::{Op, trace};
///
/// let header = trace::Header { name: "two".into(), ..trace::Header::default() };
/// let mut writer = trace::Writer::new(Cursor::new(Vec::new()), header, 1000)?;
/// writer.write(Op::Insert { label: 6, deadline: 5 })?;
/// writer.write(Op::Pop { to: 9 })?;
/// let finished = writer.finish("; an example")?;
///
/// assert_eq!((finished.header.labels, finished.header.operations), (7, 2));
/// let reader = trace::Reader::new(&finished.output.get_ref()[..])?;
/// assert_eq!(reader.header(), &finished.header);
/// # Ok::<(), trace::TraceError>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    header: Header,
    /// The position in the output at which the trace begins.
    start: u64,
    limit: u64,
    /// Bytes written of this trace.
    written: u64,
    context: Context,
    totals: Totals,
    /// Space for the frame, then operations.
    block: Box<[u8]>,
    /// If the trace is deflated: the frame and the deflated block.
    packed: Option<(Compress, Vec<u8>)>,
    /// The number of bytes in use of the block.
    length: usize,
    /// The block is written before it grows beyond this, which is at most its length.
    room: usize,
    /// The number of operations in the blocks before.
    handed_on: u64,
    crc: u32,
}

/// A trace that a [`Writer`] has finished.
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished<W> {
    /// The output, flushed, its position at the end of the trace.
    pub output: W,
    /// The final header.
    pub header: Header,
    /// The number of operations of each kind.
    pub totals: Totals,
    /// The length of the trace in bytes.
    pub bytes: u64,
}

impl<W: Write + Seek> Writer<W> {
    /// Begins a trace of at most `limit` bytes at the output's position. The numbers of labels and
    /// operations in `header` are ignored. Its provenance becomes [`REMARK`] bytes longer.
    ///
    /// The limit does not apply to a trace without operations, which takes its header and 37 bytes.
    ///
    /// # Errors
    ///
    /// If the texts of the header are longer than 64 KiB together, the output cannot report its
    /// position, or writing fails.
    pub fn new(mut output: W, mut header: Header, limit: u64) -> Result<Self, TraceError> {
        header.provenance.push_str(&padded(UNFINISHED));
        (header.labels, header.operations) = (u32::MAX, u64::MAX);
        let (first, _) = start_of_file(&header)?;
        let start = output.stream_position()?;
        output.write_all(&first)?;
        let mut writer = Self {
            output,
            header: Header { labels: 0, ..header },
            start,
            limit,
            written: first.len() as u64,
            context: Context::default(),
            totals: Totals::default(),
            block: vec![0; MAX_BLOCK].into(),
            packed: None,
            length: FRAME + STORED,
            room: 0,
            handed_on: 0,
            crc: 0,
        };
        writer.begin_block();
        Ok(writer)
    }

    /// Begins a deflated trace of any length, like [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn deflating(output: W, header: Header) -> Result<Self, TraceError> {
        let packed = (Compress::new(Compression::best(), false), Vec::with_capacity(MAX_PACKED));
        Ok(Self { packed: Some(packed), ..Self::new(output, header, u64::MAX)? })
    }

    /// Writes an operation. O(1): a few bytes into a block in memory, and every 64 KiB the block
    /// into the output.
    ///
    /// # Errors
    ///
    /// * [`TraceError::Full`] if the operation could exceed the limit. Nothing is written, and the
    ///   trace can still be [finished](Self::finish).
    /// * [`TraceError::Label`] for the label `u32::MAX`, which no header can announce. Nothing is
    ///   written.
    /// * If writing fails. The trace then ends with its last complete block.
    // If the kind is a constant, as in a recorder, inlining leaves a tenth of the code.
    #[inline(always)]
    pub fn write(&mut self, op: Op) -> Result<(), TraceError> {
        if self.length + MAX_OP > self.room {
            self.make_room()?;
        }
        if let Op::Insert { label, .. } | Op::Cancel { label } | Op::Reschedule { label, .. } = op {
            if label >= self.header.labels {
                self.add_label(label)?;
            }
        }
        if let Some(out) = self.block[self.length..].first_chunk_mut() {
            self.length += self.context.encode(op, out); // `Some`: `MAX_OP` bytes are free
            self.totals.add(op);
        }
        Ok(())
    }

    /// Writes the end and the numbers in the header, and returns the output. The first [`REMARK`]
    /// bytes of `remark` are appended to the header's provenance.
    ///
    /// # Errors
    ///
    /// If writing or seeking fails.
    pub fn finish(mut self, remark: &str) -> Result<Finished<W>, TraceError> {
        if self.pending() > 0 {
            self.write_block()?;
        }
        let kept = self.header.provenance.len() - REMARK;
        self.header.provenance.truncate(kept);
        self.header.provenance.push_str(&padded(remark));
        self.header.operations = self.totals.operations();
        let (first, header_crc) = start_of_file(&self.header)?;
        let end = end_of_file(self.totals, self.crc, header_crc);
        self.output.write_all(&end)?;
        self.written += end.len() as u64;
        self.output.seek(SeekFrom::Start(self.start))?;
        self.output.write_all(&first)?;
        self.output.seek(SeekFrom::Start(self.start + self.written))?;
        self.output.flush()?;
        let Self { output, header, totals, written: bytes, .. } = self;
        Ok(Finished { output, header, totals, bytes })
    }

    #[cold]
    fn add_label(&mut self, label: u32) -> Result<(), TraceError> {
        self.header.labels = label.checked_add(1).ok_or(TraceError::Label)?;
        Ok(())
    }

    #[cold]
    fn make_room(&mut self) -> Result<(), TraceError> {
        if self.pending() > 0 {
            self.write_block()?;
        }
        if self.length + MAX_OP > self.room {
            return Err(TraceError::Full { limit: self.limit });
        }
        Ok(())
    }

    /// The number of operations in the block, which fits since each takes at least a byte.
    fn pending(&self) -> u32 {
        (self.totals.operations() - self.handed_on) as u32
    }

    fn begin_block(&mut self) {
        self.length = FRAME + STORED;
        self.handed_on = self.totals.operations();
        let left = self.limit.saturating_sub(self.written + END_OF_FILE);
        self.room = MAX_BLOCK.min(usize::try_from(left).unwrap_or(usize::MAX));
    }

    /// Writes the block with its frame. After an error the block is dropped: a retry would write it
    /// after a part of itself.
    fn write_block(&mut self) -> Result<(), TraceError> {
        let pending = self.pending();
        let raw = &self.block[FRAME + STORED..self.length];
        let (length, crc_raw) = (raw.len() as u16, crc32fast::hash(raw)); // at most MAX_STORED
        let block = match &mut self.packed {
            Some((packer, packed)) => {
                deflate(packer, raw, packed)?;
                &mut packed[..]
            }
            None => {
                let stored = &mut self.block[FRAME..FRAME + STORED];
                stored[0] = 1; // the last part, stored
                stored[1..3].copy_from_slice(&length.to_le_bytes());
                stored[3..].copy_from_slice(&(!length).to_le_bytes());
                &mut self.block[..self.length]
            }
        };
        let fields = [length.into(), (block.len() - FRAME) as u32, pending, crc_raw];
        block[0] = BLOCK;
        for (place, field) in block[1..FRAME].chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        let crc = chained(self.crc, &[&block[..FRAME - 4], &block[FRAME..]]);
        block[FRAME - 4..FRAME].copy_from_slice(&crc.to_le_bytes());

        let result = self.output.write_all(block);
        (self.crc, self.written) = (crc, self.written + block.len() as u64);
        self.begin_block();
        Ok(result?)
    }
}

/// Deflates a block into a buffer, behind space for its frame.
fn deflate(packer: &mut Compress, raw: &[u8], packed: &mut Vec<u8>) -> Result<(), TraceError> {
    packer.reset();
    packed.clear();
    packed.reserve(FRAME + MAX_PACKED); // room for the worst case, so one call is enough
    packed.resize(FRAME, 0);
    match packer.compress_vec(raw, packed, FlushCompress::Finish) {
        Ok(Status::StreamEnd) => Ok(()),
        _ => Err(io::Error::other("a block could not be deflated").into()),
    }
}

/// Pads or cuts a remark to exactly `REMARK` bytes, since the header is written twice with the same
/// length.
fn padded(remark: &str) -> String {
    let mut length = REMARK.min(remark.len());
    while !remark.is_char_boundary(length) {
        length -= 1;
    }
    format!("{}{:width$}", &remark[..length], "", width = REMARK - length)
}

/// The first bytes of a file, and the checksum in them.
fn start_of_file(header: &Header) -> Result<(Vec<u8>, u32), TraceError> {
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
fn end_of_file(totals: Totals, crc: u32, header_crc: u32) -> Vec<u8> {
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
