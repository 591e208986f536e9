//! The runs that were handed out: how many there are, which of them have begun, and since when.

use crate::Moment;
use crate::record::Record;
use crate::sync::{Condvar, Mutex, thread_local};
use slab::Slab;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

thread_local! {
    /// The services (by the address of their `Runs`) whose runs this thread is busy with, those inside of others last. A
    /// service that is stopped in a run of its own, by the job or by an observer of it, must not wait for that run.
    static ON_THIS_THREAD: RefCell<Vec<usize>> = RefCell::default();
}

#[derive(Default)]
pub(crate) struct Runs {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Runs that were handed out and have not ended.
    in_flight: usize,
    /// Those of them that have begun.
    running: Slab<Running>,
    /// Those of them of which it was told that they take long.
    told: usize,
}

struct Running {
    record: Arc<Record>,
    since: Moment,
    /// It takes long, and that was told.
    told: bool,
}

/// A run that has begun. To be given to [`Runs::end`].
pub(crate) struct RunKey(usize);

impl Runs {
    /// A run is handed out.
    pub(crate) fn hand_out(&self) {
        self.state.lock().in_flight += 1;
    }

    /// This thread does something for a run that was handed out, and in that may call the user's code: the job, an observer, the
    /// destructor of what the job holds. Until it [hands the run in](Self::hand_in).
    pub(crate) fn enter(&self) {
        ON_THIS_THREAD.with(|services| services.borrow_mut().push(self.address()));
    }

    /// The run that this thread entered last is over, whatever became of it.
    pub(crate) fn hand_in(&self) {
        ON_THIS_THREAD.with(|services| services.borrow_mut().pop());
        self.state.lock().in_flight -= 1;
        self.changed.notify_all();
    }

    /// A run begins.
    pub(crate) fn begin(&self, record: &Arc<Record>, since: Moment) -> RunKey {
        RunKey(self.state.lock().running.insert(Running {
            record: Arc::clone(record),
            since,
            told: false,
        }))
    }

    /// It ends. Whether it was told that it takes long.
    pub(crate) fn end(&self, run: RunKey) -> bool {
        let mut state = self.state.lock();
        let told = state.running.remove(run.0).told;
        state.told -= usize::from(told);
        told
    }

    /// How many are in flight, and how many of these have begun.
    pub(crate) fn count(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.in_flight, state.running.len())
    }

    /// Whether a run goes on of which it was not told that it takes long, or may begin at any time: `may_begin` says whether one
    /// can beside so many of which it was told. It does so without telling the driver.
    pub(crate) fn any_to_watch(&self, may_begin: impl FnOnce(usize) -> bool) -> bool {
        let state = self.state.lock();
        let running = state.running.len();
        running > state.told || state.in_flight > running && may_begin(state.told)
    }

    /// When the oldest run began of which it was not told that it takes long.
    pub(crate) fn oldest_untold(&self) -> Option<Moment> {
        let state = self.state.lock();
        state.running.iter().filter(|(_, run)| !run.told).map(|(_, run)| run.since).min()
    }

    /// The jobs of which a run has taken longer than `limit` at `now`, and how long; each run once.
    pub(crate) fn tell_slow(&self, now: Moment, limit: Duration) -> Vec<(Arc<Record>, Duration)> {
        let state = &mut *self.state.lock();
        let mut slow = Vec::new();
        for (_, run) in &mut state.running {
            let time = now.saturating_since(run.since);
            if time > limit && !run.told {
                run.told = true;
                state.told += 1;
                slow.push((Arc::clone(&run.record), time));
            }
        }
        slow
    }

    /// Waits until no run is in flight, at most so long in real time; not for a run that waits here itself. Whether
    /// that was reached.
    pub(crate) fn wait(&self, longest: Duration) -> bool {
        let is_own = |service: &&usize| **service == self.address();
        let own = ON_THIS_THREAD.with(|services| services.borrow().iter().filter(is_own).count());
        let mut state = self.state.lock();
        match Instant::now().checked_add(longest) {
            Some(until) => {
                self.changed.wait_while_until(&mut state, |state| state.in_flight > own, until);
            }
            None => self.changed.wait_while(&mut state, |state| state.in_flight > own),
        }
        state.in_flight <= own
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
