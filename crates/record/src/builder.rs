//! The configuration of a recording.

use crate::trace_output::TraceOutput;
use crate::{Error, Recorder, Summary};
use std::fmt;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::time::Duration;
use wheelhouse_core::Timer;
use wheelhouse_workload::trace::{Header, TraceError, Writer};

/// The default of [`Builder::limit`], in bytes: enough for some 20 million operations.
pub const DEFAULT_LIMIT: u64 = 100_000_000;

/// A callback that receives the outcome of a recording.
pub(crate) type OnEnd = Box<dyn FnOnce(&Result<Summary, Error>) + Send>;

/// Configures a [`Recorder`]. Made by [`Recorder::builder`].
///
/// ```
/// use std::io::Cursor;
/// use std::time::Duration;
/// use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Timer};
/// use wheelhouse_record::Recorder;
///
/// let mut timeouts = Recorder::builder()
///     .note("sessions under load")
///     .tick(Duration::from_millis(1))
///     .limit(1_000_000)
///     .on_end(|outcome| println!("{outcome:?}"))
///     .write_to(Cursor::new(Vec::new()), HierarchicalWheel::new())?;
/// timeouts.insert(30_000, "session 1");
/// # Ok::<(), wheelhouse_record::Error>(())
/// ```
#[must_use = "nothing is recorded until `create` or `write_to` is called"]
pub struct Builder {
    name: String,
    note: String,
    tick: Duration,
    limit: u64,
    on_end: Option<OnEnd>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            name: "recording".to_owned(),
            note: String::new(),
            tick: Duration::ZERO,
            limit: DEFAULT_LIMIT,
            on_end: None,
        }
    }

    /// A note for people who read the trace's header: which program, under which load.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The duration of a tick of the program. It is stored in the trace's header and changes no
    /// operation. By default the header does not state it.
    pub fn tick(mut self, tick: Duration) -> Self {
        self.tick = tick;
        self
    }

    /// The maximum length of the trace, in bytes; [`DEFAULT_LIMIT`] by default. An operation that
    /// would exceed it ends the recording. A trace without operations takes some 200 bytes, even if
    /// the limit is lower.
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Sets a callback that is called when the recording ends, in the call that ends it: at the
    /// limit, at an error, when it is finished, or when the recorder is dropped. It is for programs
    /// that give the recorder away.
    pub fn on_end(
        mut self,
        callback: impl FnOnce(&Result<Summary, Error>) + Send + 'static,
    ) -> Self {
        self.on_end = Some(Box::new(callback));
        self
    }

    /// Records the calls to `timer` in a file. An existing file is overwritten. The name in the
    /// trace's header is that of the file without its suffix. Timers that are already live in
    /// `timer` are not in the trace, so pass an empty one.
    ///
    /// # Errors
    ///
    /// If the file cannot be made or written, or the note is longer than 60,000 bytes.
    pub fn create<T, B: Timer<T>>(
        mut self,
        path: impl AsRef<Path>,
        timer: B,
    ) -> Result<Recorder<B>, Error> {
        let path = path.as_ref();
        if let Some(stem) = path.file_stem() {
            self.name = stem.to_string_lossy().into_owned();
        }
        let named = |error: io::Error| {
            TraceError::from(io::Error::new(error.kind(), format!("{}: {error}", path.display())))
        };
        // Not buffered: it receives whole blocks.
        let file = File::create(path).map_err(named)?;
        self.write_to(file, timer)
    }

    /// Records the calls to `timer` in any output that can be written and sought, from its current
    /// position. The output receives 64 KiB at a time and needs no buffer. At the end it is sought
    /// once, to complete the header, so it cannot be a pipe. The name in the header is `recording`.
    ///
    /// # Errors
    ///
    /// If the output cannot report its position or be written, or the note is longer than 60,000
    /// bytes.
    pub fn write_to<T, B: Timer<T>, W: Write + Seek>(
        self,
        output: W,
        timer: B,
    ) -> Result<Recorder<B, W>, Error> {
        let Self { name, note, tick, limit, on_end } = self;
        let backend = std::any::type_name::<B>();
        let separator = if note.is_empty() { "" } else { "; " };
        let header = Header {
            name,
            provenance: format!("recorded by wheelhouse-record from {backend}{separator}{note}"),
            tick_ns: u64::try_from(tick.as_nanos()).unwrap_or(u64::MAX),
            ..Header::default()
        };
        let writer = Writer::new(output, header, limit)?;
        let trace_output = TraceOutput::new(writer, on_end, timer.now());
        Ok(Recorder { timer, trace_output })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("note", &self.note)
            .field("tick", &self.tick)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
