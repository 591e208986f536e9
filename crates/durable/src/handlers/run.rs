//! The run that a handler is in.

use super::Held;
use crate::Timers;
use crate::store::{Again, Change, Key, Kind, Timestamp, Token};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The run that a handler is in. An [async handler](super::Handlers::on_async)
/// gets it by value, as `DurableRun<'static>`, so that its future can keep it.
pub struct DurableRun<'a> {
    pub(crate) timers: Cow<'a, Timers>,
    pub(crate) held: Cow<'a, Arc<Held>>,
    pub(crate) due: Timestamp,
    pub(crate) missed: u64,
    /// What the ack of this run says of the next occurrence.
    pub(crate) again: Option<Again>,
    pub(crate) started: Timestamp,
}

impl DurableRun<'_> {
    /// The same for a future, which outlives the call.
    pub(crate) fn into_owned(self) -> DurableRun<'static> {
        let Self { timers, held, due, missed, again, started } = self;
        let (timers, held) = (Cow::Owned(timers.into_owned()), Cow::Owned(held.into_owned()));
        DurableRun { timers, held, due, missed, again, started }
    }
}

impl DurableRun<'_> {
    /// The name of the job.
    pub fn key(&self) -> &Key {
        &self.held.name.key
    }

    /// The kind of the job, by which this handler was chosen.
    pub fn kind(&self) -> &Kind {
        &self.held.name.kind
    }

    /// The number of this scheduling: no two of a store have the same.
    pub fn generation(&self) -> u64 {
        self.held.name.generation
    }

    /// Which occurrence of a periodic job, from 0.
    pub fn occurrence(&self) -> u64 {
        self.held.name.occurrence
    }

    /// The number of the attempt at this occurrence, from 1. An attempt counts just before the
    /// handler is called, so that one whose process was killed counts too.
    pub fn attempt(&self) -> u32 {
        self.held.name.attempt
    }

    /// The fencing token: a resource that refuses tokens lower than the highest it has seen is
    /// touched by the newest run alone. Tokens of one store can be compared, and those of one key;
    /// each of [several stores](crate::Builder::start_shards) has its own.
    pub fn token(&self) -> Token {
        self.held.token
    }

    /// The same in all attempts at this occurrence, and in nothing else: queue, key, generation and
    /// occurrence. An effect that is made once for each of these is made once.
    pub fn idempotency_key(&self) -> String {
        let queue = &self.timers.shared().queue;
        format!("{queue}/{}/{}/{}", self.key(), self.generation(), self.occurrence())
    }

    /// When this occurrence was due, by the store's clock.
    pub fn due(&self) -> Timestamp {
        self.due
    }

    /// How long after that the run was handed out, by the store's clock.
    pub fn lateness(&self) -> Duration {
        self.started.saturating_since(self.due())
    }

    /// How many occurrences were left out because this run is late: it stands for them too. 0 with
    /// [`Missed::Burst`](crate::Missed::Burst).
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Returns `true` if another worker has the job now, or may have: the lease has run out, since
    /// it could not be renewed, or was not because the run took longer than its
    /// [limit](crate::Builder::limit). The effects of this run from here on are made twice; its ack
    /// is refused. The future of an async handler is dropped by then. O(1).
    pub fn is_superseded(&self) -> bool {
        self.held.is_lost(self.timers.shared().clock.now())
    }

    /// Returns `true` if the job was cancelled or replaced since this run began. It is known at the
    /// latest a third of the [visibility timeout](crate::Builder::visibility_timeout) after that.
    /// The run may end as it likes; it is not repeated.
    pub fn is_cancelled(&self) -> bool {
        self.held.is_closed()
    }

    /// The timers, to schedule other jobs.
    pub fn timers(&self) -> &Timers {
        &self.timers
    }

    /// What ends this run as a success. A handler whose effects lie in the store's own database
    /// commits it in one transaction with them, and returns [`Next::Acked`](super::Next::Acked):
    /// then the effects are made once. If the answer is not `Done`, somebody else has the job: it
    /// rolls the transaction back.
    pub fn ack(&self) -> Change {
        let (key, token) = (self.key().clone(), self.token());
        Change::Ack { key, token, again: self.again }
    }
}

impl fmt::Debug for DurableRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DurableRun")
            .field("key", self.key())
            .field("kind", self.kind())
            .field("generation", &self.generation())
            .field("occurrence", &self.occurrence())
            .field("attempt", &self.attempt())
            .field("token", &self.token())
            .finish_non_exhaustive()
    }
}
