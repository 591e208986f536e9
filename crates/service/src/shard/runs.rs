//! The runs of a shard: how many there are, which of them have begun, and which take long.

use crate::job::{Id, Info};
use crate::sync::thread::{self, ThreadId};
use crate::time::Moment;
use slab::Slab;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// Runs that were handed out and have not ended.
    pub(crate) in_flight: usize,
    /// Those of them that have begun.
    pub(crate) begun: usize,
    /// Those that have begun, and for which a stop does not wait. With the thread that each is on,
    /// since another run of the same job may end first; `None` for an async run, which may end on
    /// any thread, and does not overlap with another.
    excused: Vec<(Id, Option<ThreadId>)>,
    /// Those of them that do not occupy the driver, so it can check whether they are slow: runs
    /// that were handed out, and runs whose threads have lost the lead in them.
    watched: Slab<Watched>,
}

#[derive(Debug)]
struct Watched {
    id: Id,
    /// The thread of the service that is in the run, if it lost the lead there.
    thread: Option<usize>,
    info: Option<Arc<Info>>,
    since: Moment,
    reported: bool,
}

/// A run that is slow, and how long it has taken.
pub(crate) type SlowRun = (Id, Option<Arc<Info>>, Duration);

/// The state of all shards that decides when to check for slow runs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Watch {
    /// When the oldest run began that was not reported.
    pub(crate) oldest: Option<Moment>,
    /// Runs that have not begun.
    pub(crate) waiting: usize,
}

impl Runs {
    /// Watches a run, of this thread if that has lost the lead in it. Returns the key for
    /// [`unwatch`](Self::unwatch).
    pub(crate) fn watch(
        &mut self,
        thread: Option<usize>,
        id: Id,
        info: Option<Arc<Info>>,
        since: Moment,
    ) -> usize {
        debug_assert!(
            thread.is_none() || !self.watched.iter().any(|(_, run)| run.thread == thread),
            "a thread is in one run at a time"
        );
        self.watched.insert(Watched { id, thread, info, since, reported: false })
    }

    /// The run of a thread has ended. Returns `true` if it was reported as slow.
    #[cold]
    pub(crate) fn unwatch_thread(&mut self, thread: usize) -> bool {
        let found = self.watched.iter().find(|(_, run)| run.thread == Some(thread));
        found.map(|(key, _)| key).is_some_and(|key| self.unwatch(key))
    }

    /// The run has ended. Returns `true` if it was reported as slow.
    pub(crate) fn unwatch(&mut self, key: usize) -> bool {
        self.watched.remove(key).reported
    }

    pub(super) fn shrink(&mut self) {
        self.watched.shrink_to_fit();
    }

    /// A stop does not wait for this run, which has begun: on this thread, unless it is async.
    pub(crate) fn excuse(&mut self, id: Id, is_async: bool) {
        self.excused.push((id, (!is_async).then(|| thread::current().id())));
    }

    /// The runs that are watched and not excused.
    pub(crate) fn watched(&self) -> impl Iterator<Item = Id> {
        let ids = self.watched.iter().map(|(_, run)| run.id);
        ids.filter(|id| !self.excused().any(|its| its == *id))
    }

    pub(crate) fn excused(&self) -> impl Iterator<Item = Id> {
        self.excused.iter().map(|(id, _)| *id)
    }

    /// A run has ended on this thread during a stop, for which it may have been excused.
    #[cold]
    pub(crate) fn end_excuse(&mut self, id: Id) {
        let here = thread::current().id();
        let mut excused = self.excused.iter();
        let found = excused.position(|(its, on)| *its == id && on.is_none_or(|on| on == here));
        found.into_iter().for_each(|at| _ = self.excused.swap_remove(at));
    }

    /// The number of runs that have begun and are not excused.
    pub(crate) fn others(&self) -> usize {
        self.begun.saturating_sub(self.excused.len())
    }

    pub(crate) fn add_to(&self, watch: &mut Watch) {
        let unreported =
            self.watched.iter().filter(|(_, run)| !run.reported).map(|(_, run)| run.since).min();
        watch.oldest = watch.oldest.into_iter().chain(unreported).min();
        watch.waiting += self.in_flight - self.begun;
    }

    /// The runs that have taken longer than `limit` at `now`, with the time. Each run is returned
    /// once.
    pub(crate) fn take_slow(
        &mut self,
        now: Moment,
        limit: Duration,
    ) -> impl Iterator<Item = SlowRun> {
        let unreported = self.watched.iter_mut().filter(|(_, run)| !run.reported);
        unreported.filter_map(move |(_, run)| {
            let time = now.saturating_since(run.since);
            run.reported = time > limit;
            run.reported.then(|| (run.id, run.info.clone(), time))
        })
    }
}
