//! The changes to a store, and their outcomes.

use super::{InvalidKey, Key, Kind, PAUSE, Timestamp, Token};
use std::time::Duration;

/// A time: a delay from the store's present, or a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After this delay from the store's present, rounded up to a millisecond. Without a delay: at
    /// the present, rounded down, so that the next claim finds the job.
    After(Duration),
    /// At this time. A past time is due at once.
    At(Timestamp),
}

impl When {
    /// The time, given the store's present `now`, rounded up.
    pub fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::After(delay) => now.saturating_add(delay),
            Self::At(time) => time,
        }
    }
}

/// A job to put into a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// The name of the job.
    pub key: Key,
    /// The name of its handler.
    pub kind: Kind,
    /// The bytes for the handler. A store does not interpret them.
    pub payload: Vec<u8>,
    /// Late policy, expiry and rule of repetition, often empty. A store does not interpret them.
    pub policy: String,
    /// When it is due.
    pub when: When,
    /// `true` to replace a job that has the key, `false` to refuse this one.
    pub replace: bool,
}

impl Put {
    /// A row that is not a job, and is never due.
    pub(crate) fn reserved(key: Key, kind: &str, payload: Vec<u8>) -> Self {
        let (kind, when) = (kind.into(), When::At(Timestamp::MAX));
        Self { key, kind, payload, policy: String::new(), when, replace: false }
    }
}

/// The next occurrence of a job whose current occurrence is acked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// When it is due.
    pub when: When,
    /// Its number.
    pub occurrence: u64,
}

/// A change to a store. Each variant lists its effect in each [`State`](super::State) of the row,
/// and its [`Outcome`]. If there is no row, a change has no effect, and its outcome is `Absent`.
///
/// "By token" means: the change takes effect if the row is `Leased`, `Begun`, `Closed` or
/// `Replaced` and its lease has this token, even if the lease has run out by the clock. Otherwise
/// it has no effect, and its outcome is `Superseded`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Schedules a job, with a new generation, no attempt and the occurrence 0.
    ///
    /// * No row: `Done`.
    /// * `Pending`, `Leased`, `Begun`, `Replaced`, without `replace`: no effect; `Duplicate`.
    /// * `Pending`, `Leased`, with `replace`: becomes `Pending`; `Replaced`.
    /// * `Begun`, `Replaced`, with `replace`: becomes `Replaced`; `Replaced`.
    /// * `Closed`: becomes `Replaced`; `Done`.
    Put(Put),
    /// Moves a job to another time: sets `due` and `visible_at`. The attempts stay.
    ///
    /// * `Pending`, `Leased`: becomes `Pending`; `Done`.
    /// * `Replaced`: moves the newer generation, which is visible at the later of its new time and
    ///   the end of the lease; `Done`.
    /// * `Begun`, `Closed`: no effect; `Running`.
    Move {
        /// The key of the job.
        key: Key,
        /// The new due time.
        when: When,
    },
    /// Cancels a job.
    ///
    /// * `Pending`, `Leased`: removes the row; `Cancelled`.
    /// * `Begun`, `Replaced`: becomes `Closed`; `Running`.
    /// * `Closed`: `Running`.
    Cancel {
        /// The key of the job.
        key: Key,
    },
    /// Begins a run, just before its handler is called: counts the attempt. From here on the
    /// outcome of a `Cancel` is `Running`. A [claim](super::Store::claim) can begin a run too.
    ///
    /// By token.
    ///
    /// * `Leased`: becomes `Begun`, with one more attempt; `Done`.
    /// * `Begun`: no effect, because the claim has begun the run, or an earlier commit whose answer
    ///   was lost; `Done`.
    /// * `Closed`, `Replaced`: no effect: the run has begun, and the job was cancelled or replaced
    ///   since; `Closed`.
    ///
    /// It must survive a crash of the process. In a batch of nothing else, it need not survive a
    /// loss of power: then at most an attempt is not counted.
    Begin {
        /// The key of the job.
        key: Key,
        /// The token of the lease.
        token: Token,
    },
    /// Ends a run that succeeded. By token: `Done`.
    ///
    /// * `Leased`, `Begun`: removes the row. With a next occurrence, the row becomes `Pending` with
    ///   that occurrence, no attempts, and the same generation.
    /// * `Closed`: removes the row.
    /// * `Replaced`: becomes `Pending`; the newer generation is visible at its due time.
    Ack {
        /// The key of the job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// The next occurrence, if there is one.
        again: Option<Again>,
    },
    /// Ends a run that failed, and retries it later.
    ///
    /// By token.
    ///
    /// * `Leased`, `Begun`: becomes `Pending` and visible at the given time; `due` and attempts
    ///   stay; `Done`.
    /// * `Closed`, `Replaced`: as an ack; `Closed`.
    Retry {
        /// The key of the job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// The time of the retry.
        when: When,
    },
    /// Ends a lease whose handler was not called: like `Retry`, but the attempt of a `Begun` row is
    /// subtracted again.
    Release {
        /// The key of the job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// When the job is visible again.
        when: When,
    },
    /// Sets the end of a lease to `visibility` after the store's present, earlier or later than
    /// before.
    ///
    /// By token: `Done`. If the row is `Closed` or `Replaced`, the lease is extended too, and the
    /// outcome is `Closed`: the run is not repeated.
    ///
    /// A store may answer `Running`, without an effect, while a transaction of the user has changed
    /// the row. A batch of nothing else must not wait for the end of that transaction: the leases
    /// of all other runs are renewed in the same batch.
    Extend {
        /// The key of the job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// The time from the store's present to the end of the lease.
        visibility: Duration,
    },
    /// Ends a run and the job, and keeps it as a dead letter.
    ///
    /// By token.
    ///
    /// * `Leased`, `Begun`: the row becomes a [`Dead`](super::Dead); `Done`.
    /// * `Closed`, `Replaced`: as an ack, without a dead letter; `Closed`.
    Bury {
        /// The key of the job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// Why the job ends.
        reason: String,
    },
    /// Makes a job of a dead letter again: like a `Put` without `replace`, with its kind, payload,
    /// policy and occurrence, and a new generation.
    ///
    /// * `Done`: the dead letter is removed.
    /// * `Duplicate`: no effect, because a job has the key and is not `Closed`.
    /// * `Absent`: there is no such dead letter.
    Revive {
        /// The generation of the dead letter.
        generation: u64,
        /// When the job is due.
        when: When,
    },
    /// Removes a dead letter: `Done`, or `Absent`.
    Forget {
        /// The generation of the dead letter.
        generation: u64,
    },
}

impl Change {
    /// The key of the job; `None` if the change is to a dead letter.
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Put(Put { key, .. })
            | Self::Move { key, .. }
            | Self::Cancel { key }
            | Self::Begin { key, .. }
            | Self::Ack { key, .. }
            | Self::Retry { key, .. }
            | Self::Release { key, .. }
            | Self::Extend { key, .. }
            | Self::Bury { key, .. } => Some(key),
            Self::Revive { .. } | Self::Forget { .. } => None,
        }
    }

    /// The token, if it is a change by token.
    pub fn token(&self) -> Option<Token> {
        match self {
            Self::Begin { token, .. }
            | Self::Ack { token, .. }
            | Self::Retry { token, .. }
            | Self::Release { token, .. }
            | Self::Extend { token, .. }
            | Self::Bury { token, .. } => Some(*token),
            _ => None,
        }
    }

    /// The change that pauses a kind, or all kinds if `kind` is `None`: its jobs are not leased and
    /// do not begin. Its outcome is `Done`, or `Duplicate` if the kind is paused already. The pause
    /// is a row, which programs read at each [poll](crate::Builder::poll). Programs of older
    /// versions ignore it.
    ///
    /// # Errors
    ///
    /// If the kind is empty or too long.
    pub fn pause(kind: Option<&str>) -> Result<Self, InvalidKey> {
        let name = pause_name(kind)?;
        Ok(Self::Put(Put::reserved(Key::new(&name)?, &name, Vec::new())))
    }

    /// The change that ends a [pause](Self::pause). Its outcome is `Cancelled`, or `Absent` if
    /// there is no pause.
    ///
    /// # Errors
    ///
    /// If the kind is empty or too long.
    pub fn resume(kind: Option<&str>) -> Result<Self, InvalidKey> {
        Ok(Self::Cancel { key: Key::new(pause_name(kind)?)? })
    }
}

/// The key and the kind of the row that pauses a kind, or all kinds. An empty kind is refused: its
/// row would pause all kinds.
fn pause_name(kind: Option<&str>) -> Result<String, InvalidKey> {
    match kind {
        Some("") => Err(InvalidKey { length: 0 }),
        kind => Ok(format!("{PAUSE}{}", kind.unwrap_or_default())),
    }
}

/// The outcome of a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The change was carried out.
    Done,
    /// The job was put, and replaced another job with its key.
    Replaced,
    /// The job was cancelled and will not begin.
    Cancelled,
    /// The run of the job has begun. A `Cancel` lets this run continue: its ack counts, and no
    /// other run follows.
    Running,
    /// There is no such job or dead letter.
    Absent,
    /// Another worker has the job, or the run was ended before: the token is not the newest, or the
    /// job has no lease.
    Superseded,
    /// A job has the key, and the `Put` does not replace.
    Duplicate,
    /// The job was cancelled or replaced while the worker had it: the run is not repeated.
    Closed,
}
