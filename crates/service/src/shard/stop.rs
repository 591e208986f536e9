//! The runs in progress, and a stop of the service, which waits for them.

use super::Shards;
use super::handover::{ShardWork, TakenJob};
use super::runs::SlowRun;
use super::state::{ShardState, StopStage};
use crate::job::Id;
use crate::sync::thread_local;
use crate::time::Moment;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

thread_local! {
    /// The runs in which this thread is, innermost last, with their services (by the address of
    /// their `Shards`). If a job or observer stops the service that runs it, the stop must not wait
    /// for that run. A report of runs on other threads is in the list without an id. When a thread
    /// ends, the list may be dropped before another thread-local value that owns a scheduler or a
    /// run. Their destructors then do without it.
    static ON_THIS_THREAD: RefCell<Vec<(usize, Option<Id>)>> = RefCell::default();
}

struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        let _ = ON_THIS_THREAD.try_with(|runs| runs.borrow_mut().pop());
    }
}

/// How often a drain checks whether it must still wait. The end of a run notifies it. The cancel of
/// the last job does not, so that a cancel need not check for drains.
const CHECK_INTERVAL: Duration = if cfg!(wheelhouse_loom) {
    // In a model no time passes. A test that is paused for 20 ms must not run in another order.
    Duration::from_secs(3600)
} else {
    Duration::from_millis(20)
};

impl<W: ShardWork + ?Sized> Shards<W> {
    /// When the oldest run began that was not reported as slow, and how many have not begun.
    pub(crate) fn watch(&self) -> (Option<Moment>, usize) {
        let (mut oldest, mut waiting) = (None::<Moment>, 0);
        self.with_all(|state| {
            oldest = oldest.into_iter().chain(state.runs.unreported()).min();
            waiting += state.runs.in_flight - state.runs.begun;
        });
        (oldest, waiting)
    }

    pub(crate) fn take_slow(&self, now: Moment, limit: Duration) -> Vec<SlowRun> {
        let mut slow = Vec::new();
        self.with_all(|state| {
            let before = slow.len();
            slow.extend(state.runs.take_slow(now, limit));
            state.counts.slow += (slow.len() - before) as u64;
        });
        slow
    }

    /// This thread handles a run of this job, or reports other runs, and may call the user's code:
    /// the job, an observer, or the destructor of what the job owns. It has finished when the
    /// returned guard is dropped.
    pub(crate) fn enter(&self, id: Option<Id>) -> impl Drop + use<W> {
        let _ = ON_THIS_THREAD.try_with(|runs| runs.borrow_mut().push((self.address(), id)));
        Entered
    }

    /// A run that was handed out is over. Notifies a thread that stops the service, which may wait
    /// for that.
    pub(crate) fn hand_in(&self, id: Id, begun: bool) {
        let stage = self.with(id.shard(), |state| {
            state.hand_in(id, begun);
            state.stage
        });
        self.notify_stop(stage);
    }

    /// The notification alone, if the run was handed in under a lock already.
    pub(crate) fn notify_stop(&self, stage: StopStage) {
        if stage != StopStage::Open {
            // Taking the lock orders this with a waiting thread: it has either checked its
            // condition before, and sleeps, or checks it afterwards. So no notification is lost.
            drop(self.gate.0.lock());
            self.gate.1.notify_all();
        }
    }

    /// The runs of this service in which this thread is.
    fn own_runs(&self) -> Vec<Option<Id>> {
        let own = |&(service, id): &(usize, Option<Id>)| (service == self.address()).then_some(id);
        ON_THIS_THREAD
            .try_with(|runs| runs.borrow().iter().filter_map(own).collect())
            .unwrap_or_default()
    }

    pub(crate) fn is_in_run(&self) -> bool {
        !self.own_runs().is_empty()
    }

    /// Excuses the runs in which this thread is: a stop that they call does not wait for them.
    /// Returns `true` if there are any.
    pub(crate) fn excuse_own_runs(&self) -> bool {
        let own = self.own_runs();
        own.iter().flatten().for_each(|id| self.with(id.shard(), |state| state.runs.excuse(*id)));
        !own.is_empty()
    }

    /// Excuses the runs in progress that the pool polls, if it polls any: no thread can do so while
    /// the only one stops the service.
    pub(crate) fn excuse_polled_runs(&self) {
        if self.ready.has_tasks() {
            self.with_all(ShardState::excuse_async_runs);
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Takes back the jobs that will not run: see [`ShardState::take_back`]. Nothing is scheduled
    /// from here on, except limits of runs and, during a drain, futures.
    pub(crate) fn take_back(&self, due: bool, stage: StopStage) -> Vec<TakenJob<W>> {
        if stage != StopStage::Draining {
            self.closed.store(true, Ordering::SeqCst);
        }
        let (mut taken, mut memory) = (Vec::new(), Vec::new());
        self.with_all(|state| {
            let (jobs, its_memory) = state.take_back(due, stage);
            taken.extend(jobs);
            memory.push(its_memory);
        });
        taken.iter().for_each(|taken| self.free_key(taken.info.as_deref(), taken.id));
        if stage.is_over() {
            self.keys.shrink();
        }
        taken
    }

    /// Waits until all jobs are over, except futures and the jobs of excused runs.
    pub(crate) fn wait_for_drain(&self, longest: Duration) {
        self.wait(longest, Some(CHECK_INTERVAL), || self.sum(ShardState::to_drain) == 0);
    }

    /// Waits until no run is in flight. If the stop was called in a run, waits only for the runs
    /// that have begun and are not excused. Returns `true` if they have all ended.
    pub(crate) fn wait_for_runs(&self, longest: Duration, in_run: bool) -> bool {
        self.wait(longest, None, || match in_run {
            false => self.sum(|state| state.runs.in_flight) == 0,
            true => self.sum(|state| state.runs.others()) == 0,
        })
    }

    /// Waits until it is `over`, for at most `longest` in real time. Checks at each notification,
    /// and at this interval if there is one. Returns `true` if it is over.
    fn wait(&self, longest: Duration, interval: Option<Duration>, over: impl Fn() -> bool) -> bool {
        let end = Instant::now().checked_add(longest);
        let mut gate = self.gate.0.lock();
        while !over() {
            let now = Instant::now();
            if end.is_some_and(|end| end <= now) {
                return false;
            }
            let next_check = interval.map(|interval| now + interval);
            match end.into_iter().chain(next_check).min() {
                Some(until) => _ = self.gate.1.wait_while_until(&mut gate, |()| !over(), until),
                None => self.gate.1.wait_while(&mut gate, |()| !over()),
            }
        }
        true
    }
}
