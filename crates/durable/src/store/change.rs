//! The changes of a store, and its answers.

use super::{InvalidKey, Key, Kind, PAUSE, Timestamp, Token};
use std::time::Duration;

/// A time as a caller says it: by a delay, which is added to the store's clock, or a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So long from the store's present, rounded up to a millisecond.
    After(Duration),
    /// At a time. One that is past is due at once.
    At(Timestamp),
}

impl When {
    /// The time, for a store whose present, rounded up, is `now`.
    pub fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::After(delay) => now.saturating_add(delay),
            Self::At(time) => time,
        }
    }
}

/// A job that is put into a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// Under which name.
    pub key: Key,
    /// Which handler runs it.
    pub kind: Kind,
    /// What the handler is given: bytes that mean nothing to a store.
    pub payload: Vec<u8>,
    /// Late policy, expiry, rule of repetition: text that means nothing to a store; often empty.
    pub policy: String,
    /// When it is due.
    pub when: When,
    /// Whether a job that has the key is to be replaced.
    pub replace: bool,
}

/// The next occurrence of a job whose present one is acked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// When it is due.
    pub when: When,
    /// Its number.
    pub occurrence: u64,
}

/// A change of a store. Beside each: what it does in which [`State`](super::State), and the
/// [`Outcome`] it is answered with. Where there is no row: nothing, and `Absent`.
///
/// "By token" means: if the row is `Leased`, `Begun`, `Closed` or `Replaced` and its lease has this
/// token, whether or not the lease has run out by the clock. Otherwise nothing is done, and the
/// answer is `Superseded`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Schedules a job, with a new generation, no attempt and the occurrence 0.
    ///
    /// * No row: `Done`.
    /// * `Pending`, `Leased`, `Begun`, `Replaced`: `Duplicate` and nothing done, unless it is to
    ///   replace. If so: `Replaced`; the row becomes `Pending`, or `Replaced` during a run.
    /// * `Closed`: becomes `Replaced`; `Done`.
    Put(Put),
    /// Moves a job to another time; `due` and `visible_at` become this. The attempts stay.
    ///
    /// * `Pending`, `Leased`: becomes `Pending`; `Done`. So too for the newer generation in
    ///   `Replaced`, which is visible at the later of this and the end of the lease.
    /// * `Begun`, `Closed`: nothing done; `Running`.
    Move {
        /// Which job.
        key: Key,
        /// When it is to be due.
        when: When,
    },
    /// Cancels a job.
    ///
    /// * `Pending`, `Leased`: the row goes; `Cancelled`.
    /// * `Begun`, `Replaced`: becomes `Closed`; `Running`.
    /// * `Closed`: `Running`.
    Cancel {
        /// Which job.
        key: Key,
    },
    /// Begins a run, just before its handler is called: counts the attempt. From here on a
    /// cancellation answers `Running`.
    ///
    /// * By token; `Leased`: becomes `Begun`, with one attempt more; `Done`.
    /// * `Begun`: was carried out before, by a commit whose answer was lost; `Done`.
    /// * `Closed`, `Replaced`: so too, and was cancelled or replaced since; `Closed`.
    ///
    /// It has to survive the death of the process. It need not survive a loss of power, if all of
    /// the batch are such: then at most an attempt is not counted.
    Begin {
        /// Which job.
        key: Key,
        /// The token of the lease.
        token: Token,
    },
    /// Ends a run that succeeded. By token: `Done`.
    ///
    /// * `Leased`, `Begun`: the row goes; or, if there is to be another occurrence, becomes
    ///   `Pending` with that, no attempts, and the same generation.
    /// * `Closed`: the row goes.
    /// * `Replaced`: becomes `Pending`; the newer generation is visible at its due time.
    Ack {
        /// Which job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// The next occurrence.
        again: Option<Again>,
    },
    /// Ends a run that failed and is to be retried.
    ///
    /// By token; `Leased`, `Begun`: becomes `Pending`, visible then, `due` and attempts stay;
    /// `Done`.
    /// `Closed` and `Replaced`: as an ack; `Closed`.
    Retry {
        /// Which job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// When it is to be tried again.
        when: When,
    },
    /// Ends a lease whose handler was not called: as `Retry`, and the attempt of one that is
    /// `Begun` is not counted.
    Release {
        /// Which job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// When it is to be visible again.
        when: When,
    },
    /// Lets a lease end so long after the store's present, whether that is earlier or later.
    ///
    /// By token: `Done`; `Closed` where the row is `Closed` or `Replaced`: extended too, but
    /// nothing follows this run.
    Extend {
        /// Which job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// For how long.
        visibility: Duration,
    },
    /// Ends a run and the job, and keeps it as a dead letter.
    ///
    /// By token; `Leased`, `Begun`: the row goes, and a [`Dead`](super::Dead) is made of it;
    /// `Done`.
    /// `Closed` and `Replaced`: as an ack, no dead letter; `Closed`.
    Bury {
        /// Which job.
        key: Key,
        /// The token of the lease.
        token: Token,
        /// Why.
        reason: String,
    },
    /// Makes a job of a dead letter again: as a `Put` that does not replace, with its kind,
    /// payload, policy and occurrence, and a new generation. `Done`, and the dead letter goes;
    /// `Duplicate` and nothing done, if a job has the key and is not `Closed`; `Absent`, if there
    /// is no such dead letter.
    Revive {
        /// The generation it died in.
        generation: u64,
        /// When it is due.
        when: When,
    },
    /// Removes a dead letter: `Done`, or `Absent`.
    Forget {
        /// The generation it died in.
        generation: u64,
    },
}

impl Change {
    /// Keeps jobs of a kind from being leased and from beginning, or all jobs if no kind is given:
    /// `Done`, or `Duplicate` if it is paused already. It is a row, which programs look for as
    /// often as they [ask](crate::Builder::poll). Programs of older versions ignore it.
    ///
    /// # Errors
    ///
    /// A kind that is too long.
    pub fn pause(kind: Option<&str>) -> Result<Self, InvalidKey> {
        let name = format!("{PAUSE}{}", kind.unwrap_or_default());
        Ok(Self::Put(Put {
            key: Key::new(&name)?,
            kind: name.into(),
            payload: Vec::new(),
            policy: String::new(),
            when: When::At(Timestamp::MAX),
            replace: false,
        }))
    }

    /// Ends a [pause](Self::pause): `Cancelled`, or `Absent` if there is none.
    ///
    /// # Errors
    ///
    /// A kind that is too long.
    pub fn resume(kind: Option<&str>) -> Result<Self, InvalidKey> {
        let name = format!("{PAUSE}{}", kind.unwrap_or_default());
        Ok(Self::Cancel { key: Key::new(name)? })
    }
}

/// The answer to a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was put in place of another job with its key.
    Replaced,
    /// It was cancelled and will not begin.
    Cancelled,
    /// Its run has begun. In answer to a cancellation: this run continues and its ack counts; no
    /// other follows.
    Running,
    /// There is no such job or dead letter.
    Absent,
    /// Somebody else has the job, or the run was ended before: the token is not the newest, or the
    /// job has no lease.
    Superseded,
    /// A job has the key, and was not to be replaced.
    Duplicate,
    /// The job was cancelled or replaced while the worker had it: nothing follows this run.
    Closed,
}
