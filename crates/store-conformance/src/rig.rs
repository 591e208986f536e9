//! Helpers of the checks.

use crate::Bed;
use std::time::Duration;
use wheelhouse_durable::store::{
    Again, Change, ClaimLimit, Dead, Entry, Key, Kinds, Lease, Leased, Next, Outcome, Put, State,
    Store, Timestamp, Token, When,
};

/// The default kind of jobs.
pub(crate) const KIND: &str = "work/1";

/// The duration of a lease, in milliseconds.
pub(crate) const LEASE: u64 = 1_000;

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn after(delay: u64) -> When {
    When::After(millis(delay))
}

pub(crate) fn key(name: impl AsRef<[u8]>) -> Key {
    Key::new(name).expect("a key of the suite")
}

/// A job that is due after `delay` milliseconds.
pub(crate) fn job(name: &str, delay: u64) -> Put {
    Put {
        key: key(name),
        kind: KIND.into(),
        payload: name.as_bytes().to_vec(),
        policy: String::new(),
        when: after(delay),
        replace: false,
    }
}

/// The same, replacing a job that has the key.
pub(crate) fn replacing(name: &str, delay: u64) -> Put {
    Put { replace: true, ..job(name, delay) }
}

pub(crate) fn begin(leased: &Leased) -> Change {
    Change::Begin { key: leased.job.key.clone(), token: leased.token }
}

/// Updates `leased` after its run has begun.
pub(crate) fn note_begun(leased: &mut Leased) {
    let Leased { job, token, until, .. } = leased;
    job.attempt += 1;
    job.state = State::Begun(Lease { token: *token, until: *until });
}

pub(crate) fn ack(leased: &Leased) -> Change {
    Change::Ack { key: leased.job.key.clone(), token: leased.token, again: None }
}

pub(crate) fn ack_again(leased: &Leased, delay: u64, occurrence: u64) -> Change {
    let again = Some(Again { when: after(delay), occurrence });
    Change::Ack { key: leased.job.key.clone(), token: leased.token, again }
}

pub(crate) fn retry(leased: &Leased, delay: u64) -> Change {
    Change::Retry { key: leased.job.key.clone(), token: leased.token, when: after(delay) }
}

pub(crate) fn release(leased: &Leased, delay: u64) -> Change {
    Change::Release { key: leased.job.key.clone(), token: leased.token, when: after(delay) }
}

pub(crate) fn extend(leased: &Leased, by: u64) -> Change {
    let visibility = millis(by);
    Change::Extend { key: leased.job.key.clone(), token: leased.token, visibility }
}

pub(crate) fn bury(leased: &Leased, reason: &str) -> Change {
    let reason = reason.to_owned();
    Change::Bury { key: leased.job.key.clone(), token: leased.token, reason }
}

pub(crate) fn cancel(name: &str) -> Change {
    Change::Cancel { key: key(name) }
}

pub(crate) fn move_to(name: &str, delay: u64) -> Change {
    Change::Move { key: key(name), when: after(delay) }
}

/// A store and its clock.
pub(crate) struct Rig<'b> {
    pub(crate) bed: &'b mut dyn Bed,
    pub(crate) store: Box<dyn Store>,
}

impl<'b> Rig<'b> {
    pub(crate) fn new(bed: &'b mut dyn Bed) -> Self {
        let store = bed.connect();
        Self { bed, store }
    }

    pub(crate) fn advance(&mut self, by: u64) {
        self.bed.advance(millis(by));
    }

    pub(crate) fn commit(&mut self, changes: &[Change]) -> Vec<Outcome> {
        let outcomes = self.store.commit(changes).expect("a commit succeeds");
        assert_eq!(outcomes.len(), changes.len(), "an outcome for each change");
        outcomes
    }

    pub(crate) fn one(&mut self, change: Change) -> Outcome {
        self.commit(&[change])[0]
    }

    pub(crate) fn put(&mut self, put: Put) -> Outcome {
        self.one(Change::Put(put))
    }

    pub(crate) fn claim_of(
        &mut self,
        kinds: &Kinds,
        limit: ClaimLimit,
        lease: u64,
    ) -> (Vec<Leased>, Next) {
        let mut leased = Vec::new();
        let claimed = self.store.claim(kinds, limit, millis(lease), &mut leased);
        let next = claimed.expect("a claim succeeds");
        for leased in &leased {
            assert_eq!(
                leased.job.state.lease().map(|its| (its.token, its.until)),
                Some((leased.token, leased.until))
            );
            assert!(matches!(leased.job.state, State::Leased(_)), "not begun: {leased:?}");
            assert_eq!(leased.job.visible_at, leased.until, "a claim moves the visibility");
            assert_eq!(
                leased.until,
                next.now.saturating_add(millis(lease)),
                "the end of the lease"
            );
        }
        (leased, next)
    }

    /// Leases all visible jobs, for [`LEASE`].
    pub(crate) fn lease(&mut self) -> Vec<Leased> {
        self.claim_of(&Kinds::new([KIND]), ClaimLimit::jobs(1_000), LEASE).0
    }

    /// Leases the only visible job.
    pub(crate) fn lease_one(&mut self) -> Leased {
        let mut leased = self.lease();
        assert_eq!(leased.len(), 1, "one job is visible: {leased:?}");
        leased.remove(0)
    }

    /// Leases all visible jobs, for [`LEASE`], and begins their runs.
    pub(crate) fn claim(&mut self) -> Vec<Leased> {
        let mut leased = self.lease();
        let begins: Vec<_> = leased.iter().map(begin).collect();
        assert!(self.commit(&begins).iter().all(|outcome| *outcome == Outcome::Done));
        leased.iter_mut().for_each(note_begun);
        leased
    }

    /// Leases the only visible job, and begins its run.
    pub(crate) fn claim_one(&mut self) -> Leased {
        let mut leased = self.claim();
        assert_eq!(leased.len(), 1, "one job is visible: {leased:?}");
        leased.remove(0)
    }

    pub(crate) fn claim_names(&mut self) -> Vec<String> {
        self.claim().iter().map(|leased| leased.job.key.to_string()).collect()
    }

    /// When the next job is visible.
    pub(crate) fn next(&mut self) -> Next {
        self.claim_of(&Kinds::new([KIND]), ClaimLimit::jobs(0), LEASE).1
    }

    /// The time until the next job is visible, in milliseconds.
    pub(crate) fn next_in(&mut self) -> Option<u64> {
        let Next { now, visible_at } = self.next();
        visible_at.map(|at| at.as_millis() - now.as_millis())
    }

    pub(crate) fn now(&mut self) -> Timestamp {
        self.next().now
    }

    pub(crate) fn find(&mut self, name: &str) -> Option<Entry> {
        self.store.find(&key(name)).expect("a lookup succeeds")
    }

    pub(crate) fn dead(&mut self) -> Vec<Dead> {
        let mut dead = Vec::new();
        self.store
            .dead(None, 1_000, &mut |its| dead.push(its.clone()))
            .expect("a list of the dead");
        dead
    }

    pub(crate) fn rows(&mut self) -> Vec<Entry> {
        let mut rows = Vec::new();
        self.store.scan(None, 100_000, &mut |row| rows.push(row.clone())).expect("a scan succeeds");
        rows
    }
}

/// A token that no worker has.
pub(crate) const NO_TOKEN: Token = Token(0);
