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

use super::work::{Step, Task};
use crate::handlers::Lane;
use crate::store::{Change, Kind, Kinds};
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wheelhouse_service::Handle;

/// A job begins if a worker is expected to be free for it within this time, in nanoseconds.
const AHEAD: u64 = 1_000_000;

/// A job is leased if a worker is expected to be free for it within this time, in nanoseconds.
/// Other programs may have free workers for the rest.
const LEASED_AHEAD: u64 = 100_000_000;

/// The assumed time of a run, in nanoseconds, if no run of its kind has ended. Also the longest
/// time that is assumed.
const UNKNOWN: u64 = 1_000_000_000;

/// A run longer than the mean counts as at most this plus a multiple of the mean, in nanoseconds.
const OUTLIER: u64 = 100_000;

/// The mean time of runs, in nanoseconds. 0: not known yet.
#[derive(Default)]
struct Pace(AtomicU64);

impl Pace {
    fn nanos(&self) -> u64 {
        match self.0.load(Ordering::Relaxed) {
            0 => UNKNOWN,
            known => known,
        }
    }

    /// Adapts to longer runs faster than to shorter ones: beginning too early does harm, beginning
    /// too late only costs time. A single long run may be an outlier, such as a thread that waited
    /// for its processor. It counts as a limited multiple of the mean, so only several in a row
    /// change the mean much.
    fn learn(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(UNKNOWN).clamp(1, UNKNOWN);
        let known = match self.0.load(Ordering::Relaxed) {
            0 => took,
            known if took > known => known + (took.min(16 * known + OUTLIER) - known) / 4,
            known => known - (known - took) / 8,
        };
        self.0.store(known.max(1), Ordering::Relaxed);
    }
}

/// See the [module](self). All shards share one, since they share the workers.
pub(crate) struct Waiting {
    inner: Mutex<Inner>,
    /// Notified when each run that has begun has ended.
    idle: Condvar,
    /// The workers. `None` in a program without handlers.
    service: Option<Handle>,
    /// The most runs at a time, by [`Lane`].
    at_once: [usize; 2],
    paces: BTreeMap<Kind, Pace>,
    /// The pace of all kinds of [`Lane::Threads`] together.
    pace: Pace,
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
    /// The number of suspects among them.
    suspects: usize,
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
    pub(crate) fn new(service: Option<Handle>, at_once: [usize; 2], kinds: &Kinds) -> Self {
        let paces = kinds.iter().map(|kind| (kind.clone(), Pace::default())).collect();
        let (inner, idle) = (Mutex::default(), Condvar::new());
        Self { inner, idle, service, at_once, paces, pace: Pace::default() }
    }

    /// The workers.
    pub(super) fn service(&self) -> Option<&Handle> {
        self.service.as_ref()
    }

    /// Returns how many jobs of a lane may be leased if `at_once` run at a time. Suspects that wait
    /// for one another are not counted.
    pub(super) fn leased_ahead(&self, lane: Lane, at_once: usize) -> usize {
        let ahead = match lane {
            Lane::Threads => {
                usize::try_from(LEASED_AHEAD / self.pace.nanos()).unwrap_or(usize::MAX - 1)
            }
            // Futures begin at once.
            Lane::Futures => 0,
        };
        let suspects = self.inner.lock().lanes[lane as usize].suspects;
        at_once.saturating_mul(1 + ahead).saturating_add(suspects)
    }

    /// Records the time of a run of this kind that has ended on a thread.
    pub(super) fn learn(&self, kind: &str, took: Duration) {
        self.pace.learn(took);
        self.paces.get(kind).into_iter().for_each(|pace| pace.learn(took));
    }

    /// Adds leased jobs, in order. Returns the jobs that may begin.
    pub(super) fn add(self: &Arc<Self>, tasks: Vec<Task>) -> Ready {
        let mut inner = self.inner.lock();
        for task in tasks {
            let jobs = &mut inner.lanes[task.lane() as usize];
            jobs.suspects += usize::from(task.is_suspect());
            jobs.tasks.push_back(task);
        }
        drop(inner);
        self.take()
    }

    /// Takes out the jobs that may begin.
    fn take(self: &Arc<Self>) -> Ready {
        let mut ready = Ready::default();
        while let Some((mut task, slot)) = self.next() {
            match task.step() {
                Step::Begin(change) => {
                    task.take_room(slot);
                    ready.begins.push((change, task));
                }
                // Its slot is freed here. The drop of the slot would begin the next job, whose drop
                // would begin the next, and so on: a recursion for each job.
                step => {
                    slot.leave();
                    ready.left_out.push((task, step));
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
        let may = |task: &Task| !(task.is_suspect() && *has_suspect);
        let place = jobs.tasks.iter().position(may)?;
        let nanos = self.paces.get(jobs.tasks[place].kind()).map_or(UNKNOWN, Pace::nanos);
        let is_soon =
            lane == Lane::Threads && jobs.expected + nanos <= AHEAD.saturating_mul(at_once as u64);
        if jobs.begun >= at_once && !is_soon {
            return None;
        }
        let task = jobs.tasks.remove(place)?;
        let is_suspect = task.is_suspect();
        jobs.begun += 1;
        jobs.expected += nanos;
        debug_assert!(!is_suspect || jobs.suspects > 0, "each was counted as it came");
        jobs.suspects -= usize::from(is_suspect);
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
        let clear = |jobs: &mut Jobs| {
            jobs.suspects = 0;
            std::mem::take(&mut jobs.tasks)
        };
        let tasks = inner.lanes.each_mut().map(clear);
        // The drop of each task releases its lease, which must not happen under the lock.
        drop(inner);
        drop(tasks);
    }
}

/// Jobs that were taken out because a worker is free for them.
#[derive(Default)]
pub(super) struct Ready {
    pub(super) begins: Vec<(Change, Task)>,
    /// Jobs that do not begin, for example because they are too late.
    left_out: Vec<(Task, Step)>,
}

impl Ready {
    /// Hands the `Begin`s to the committers, and ends the jobs that do not begin.
    pub(super) fn submit(self) {
        self.begins.into_iter().for_each(|(change, task)| task.submit(change));
        self.left_out.into_iter().for_each(|(task, step)| task.leave_out(step));
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
    fn leave(mut self) {
        drop(self.left());
    }

    fn left(&mut self) -> Option<Arc<Waiting>> {
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
        self.left().into_iter().for_each(|waiting| waiting.take().submit());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_follows_runs_and_not_a_single_one() {
        let pace = Pace::default();
        assert_eq!(pace.nanos(), UNKNOWN);
        pace.learn(Duration::ZERO);
        assert_eq!(pace.nanos(), 1, "by a clock that stands still");
        let (fast, slow) = (Duration::from_micros(10), Duration::from_secs(3_600));
        (0..100).for_each(|_| pace.learn(fast));
        assert!((9_000..=10_000).contains(&pace.nanos()), "{}", pace.nanos());
        pace.learn(slow);
        assert!(pace.nanos() < AHEAD / 5, "an outlier: {}", pace.nanos());
        (0..3).for_each(|_| pace.learn(slow));
        assert!(pace.nanos() > AHEAD, "four in a row: {}", pace.nanos());
        (0..20).for_each(|_| pace.learn(slow));
        assert_eq!(pace.nanos() / (UNKNOWN / 100), 99);
    }
}
