//! The guarantees, and the promises that concern the job of one key.

use crate::store::{Again, Key, Leased, Outcome, Timestamp, Token, When};
use std::collections::BTreeSet;
use std::fmt;

/// The guarantees, by their numbers in the README.
pub(super) const LOST: &str = "guarantee 1 (durable on return)";
pub(super) const LEAST_ONCE: &str = "guarantee 2 (at least once)";
pub(super) const ONE_ACK: &str = "guarantee 3 (one acknowledged attempt)";
pub(super) const EARLY: &str = "guarantee 4 (never early)";
pub(super) const ORDER: &str = "guarantee 5 (order)";
pub(super) const CANCEL: &str = "guarantee 6 (cancel has one answer)";
pub(super) const POISON: &str = "guarantee 7 (poison jobs end)";
pub(super) const UNKNOWN: &str = "guarantee 8 (unknown kinds wait)";
pub(super) const BOUNDED: &str = "guarantee 9 (bounded)";
pub(super) const OVERLAP: &str = "no overlap within a program";
pub(super) const LEASE: &str = "the contract of leases";
pub(super) const CLOCK: &str = "the contract of the store's clock";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) promise: &'static str,
    pub(super) how: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is broken: {}", self.promise, self.how)
    }
}

pub(super) type Checked = Result<(), Broken>;

/// Broken, unless `holds`.
pub(super) fn ensure(holds: bool, promise: &'static str, how: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Broken { promise, how: how() }) }
}

/// The time by the store's clock, rounded down, and up.
pub(super) type Now = (Timestamp, Timestamp);

/// A lease that a claim has returned.
#[derive(Clone, Copy)]
pub(super) struct GrantedLease {
    pub(super) token: Token,
    pub(super) until: Timestamp,
    pub(super) occurrence: (u64, u64),
    pub(super) most: u32,
    pub(super) begun: bool,
    /// The job was replaced by a newer one since.
    pub(super) is_old: bool,
    pub(super) is_suspect: bool,
}

/// The promises that concern one key.
#[derive(Default)]
pub(super) struct Job {
    /// The number of jobs that were put under the key.
    pub(super) puts: u64,
    /// A job is to run.
    pub(super) is_live: bool,
    /// The caller was told that the job is scheduled.
    pub(super) is_told: bool,
    pub(super) is_cancelled: bool,
    /// The earliest and the latest time at which it may be due.
    pub(super) due: Option<(Timestamp, Timestamp)>,
    /// When it may be retried.
    pub(super) not_before: Timestamp,
    /// It was not handed out since it was put, moved or acked.
    pub(super) is_fresh: bool,
    pub(super) lease: Option<GrantedLease>,
    /// The newest token, and its generation and occurrence.
    pub(super) newest: (u64, (u64, u64)),
    /// The generation and occurrence of the last accepted ack.
    pub(super) acked: Option<(u64, u64)>,
    /// The attempts of this occurrence that have begun and were not released.
    pub(super) attempts: u32,
    /// Generations, occurrences and attempts for which a handler was called.
    pub(super) called: BTreeSet<((u64, u64), u32)>,
    /// The outcomes that no caller has received yet.
    pub(super) outcomes: Vec<Outcome>,
    /// The tokens whose handlers have failed before their last attempt.
    pub(super) failed: BTreeSet<Token>,
}

impl Job {
    pub(super) fn put(&mut self, when: When, (down, up): Now) {
        self.puts += 1;
        (self.is_live, self.is_told, self.is_cancelled) = (true, false, false);
        self.attempts = 0;
        self.moved(when, (down, up));
    }

    pub(super) fn moved(&mut self, when: When, (down, up): Now) {
        self.due = Some((when.from(down), when.from(up)));
        self.not_before = Timestamp::default();
        self.lease = self.lease.filter(|lease| lease.begun);
        // It also waits for the end of the older run.
        self.is_fresh = self.lease.is_none();
        self.lease.iter_mut().for_each(|lease| lease.is_old = true);
    }

    /// The lease that a change by token has found: the newest.
    pub(super) fn lease(
        &self,
        key: &Key,
        token: Token,
        what: &str,
    ) -> Result<GrantedLease, Broken> {
        let why = || match self.lease {
            Some(GrantedLease { token: newest, .. }) => {
                format!("the job was leased as {newest} since")
            }
            None if self.is_cancelled => "the job was cancelled".to_owned(),
            None => "the lease had ended".to_owned(),
        };
        let promise = if self.lease.is_none() && self.is_cancelled { CANCEL } else { ONE_ACK };
        self.lease.filter(|lease| lease.token == token).ok_or_else(|| Broken {
            promise,
            how: format!("'{key}': the {what} of token {token} was accepted, although {}", why()),
        })
    }

    pub(super) fn may_be_leased(&self, leased: &Leased, now: Timestamp) -> Checked {
        let Leased { job: row, token, .. } = leased;
        let (key, occurrence) = (&row.key, (row.generation, row.occurrence));
        // It was in the store before the simulation began.
        if self.puts == 0 {
            return Ok(());
        }
        ensure(!self.is_cancelled, CANCEL, || {
            format!("'{key}' was handed out after a cancel was answered")
        })?;
        ensure(self.is_live && self.acked.is_none_or(|acked| acked < occurrence), ONE_ACK, || {
            format!("'{key}' was handed out again after its ack was accepted")
        })?;
        ensure(occurrence >= self.newest.1 && token.0 > self.newest.0, ONE_ACK, || {
            format!("'{key}' was handed out with token {token}, which is not the newest")
        })?;
        let is_leased = self.lease.is_some_and(|lease| lease.until > now);
        ensure(!is_leased, LEASE, || {
            format!("'{key}' was handed out at {now:?}, but another program has leased it")
        })?;
        let is_due = self.due.is_none_or(|(first, last)| (first..=last).contains(&row.due));
        ensure(is_due, CLOCK, || {
            format!("'{key}' is due at {:?}, but should be at {:?}", row.due, self.due)
        })?;
        let attempts = self.attempts + u32::from(leased.has_begun());
        ensure(row.attempt == attempts, POISON, || {
            format!("'{key}' was handed out with attempt {}, but it is {attempts}", row.attempt)
        })?;
        ensure(row.due <= now && self.not_before <= now, EARLY, || {
            let at = row.due.max(self.not_before);
            format!("'{key}' was handed out at {now:?}, but may run at {at:?}")
        })
    }

    /// The ack of the newest token was accepted.
    pub(super) fn acked(&mut self, lease: GrantedLease, again: Option<Again>, now: Now) {
        self.acked = Some(lease.occurrence);
        match again {
            Some(again) => {
                (self.lease, self.attempts) = (None, 0);
                self.moved(again.when, now);
                self.called.retain(|(occurrence, _)| *occurrence > lease.occurrence);
            }
            None => self.is_live = false,
        }
    }
}
