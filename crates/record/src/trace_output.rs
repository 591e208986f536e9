//! The part of a recorder that writes. It accepts operations and never fails. It knows how a
//! recording ended.

use crate::builder::OnEnd;
use std::fmt;
use std::io::{Seek, Write};
use std::sync::Arc;
use wheelhouse_core::Tick;
use wheelhouse_workload::Op;
use wheelhouse_workload::trace::{Totals, TraceError, Writer};

pub(crate) struct TraceOutput<W: Write + Seek> {
    /// `None` once the recording has ended.
    writer: Option<Writer<W>>,
    /// Single ticks that are not written yet, the last of them to `clock`. They become one
    /// operation: otherwise a program that ticks a thousand times per second with nothing to do
    /// would fill the file with them.
    ticks: u32,
    clock: Tick,
    /// `true` if the last call was a pop that fired. Then the next pop is recorded even if it fires
    /// nothing.
    is_popping: bool,
    /// `None` until the recording has ended.
    pub(crate) outcome: Option<Result<Summary, Error>>,
    on_end: Option<OnEnd>,
}

impl<W: Write + Seek> TraceOutput<W> {
    /// Begins a recording of timers whose clock is at `now`.
    pub(crate) fn new(writer: Writer<W>, on_end: Option<OnEnd>, now: Tick) -> Self {
        let mut trace_output = Self {
            writer: Some(writer),
            ticks: 0,
            clock: now,
            is_popping: false,
            outcome: None,
            on_end,
        };
        if now > 0 {
            trace_output.write(Op::Advance { to: now });
        }
        trace_output
    }

    // Always inlined, like everything down to the block: each caller knows its kind of operation.
    #[inline(always)]
    pub(crate) fn write(&mut self, op: Op) {
        if self.ticks != 0 {
            self.write_ticks();
        }
        self.append(op);
    }

    /// Records an advance that moved the clock from `from` to `to` and fired `fired` timers.
    #[inline]
    pub(crate) fn record_advance(&mut self, from: Tick, to: Tick, fired: usize) {
        self.is_popping = false;
        if to - from == 1 && self.ticks < u32::MAX {
            self.ticks += 1;
            self.clock = to;
        } else if to > from || fired > 0 {
            self.write(Op::Advance { to });
        }
    }

    /// Records a pop that moved the clock from `from` to `to`. `fired` is `true` if a timer fired.
    #[inline]
    pub(crate) fn record_pop(&mut self, from: Tick, to: Tick, fired: bool) {
        if fired || self.is_popping {
            self.write(Op::Pop { to });
            self.is_popping = fired;
        } else {
            self.record_advance(from, to, 0);
        }
    }

    /// Ends the recording, unless it has ended, and returns its outcome.
    pub(crate) fn finish(&mut self) -> &Result<Summary, Error> {
        self.write_ticks();
        self.end(None);
        self.outcome.as_ref().expect("it has ended")
    }

    #[inline(always)]
    fn append(&mut self, op: Op) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = writer.write(op) {
            self.stop(error);
        }
    }

    // Not inlined: the calls that write contain only the test whether there are ticks.
    #[inline(never)]
    fn write_ticks(&mut self) {
        let to = self.clock;
        match std::mem::take(&mut self.ticks) {
            0 => {}
            1 => self.append(Op::Advance { to }),
            count => self.append(Op::Ticks { count, to }),
        }
    }

    #[cold]
    fn stop(&mut self, error: TraceError) {
        match error {
            TraceError::Full { limit } => self.end(Some(limit)),
            error => {
                self.writer = None;
                self.set_outcome(Err(error.into()));
            }
        }
    }

    /// Completes the trace, unless the recording has ended. `reached` is the limit if that ends it.
    fn end(&mut self, reached: Option<u64>) {
        let Some(writer) = self.writer.take() else { return };
        let at_limit = |limit| format!("; stopped at its limit of {limit} bytes");
        let remark = reached.map_or(String::new(), at_limit);
        let outcome = writer.finish(&remark).map_err(Error::from).map(|finished| Summary {
            totals: finished.totals,
            labels: finished.header.labels,
            bytes: finished.bytes,
            at_limit: reached.is_some(),
        });
        self.set_outcome(outcome);
    }

    fn set_outcome(&mut self, outcome: Result<Summary, Error>) {
        let outcome = self.outcome.insert(outcome);
        if let Some(callback) = self.on_end.take() {
            callback(outcome);
        }
    }
}

impl<W: Write + Seek> Drop for TraceOutput<W> {
    fn drop(&mut self) {
        let _passed_to_on_end = self.finish();
    }
}

/// A summary of a recording that has ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of operations of each kind.
    pub totals: Totals,
    /// All labels are below this. For a backend that reuses its entries, it is the most timers that
    /// were live at a time, plus the few entries that the backend keeps for itself.
    pub labels: u32,
    /// The length of the trace.
    pub bytes: u64,
    /// `true` if the trace has reached its [limit](crate::Builder::limit): later calls of the
    /// program are not in it. `false` if the recording was finished, or its recorder was dropped.
    pub at_limit: bool,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { totals, labels, bytes, at_limit } = self;
        let remark = if *at_limit { "; stopped at its size limit" } else { "" };
        write!(f, "{totals}; {labels} labels, {bytes} bytes{remark}")
    }
}

/// Why a recording could not begin, or stopped. The program's timers are not affected.
///
/// It can be cloned, since both the caller of [`finish`](crate::Recorder::finish) and the callback
/// of [`on_end`](crate::Builder::on_end) receive it.
#[derive(Clone, Debug)]
pub struct Error(Arc<TraceError>);

impl Error {
    /// The underlying error.
    pub fn cause(&self) -> &TraceError {
        &self.0
    }
}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        Self(Arc::new(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the timers are not recorded: {}", self.0)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}
