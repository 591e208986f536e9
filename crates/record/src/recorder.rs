//! A timer facility whose calls are recorded.

use crate::trace_output::TraceOutput;
use crate::{Builder, Error, Summary};
use std::fmt;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_workload::Op;

/// Wraps a backend, gives the same answers, and writes each call into a trace. The
/// [front page](crate#what-is-recorded) lists how each call is recorded.
///
/// Each method costs what the backend's method costs, plus O(1): it writes some bytes into a block
/// in memory. Every 64 KiB, a call also writes the block to the output and waits for that. No
/// method fails because of the recording. At its [limit](Builder::limit), or at an error of the
/// output, the recording ends, and from then on the recorder only calls the backend.
///
/// ```
/// use std::io::Cursor;
/// use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Timer};
/// use wheelhouse_record::Recorder;
///
/// let output = Cursor::new(Vec::new());
/// let mut timer = Recorder::builder().write_to(output, HierarchicalWheel::new())?;
/// let id = timer.insert(7, "a");
/// assert_eq!(timer.cancel(id), Some("a"));
/// assert_eq!(timer.cancel(id), None); // not recorded
/// let summary = timer.finish()?;
/// assert_eq!((summary.totals.inserts, summary.totals.cancels), (1, 1));
/// # Ok::<(), wheelhouse_record::Error>(())
/// ```
pub struct Recorder<B, W: Write + Seek = File> {
    pub(crate) timer: B,
    pub(crate) trace_output: TraceOutput<W>,
}

impl Recorder<()> {
    /// Returns a builder that sets the trace's name, its limit and more.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

impl<B> Recorder<B> {
    /// Records the calls to `timer` in a file. An existing file is overwritten. Timers that are
    /// already live in `timer` are not in the trace, so pass an empty one.
    ///
    /// # Errors
    ///
    /// If the file cannot be made or written.
    pub fn create<T>(path: impl AsRef<Path>, timer: B) -> Result<Self, Error>
    where
        B: Timer<T>,
    {
        Builder::new().create(path, timer)
    }
}

impl<B, W: Write + Seek> Recorder<B, W> {
    /// The backend.
    pub fn timer(&self) -> &B {
        &self.timer
    }

    /// The outcome of the recording; `None` while it continues.
    ///
    /// # Errors
    ///
    /// The error that stopped it, if the output could not be written.
    pub fn ended(&self) -> Option<Result<Summary, Error>> {
        self.trace_output.outcome.clone()
    }

    /// Ends the recording, writes the end of the trace, and returns a summary. The timers continue
    /// unrecorded. If the recording has ended already, this only returns its outcome. Dropping a
    /// recorder also finishes its trace.
    ///
    /// # Errors
    ///
    /// The error that stopped the recording earlier, or that prevented the end from being written.
    /// The trace then has no end; a reader yields the blocks that were written.
    pub fn finish(&mut self) -> Result<Summary, Error> {
        self.trace_output.finish().clone()
    }

    /// Writes a timer's new deadline, if it has moved.
    #[inline]
    fn write_move(&mut self, id: TimerId, deadline: Tick, moved: bool) -> bool {
        if moved {
            self.trace_output.write(Op::Reschedule { label: id.index(), deadline });
        }
        moved
    }
}

impl<T, B: Timer<T>, W: Write + Seek> Timer<T> for Recorder<B, W> {
    #[inline]
    fn now(&self) -> Tick {
        self.timer.now()
    }

    #[inline]
    fn len(&self) -> usize {
        self.timer.len()
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.timer.is_empty()
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = self.timer.insert(deadline, value);
        self.trace_output.write(Op::Insert { label: id.index(), deadline });
        id
    }

    #[inline]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        // A stale handle is not written: its label may belong to another timer by now.
        let value = self.timer.cancel(id)?;
        self.trace_output.write(Op::Cancel { label: id.index() });
        Some(value)
    }

    #[inline]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let moved = self.timer.reschedule(id, deadline);
        self.write_move(id, deadline, moved)
    }

    #[inline]
    fn postpone(&mut self, id: TimerId, deadline: Tick) -> bool {
        let moved = self.timer.postpone(id, deadline);
        self.write_move(id, deadline, moved)
    }

    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timer.deadline(id)
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        self.timer.next_wakeup()
    }

    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        let from = self.timer.now();
        let expired = self.timer.pop_expired(now);
        self.trace_output.record_pop(from, now.max(from), expired.is_some());
        expired
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        let from = self.timer.now();
        let to = now.max(from);
        let mut call = AdvanceCall {
            trace_output: &mut self.trace_output,
            from,
            to,
            fired: 0,
            is_complete: false,
        };
        let fired = self.timer.advance(now, |expired| {
            call.fired += 1;
            on_expiry(expired);
        });
        call.is_complete = true;
        fired
    }

    fn compact(&mut self) {
        self.timer.compact();
    }
}

/// A call of `advance`. It is written when it is dropped, so also if the callback panics.
struct AdvanceCall<'a, W: Write + Seek> {
    trace_output: &'a mut TraceOutput<W>,
    from: Tick,
    to: Tick,
    /// How many timers the callback has received.
    fired: usize,
    is_complete: bool,
}

impl<W: Write + Seek> Drop for AdvanceCall<'_, W> {
    #[inline]
    fn drop(&mut self) {
        if self.is_complete {
            self.trace_output.record_advance(self.from, self.to, self.fired);
        } else {
            // The callback panicked. A replayed advance would fire everything that is due.
            (0..self.fired).for_each(|_| self.trace_output.record_pop(self.from, self.to, true));
        }
    }
}

impl<B: fmt::Debug, W: Write + Seek> fmt::Debug for Recorder<B, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("timer", &self.timer)
            .field("ended", &self.trace_output.outcome)
            .finish_non_exhaustive()
    }
}
