//! A store in memory with a planted fault.
#![expect(dead_code, reason = "each test plants some of the faults")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Key, Kind, Kinds, Lease, Leased, MemoryStore,
    Outcome, Put, State, Store, StoreClock, StoreError, Timestamp, Waker, When,
};
use wheelhouse_store_conformance::jobs::{begin, extend, retry};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    /// A batch is carried out with the next call, and is lost if there is none.
    AcknowledgedBeforeTheCommit,
    /// An ack with any token ends the run.
    AckComparesNoTokens,
    /// A leased job is handed out again at once.
    ClaimMovesNoVisibility,
    /// A claim rounds the present up: it hands a job out in the millisecond before its time.
    ClaimRoundsUp,
    /// Delays are added to the clock of the caller, which is ahead.
    ClockOfTheClient,
    /// Claims are bounded by a number of jobs only.
    ClaimIgnoresBytes,
    /// Claims hand jobs out in the order of keys.
    OrderOfKeys,
    /// The second half of a large batch is not carried out.
    HalfABatch,
    /// The first batch of several changes is not carried out.
    LosesJobs,
    /// A run that is to be retried ends the job.
    LosesRetries,
    /// A periodic job ends with its first occurrence.
    LosesOccurrences,
    /// A claim begins the runs, and returns them as leased.
    ClaimBegins,
    /// A claim begins all runs that it may, whatever the limit.
    BeginsAll,
    /// A claim begins no run, and returns the first ones as begun.
    BeginsNone,
    /// A claim begins the last runs instead of the first.
    BeginsTheLast,
    /// A claim counts the attempts of the runs that it begins twice.
    CountsTwice,
    /// A claim begins runs, and returns the number of attempts before.
    OldAttempt,
    /// A claim begins runs that are not the first attempt.
    BeginsRetries,
    /// The cancel of a run that has begun answers `Cancelled`.
    CancelsRuns,
    /// A `Begin` counts two attempts.
    BeginCountsTwice,
    /// An attempt that is released stays counted.
    ReleaseCounts,
    /// Jobs are handed out as a second before the present.
    Early,
    /// Commits wake only the stores that waited when the last connection was made.
    WakesForConnections,
}

/// A store in memory with a fault. Clones share the store.
#[derive(Clone)]
pub(crate) struct Faulty {
    store: MemoryStore,
    fault: Fault,
    clock: StoreClock,
    /// Changes that were acknowledged and not carried out.
    pending: Vec<Change>,
    /// A batch was lost.
    lost: Arc<AtomicBool>,
    /// The wakers of the stores that commits do not wake.
    asleep: Arc<Mutex<Vec<Waker>>>,
}

impl Faulty {
    /// `clock` is that of the store.
    pub(crate) fn new(store: MemoryStore, fault: Fault, clock: StoreClock) -> Self {
        let (lost, asleep) = (Arc::default(), Arc::default());
        Self { store, fault, clock, pending: Vec::new(), lost, asleep }
    }

    /// Another connection to the store.
    pub(crate) fn connect(&self) -> Self {
        let wakers = std::mem::take(&mut *self.asleep.lock().unwrap());
        wakers.into_iter().for_each(|waker| self.store.clone().wake_by(waker));
        self.clone()
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        match std::mem::take(&mut self.pending) {
            none if none.is_empty() => Ok(()),
            pending => self.store.commit(&pending).map(drop),
        }
    }

    /// Claims jobs, and begins runs in a wrong way.
    fn claim_wrongly(&mut self, kinds: &Kinds, limit: ClaimLimit, lease: Duration) -> ClaimResult {
        let none = ClaimLimit { begin: 0, ..limit };
        let (mut new, mut next) = self.store.claim(kinds, none, lease)?;
        let is_plain =
            |its: &&Leased| !its.was_lost && its.job.attempt == 0 && its.job.policy.is_empty();
        let may_begin = |its: &&Leased| self.fault == Fault::BeginsRetries || is_plain(its);
        let count = new.iter().take(limit.begin).take_while(may_begin).count();
        let which = if self.fault == Fault::BeginsTheLast {
            new.len() - count..new.len()
        } else {
            0..count
        };
        if self.fault == Fault::CountsTwice && count > 0 {
            let begins = new[which.clone()].iter().map(begin);
            let retries = new.iter().map(|leased| retry(leased, 0));
            let again: Vec<_> = begins.chain(retries).collect();
            self.store.commit(&again)?;
            (new, next) = self.store.claim(kinds, none, lease)?;
        }
        let begun = &mut new[which];
        if self.fault != Fault::BeginsNone {
            self.store.commit(&begun.iter().map(begin).collect::<Vec<_>>())?;
        }
        for Leased { job, token, until, .. } in begun {
            job.state = State::Begun(Lease { token: *token, until: *until });
            job.attempt += 1;
        }
        Ok((new, next))
    }

    /// Turns a change into the one that the fault carries out.
    fn spoil(&mut self, change: &mut Change) -> Result<(), StoreError> {
        match (self.fault, &mut *change) {
            (Fault::AckComparesNoTokens, Change::Ack { key, token, .. }) => {
                let row = self.store.find(key)?;
                row.and_then(|row| row.state.lease()).iter().for_each(|lease| *token = lease.token);
            }
            (Fault::ClockOfTheClient, Change::Put(Put { when, .. })) => {
                let ahead = self.clock.now().1.saturating_add(Duration::from_millis(2));
                *when = When::At(when.from(ahead));
            }
            (Fault::LosesRetries, Change::Retry { key, token, .. }) => {
                *change = Change::Ack { key: key.clone(), token: *token, again: None };
            }
            (Fault::ReleaseCounts, Change::Release { key, token, when }) => {
                *change = Change::Retry { key: key.clone(), token: *token, when: *when };
            }
            (Fault::LosesOccurrences, Change::Ack { again, .. }) => *again = None,
            _ => {}
        }
        Ok(())
    }
}

impl Store for Faulty {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        self.flush()?;
        let mut changes = changes.to_vec();
        changes.iter_mut().try_for_each(|change| self.spoil(change))?;
        match self.fault {
            Fault::AcknowledgedBeforeTheCommit if changes.len() == 1 => {
                self.pending = changes;
                return Ok(vec![Outcome::Done]);
            }
            Fault::LosesJobs if changes.len() > 1 && !self.lost.swap(true, Ordering::SeqCst) => {
                return Ok(vec![Outcome::Done; changes.len()]);
            }
            Fault::HalfABatch if changes.len() > 9 => {
                let half = changes.len() / 2;
                self.store.commit(&changes[..half])?;
                return Ok(vec![Outcome::Done; changes.len()]);
            }
            _ => {}
        }
        let mut outcomes = self.store.commit(&changes)?;
        if self.fault == Fault::CancelsRuns {
            let running = outcomes.iter_mut().filter(|its| **its == Outcome::Running);
            running.for_each(|its| *its = Outcome::Cancelled);
        }
        Ok(outcomes)
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        self.flush()?;
        let limit = match self.fault {
            Fault::ClaimIgnoresBytes => ClaimLimit { bytes: usize::MAX, ..limit },
            Fault::BeginsAll => ClaimLimit { begin: usize::MAX, ..limit },
            Fault::BeginsNone
            | Fault::BeginsTheLast
            | Fault::CountsTwice
            | Fault::BeginsRetries => {
                return self.claim_wrongly(kinds, limit, visibility);
            }
            Fault::ClaimRoundsUp if limit.jobs > 0 => {
                self.clock.at_least(self.clock.now().1);
                limit
            }
            _ => limit,
        };
        let (mut new, mut next) = self.store.claim(kinds, limit, visibility)?;
        match self.fault {
            Fault::ClaimMovesNoVisibility => {
                let back = new.iter().map(|leased| extend(leased, Duration::ZERO));
                self.store.commit(&back.collect::<Vec<_>>())?;
            }
            Fault::ClaimBegins => {
                self.store.commit(&new.iter().map(begin).collect::<Vec<_>>())?;
            }
            Fault::OldAttempt => {
                let begun = new.iter_mut().filter(|leased| leased.has_begun());
                begun.for_each(|leased| leased.job.attempt -= 1);
            }
            Fault::BeginCountsTwice => {
                let waits = new.iter_mut().filter(|leased| !leased.has_begun());
                waits.for_each(|leased| leased.job.attempt *= 2);
            }
            Fault::Early => next.now = Timestamp::from_millis(next.now.as_millis() - 1_000),
            Fault::OrderOfKeys => new.sort_by(|one, other| one.job.key.cmp(&other.job.key)),
            _ => {}
        }
        Ok((new, next))
    }

    fn wake_by(&mut self, waker: Waker) {
        if self.fault == Fault::WakesForConnections {
            self.asleep.lock().unwrap().push(waker);
        } else {
            self.store.wake_by(waker);
        }
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.flush()?;
        self.store.find(key)
    }

    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.flush()?;
        self.store.scan(after, max)
    }

    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
        self.flush()?;
        self.store.dead(after, max)
    }

    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
        self.flush()?;
        self.store.kinds()
    }
}
