//! Runs in progress: slow ones, those of this thread, and notifications of their ends.

use super::Shards;
use super::runs::Watch;
use super::state::StopStage;
use super::work::ShardWork;
use crate::job::{Id, Info};
use crate::sync::thread_local;
use crate::time::Moment;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

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
