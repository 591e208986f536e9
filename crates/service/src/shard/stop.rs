//! Runs in progress: slow ones, those of this thread, notifications of their ends, and the steps of
//! a stop, which waits for them.

use super::runs::Watch;
use super::state::{ShardState, StopStage};
use super::work::ShardWork;
use super::{Shards, TakenJob};
use crate::job::{Ending, Id, Info};
use crate::sync::thread_local;
use crate::time::Moment;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

thread_local! {
    /// The services (by the address of their `Shards`) in whose runs this thread is, innermost
    /// last. If a job or observer stops the service that runs it, the stop must not wait for that
    /// run.
    static ON_THIS_THREAD: RefCell<Vec<usize>> = RefCell::default();
}

impl<W: ShardWork + ?Sized> Shards<W> {
    pub(crate) fn watch(&self) -> Watch {
        let mut watch = Watch::default();
        self.with_all(|state| state.runs.add_to(&mut watch));
        watch
    }

    /// Runs to be reported as slow.
    pub(crate) fn take_slow(
        &self,
        now: Moment,
        limit: Duration,
    ) -> Vec<(Id, Option<Arc<Info>>, Duration)> {
        let mut slow = Vec::new();
        self.with_all(|state| {
            let reported = state.runs.take_slow(now, limit);
            state.counts.slow += reported.len() as u64;
            slow.extend(reported);
        });
        slow
    }

    /// This thread handles a run that was handed out, and may call the user's code: the job, an
    /// observer, or the destructor of what the job owns. It has finished when the returned guard is
    /// dropped.
    pub(crate) fn enter(&self) -> impl Drop + use<W> {
        ON_THIS_THREAD.with(|services| services.borrow_mut().push(self.address()));
        Entered
    }

    /// A run that was handed out is over. Notifies a thread that stops the service, which may wait
    /// for that.
    pub(crate) fn hand_in(&self, shard: u32, begun: bool) {
        let stage = self.with(shard, |state| {
            state.hand_in(begun);
            state.stage()
        });
        self.handed_in(stage);
    }

    /// The notification alone, if the run was handed in under a lock already.
    pub(crate) fn handed_in(&self, stage: StopStage) {
        if stage != StopStage::Open {
            // Taking the lock orders this with a waiting thread: it has either checked its
            // condition before, and sleeps, or checks it afterwards. So no notification is lost.
            drop(self.gate.0.lock());
            self.gate.1.notify_all();
        }
    }

    /// The number of runs of this service that this thread is in.
    pub(crate) fn runs_on_this_thread(&self) -> usize {
        let is_own = |service: &&usize| **service == self.address();
        ON_THIS_THREAD.with(|services| services.borrow().iter().filter(is_own).count())
    }

    /// The number of runs that were handed out, and of those that have begun.
    pub(crate) fn runs(&self) -> (usize, usize) {
        let (mut in_flight, mut begun) = (0, 0);
        self.with_all(|state| {
            in_flight += state.runs.in_flight;
            begun += state.runs.begun;
        });
        (in_flight, begun)
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// See [`Shards::enter`].
struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        ON_THIS_THREAD.with(|services| services.borrow_mut().pop());
    }
}

/// How often a drain checks whether it is over. The end of a run notifies it. The cancel of the
/// last job does not, so that a cancel need not check for drains.
const DRAIN_CHECK_INTERVAL: Duration = if cfg!(wheelhouse_loom) {
    // In a model no time passes. A test that is paused for 20 ms must not run in another order.
    Duration::from_secs(3600)
} else {
    Duration::from_millis(20)
};

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// Refuses new jobs, and takes out jobs without a last run.
    fn drain(&mut self) -> Vec<TakenJob<W>> {
        debug_assert_eq!(self.stage, StopStage::Open, "a service stops once");
        self.stage = StopStage::Draining;
        let mut endless = Vec::new();
        for (index, slot) in self.slots.iter() {
            if let Some(job) = slot.job_state()
                && let job = &mut self.job_states[job]
                && job.repeat.as_ref().is_some_and(|repeat| repeat.times.is_none())
            {
                if job.is_running() {
                    job.end_after(Ending::Stopped);
                } else {
                    endless.push(index);
                }
            }
        }
        endless.into_iter().map(|index| self.take(index, Ending::Stopped)).collect()
    }

    /// The number of jobs that are not over, without futures.
    fn jobs(&self) -> usize {
        self.slots.len() - self.wakers.len()
    }
}

impl<W: ShardWork + ?Sized> Shards<W> {
    /// Refuses new jobs, and takes back jobs without a last run.
    pub(crate) fn drain(&self) -> Vec<TakenJob<W>> {
        let mut taken = Vec::new();
        self.with_all(|state| taken.extend(state.drain()));
        taken.iter().for_each(|taken| self.free_key(taken.info.as_deref(), taken.id));
        taken
    }

    /// Waits until at most `own` jobs are not over, for at most `longest` in real time.
    pub(crate) fn wait_for_drain(&self, longest: Duration, own: usize) {
        let until = Instant::now().checked_add(longest);
        let over = || {
            let mut jobs = 0;
            self.with_all(|state| jobs += state.jobs());
            jobs <= own
        };
        let mut gate = self.gate.0.lock();
        while !over() {
            let now = Instant::now();
            if until.is_some_and(|until| until <= now) {
                return;
            }
            let next_check = until
                .map_or(now + DRAIN_CHECK_INTERVAL, |until| until.min(now + DRAIN_CHECK_INTERVAL));
            self.gate.1.wait_while_until(&mut gate, |()| !over(), next_check);
        }
    }

    /// Takes back pending jobs, and with `due` also jobs whose runs were handed out and have not
    /// begun. From here on nothing is scheduled.
    pub(crate) fn take_back(&self, due: bool, stage: StopStage) -> Vec<TakenJob<W>> {
        self.closed.store(true, Ordering::SeqCst);
        let (mut taken, mut wheels) = (Vec::new(), Vec::new());
        self.with_all(|state| {
            let (jobs, wheel) = state.take_back(due, stage);
            taken.extend(jobs);
            wheels.push(wheel);
        });
        taken.iter().for_each(|taken| self.free_key(taken.info.as_deref(), taken.id));
        taken
    }

    /// Waits until no run is in flight, for at most `longest` in real time. A thread that is in
    /// `own` runs itself waits only for other runs that have begun. Returns `true` if they have all
    /// ended.
    pub(crate) fn wait(&self, longest: Duration, own: usize) -> bool {
        let over = || {
            let (in_flight, begun) = self.runs();
            if own > 0 { begun <= own } else { in_flight == 0 }
        };
        let mut gate = self.gate.0.lock();
        match Instant::now().checked_add(longest) {
            Some(until) => {
                self.gate.1.wait_while_until(&mut gate, |()| !over(), until);
            }
            None => self.gate.1.wait_while(&mut gate, |()| !over()),
        }
        over()
    }
}
