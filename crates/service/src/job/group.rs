//! At most so many runs of some jobs at once.

use crate::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Jobs of which at most N runs are in progress at once, whatever the threads: those that use one
/// database, say. Cheap to clone; the clones are one group, also of several services.
///
/// A run that finds the group full waits until one has ended, in the order in which they came due.
/// Until it begins it can be cancelled and moved, and it occupies no thread. Values that are sent
/// wait for no group.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{Group, Service, Stop};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let service = Service::builder().workers(4).start()?;
///     let database = Group::new(2);
///     for table in ["orders", "customers", "invoices"] {
///         let timers = service.handle();
///         let plan = timers.every(Duration::from_secs(60)).group(&database).named(table);
///         plan.run(|run| println!("{} is tidied up", run.job()))?;
///     }
///     assert_eq!(service.stop(Stop::Wait).jobs.len(), 3);
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Group {
    inner: Arc<Inner>,
}

struct Inner {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Places that are taken.
    running: usize,
    waiting: VecDeque<Start>,
    /// Somebody has those started that may: who ends a run meanwhile leaves that to him, so that
    /// runs which are started where others end do not pile up on one stack.
    starting: bool,
}

/// Starts a run that has a place.
pub(crate) type Start = Box<dyn FnOnce(Seat) + Send>;

/// A place in a group, until it is dropped.
pub(crate) struct Seat {
    group: Group,
}

impl Group {
    /// A group of which so many runs may go on at once. Zero is taken for one.
    pub fn new(runs: usize) -> Self {
        let state = Mutex::new(State::default());
        Self { inner: Arc::new(Inner { limit: runs.max(1), state }) }
    }

    /// The number of runs in progress or about to begin.
    pub fn running(&self) -> usize {
        self.inner.state.lock().running
    }

    /// How many runs wait for their turn.
    pub fn waiting(&self) -> usize {
        self.inner.state.lock().waiting.len()
    }

    /// Starts a run when there is a place for it: here and now, or where another ends.
    pub(crate) fn enter(&self, start: Start) {
        let mut state = self.inner.state.lock();
        state.waiting.push_back(start);
        self.start_next(state);
    }

    fn start_next<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        if std::mem::replace(&mut state.starting, true) {
            return;
        }
        while state.running < self.inner.limit
            && let Some(start) = state.waiting.pop_front()
        {
            state.running += 1;
            drop(state);
            start(Seat { group: self.clone() });
            state = self.inner.state.lock();
        }
        state.starting = false;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.group.inner.state.lock();
        state.running -= 1;
        self.group.start_next(state);
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.inner.state.lock();
        f.debug_struct("Group")
            .field("limit", &self.inner.limit)
            .field("running", &state.running)
            .field("waiting", &state.waiting.len())
            .finish()
    }
}
