//! The steps of a stop in all shards, and its waiting.

use super::state::{ShardState, StopStage};
use super::work::ShardWork;
use super::{Shards, TakenJob};
use crate::job::Ending;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often a drain checks whether it is over. The end of a run notifies it. The cancel of the
/// last job does not, so that a cancel need not check for drains.
const DRAIN_CHECK_INTERVAL: Duration = Duration::from_millis(20);

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
