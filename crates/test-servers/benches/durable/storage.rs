//! The interface that is measured, and its implementation by a store.

use anyhow::{Result, ensure};
use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Kind, Kinds, Leased, Outcome, Put, Store, When,
};
use wheelhouse_store_conformance::jobs::{ack, key as store_key};

/// A change of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Schedule new jobs with this delay.
    Schedule(Duration),
    /// Move existing jobs.
    Refresh(Duration),
    /// Cancel existing jobs.
    Cancel,
}

/// A storage of jobs. Jobs are identified by numbers.
pub(crate) trait JobStorage: Send {
    fn change(&mut self, request: Request, jobs: &[u64]) -> Result<()>;

    /// Claims up to `max` due jobs, begins their runs, and ends them. Returns how many there were.
    fn fire(&mut self, max: usize) -> Result<usize>;

    fn count(&mut self) -> Result<u64>;
}

pub(crate) const KIND: &str = "bench/1";

pub(crate) const PAYLOAD: [u8; 64] =
    *b"The payload of a job: as long as what most of them carry around.";

/// The key of a job. It looks random, as a UUID does, so that jobs that are neighbours in time are
/// not neighbours in the table.
pub(crate) fn key(job: u64) -> [u8; 16] {
    let high = job.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut key = [0; 16];
    key[..8].copy_from_slice(&high.to_be_bytes());
    key[8..].copy_from_slice(&job.to_be_bytes());
    key
}

/// A store itself, without `Durable`.
pub(crate) struct DirectStore(pub(crate) Box<dyn Store>);

impl DirectStore {
    fn commit(&mut self, changes: &[Change], answer: Outcome) -> Result<()> {
        let outcomes = self.0.commit(changes)?;
        ensure!(outcomes.len() == changes.len(), "{} answers", outcomes.len());
        let other = outcomes.iter().find(|outcome| **outcome != answer);
        ensure!(other.is_none(), "{other:?} instead of {answer:?}");
        Ok(())
    }
}

impl JobStorage for DirectStore {
    fn change(&mut self, request: Request, jobs: &[u64]) -> Result<()> {
        let kind = Kind::from(KIND);
        let change = |job: &u64| {
            let key = store_key(key(*job));
            match request {
                Request::Schedule(delay) => Change::Put(Put {
                    key,
                    kind: kind.clone(),
                    payload: PAYLOAD.to_vec(),
                    policy: String::new(),
                    when: When::After(delay),
                    replace: false,
                }),
                Request::Refresh(delay) => Change::Move { key, when: When::After(delay) },
                Request::Cancel => Change::Cancel { key },
            }
        };
        let answer = if request == Request::Cancel { Outcome::Cancelled } else { Outcome::Done };
        self.commit(&jobs.iter().map(change).collect::<Vec<_>>(), answer)
    }

    fn fire(&mut self, max: usize) -> Result<usize> {
        let (kinds, lease) = (Kinds::new([KIND]), Duration::from_secs(30));
        // `Durable` lets the claim begin as many runs if handlers take microseconds.
        let limit = ClaimLimit { begin: max, ..ClaimLimit::jobs(max) };
        let (leased, _) = self.0.claim(&kinds, limit, lease)?;
        ensure!(leased.iter().all(Leased::has_begun), "a claim has not begun all runs");
        self.commit(&leased.iter().map(ack).collect::<Vec<_>>(), Outcome::Done)?;
        Ok(leased.len())
    }

    fn count(&mut self) -> Result<u64> {
        let (mut count, mut last) = (0, None);
        loop {
            let page = self.0.scan(last.as_ref(), 10_000)?;
            let Some(row) = page.last() else { return Ok(count) };
            count += page.len() as u64;
            last = Some(row.key.clone());
        }
    }
}
