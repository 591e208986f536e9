//! Jobs that are leased and have not begun, and when each may begin.
//!
//! ```text
//!  claimer ──▶ waiting ──▶ judged ──▶ Begin, in a commit ──▶ worker or executor: handler ──▶ end
//!                 ▲                       │ refused: cancelled, moved, taken over             │
//!                 └────── next job ◀──────┴───────────────────────────────────────────────────┘
//! ```
//!
//! A job begins when a worker is free for it, not before. So if the process dies, a job that only
//! waited loses no attempt. Such a job can also still be cancelled. But a `Begin` is a commit, and
//! workers whose handlers take microseconds would wait for commits longer than they work. So a job
//! may begin a little early: if a worker is expected to be free for it within [`AHEAD`].
//!
//! A future occupies no thread, so it begins as soon as fewer futures than the limit are in flight.
//!
//! A job that has lost its lease repeatedly may be the job that kills the process. Jobs that ran at
//! the same time lost their leases as well. Such suspects begin one at a time, so that the job that
//! kills the process does not use up the attempts of the others.

use super::ended::End;
use super::pace::Paces;
use super::work::Task;
use crate::handlers::Lane;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
use wheelhouse_service::Handle;

/// A job begins if a worker is expected to be free for it within this time, in nanoseconds.
pub(super) const AHEAD: u64 = 1_000_000;

/// See the [module](self). All shards share one, since they share the workers.
pub(crate) struct Waiting {
    inner: Mutex<Inner>,
    /// Held by a thread that hands begun runs to the workers.
    order: Mutex<()>,
    /// Notified when each run that has begun has ended.
    idle: Condvar,
    /// The workers. `None` in a program without handlers.
    service: Option<Handle>,
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

/// The jobs of a lane.
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
    pub(crate) fn new(service: Option<Handle>, at_once: [usize; 2], paces: Arc<Paces>) -> Self {
        let (inner, order, idle) = (Mutex::default(), Mutex::default(), Condvar::new());
        Self { inner, order, idle, service, at_once, paces }
    }

    /// Keeps other threads from handing begun runs to the workers until the guard is dropped. Both
    /// a claimer and a committer begin runs. Without this, the first run of a claimer could end,
    /// and a committer begin the next job that waits, before the claimer hands over its second run.
    pub(crate) fn keep_order(&self) -> MutexGuard<'_, ()> {
        self.order.lock()
    }

    /// The workers.
    pub(crate) fn service(&self) -> Option<&Handle> {
        self.service.as_ref()
    }

    /// Adds leased jobs, in order. Returns the jobs that may begin.
    pub(super) fn add(self: &Arc<Self>, tasks: Vec<Task>) -> Ready {
        let mut inner = self.inner.lock();
        for task in tasks {
            self.paces.add_suspect(task.lane(), task.is_suspect);
            inner.lanes[task.lane() as usize].tasks.push_back(task);
        }
        drop(inner);
        self.take()
    }

    /// Takes out the jobs that may begin.
    fn take(self: &Arc<Self>) -> Ready {
        let mut ready = Ready::default();
        while let Some((mut task, mut slot)) = self.next() {
            match task.decide() {
                Ok(()) => {
                    task.take_room(slot);
                    ready.begins.push(task);
                }
                // Its slot is freed here. The drop of the slot would begin the next job, whose drop
                // would begin the next, and so on: a recursion for each job.
                Err(end) => {
                    drop(slot.leave());
                    ready.left_out.push((task, end));
                }
            }
        }
        ready
    }

    fn next(self: &Arc<Self>) -> Option<(Task, Slot)> {
        let inner = &mut *self.inner.lock();
        Lane::ALL.into_iter().find_map(|lane| self.next_of(lane, inner))
    }

    fn next_of(self: &Arc<Self>, lane: Lane, inner: &mut Inner) -> Option<(Task, Slot)> {
        let Inner { lanes, has_suspect } = inner;
        let (jobs, at_once) = (&mut lanes[lane as usize], self.at_once[lane as usize]);
        let may = |task: &Task| !(task.is_suspect && *has_suspect);
        let place = jobs.tasks.iter().position(may)?;
        let nanos = self.paces.nanos(jobs.tasks[place].kind());
        let is_soon =
            lane == Lane::Threads && jobs.expected + nanos <= AHEAD.saturating_mul(at_once as u64);
        if jobs.begun >= at_once && !is_soon {
            return None;
        }
        let task = jobs.tasks.remove(place)?;
        let is_suspect = task.is_suspect;
        jobs.begun += 1;
        jobs.expected += nanos;
        self.paces.remove_suspect(lane, is_suspect);
        *has_suspect |= is_suspect;
        Some((task, Slot { waiting: Some(Arc::clone(self)), lane, is_suspect, nanos }))
    }

    /// Waits until all runs that have begun have ended, at most until `until` if it is given. This
    /// includes runs that wait for a worker, since the workers drop those when they are stopped.
    /// Returns `false` if a run has not ended by then.
    pub(crate) fn wait_until_idle(&self, until: Option<Instant>) -> bool {
        let mut inner = self.inner.lock();
        while !inner.is_idle() {
            match until {
                None => self.idle.wait(&mut inner),
                Some(until) if self.idle.wait_until(&mut inner, until).timed_out() => {
                    return inner.is_idle();
                }
                Some(_) => {}
            }
        }
        true
    }

    /// Releases the leases of all jobs that wait.
    pub(crate) fn clear(&self) {
        let mut inner = self.inner.lock();
        let tasks = inner.lanes.each_mut().map(|jobs| std::mem::take(&mut jobs.tasks));
        // The drop of each task releases its lease, which must not happen under the lock.
        drop(inner);
        for task in tasks.into_iter().flatten() {
            self.paces.remove_suspect(task.lane(), task.is_suspect);
        }
    }
}

/// Jobs that were taken out because a worker is free for them.
#[derive(Default)]
pub(super) struct Ready {
    pub(super) begins: Vec<Task>,
    /// Jobs that do not begin, for example because they are too late.
    left_out: Vec<(Task, Option<End>)>,
}

impl Ready {
    /// Hands the `Begin`s to the committers, and ends the jobs that do not begin.
    pub(super) fn submit(self) {
        self.begins.into_iter().for_each(Task::submit);
        self.left_out.into_iter().for_each(|(task, end)| task.leave_out(end));
    }
}

/// The slot of a job that has begun. When it is dropped, the next job may begin.
pub(super) struct Slot {
    /// `None` after the slot was freed.
    waiting: Option<Arc<Waiting>>,
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
        self.leave().into_iter().for_each(|waiting| waiting.take().submit());
    }
}
