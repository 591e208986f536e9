//! Counting jobs by kind, state and time, and dead letters by kind.

use std::collections::BTreeMap;
use std::time::Duration;
use wheelhouse_durable::store::{Dead, Entry, Key, Kind, State, Timestamp};

/// Due jobs are counted now and this far ahead, in seconds: a minute, an hour, a day.
const AHEAD: [u64; 4] = [0, 60, 3_600, 86_400];

/// The index of the first number of due jobs.
pub(super) const DUE: usize = 5;

/// Jobs of one kind, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Jobs that are pending, leased, closed and replaced. Leases that have expired and whose jobs
    /// no worker has claimed since. From `DUE` on: waiting jobs (pending or replaced) that are
    /// visible within each distance of `AHEAD`.
    pub(super) numbers: [u64; DUE + AHEAD.len()],
    /// The waiting job that is visible first, and when.
    pub(super) first: Option<(Timestamp, Key)>,
}

/// The contents of a store.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) now: Timestamp,
    pub(super) kinds: BTreeMap<Kind, Count>,
    pub(super) total: Count,
    /// The name of the shard, if the store is one of several.
    pub(super) shard: Option<String>,
    /// The kinds that are paused; an empty name if all are.
    pub(super) paused: Vec<String>,
    /// The number of dead letters of each kind, and the newest, without its payload.
    pub(super) dead: BTreeMap<Kind, (u64, Dead)>,
}

impl Counts {
    /// Returns `true` if the store has no row at all.
    pub(super) fn is_empty(&self) -> bool {
        let Self { kinds, dead, paused, shard, .. } = self;
        kinds.is_empty() && dead.is_empty() && paused.is_empty() && shard.is_none()
    }

    pub(super) fn add(&mut self, job: &Entry) {
        if let Some(shard) = job.shard() {
            self.shard = Some(shard);
            return;
        }
        if let Some(kind) = job.paused() {
            return self.paused.push(kind.to_owned());
        }
        // The name is copied once for each kind instead of once for each job.
        if !self.kinds.contains_key(&job.kind) {
            self.kinds.insert(job.kind.clone(), Count::default());
        }
        let of_kind = self.kinds.get_mut(&job.kind);
        of_kind.into_iter().chain([&mut self.total]).for_each(|count| count.add(job, self.now));
    }

    pub(super) fn bury(&mut self, letter: &Dead) {
        let copy = || {
            let mut copy = letter.clone();
            copy.job.payload = Vec::new();
            copy
        };
        let (count, newest) =
            self.dead.entry(letter.job.kind.clone()).or_insert_with(|| (0, copy()));
        *count += 1;
        if newest.at <= letter.at {
            *newest = copy();
        }
    }
}

impl Count {
    fn add(&mut self, job: &Entry, now: Timestamp) {
        self.numbers[match job.state {
            State::Pending => 0,
            State::Leased(_) | State::Begun(_) => 1,
            State::Closed(_) => 2,
            State::Replaced(_) => 3,
        }] += 1;
        self.numbers[4] += u64::from(job.state.lease().is_some_and(|lease| lease.until <= now));
        if matches!(job.state, State::Pending | State::Replaced(_)) {
            for (count, ahead) in self.numbers[DUE..].iter_mut().zip(AHEAD) {
                let until = now.saturating_add(Duration::from_secs(ahead));
                *count += u64::from(job.visible_at <= until);
            }
            if self.first.as_ref().is_none_or(|(at, _)| job.visible_at < *at) {
                self.first = Some((job.visible_at, job.key.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry;
    use super::*;
    use wheelhouse_durable::store::{Lease, Token};

    fn job(kind: &str, visible_at: u64, state: State) -> Entry {
        let key = format!("{kind} {visible_at}");
        let visible_at = Timestamp::from_millis(visible_at);
        Entry { kind: kind.into(), visible_at, state, ..entry(key.as_bytes()) }
    }

    #[test]
    fn due_jobs_are_counted_up_to_each_limit_and_leases_by_their_end() {
        let now = 1_000_000;
        let mut counts = Counts { now: Timestamp::from_millis(now), ..Counts::default() };
        for ahead in [0, 1, 60_000, 60_001, 3_600_000, 86_400_000, 86_400_001] {
            counts.add(&job("a", now + ahead, State::Pending));
        }
        let lease = |until| Lease { token: Token(1), until: Timestamp::from_millis(until) };
        counts.add(&job("b", now - 1, State::Leased(lease(now - 1))));
        counts.add(&job("b", now + 1, State::Leased(lease(now + 1))));
        counts.add(&job("b", now - 5, State::Closed(lease(now - 5))));
        counts.add(&job("b", now - 7, State::Replaced(lease(now - 7))));
        let a = &counts.kinds["a"];
        assert_eq!(a.numbers, [7, 0, 0, 0, 0, 1, 3, 5, 6]);
        assert_eq!(a.first.as_ref().unwrap().0, counts.now);
        let b = &counts.kinds["b"];
        assert_eq!(b.numbers, [0, 2, 1, 1, 3, 1, 1, 1, 1], "the one that was replaced waits");
        assert_eq!(counts.total.numbers, [7, 2, 1, 1, 3, 2, 4, 6, 7]);
        let (_, first) = counts.total.first.unwrap();
        assert_eq!(first.to_string(), format!("b {}", now - 7));
    }
}
