//! The run that a handler is called for.

use crate::Timers;
use crate::lease::{JobLease, Mark};
use crate::store::{Again, Change, Key, Kind, Timestamp, Token};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The occurrence of a job that a run executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// The next occurrence, for the ack.
    pub(crate) again: Option<Again>,
    /// The number of missed occurrences between this one and `again`.
    pub(crate) missed: u64,
    pub(crate) is_periodic: bool,
    /// When the run was handed out, by the store's clock.
    pub(crate) now: Timestamp,
}

/// The run that a handler is called for: its job, its attempt, and the state of its lease. An
/// [async handler](super::Handlers::on_async) gets it by value, as `DurableRun<'static>`, so that
/// its future can keep it.
pub struct DurableRun<'a> {
    pub(crate) timers: Cow<'a, Timers>,
    pub(crate) lease: Cow<'a, Arc<JobLease>>,
    pub(crate) due: Timestamp,
    pub(crate) occurrence: Occurrence,
}

impl DurableRun<'_> {
    /// Converts it to a value that a future can keep after the call.
    pub(crate) fn into_owned(self) -> DurableRun<'static> {
        let Self { timers, lease, due, occurrence } = self;
        let (timers, lease) = (Cow::Owned(timers.into_owned()), Cow::Owned(lease.into_owned()));
        DurableRun { timers, lease, due, occurrence }
    }

    /// The key of the job.
    pub fn key(&self) -> &Key {
        &self.lease.name.key
    }

    /// The kind of the job, by which this handler was chosen.
    pub fn kind(&self) -> &Kind {
        &self.lease.name.kind
    }

    /// The generation of the job: each scheduling in a store has a different number.
    pub fn generation(&self) -> u64 {
        self.lease.name.generation
    }

    /// The number of this occurrence of a periodic job, from 0.
    pub fn occurrence(&self) -> u64 {
        self.lease.name.occurrence
    }

    /// The number of the attempt at this occurrence, from 1. An attempt is counted just before the
    /// handler is called, so an attempt whose process was killed counts too. The handler was called
    /// for fewer attempts if a process was killed in between, or the store's answer was lost.
    pub fn attempt(&self) -> u32 {
        self.lease.name.attempt
    }

    /// The fencing token. If a resource refuses tokens lower than the highest it has seen, only the
    /// newest run can change it. Tokens of one store can be compared with each other; [several
    /// stores](crate::Builder::start_shards) number their tokens separately.
    pub fn token(&self) -> Token {
        self.lease.token
    }

    /// The queue, key, generation and occurrence: the same in all attempts at this occurrence, and
    /// different in any other. An effect that is applied once for each of these strings is applied
    /// once for each occurrence.
    pub fn idempotency_key(&self) -> String {
        let queue = &self.timers.shared().queue;
        format!("{queue}/{}/{}/{}", self.key(), self.generation(), self.occurrence())
    }

    /// When this occurrence was due, by the store's clock.
    pub fn due(&self) -> Timestamp {
        self.due
    }

    /// The number of occurrences that were skipped because this run is late: it stands for them
    /// too. 0 with [`Missed::Burst`](crate::Missed::Burst).
    pub fn missed(&self) -> u64 {
        self.occurrence.missed
    }

    /// Returns `true` if another worker has the job now, or may have it: the lease has run out,
    /// because it could not be renewed, or because the run took longer than its
    /// [limit](crate::Builder::limit). If the lease has ended because the store's clock was set
    /// ahead, or the machine was suspended, this program learns of that within a third of the
    /// [visibility timeout](crate::Builder::visibility_timeout). Effects from here on may take
    /// place twice. The ack of this run is refused if another worker has claimed the job. The
    /// future of an async handler is dropped at its next `.await` in this state. O(1).
    pub fn is_superseded(&self) -> bool {
        self.lease.is_lost(self.timers.shared().clock.now())
    }

    /// Returns `true` if the job was cancelled or replaced since this run began. This program
    /// learns of that within a third of the
    /// [visibility timeout](crate::Builder::visibility_timeout). The run is not repeated, whether
    /// it succeeds or fails.
    pub fn is_cancelled(&self) -> bool {
        self.lease.has(Mark::Closed)
    }

    /// An entry of the [context](crate::Plan::context) that the job was scheduled with; `None` if
    /// it has none of this name. The same in all attempts and occurrences. O(log n).
    pub fn context(&self, name: &str) -> Option<&str> {
        self.lease.context.get(name).map(String::as_str)
    }

    /// The timers, to schedule other jobs.
    pub fn timers(&self) -> &Timers {
        &self.timers
    }

    /// The change that ends this run as a success. If the effects of a handler are in the store's
    /// own database, the handler commits this change in one transaction with them, and returns
    /// [`Next::Acked`](super::Next::Acked). Then the effects take place once. If the outcome of the
    /// change is not `Done`, another worker has the job, and the handler must roll the transaction
    /// back. After the commit the lease is not renewed, so the handler must return before the lease
    /// ends.
    pub fn ack(&self) -> Change {
        self.lease.mark(Mark::Acked);
        let (key, token) = (self.key().clone(), self.token());
        Change::Ack { key, token, again: self.occurrence.again }
    }
}

impl fmt::Debug for DurableRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (job, token) = (&self.lease.name, &self.lease.token);
        f.debug_struct("DurableRun").field("job", job).field("token", token).finish_non_exhaustive()
    }
}
