//! Runs that go on: which of them take long, which are this thread's own, and who hears of their
//! ends.

use super::House;
use super::core::{Stage, Task};
use super::runs::Watch;
use crate::job::{Id, Info};
use crate::sync::thread_local;
use crate::time::Moment;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

thread_local! {
    /// The services (by the address of their `House`) whose runs this thread is busy with, those
    /// inside of others last. A service that is stopped in a run of its own, by the job or by an
    /// observer of it, must not wait for that run.
    static ON_THIS_THREAD: RefCell<Vec<usize>> = RefCell::default();
}

impl<W: Task + ?Sized> House<W> {
    pub(crate) fn watch(&self) -> Watch {
        let mut watch = Watch::default();
        self.with_all(|core| core.runs.add_to(&mut watch));
        watch
    }

    /// Runs of which it is to be told that they take long.
    pub(crate) fn tell_slow(
        &self,
        now: Moment,
        limit: Duration,
    ) -> Vec<(Id, Option<Arc<Info>>, Duration)> {
        let mut slow = Vec::new();
        self.with_all(|core| {
            let told = core.runs.tell_slow(now, limit);
            core.counts.slow += told.len() as u64;
            slow.extend(told);
        });
        slow
    }

    /// This thread does something for a run that was handed out, and in that may call the user's
    /// code: the job, an observer, the destructor of what the job holds. Until what comes back is
    /// dropped.
    pub(crate) fn enter(&self) -> impl Drop + use<W> {
        ON_THIS_THREAD.with(|services| services.borrow_mut().push(self.address()));
        Entered
    }

    /// A run that was handed out is over. For who stops the service, who may wait for that.
    pub(crate) fn hand_in(&self, shard: u32, begun: bool) {
        let stage = self.with(shard, |core| {
            core.hand_in(begun);
            core.stage()
        });
        self.handed_in(stage);
    }

    /// The same, where it was done under the lock already.
    pub(crate) fn handed_in(&self, stage: Stage) {
        if stage != Stage::Open {
            // Whoever waits has looked before this lock was taken, or looks after it was given
            // back.
            drop(self.gate.0.lock());
            self.gate.1.notify_all();
        }
    }

    /// In how many runs of this service this thread is.
    pub(crate) fn own(&self) -> usize {
        let is_own = |service: &&usize| **service == self.address();
        ON_THIS_THREAD.with(|services| services.borrow().iter().filter(is_own).count())
    }

    /// Runs that were handed out, and those of them that have begun.
    pub(crate) fn runs(&self) -> (usize, usize) {
        let (mut in_flight, mut begun) = (0, 0);
        self.with_all(|core| {
            in_flight += core.runs.in_flight;
            begun += core.runs.begun;
        });
        (in_flight, begun)
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// See [`House::enter`].
struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        ON_THIS_THREAD.with(|services| services.borrow_mut().pop());
    }
}
