//! The runs of a shard: how many there are, which of them have begun, and which take long.

use crate::job::{Id, Info};
use crate::time::Moment;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// Runs that were handed out and have not ended.
    pub(crate) in_flight: usize,
    /// Those of them that have begun.
    pub(crate) begun: usize,
    /// Those that have begun, and for which a stop does not wait. A job has one run at a time.
    excused: Vec<Id>,
    /// Those of them that do not occupy the driver, so it can check whether they are slow: runs
    /// that were handed out, and runs whose threads have lost the lead in them. By the numbers of
    /// their jobs.
    watched: BTreeMap<NonZeroU64, Watched>,
}

#[derive(Debug)]
struct Watched {
    id: Id,
    info: Option<Arc<Info>>,
    since: Moment,
    reported: bool,
}

/// A run that is slow, and how long it has taken.
pub(crate) type SlowRun = (Id, Option<Arc<Info>>, Duration);

impl Runs {
    pub(crate) fn watch(&mut self, id: Id, info: Option<Arc<Info>>, since: Moment) {
        let watched = Watched { id, info, since, reported: false };
        let before = self.watched.insert(id.number, watched);
        debug_assert!(before.is_none(), "a job has one run at a time");
    }

    /// The run has ended. Returns `true` if it was watched and reported as slow.
    pub(crate) fn unwatch(&mut self, id: Id) -> bool {
        self.watched.remove(&id.number).is_some_and(|run| run.reported)
    }

    /// A stop does not wait for this run, which has begun.
    pub(crate) fn excuse(&mut self, id: Id) {
        self.excused.push(id);
    }

    /// The runs that are watched and not excused.
    pub(crate) fn watched(&self) -> impl Iterator<Item = Id> {
        let ids = self.watched.values().map(|run| run.id);
        ids.filter(|id| !self.excused.contains(id))
    }

    pub(crate) fn excused(&self) -> impl Iterator<Item = Id> {
        self.excused.iter().copied()
    }

    /// A run has ended during a stop, for which it may have been excused.
    #[cold]
    pub(crate) fn end_excuse(&mut self, id: Id) {
        self.excused.retain(|its| *its != id);
    }

    /// The number of runs that have begun and are not excused.
    pub(crate) fn others(&self) -> usize {
        self.begun.saturating_sub(self.excused.len())
    }

    /// When the runs began that were not reported as slow.
    pub(crate) fn unreported(&self) -> impl Iterator<Item = Moment> {
        self.watched.values().filter(|run| !run.reported).map(|run| run.since)
    }

    /// The runs that have taken longer than `limit` at `now`, with the time. Each run is returned
    /// once.
    pub(crate) fn take_slow(
        &mut self,
        now: Moment,
        limit: Duration,
    ) -> impl Iterator<Item = SlowRun> {
        let unreported = self.watched.values_mut().filter(|run| !run.reported);
        unreported.filter_map(move |run| {
            let time = now.saturating_since(run.since);
            run.reported = time > limit;
            run.reported.then(|| (run.id, run.info.clone(), time))
        })
    }
}
