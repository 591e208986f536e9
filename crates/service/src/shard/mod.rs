//! Shards: each is a lock around a wheel and the jobs whose timers are in it. Callers schedule,
//! cancel and move jobs there directly. The driver takes out what is due.
//!
//! Each thread schedules in one shard, so threads contend only if there are more of them than
//! shards. Each shard publishes a tick before which nothing is due. The driver goes to the shard
//! with the lowest one, and takes out what is due there, up to the tick of the next shard. So the
//! order of deadlines holds over all shards.
//!
//! This layer knows what a job is, but not what it does: its work is the type parameter `W`.

mod arena;
mod change;
mod due;
mod end;
mod handover;
mod keys;
mod pause;
mod query;
mod runs;
mod shrink;
mod signal;
mod state;
mod stop;

pub(crate) use handover::{
    ActiveRun, DueJob, HandedOut, PlainRun, ReadyQueue, ReadyTask, RunFacts, ShardWork, TakenJob,
    TakenWork, TaskKind,
};
pub(crate) use runs::SlowRun;
pub use state::JobIndex;
pub(crate) use state::{DynTimer, ShardState, StopStage, default_wheel};

use crate::error::{ChangeError, Reason};
use crate::job::{Id, Info, JobState, Key};
use crate::observe::{Distributions, Snapshot};
use crate::sync::{AtomicBool, AtomicU64, Condvar, HoldsShard, Mutex};
use crate::time::{Clock, Due, Moment, Ticks};
use crossbeam_utils::CachePadded;
use keys::Keys;
use signal::Signal;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Duration;
use wheelhouse_core::Tick;

struct Shard<W: ShardWork + ?Sized> {
    /// Nothing is due before this tick. Written under the lock.
    next: AtomicU64,
    state: Mutex<ShardState<W>>,
}

/// All shards, and their common state.
pub(crate) struct Shards<W: ShardWork + ?Sized> {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ticks: Ticks,
    pub(crate) signal: CachePadded<Signal>,
    pub(crate) ready: CachePadded<ReadyQueue>,
    pub(crate) keys: Keys,
    shards: Box<[CachePadded<Shard<W>>]>,
    /// The limit of jobs, and their number.
    room: Option<(usize, Arc<AtomicUsize>)>,
    closed: AtomicBool,
    /// Held while all jobs are paused, or unpaused, in one shard after the other.
    pausing: Mutex<()>,
    pub(crate) polls: CachePadded<AtomicUsize>,
    /// Counted by the threads of a service.
    pub(crate) delayed_others: Arc<std::sync::atomic::AtomicU64>,
    /// A thread that stops the service waits here for runs to end.
    gate: (Mutex<()>, Condvar),
}

std::thread_local! {
    /// The number of this thread. Modulo the number of shards, it is the shard in which the thread
    /// schedules.
    static THREAD_NUMBER: usize = THREADS.fetch_add(1, Ordering::Relaxed);
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

impl<W: ShardWork + ?Sized> Shards<W> {
    /// Creates a shard for each wheel. With `own_wheels` they are of the default kind, and `shrink`
    /// may replace them.
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        ticks: Ticks,
        wheels: Vec<Box<DynTimer>>,
        own_wheels: bool,
        limit: Option<usize>,
    ) -> Self {
        let room = limit.map(|limit| (limit, Arc::default()));
        let count = wheels.len() as u64;
        let shard = |(shard, wheel)| {
            let room = room.as_ref().map(|(_, room)| Arc::clone(room));
            let state =
                Mutex::new(ShardState::new((wheel, own_wheels), ticks, (shard, count), room));
            CachePadded::new(Shard { next: AtomicU64::new(Tick::MAX), state })
        };
        Self {
            clock,
            ticks,
            signal: CachePadded::default(),
            ready: CachePadded::default(),
            keys: Keys::default(),
            shards: (0..).zip(wheels).map(shard).collect(),
            room,
            closed: AtomicBool::new(false),
            pausing: Mutex::default(),
            polls: CachePadded::default(),
            delayed_others: Arc::default(),
            gate: (Mutex::default(), Condvar::default()),
        }
    }

    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(crate) fn count(&self) -> usize {
        self.shards.len()
    }

    #[inline]
    pub(crate) fn own_shard(&self) -> u32 {
        if self.shards.len() == 1 {
            return 0;
        }
        THREAD_NUMBER.with(|number| (number % self.shards.len()) as u32)
    }

    /// Calls `act` under the lock of a shard. If something is due there earlier than before, and
    /// the driver would sleep past that, it is woken.
    #[inline]
    pub(crate) fn with<T>(&self, shard: u32, act: impl FnOnce(&mut ShardState<W>) -> T) -> T {
        self.with_contention(shard, act).0
    }

    /// The same. Also returns `true` if the lock was waited for.
    #[inline]
    pub(crate) fn with_contention<T>(
        &self,
        shard: u32,
        act: impl FnOnce(&mut ShardState<W>) -> T,
    ) -> (T, bool) {
        let (answer, waited, earlier) = self.with_quietly(shard, act);
        self.wake_for(earlier);
        (answer, waited)
    }

    /// The same, but does not wake the driver. Returns the moment to pass to
    /// [`wake_for`](Self::wake_for), without any lock: that may call the user's waker.
    #[inline]
    fn with_quietly<T>(
        &self,
        shard: u32,
        act: impl FnOnce(&mut ShardState<W>) -> T,
    ) -> (T, bool, Option<Tick>) {
        let shard = &self.shards[shard as usize];
        let holds = HoldsShard::new();
        let free = shard.state.try_lock();
        let waited = free.is_none();
        let mut state = free.unwrap_or_else(|| shard.state.lock());
        let before = state.next;
        debug_assert_eq!(
            shard.next.load(Ordering::Relaxed),
            before,
            "the published tick is not that of the shard"
        );
        let answer = act(&mut state);
        let next = state.next;
        if next != before {
            shard.next.store(next, Ordering::SeqCst);
        }
        // Before the driver is woken, which then takes this lock.
        drop((state, holds));
        (answer, waited, (next < before).then_some(next))
    }

    /// Something is due at this tick, earlier than before. Wakes the driver if it would sleep past
    /// that.
    #[inline]
    fn wake_for(&self, earlier: Option<Tick>) {
        if let Some(next) = earlier {
            self.signal.earlier(self.ticks.instant(next));
        }
    }

    /// Returns `true` if a job that the table of keys names still has its key. The state of a job
    /// changes before its key is removed from the table, without the lock of its shard. A thread
    /// that has seen the change finds the key free.
    pub(crate) fn has_key(&self, id: Id) -> bool {
        self.with(id.shard(), |state| state.has_key(id))
    }

    pub(crate) fn with_all(&self, mut act: impl FnMut(&mut ShardState<W>)) {
        (0..self.shards.len() as u32).for_each(|shard| self.with(shard, &mut act));
    }

    pub(crate) fn sum(&self, of: impl Fn(&ShardState<W>) -> usize) -> usize {
        let mut sum = 0;
        self.with_all(|state| sum += of(state));
        sum
    }

    /// Schedules a plain job. The result is two words, which are returned in registers. `None` if
    /// the job was refused; the rare reason goes into `refused`.
    #[inline(never)]
    pub(crate) fn schedule_plain(
        &self,
        shard: u32,
        deadline: Moment,
        work: Box<W>,
        refused: &mut Option<(Reason, Box<W>)>,
    ) -> Option<Id> {
        if let Err(reason) = self.admit(false) {
            *refused = Some((reason, work));
            return None;
        }
        let scheduled = self.with(shard, |state| state.schedule_plain(deadline, work));
        scheduled.map_err(|work| *refused = Some(self.stopped(work))).ok()
    }

    /// Releases the room of a job that a stopped service has refused.
    #[cold]
    fn stopped<J>(&self, job: J) -> (Reason, J) {
        self.release_room();
        (Reason::Stopped, job)
    }

    /// Schedules a job in a shard, with or without a key. Returns it, and the former job with the
    /// key if that may be replaced; the caller cancels it.
    pub(crate) fn schedule(
        &self,
        shard: u32,
        due: &Due,
        key: Option<(Key, bool)>,
        job: JobState<W>,
    ) -> Result<(Id, Option<Id>), (Reason, JobState<W>)> {
        if let Err(reason) = self.admit(false) {
            return Err((reason, job));
        }
        let check_by = due.check_by(|| self.now());
        let mut earlier = None;
        let mut schedule = |job| {
            let scheduled;
            (scheduled, _, earlier) =
                self.with_quietly(shard, |state| state.schedule(due.deadline, check_by, job));
            scheduled.map_err(|job| (Reason::Stopped, job))
        };
        let scheduled = match key {
            None => schedule(job).map(|id| (id, None)),
            Some((key, replace)) => {
                let part = self.keys.part(&key);
                if !replace && part.get(&key).is_some_and(|id| self.has_key(id)) {
                    Err((Reason::DuplicateKey, job))
                } else {
                    schedule(job).map(|id| (id, part.insert(key, id)))
                }
            }
        };
        self.wake_for(earlier);
        if scheduled.is_err() {
            self.release_room();
        }
        scheduled
    }

    /// Schedules a job that only wakes a task. If it is unlimited, it is not refused for the limit
    /// of jobs. If it limits a run, it also fires while the service stops, since the stop may wait
    /// for that run.
    pub(crate) fn schedule_wake(
        &self,
        deadline: Moment,
        waker: Waker,
        unlimited: bool,
        limits_run: bool,
    ) -> Result<Id, Reason> {
        self.admit(unlimited)?;
        let shard = self.own_shard();
        let scheduled = self.with(shard, |state| state.schedule_wake(deadline, waker, limits_run));
        // A waker that is refused is dropped here, without the lock.
        scheduled.map_err(|waker| self.stopped(waker).0)
    }

    fn release_room(&self) {
        if let Some((_, room)) = &self.room {
            let before = room.fetch_sub(1, Ordering::Relaxed);
            debug_assert!(before > 0, "more room is released than was reserved");
        }
    }

    /// Reserves room for a job. For a job that is unlimited it never fails.
    #[inline]
    fn admit(&self, unlimited: bool) -> Result<(), Reason> {
        if self.is_closed() && !unlimited {
            return Err(Reason::Stopped);
        }
        let Some((limit, room)) = &self.room else { return Ok(()) };
        let more = |jobs| (unlimited || jobs < *limit).then_some(jobs + 1);
        let made = room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        made.map(drop).map_err(|_| Reason::LimitReached(*limit))
    }

    /// Moves a job. `count` is set if a caller asked for it: then it is counted.
    pub(crate) fn move_to(&self, id: Id, due: Option<Due>, count: bool) -> Result<(), ChangeError> {
        let due =
            due.filter(|due| self.ticks.reaches(due.deadline)).ok_or(ChangeError::Overflow)?;
        let check_by = due.check_by(|| self.now());
        self.with(id.shard(), |state| {
            state.reschedule(id, due, check_by)?;
            state.counts.rescheduled += u64::from(count);
            Ok(())
        })
    }

    #[inline]
    pub(crate) fn free_key(&self, info: Option<&Info>, id: Id) {
        if let Some(key) = info.and_then(|info| info.key.as_ref()) {
            self.keys.remove(key, id);
        }
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// The shard where something is due first, and the tick up to which nothing is due earlier in
    /// another shard. `None` if nothing is due at tick `by`.
    pub(crate) fn first_due(&self, by: Tick) -> Option<(u32, Tick)> {
        let (mut first, mut second) = ((Tick::MAX, 0), Tick::MAX);
        for (number, shard) in (0..).zip(&self.shards) {
            let next = shard.next.load(Ordering::SeqCst);
            if next < first.0 {
                second = first.0;
                first = (next, number);
            } else {
                second = second.min(next);
            }
        }
        (first.0 <= by && first.0 != Tick::MAX).then_some((first.1, second.min(by)))
    }

    pub(crate) fn next_due(&self) -> Option<Moment> {
        let next = self.shards.iter().map(|shard| shard.next.load(Ordering::SeqCst)).min();
        next.filter(|next| *next != Tick::MAX).map(|next| self.ticks.instant(next))
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let (mut snapshot, mut all) = (Snapshot::default(), Distributions::default());
        self.with_all(|state| {
            snapshot.counts.add(&state.counts);
            snapshot.jobs += state.len();
            snapshot.in_flight += state.runs.in_flight;
            snapshot.running += state.runs.begun;
            if let Some(its) = &state.distributions {
                all.lateness.add(&its.lateness);
                all.run_time.add(&its.run_time);
            }
        });
        snapshot.counts.polls = self.polls.load(Ordering::Relaxed) as u64;
        snapshot.counts.delayed_others = self.delayed_others.load(Ordering::Relaxed);
        snapshot.keys = self.keys.len();
        snapshot.lateness = all.lateness.summary(Duration::from_nanos);
        snapshot.run_time = all.run_time.summary(Duration::from_nanos);
        snapshot
    }
}
