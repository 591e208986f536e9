//! The traces that come with this crate.

use super::{Reader, TraceError};

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
