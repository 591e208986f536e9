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
mod core;
mod due;
mod fence;
mod handover;
mod hold;
mod inside;
mod keys;
mod list;
mod runs;
mod signal;
mod slab;
mod spare;
mod stop;
mod wheel;

pub(crate) use self::core::{Core, Held, New, Stage, Taken, Task};
pub(crate) use arena::Arena;
pub(crate) use handover::{Begun, Came, Done, Leftover, Plain};
pub(crate) use runs::Watch;
pub(crate) use slab::{Lying, Slab, Slabs};
pub use wheel::JobIndex;
pub(crate) use wheel::Wheel;

use crate::job::{Id, Info, Key, Turn};
use crate::observe::{Distributions, Snapshot};
use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex};
use crate::time::{Clock, Due, Moment, Ticks};
use crate::{ChangeError, Reason};
use crossbeam_utils::CachePadded;
use keys::{Keys, in_order};
use signal::Signal;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wheelhouse_core::Tick;

/// A shard.
struct Shard<W: Task + ?Sized> {
    /// Nothing is due before this tick. Written under the lock.
    next: AtomicU64,
    core: Mutex<Core<W>>,
}

/// All shards, and their common state.
pub(crate) struct House<W: Task + ?Sized> {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ticks: Ticks,
    pub(crate) signal: CachePadded<Signal>,
    keys: Keys,
    shards: Box<[CachePadded<Shard<W>>]>,
    /// The limit of jobs, and their number.
    room: Option<(usize, Arc<AtomicUsize>)>,
    closed: AtomicBool,
    polls: CachePadded<AtomicUsize>,
    /// Counted by the threads of a service.
    pub(crate) held_up: Arc<std::sync::atomic::AtomicU64>,
    /// A thread that stops the service waits here for runs to end.
    gate: (Mutex<()>, Condvar),
}

std::thread_local! {
    /// The number of this thread. Modulo the number of shards, it is the shard in which the thread
    /// schedules.
    static HERE: usize = THREADS.fetch_add(1, Ordering::Relaxed);
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

impl<W: Task + ?Sized> House<W> {
    /// Creates a shard for each wheel. With `own_wheels` they are of the default kind, and `shrink`
    /// may replace them.
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        ticks: Ticks,
        wheels: Vec<Box<dyn Wheel>>,
        own_wheels: bool,
        limit: Option<usize>,
    ) -> Self {
        let room = limit.map(|limit| (limit, Arc::default()));
        let count = wheels.len() as u64;
        let shard = |(shard, wheel)| {
            let room = room.as_ref().map(|(_, room)| Arc::clone(room));
            let core = Mutex::new(Core::new((wheel, own_wheels), ticks, (shard, count), room));
            CachePadded::new(Shard { next: AtomicU64::new(Tick::MAX), core })
        };
        Self {
            clock,
            ticks,
            signal: CachePadded::new(Signal::new()),
            keys: Keys::default(),
            shards: (0..).zip(wheels).map(shard).collect(),
            room,
            closed: AtomicBool::new(false),
            polls: CachePadded::default(),
            held_up: Arc::default(),
            gate: (Mutex::default(), Condvar::default()),
        }
    }

    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// The shard in which this thread schedules.
    #[inline]
    pub(crate) fn here(&self) -> u32 {
        if self.shards.len() == 1 {
            return 0;
        }
        HERE.with(|here| (here % self.shards.len()) as u32)
    }

    /// Calls `act` under the lock of a shard. If something is due there earlier than before, and
    /// the driver would sleep past that, it is woken.
    #[inline]
    pub(crate) fn with<T>(&self, shard: u32, act: impl FnOnce(&mut Core<W>) -> T) -> T {
        self.with_told(shard, act).0
    }

    /// The same. Also returns `true` if the lock was waited for.
    #[inline]
    pub(crate) fn with_told<T>(
        &self,
        shard: u32,
        act: impl FnOnce(&mut Core<W>) -> T,
    ) -> (T, bool) {
        let shard = &self.shards[shard as usize];
        let free = shard.core.try_lock();
        let waited = free.is_none();
        let mut core = free.unwrap_or_else(|| shard.core.lock());
        let before = core.next;
        let answer = act(&mut core);
        let next = core.next;
        if next != before {
            shard.next.store(next, Ordering::SeqCst);
        }
        // Before the driver is woken, which then takes this lock.
        drop(core);
        if next < before {
            self.signal.earlier(self.ticks.instant(next));
        }
        (answer, waited)
    }

    /// Calls `act` under the lock of each shard, one after the other.
    fn with_all(&self, mut act: impl FnMut(&mut Core<W>)) {
        (0..self.shards.len() as u32).for_each(|shard| self.with(shard, &mut act));
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
        let scheduled = self.with(shard, |core| core.schedule_plain(deadline, work));
        match scheduled {
            Ok(id) => Some(id),
            Err(work) => {
                self.give_up();
                *refused = Some((Reason::Stopped, work));
                None
            }
        }
    }

    /// The same for work that `put` stores in a slab. If there is no slab for it, the error has no
    /// reason.
    #[inline]
    pub(crate) fn schedule_in_slab<T>(
        &self,
        shard: u32,
        deadline: Moment,
        work: T,
        put: impl FnOnce(&mut Slabs<W>, T) -> Result<(u16, u32), T>,
    ) -> Result<Id, (Option<Reason>, T)> {
        if let Err(reason) = self.admit(false) {
            return Err((Some(reason), work));
        }
        let scheduled = self.with(shard, |core| core.schedule_in_slab(deadline, work, put));
        scheduled.inspect_err(|_| self.give_up())
    }

    /// Schedules a job in a shard, with or without a key. Returns it, and the former job with the
    /// key if that may be replaced; the caller cancels it. The limit of a run is a job too, and is
    /// never refused.
    pub(crate) fn schedule(
        &self,
        shard: u32,
        due: &Due,
        key: Option<(Key, bool)>,
        new: New<W>,
    ) -> Result<(Id, Option<Id>), (Reason, New<W>)> {
        let limits_run = matches!(new, New::Wake { limits_run: true, .. });
        if let Err(reason) = self.admit(limits_run) {
            return Err((reason, new));
        }
        let look_by = due.look_by(|| self.now());
        let schedule = |new| {
            let scheduled = self.with(shard, |core| core.schedule(due, look_by, new));
            scheduled.map_err(|new| (Reason::Stopped, new))
        };
        let scheduled = match key {
            None => schedule(new).map(|id| (id, None)),
            Some((key, replace)) => {
                let part = self.keys.part(&key);
                if !replace && part.get(&key).is_some() {
                    Err((Reason::DuplicateKey, new))
                } else {
                    schedule(new).map(|id| (id, part.insert(key, id)))
                }
            }
        };
        if scheduled.is_err() {
            self.give_up();
        }
        scheduled
    }

    /// Schedules a job that is due at once: see [`Core::schedule_due`].
    pub(crate) fn schedule_due(
        &self,
        shard: u32,
        work: Box<W>,
        is_async: bool,
    ) -> Result<(Id, Option<Turn>), (Reason, Box<W>)> {
        if let Err(reason) = self.admit(false) {
            return Err((reason, work));
        }
        let now = self.now();
        let scheduled = self.with(shard, |core| core.schedule_due(now, work, is_async));
        scheduled.map_err(|work| {
            self.give_up();
            (Reason::Stopped, work)
        })
    }

    /// Releases the room of a job that was not scheduled after all.
    fn give_up(&self) {
        if let Some((_, room)) = &self.room {
            room.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Reserves room for a job. For the limit of a run it never fails.
    #[inline]
    fn admit(&self, limits_run: bool) -> Result<(), Reason> {
        if self.is_closed() && !limits_run {
            return Err(Reason::Stopped);
        }
        let Some((limit, room)) = &self.room else { return Ok(()) };
        let more = |jobs| (limits_run || jobs < *limit).then_some(jobs + 1);
        let made = room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        made.map(drop).map_err(|_| Reason::LimitReached(*limit))
    }

    /// Moves a job. `count` is set if a caller asked for it: then it is counted.
    pub(crate) fn move_to(&self, id: Id, due: Option<Due>, count: bool) -> Result<(), ChangeError> {
        let due =
            due.filter(|due| self.ticks.reaches(due.deadline)).ok_or(ChangeError::Overflow)?;
        let look_by = due.look_by(|| self.now());
        self.with(id.shard(), |core| {
            core.reschedule(id, due, look_by)?;
            core.counts.rescheduled += u64::from(count);
            Ok(())
        })
    }

    /// From here on no job comes due, except for futures.
    pub(crate) fn hold(&self) {
        self.with_all(Core::hold);
    }

    /// Jobs come due again.
    pub(crate) fn let_go(&self) {
        for shard in 0..self.shards.len() as u32 {
            while self.with(shard, |core| core.let_go(self.now())) {}
        }
    }

    pub(crate) fn job_of_key(&self, key: &str) -> Option<Id> {
        self.keys.get(key)
    }

    pub(crate) fn keys_in_order(&self) -> Vec<Key> {
        in_order(self.keys.numbered())
    }

    /// Releases the key of a job.
    #[inline]
    pub(crate) fn free_key(&self, info: Option<&Info>, id: Id) {
        if let Some(key) = info.and_then(|info| info.key.as_ref()) {
            self.keys.remove(key, id);
        }
    }

    /// The number of jobs that are not over.
    pub(crate) fn jobs(&self) -> usize {
        self.shards.iter().map(|shard| shard.core.lock().len()).sum()
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn count_poll(&self) {
        self.polls.fetch_add(1, Ordering::Relaxed);
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

    /// Updates the next tick of each shard.
    pub(crate) fn find_next(&self) {
        self.with_all(Core::find_next);
    }

    /// When something is due first, if anything is: see [`find_next`](Self::find_next).
    pub(crate) fn next_due(&self) -> Option<Moment> {
        let next = self.shards.iter().map(|shard| shard.next.load(Ordering::SeqCst)).min();
        next.filter(|next| *next != Tick::MAX).map(|next| self.ticks.instant(next))
    }

    /// Jobs that are scheduled between this and [`open_fence`](Self::open_fence) are for the next
    /// poll.
    pub(crate) fn close_fence(&self, upto: Tick) {
        self.with_all(|core| core.close_fence(upto));
    }

    pub(crate) fn open_fence(&self) {
        self.with_all(Core::open_fence);
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let (mut snapshot, mut all) = (Snapshot::default(), Distributions::new());
        self.with_all(|core| {
            snapshot.counts.add(&core.counts);
            snapshot.jobs += core.len();
            snapshot.in_flight += core.runs.in_flight;
            snapshot.running += core.runs.begun;
            if let Some(distributions) = core.distributions() {
                all.add(distributions);
            }
        });
        snapshot.counts.polls = self.polls.load(Ordering::Relaxed) as u64;
        snapshot.counts.held_up = self.held_up.load(Ordering::Relaxed);
        snapshot.keys = self.keys.len();
        (snapshot.lateness, snapshot.run_time) = all.summaries();
        snapshot
    }
}
