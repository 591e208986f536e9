//! Jobs that are leased and have not begun, and when each may begin.
//!
//! ```text
//!  claimer ──▶ waiting ──▶ judged ──▶ Begin, in a commit ──▶ worker or executor: handler ──▶ end
//!                 ▲                       │ refused: cancelled, moved, taken over             │
//!                 └────── next job ◀──────┴───────────────────────────────────────────────────┘
//! ```
//!
//! A job begins when a worker is free for it, not before: until then it can be cancelled, and loses
//! no attempt if the process dies. But a `Begin` is a commit, and workers whose handlers take
//! microseconds would wait for commits longer than they work. So a job may begin a little early: if
//! a worker is expected to be free for it within [`AHEAD`]. Each store does so separately, so
//! claims of N stores at a time may begin runs for up to N times as long. A future occupies no
//! thread, so it begins as soon as fewer futures than the limit are in flight.
//!
//! If no job waits, the claim itself begins the runs that would begin at once, without the commit
//! of a `Begin`. The other jobs of a claim that may begin at once do so in one commit of the
//! claimer. One worker must keep the order of jobs, so there they begin in the commits of the
//! committer: those of two connections could overtake one another.
//!
//! A job that has lost its lease repeatedly may be the job that kills the process. Such suspects
//! begin one at a time, so that it does not use up the attempts of others that ran with it.

use super::work::{End, Task};
use crate::lease::{AHEAD, Lane, Paces};
use crate::store::Kinds;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wheelhouse_service::Handle;

/// See the [module](self). All shards share one, since they share the workers.
pub(crate) struct Waiting {
    inner: Mutex<Inner>,
    /// Held by a thread that hands begun runs to the workers.
    order: Mutex<()>,
    /// The number of calls of [`advance`](Self::advance) that are not answered.
    advancing: AtomicUsize,
    /// Notified when each run that has begun has ended.
    idle: Condvar,
    pub(crate) service: Handle,
    /// The most runs at a time, by [`Lane`].
    at_once: [usize; 2],
    paces: Arc<Paces>,
}

#[derive(Default)]
struct Inner {
    /// By [`Lane`].
    lanes: [Jobs; 2],
    /// A suspect has begun and not ended.
    has_suspect: bool,
}

#[derive(Default)]
struct Jobs {
    tasks: VecDeque<Task>,
    /// The number of jobs that have begun or are beginning, and have not ended.
    begun: usize,
    /// The expected time of those runs, in nanoseconds.
    expected: u64,
}

impl Inner {
    fn is_idle(&self) -> bool {
        self.lanes.iter().all(|lane| lane.begun == 0)
    }
}

impl Waiting {
    pub(crate) fn new(service: Handle, at_once: [usize; 2], paces: Arc<Paces>) -> Self {
        let (inner, order, advancing) = (Mutex::default(), Mutex::default(), AtomicUsize::new(0));
        Self { inner, order, advancing, idle: Condvar::new(), service, at_once, paces }
    }

    /// Keeps other threads from handing begun runs to the workers until the guard is dropped. Both
    /// a claim and a committer begin runs. Without this, the first run of a claim could end, and a
    /// committer begin the next job that waits, before the claimer hands over its second run.
    pub(super) fn keep_order(&self) -> MutexGuard<'_, ()> {
        self.order.lock()
    }

    /// Returns `true` if a lane runs one job at a time, in the order of claims.
    fn has_one_worker(&self, lane: Lane) -> bool {
        self.at_once[lane as usize] == 1
    }

    /// Returns how many jobs of these kinds a claim may begin: those that would begin at once if
    /// they were leased, even if all are of the slowest kind. None while jobs wait, since those
    /// come first. For one worker none while a run has begun or is beginning: its `Begin` may be
    /// in a queue, and those of the claim would overtake it.
    pub(super) fn may_begin(&self, lane: Lane, kinds: &Kinds) -> MayBegin {
        let inner = self.inner.lock();
        let (jobs, at_once) = (&inner.lanes[lane as usize], self.at_once[lane as usize]);
        let keeps_order = self.has_one_worker(lane) && jobs.begun > 0;
        if !jobs.tasks.is_empty() || keeps_order {
            return MayBegin::default();
        }
        let slowest = kinds.iter().map(|kind| self.paces.nanos(kind)).max();
        let left = soon(lane, at_once).saturating_sub(jobs.expected);
        let soon = slowest.map_or(0, |nanos| left / nanos.max(1));
        let soon = usize::try_from(soon).unwrap_or(usize::MAX);
        MayBegin { free: at_once.saturating_sub(jobs.begun), soon }
    }

    /// Adds claimed jobs, in order. Returns those that the claim has begun, and the jobs of lanes
    /// with several workers that may begin. If the claim of another store has begun runs for the
    /// same workers at the same time, those of this claim are released.
    pub(super) fn add(self: &Arc<Self>, tasks: Vec<Task>, may_begin: MayBegin) -> Ready {
        let (mut ready, mut begun) = (Ready::default(), Vec::new());
        let mut inner = self.inner.lock();
        for (index, task) in tasks.into_iter().enumerate() {
            let lane = task.lease.lane as usize;
            let has_worker = inner.lanes[lane].begun < self.at_once[lane];
            if task.is_begun && index >= may_begin.soon && !has_worker {
                ready.left_out.push((task, End::Released(Duration::ZERO)));
            } else if task.is_begun {
                let slot = self.occupy(&mut inner, &task);
                begun.push((task, slot));
            } else {
                self.paces.add_suspect(task.lease.lane, task.is_suspect);
                inner.lanes[lane].tasks.push_back(task);
            }
        }
        drop(inner);
        begun.into_iter().for_each(|(task, slot)| ready.add(task, slot));
        for lane in Lane::ALL.into_iter().filter(|lane| !self.has_one_worker(*lane)) {
            self.take(lane, &mut ready);
        }
        ready
    }

    /// Puts the `Begin`s of `ready`, and those of all jobs that may begin, into the queues of the
    /// committers, and ends the jobs that do not begin. One thread at a time takes jobs out: a
    /// second one could put a later job into a queue first.
    pub(super) fn advance(self: &Arc<Self>, mut ready: Ready) {
        // A thread that finds another one here leaves the jobs to it.
        let mut calls = usize::from(self.advancing.fetch_add(1, Ordering::SeqCst) == 0);
        while calls > 0 {
            Lane::ALL.into_iter().for_each(|lane| self.take(lane, &mut ready));
            ready.begins.drain(..).for_each(Task::submit);
            calls = self.advancing.fetch_sub(calls, Ordering::SeqCst) - calls;
        }
        // Afterwards, since this may call an observer.
        ready.begins.into_iter().for_each(Task::submit);
        ready.left_out.into_iter().for_each(|(mut task, end)| task.end(end));
    }

    fn take(self: &Arc<Self>, lane: Lane, ready: &mut Ready) {
        while let Some((task, slot)) = self.next(lane) {
            ready.add(task, slot);
        }
    }

    fn next(self: &Arc<Self>, lane: Lane) -> Option<(Task, Slot)> {
        let inner = &mut *self.inner.lock();
        let has_suspect = inner.has_suspect;
        let (jobs, at_once) = (&mut inner.lanes[lane as usize], self.at_once[lane as usize]);
        let may = |task: &Task| !(task.is_suspect && has_suspect);
        let next = jobs.tasks.iter().position(may)?;
        let nanos = self.paces.nanos(&jobs.tasks[next].job.kind);
        if jobs.begun >= at_once && jobs.expected + nanos > soon(lane, at_once) {
            return None;
        }
        let task = jobs.tasks.remove(next)?;
        self.paces.remove_suspect(lane, task.is_suspect);
        let slot = self.occupy(inner, &task);
        Some((task, slot))
    }

    /// Gives a slot to a job that begins or has begun.
    fn occupy(self: &Arc<Self>, inner: &mut Inner, task: &Task) -> Slot {
        let (lane, is_suspect) = (task.lease.lane, task.is_suspect);
        let nanos = self.paces.nanos(&task.job.kind);
        let jobs = &mut inner.lanes[lane as usize];
        jobs.begun += 1;
        jobs.expected += nanos;
        debug_assert!(!(is_suspect && inner.has_suspect), "one suspect at a time");
        inner.has_suspect |= is_suspect;
        Slot { waiting: Some(Arc::clone(self)), lane, is_suspect, nanos }
    }

    /// Waits until all runs that have begun have ended, at most until `until` if it is given. This
    /// includes runs that wait for a worker, since the workers drop those when they are stopped.
    /// Returns `false` if a run has not ended by then.
    pub(crate) fn wait_until_idle(&self, until: Option<Instant>) -> bool {
        let mut inner = self.inner.lock();
        match until {
            None => self.idle.wait_while(&mut inner, |inner| !inner.is_idle()),
            Some(until) => {
                self.idle.wait_while_until(&mut inner, |inner| !inner.is_idle(), until);
            }
        }
        inner.is_idle()
    }

    /// Releases the leases of all jobs that wait.
    pub(crate) fn clear(&self) {
        let mut inner = self.inner.lock();
        let tasks = inner.lanes.each_mut().map(|jobs| std::mem::take(&mut jobs.tasks));
        // The drop of each task releases its lease, which must not happen under the lock.
        drop(inner);
        for task in tasks.into_iter().flatten() {
            self.paces.remove_suspect(task.lease.lane, task.is_suspect);
        }
    }
}

/// How many runs a claim may begin: the larger of both.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MayBegin {
    /// Those that have a free worker, or a free slot among the futures.
    free: usize,
    /// Those for which a worker is expected to be free within [`AHEAD`].
    soon: usize,
}

impl MayBegin {
    pub(super) fn most(self) -> usize {
        self.free.max(self.soon)
    }
}

/// Returns the expected time of all runs of a lane up to which more of them begin before a worker
/// is free, in nanoseconds.
fn soon(lane: Lane, at_once: usize) -> u64 {
    match lane {
        Lane::Threads => AHEAD.saturating_mul(at_once as u64),
        Lane::Futures => 0,
    }
}

/// Jobs that were taken out because a worker is free for them.
#[derive(Default)]
pub(super) struct Ready {
    /// First those that their claim has begun, then those whose `Begin` is to be committed.
    pub(super) begins: Vec<Task>,
    /// Jobs that do not begin, for example because they are too late.
    left_out: Vec<(Task, End)>,
}

impl Ready {
    /// Adds a job that has a slot, if its policy does not forbid the run.
    fn add(&mut self, mut task: Task, mut slot: Slot) {
        match task.decide() {
            Ok(()) => {
                debug_assert!(task.slot.is_none() && task.occurrence.is_some(), "begun once");
                task.slot = Some(slot);
                self.begins.push(task);
            }
            // Its slot is freed here. The drop of the slot would begin the next job, whose drop
            // would begin the next, and so on: a recursion for each job.
            Err(end) => {
                drop(slot.leave());
                self.left_out.push((task, end));
            }
        }
    }
}

/// The slot of a job that has begun. When it is dropped, the next job may begin.
pub(super) struct Slot {
    /// `None` after the slot was freed.
    pub(super) waiting: Option<Arc<Waiting>>,
    lane: Lane,
    is_suspect: bool,
    nanos: u64,
}

impl Slot {
    /// Frees the slot without beginning the next job.
    fn leave(&mut self) -> Option<Arc<Waiting>> {
        let waiting = self.waiting.take()?;
        let mut inner = waiting.inner.lock();
        let jobs = &mut inner.lanes[self.lane as usize];
        debug_assert!(jobs.begun > 0 && jobs.expected >= self.nanos, "`next` has counted it");
        debug_assert!(jobs.begun > 1 || jobs.expected == self.nanos, "the last takes all");
        jobs.begun -= 1;
        jobs.expected -= self.nanos;
        debug_assert!(!self.is_suspect || inner.has_suspect, "one suspect at a time");
        inner.has_suspect &= !self.is_suspect;
        let is_idle = inner.is_idle();
        drop(inner);
        if is_idle {
            waiting.idle.notify_all();
        }
        Some(waiting)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.leave().into_iter().for_each(|waiting| waiting.advance(Ready::default()));
    }
}
