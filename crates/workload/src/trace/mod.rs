//! Recorded streams: a compact file of operations, with a checksum on every byte.
//!
//! A trace has the operations of a real program: each insertion, cancellation, reschedule and
//! movement of the clock, in order. Two are [shipped](shipped()) with this crate, recorded from the
//! timers of a Linux kernel under a server and its load. `scripts/record-kernel-timers` records
//! more of them, through [`kernel`](crate::kernel); `wheelhouse-record` records your own program,
//! through a [`Writer`].
//!
//! # The format, version 2
//!
//! All numbers are little-endian.
//!
//! ```text
//! file    = magic version:u16 length:u32 header:[u8; length] crc:u32  block*  end
//! magic   = 89 'W' 'H' 'T' 0d 0a 1a 0a  (as in PNG: detects changed line ends and a lost bit 7)
//! header  = tick_ns:u64 labels:u32 operations:u64 length:u32 name length:u32 provenance  (UTF-8)
//! block   = 'B' raw:u32 packed:u32 operations:u32 crc_raw:u32 crc:u32 [u8; packed]
//! end     = 'E' inserts:u64 cancels:u64 reschedules:u64 clock:u64 crc:u32  and nothing after it
//! ```
//!
//! A block holds up to 64 KiB of operations, deflated; `crc_raw` is the CRC-32 of the inflated
//! bytes. The `crc` of the header covers everything before it. The `crc` of a block covers its tag,
//! lengths, `crc_raw` and deflated bytes, and continues the `crc` of the previous block, or 0. The
//! `crc` of the end covers its tag, its totals and the header's `crc`, and continues that of the
//! last block. So a reader detects blocks that are changed, missing, doubled or out of order, and
//! corrupt bytes never reach the inflater. The totals detect a file that is cut between two blocks.
//!
//! No block depends on the header, so a [`Writer`], which knows the numbers in the header only at
//! the end, can go back and write the header again. Until then the header claims the largest
//! numbers: if the program is killed, the file can be read to its last complete block, and is then
//! reported as truncated.
//!
//! Operations are sequences of variable-length numbers (seven bits a byte, lowest first). The first
//! holds the kind in its lowest two bits:
//!
//! ```text
//! 0 insert      label - previous label (zigzag), then deadline - clock (zigzag)
//! 1 cancel      label - previous label (zigzag)
//! 2 reschedule  label - previous label (zigzag), then deadline - clock (zigzag)
//! 3 clock       0 advance: to - clock (zigzag);  1 ticks: count, to - clock (zigzag);  2 wake;
//!               3 pop: to - clock (zigzag)
//! ```
//!
//! The previous label and the clock begin at 0 and continue from block to block; the clock is the
//! tick of the last advance, ticks or pop. Differences wrap around, so that every tick and label
//! can be written.
//!
//! # Bounds
//!
//! A reader holds one block: about 128 KiB, whatever the file claims. Every length is compared with
//! its bound before memory is allocated. Reading does not seek, and a [`Writer`] seeks at its end.
//!
//! # Version 1
//!
//! Version 1 can be read too: the two shipped traces have this version. It has no pop. The first
//! block continues the `crc` of the header, and the end does not cover it.

mod codec;
mod error;
mod header;
mod reader;
mod writer;

pub use error::TraceError;
pub use header::{Header, Totals};
pub use reader::Reader;
pub use writer::{Finished, REMARK, Writer};

/// The version that this crate writes. It also reads earlier versions.
pub const VERSION: u16 = 2;
const FIRST_VERSION: u16 = 1;

const MAGIC: [u8; 8] = [0x89, b'W', b'H', b'T', 0x0d, 0x0a, 0x1a, 0x0a];
const BLOCK: u8 = b'B';
const END: u8 = b'E';

/// The longest header in bytes, including its two texts.
const MAX_HEADER: usize = 64 << 10;
/// The most bytes of operations in a block.
const MAX_RAW: usize = 64 << 10;
/// The most bytes of a deflated block: bytes that cannot be compressed are stored, with a few more
/// for every 16 KiB.
const MAX_PACKED: usize = MAX_RAW + (1 << 10);

/// Fails if a length is above its bound. `block` is counted from 1; 0 is the header.
fn check_length(block: u64, what: &'static str, found: u64, most: usize) -> Result<(), TraceError> {
    let most = most as u64;
    if found <= most { Ok(()) } else { Err(TraceError::TooLong { block, what, found, most }) }
}

/// A trace that comes with this crate.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Shipped {
    /// The name, which is also in the header.
    pub name: &'static str,
    /// The file.
    pub bytes: &'static [u8],
}

impl Shipped {
    /// Opens the trace.
    ///
    /// ```
    /// for trace in wheelhouse_workload::trace::shipped() {
    ///     let reader = trace.open()?;
    ///     println!("{}: {}", trace.name, reader.header().provenance);
    /// }
    /// # Ok::<(), wheelhouse_workload::trace::TraceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None for the shipped files; a test reads them to their ends.
    pub fn open(&self) -> Result<Reader<&'static [u8]>, TraceError> {
        Reader::new(self.bytes)
    }
}

/// The traces that come with this crate: the kernel timers of a web server and of a key-value
/// server, each under its load generator. `traces/README.md` says how they were made.
pub fn shipped() -> &'static [Shipped] {
    &[
        Shipped { name: "nginx", bytes: include_bytes!("../../traces/nginx.trace") },
        Shipped { name: "redis", bytes: include_bytes!("../../traces/redis.trace") },
    ]
}
