//! Counting jobs by kind, state and time, and dead letters by kind.

use std::collections::BTreeMap;
use std::time::Duration;
use wheelhouse_durable::store::{Dead, Entry, Key, Kind, State, Timestamp};

/// Due jobs are counted now and this far ahead, in seconds: a minute, an hour, a day.
const AHEAD: [u64; 4] = [0, 60, 3_600, 86_400];

/// Jobs of one kind, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) pending: u64,
    pub(super) leased: u64,
    pub(super) closed: u64,
    pub(super) replaced: u64,
    /// Leases that have expired and whose jobs no worker has claimed since.
    pub(super) lost: u64,
    /// Waiting jobs (pending or replaced) that are visible within each distance of `AHEAD`.
    pub(super) due: [u64; AHEAD.len()],
    /// The waiting job that is visible first, and when.
    pub(super) first: Option<(Timestamp, Key)>,
}

/// Jobs by kind.
#[derive(Debug)]
pub(super) struct Counts {
    pub(super) now: Timestamp,
    pub(super) kinds: BTreeMap<Kind, Count>,
    pub(super) total: Count,
    /// The name of the shard, if the store is one of several.
    pub(super) shard: Option<String>,
    /// The kinds that are paused; an empty name if all are.
    pub(super) paused: Vec<String>,
}

impl Counts {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            now,
            kinds: BTreeMap::new(),
            total: Count::default(),
            shard: None,
            paused: Vec::new(),
        }
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
}

impl Count {
    fn add(&mut self, job: &Entry, now: Timestamp) {
        match job.state {
            State::Pending => self.pending += 1,
            State::Leased(_) | State::Begun(_) => self.leased += 1,
            State::Closed(_) => self.closed += 1,
            State::Replaced(_) => self.replaced += 1,
        }
        self.lost += u64::from(job.state.lease().is_some_and(|lease| lease.until <= now));
        if matches!(job.state, State::Pending | State::Replaced(_)) {
            for (count, ahead) in self.due.iter_mut().zip(AHEAD) {
                let until = now.saturating_add(Duration::from_secs(ahead));
                *count += u64::from(job.visible_at <= until);
            }
            if self.first.as_ref().is_none_or(|(at, _)| job.visible_at < *at) {
                self.first = Some((job.visible_at, job.key.clone()));
            }
        }
    }
}

/// The number of dead letters of each kind, and the newest.
#[derive(Debug, Default)]
pub(super) struct Buried(pub(super) BTreeMap<Kind, (u64, Newest)>);

/// The newest dead letter of a kind.
#[derive(Debug)]
pub(super) struct Newest {
    pub(super) at: Timestamp,
    pub(super) key: Key,
    pub(super) generation: u64,
    pub(super) attempt: u32,
    pub(super) reason: String,
}

impl Buried {
    pub(super) fn add(&mut self, letter: &Dead) {
        let Dead { job, reason, at } = letter;
        let (key, generation, attempt) = (job.key.clone(), job.generation, job.attempt);
        let newest = || Newest { at: *at, key, generation, attempt, reason: reason.clone() };
        match self.0.get_mut(&job.kind) {
            Some((count, known)) => {
                *count += 1;
                if known.at <= *at {
                    *known = newest();
                }
            }
            None => {
                self.0.insert(job.kind.clone(), (1, newest()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_durable::store::{Lease, Token};

    fn job(kind: &str, visible_at: u64, state: State) -> Entry {
        let at = Timestamp::from_millis(visible_at);
        Entry {
            key: Key::new(format!("{kind} {visible_at}")).unwrap(),
            kind: kind.into(),
            payload: Vec::new(),
            policy: String::new(),
            due: at,
            visible_at: at,
            generation: 1,
            occurrence: 0,
            attempt: 0,
            state,
        }
    }

    #[test]
    fn what_is_due_is_counted_up_to_each_limit_and_leases_by_their_end() {
        let now = 1_000_000;
        let mut counts = Counts::new(Timestamp::from_millis(now));
        for ahead in [0, 1, 60_000, 60_001, 3_600_000, 86_400_000, 86_400_001] {
            counts.add(&job("a", now + ahead, State::Pending));
        }
        let lease = |until| Lease { token: Token(1), until: Timestamp::from_millis(until) };
        counts.add(&job("b", now - 1, State::Leased(lease(now - 1))));
        counts.add(&job("b", now + 1, State::Leased(lease(now + 1))));
        counts.add(&job("b", now - 5, State::Closed(lease(now - 5))));
        counts.add(&job("b", now - 7, State::Replaced(lease(now - 7))));
        let a = &counts.kinds["a"];
        assert_eq!((a.pending, a.due), (7, [1, 3, 5, 6]));
        assert_eq!(a.first.as_ref().unwrap().0, counts.now);
        let b = &counts.kinds["b"];
        assert_eq!((b.pending, b.leased, b.closed, b.replaced, b.lost), (0, 2, 1, 1, 3));
        assert_eq!(b.due, [1; 4], "the one that was replaced waits");
        let total = &counts.total;
        assert_eq!((total.pending, total.leased, total.due[0]), (7, 2, 2));
        assert_eq!(total.first.as_ref().unwrap().1.to_string(), format!("b {}", now - 7));
    }
}
