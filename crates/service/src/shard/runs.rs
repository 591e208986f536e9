//! The runs of a shard: how many there are, which of them have begun, and which take long.

use crate::job::{Id, Info};
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
    /// Those of them that do not occupy the driver, so it can check whether they are slow: runs
    /// that were handed out, and runs whose threads have lost the lead in them.
    watched: Slab<Watched>,
    /// How many of the watched runs were reported as slow.
    reported: usize,
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

pub(crate) struct WatchKey(usize);

/// The state of all shards that decides when to check for slow runs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Watch {
    /// When the oldest run began that was not reported.
    pub(crate) oldest: Option<Moment>,
    /// There are runs that were reported as slow.
    pub(crate) reported: bool,
    /// Runs that have not begun.
    pub(crate) waiting: usize,
}

impl Runs {
    pub(crate) fn watch(&mut self, id: Id, info: Option<Arc<Info>>, since: Moment) -> WatchKey {
        WatchKey(self.watched.insert(Watched { id, thread: None, info, since, reported: false }))
    }

    /// The same for a run in which a thread has lost the lead.
    pub(crate) fn watch_thread(
        &mut self,
        thread: usize,
        id: Id,
        info: Option<Arc<Info>>,
        since: Moment,
    ) {
        debug_assert!(self.of_thread(thread).is_none(), "a thread is in one run at a time");
        self.watched.insert(Watched { id, thread: Some(thread), info, since, reported: false });
    }

    fn of_thread(&self, thread: usize) -> Option<WatchKey> {
        let found = self.watched.iter().find(|(_, run)| run.thread == Some(thread));
        found.map(|(key, _)| WatchKey(key))
    }

    /// The run of a thread has ended. Returns `true` if it was reported as slow.
    pub(crate) fn unwatch_thread(&mut self, thread: usize) -> bool {
        self.of_thread(thread).is_some_and(|key| self.unwatch(key))
    }

    /// The run has ended. Returns `true` if it was reported as slow.
    pub(crate) fn unwatch(&mut self, key: WatchKey) -> bool {
        let reported = self.watched.remove(key.0).reported;
        self.reported -= usize::from(reported);
        debug_assert!(self.reported <= self.watched.len(), "{self:?}");
        reported
    }

    /// Adds this shard to the others.
    pub(crate) fn add_to(&self, watch: &mut Watch) {
        let unreported =
            self.watched.iter().filter(|(_, run)| !run.reported).map(|(_, run)| run.since).min();
        watch.oldest = watch.oldest.into_iter().chain(unreported).min();
        watch.reported |= self.reported > 0;
        watch.waiting += self.in_flight - self.begun;
    }

    /// The runs that have taken longer than `limit` at `now`, with the time. Each run is returned
    /// once.
    pub(crate) fn take_slow(
        &mut self,
        now: Moment,
        limit: Duration,
    ) -> Vec<(Id, Option<Arc<Info>>, Duration)> {
        let mut slow = Vec::new();
        for (_, run) in &mut self.watched {
            let time = now.saturating_since(run.since);
            if time > limit && !run.reported {
                run.reported = true;
                self.reported += 1;
                slow.push((run.id, run.info.clone(), time));
            }
        }
        slow
    }
}
