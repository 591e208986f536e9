//! A store and its clock, for the checks.

use crate::Bed;
use crate::jobs::{KIND, begin_all, commit, key, rows};
use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Dead, Entry, Kinds, Lease, Leased, Next, Outcome, Put, State, Store,
    Timestamp, Token, When,
};

/// The duration of a lease, in milliseconds.
pub(crate) const LEASE: u64 = 1_000;

/// A token that no worker has.
pub(crate) const NO_TOKEN: Token = Token(0);

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn after(delay: u64) -> When {
    When::After(millis(delay))
}

pub(crate) struct Rig<'b> {
    pub(crate) bed: &'b mut Bed,
    pub(crate) store: Box<dyn Store>,
}

impl<'b> Rig<'b> {
    pub(crate) fn new(bed: &'b mut Bed) -> Self {
        let store = bed.connect();
        Self { bed, store }
    }

    pub(crate) fn advance(&self, by: u64) {
        self.bed.advance(millis(by));
    }

    pub(crate) fn commit(&mut self, changes: &[Change]) -> Vec<Outcome> {
        commit(&mut *self.store, changes)
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
        let claimed = self.store.claim(kinds, limit, millis(lease));
        let (leased, next) = claimed.expect("a claim succeeds");
        for (place, claimed) in leased.iter().enumerate() {
            let Leased { job, token, until, .. } = claimed;
            let (token, until) = (*token, *until);
            let may_begin = claimed.has_begun() && place < limit.begin;
            let state = if may_begin { State::Begun } else { State::Leased };
            assert_eq!(job.state, state(Lease { token, until }), "the state of {job:?}");
            assert_eq!(job.visible_at, until, "a claim moves the visibility");
            assert_eq!(until, next.now.saturating_add(millis(lease)), "the end of the lease");
        }
        (leased, next)
    }

    /// Leases all visible jobs, for [`LEASE`].
    pub(crate) fn lease(&mut self) -> Vec<Leased> {
        self.claim_of(&Kinds::new([KIND]), ClaimLimit::jobs(1_000), LEASE).0
    }

    /// Leases the only visible job.
    pub(crate) fn lease_one(&mut self) -> Leased {
        only(self.lease())
    }

    /// Leases all visible jobs, for [`LEASE`], and begins their runs.
    pub(crate) fn claim(&mut self) -> Vec<Leased> {
        let leased = self.lease();
        begin_all(&mut *self.store, leased)
    }

    /// Leases the only visible job, and begins its run.
    pub(crate) fn claim_one(&mut self) -> Leased {
        only(self.claim())
    }

    pub(crate) fn now(&mut self) -> Timestamp {
        self.store.now().expect("the time is known")
    }

    pub(crate) fn find(&mut self, name: &str) -> Option<Entry> {
        self.store.find(&key(name)).expect("a lookup succeeds")
    }

    pub(crate) fn dead(&mut self) -> Vec<Dead> {
        self.store.dead(None, 1_000).expect("a list of the dead")
    }

    pub(crate) fn rows(&mut self) -> Vec<Entry> {
        rows(&mut *self.store)
    }
}

fn only(mut leased: Vec<Leased>) -> Leased {
    assert_eq!(leased.len(), 1, "one job is visible: {leased:?}");
    leased.remove(0)
}
