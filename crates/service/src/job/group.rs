//! Concurrency limits: at most N runs of a group of jobs at once.

use crate::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::mem::{replace, take};
use std::sync::Arc;

/// A group of jobs of which at most N runs are in progress at once, on any number of threads: jobs
/// that use one database, for instance. Cheap to clone. The clones are the same group, also in
/// several services.
///
/// If the group is full, a run waits until another has ended. Waiting runs begin in the order in
/// which they came due. Until a run begins, it can be cancelled and moved, and it occupies no
/// thread. Sent values ignore groups.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{Group, Service};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let (service, database) = (Service::start()?, Group::new(2));
///     for table in ["orders", "customers", "invoices"] {
///         let timers = service.handle();
///         let plan = timers.every(Duration::from_secs(60)).group(&database).named(table);
///         plan.run(|run| println!("{} is tidied up", run.job()))?;
///     }
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
    running: usize,
    waiting: VecDeque<Box<dyn Waiting>>,
    /// How many may wait before those whose turn is over are removed.
    prune_at: usize,
    /// `start_next` is active. A run that ends in the meantime, on this thread or another, leaves
    /// the rest to it. So runs that are started where others end are not nested on one stack.
    starting: bool,
}

/// A run that waits for a place.
pub(crate) trait Waiting: Send {
    fn start(self: Box<Self>, permit: GroupPermit);

    /// Returns `true` if its turn is over: its job was cancelled, moved or paused.
    fn is_over(&self) -> bool;
}

/// A place in a group. Dropping it frees the place.
pub(crate) struct GroupPermit {
    group: Group,
}

impl Group {
    /// A group with `runs` places. Zero counts as one.
    pub fn new(runs: usize) -> Self {
        let state = Mutex::new(State::default());
        Self { inner: Arc::new(Inner { limit: runs.max(1), state }) }
    }

    /// The number of runs in progress or about to begin.
    pub fn running(&self) -> usize {
        self.inner.state.lock().running
    }

    /// The number of runs that wait for a place. For a while, this may include runs whose jobs were
    /// cancelled, moved or paused.
    pub fn waiting(&self) -> usize {
        self.inner.state.lock().waiting.len()
    }

    /// Starts a run when there is a place for it: at once on this thread, or later on a thread that
    /// ends another run.
    pub(crate) fn enter(&self, run: Box<dyn Waiting>) {
        let mut state = self.inner.state.lock();
        let over = state.prune();
        state.waiting.push_back(run);
        self.start_next(state);
        // Without the lock: this hands them in.
        drop(over);
    }

    fn start_next<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        if replace(&mut state.starting, true) {
            return;
        }
        while state.running < self.inner.limit
            && let Some(run) = state.waiting.pop_front()
        {
            state.running += 1;
            debug_assert!(state.running <= self.inner.limit, "{} runs begin", state.running);
            drop(state);
            run.start(GroupPermit { group: self.clone() });
            state = self.inner.state.lock();
        }
        state.starting = false;
    }
}

impl State {
    /// Removes the runs whose turn is over, if the number of runs may have doubled: O(1) amortized
    /// for each run. So jobs that come due and are cancelled while the group is full leave few.
    fn prune(&mut self) -> VecDeque<Box<dyn Waiting>> {
        if self.waiting.len() < self.prune_at {
            return VecDeque::new();
        }
        let over;
        (over, self.waiting) = take(&mut self.waiting).into_iter().partition(|run| run.is_over());
        self.prune_at = 2 * self.waiting.len() + 16;
        over
    }
}

impl Drop for GroupPermit {
    fn drop(&mut self) {
        let mut state = self.group.inner.state.lock();
        debug_assert!(state.running > 0, "a place is freed once");
        state.running -= 1;
        self.group.start_next(state);
    }
}

#[derive(Clone, Default)]
pub(crate) struct Dispatch {
    pub(crate) is_async: bool,
    pub(crate) group: Option<Group>,
    /// The run may block, so another thread takes the lead before it.
    pub(crate) blocks: bool,
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("limit", &self.inner.limit).finish_non_exhaustive()
    }
}
