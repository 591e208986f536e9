//! Reads traces.

use super::codec::{Context, Fields};
use super::writer::chained;
use super::{
    BLOCK, END, FIRST_VERSION, Header, MAGIC, MAX_HEADER, MAX_PACKED, MAX_RAW, Totals, TraceError,
    VERSION, check_length,
};
use crate::Op;
use flate2::{Decompress, FlushDecompress, Status};
use std::io::{self, BufReader, Read};

/// Reads a trace, operation by operation, without seeking. It is an iterator that ends after the
/// last operation or the first error. It holds one block, about 128 KiB, whatever the file claims.
///
/// Every operation that it returns has passed two checksums, and its label is below
/// [`Header::labels`]. Operations may still be missing at the end, until it has ended without an
/// error; [`totals`](Self::totals) then returns their numbers.
#[derive(Debug)]
pub struct Reader<R> {
    input: BufReader<R>,
    header: Header,
    context: Context,
    counted: Totals,
    raw: Vec<u8>,
    /// The decoded bytes of `raw`, and the number of operations left in it.
    decoded: usize,
    left: u32,
    packed: Vec<u8>,
    unpacker: Decompress,
    /// The number of the block, and the last checksum.
    block: u64,
    crc: u32,
    /// The header's checksum, if the end covers it. In version 1 the blocks continue it instead.
    header_crc: Option<u32>,
    ended: Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    No,
    Well,
    WithError,
}

impl<R: Read> Reader<R> {
    /// Opens a trace and reads its header. `input` needs no buffer.
    ///
    /// # Errors
    ///
    /// If `input` cannot be read, or is not a trace of [version](super::VERSION) 1 or 2.
    pub fn new(input: R) -> Result<Self, TraceError> {
        let mut input = BufReader::new(input);
        let (header, version, header_crc) = read_header(&mut input)?;
        let is_first = version == FIRST_VERSION;
        Ok(Self {
            input,
            header,
            context: Context::default(),
            counted: Totals::default(),
            raw: Vec::new(),
            decoded: 0,
            left: 0,
            packed: Vec::new(),
            unpacker: Decompress::new(false),
            block: 0,
            crc: if is_first { header_crc } else { 0 },
            header_crc: (!is_first).then_some(header_crc),
            ended: Ended::No,
        })
    }

    /// The header of the trace.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number of operations of each kind; `None` until the end was reached without an error.
    pub fn totals(&self) -> Option<Totals> {
        (self.ended == Ended::Well).then_some(self.counted)
    }

    /// `None` at the end of the trace.
    fn next_op(&mut self) -> Result<Option<Op>, TraceError> {
        while self.left == 0 {
            if self.decoded != self.raw.len() {
                return Err(self.corrupt("it has bytes after its last operation"));
            }
            if !self.read_block()? {
                return Ok(None);
            }
        }
        let mut fields = Fields::new(&self.raw[self.decoded..]);
        let op = self
            .context
            .decode(&mut fields)
            .ok_or_else(|| self.corrupt("its bytes are not an operation"))?;
        if let Op::Insert { label, .. } | Op::Cancel { label } | Op::Reschedule { label, .. } = op {
            if label >= self.header.labels {
                return Err(self.corrupt("a label is beyond those of the header"));
            }
        }
        self.decoded = self.raw.len() - fields.len();
        self.left -= 1;
        self.counted.add(op);
        Ok(Some(op))
    }

    /// `false` at the end of the trace.
    fn read_block(&mut self) -> Result<bool, TraceError> {
        self.block += 1;
        match read_array::<1>(&mut self.input, self.block)?[0] {
            BLOCK => self.read_operations().map(|()| true),
            END => self.read_end().map(|()| false),
            _ => Err(self.corrupt("it begins with an unknown tag")),
        }
    }

    fn read_operations(&mut self) -> Result<(), TraceError> {
        let frame: [u8; 20] = read_array(&mut self.input, self.block)?;
        let mut fields = Fields::new(&frame);
        let mut field = || fields.u32().unwrap_or_default(); // the frame has five
        let [raw, packed, operations, crc_raw, crc] = [field(), field(), field(), field(), field()];
        check_length(self.block, "the length of its operations", raw.into(), MAX_RAW)?;
        check_length(self.block, "its deflated length", packed.into(), MAX_PACKED)?;
        // An operation takes at least a byte.
        check_length(self.block, "the number of its operations", operations.into(), raw as usize)?;
        read_into(&mut self.input, &mut self.packed, packed as usize, self.block)?;
        self.crc = chained(self.crc, &[&[BLOCK], &frame[..16], &self.packed]);
        if self.crc != crc {
            return Err(self.corrupt("its checksum does not match"));
        }
        self.unpack(raw as usize)?;
        if crc32fast::hash(&self.raw) != crc_raw {
            return Err(self.corrupt("the checksum of its operations does not match"));
        }
        (self.decoded, self.left) = (0, operations);
        Ok(())
    }

    /// Inflates into a buffer of the announced length. Any other length is an error.
    fn unpack(&mut self, length: usize) -> Result<(), TraceError> {
        self.raw.clear();
        self.raw.resize(length, 0);
        self.unpacker.reset(false);
        let status = self.unpacker.decompress(&self.packed, &mut self.raw, FlushDecompress::Finish);
        let complete = matches!(status, Ok(Status::StreamEnd))
            && self.unpacker.total_out() == length as u64
            && self.unpacker.total_in() == self.packed.len() as u64;
        if complete {
            Ok(())
        } else {
            Err(self.corrupt("it does not inflate to the announced length"))
        }
    }

    fn read_end(&mut self) -> Result<(), TraceError> {
        let end: [u8; 36] = read_array(&mut self.input, self.block)?;
        let (totals, crc) = end.split_at(32);
        let header_crc = self.header_crc.map(u32::to_le_bytes);
        let header_crc = header_crc.as_ref().map_or(&[][..], |crc| crc);
        if chained(self.crc, &[&[END], totals, header_crc]).to_le_bytes() != crc {
            return Err(self.corrupt("its checksum does not match"));
        }
        if Totals::decode(totals) != Some(self.counted)
            || self.counted.operations() != self.header.operations
        {
            return Err(self.corrupt("the totals differ from the number of operations"));
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.corrupt("there are bytes after the end")),
            Err(error) => Err(error.into()),
        }
    }

    fn corrupt(&self, what: &'static str) -> TraceError {
        TraceError::Corrupt { block: self.block, what }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Op, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended != Ended::No {
            return None;
        }
        let op = self.next_op();
        match &op {
            Ok(Some(_)) => {}
            Ok(None) => self.ended = Ended::Well,
            Err(_) => self.ended = Ended::WithError,
        }
        op.transpose()
    }
}

/// The header, the version, and the header's checksum.
fn read_header(input: &mut impl Read) -> Result<(Header, u16, u32), TraceError> {
    let corrupt = |what| TraceError::Corrupt { block: 0, what };
    let magic: [u8; 8] = read_array(input, 0)?;
    if magic != MAGIC {
        return Err(TraceError::NotATrace);
    }
    let sizes: [u8; 6] = read_array(input, 0)?;
    let mut fields = Fields::new(&sizes);
    let (version, length) = (fields.u16().unwrap_or_default(), fields.u32().unwrap_or_default());
    if !(FIRST_VERSION..=VERSION).contains(&version) {
        return Err(TraceError::Version { found: version });
    }
    check_length(0, "its length", length.into(), MAX_HEADER)?;
    let mut bytes = Vec::new();
    read_into(input, &mut bytes, length as usize, 0)?;
    let mut hasher = crc32fast::Hasher::new();
    [&magic[..], &sizes, &bytes].iter().for_each(|part| hasher.update(part));
    let crc = hasher.finalize();
    if read_array(input, 0)? != crc.to_le_bytes() {
        return Err(corrupt("its checksum does not match"));
    }
    let header =
        Header::decode(&bytes).ok_or_else(|| corrupt("its fields are not those of a header"))?;
    Ok((header, version, crc))
}

fn read_array<const N: usize>(input: &mut impl Read, block: u64) -> Result<[u8; N], TraceError> {
    let mut array = [0; N];
    input.read_exact(&mut array).map_err(|error| unread(error, block))?;
    Ok(array)
}

fn read_into(
    input: &mut impl Read,
    buffer: &mut Vec<u8>,
    length: usize,
    block: u64,
) -> Result<(), TraceError> {
    buffer.clear();
    buffer.resize(length, 0);
    input.read_exact(buffer).map_err(|error| unread(error, block))
}

fn unread(error: io::Error, block: u64) -> TraceError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => TraceError::Truncated { block },
        _ => TraceError::Io(error),
    }
}
