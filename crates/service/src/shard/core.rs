//! The state under the lock of a shard: jobs, and a wheel of their timers. Jobs are scheduled here.
//! `change` cancels and moves them, and `due` handles them at their deadlines.

use super::arena::Arena;
use super::runs::Runs;
use super::slab::{Lying, Slab, Slabs};
use super::wheel::{JobIndex, Wheel};
use crate::job::{Id, Info, Life, Status, Turn, Way};
use crate::observe::{Counts, Distributions};
use crate::time::{Due, Moment, Ticks};
use crate::{ChangeError, Reason};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::Waker;
use wheelhouse_core::{Tick, TimerId};

/// The properties of work that a shard needs.
pub(crate) trait Task: Send {
    /// The slabs in which brief work is stored without a box.
    type Slab: Slab<Self> + ?Sized;

    /// A second copy, for a run that overlaps with another. `None` if the runs of this work cannot
    /// overlap.
    fn fork(&self) -> Option<Box<Self>>;

    /// Returns `true` if it takes only an instant, so that it needs no executor.
    fn is_brief(&self) -> bool;

    /// Returns `true` if a future waits for it.
    fn is_awaited(&self) -> bool;
}

/// A job to be scheduled that is not plain.
pub(crate) enum New<W: ?Sized> {
    Full(Life<W>),
    /// Only wakes a task. If it limits a run, it is never refused, and it also fires while the
    /// service stops, since the stop may wait for that run.
    Wake {
        waker: Waker,
        limits_run: bool,
    },
}

/// One job. A plain job has only this and its closure. Its timer takes another 32 bytes in the
/// wheel.
pub(super) struct Slot<W: ?Sized> {
    pub(super) number: NonZeroU64,
    /// When the next run is due. During a run, its deadline, unless the next run has been moved.
    pub(super) deadline: Moment,
    pub(super) place: Place,
    pub(super) body: Body<W>,
}

// This, the 32 bytes of a timer in the wheel and a closure of 16 bytes are the memory that the
// documentation promises. (`Any` stands for any trait object.)
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Option<Slot<dyn std::any::Any>>>() == 40);

impl<W: ?Sized> Slot<W> {
    /// The index of the job's life, if it has one.
    pub(super) fn life(&self) -> Option<u32> {
        if let Body::Other(Other::Full { life, .. }) = self.body { Some(life) } else { None }
    }

    /// Returns `true` if a move to `deadline` only has to write the deadline: its timer fires
    /// earlier anyway, and nothing else changes. Then its life, which is in other memory, is not
    /// touched.
    pub(super) fn is_put_off_by(&self, deadline: Moment) -> bool {
        let with_more = matches!(self.body, Body::Other(Other::Full { with_more: true, .. }));
        matches!(self.place, Place::Wheel(_)) && deadline >= self.deadline && !with_more
    }
}

/// The timer of a job.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// The timer in the wheel. It never fires after the tick of the job's deadline. It fires
    /// earlier if the job was moved to a later deadline, or if the wall clock must be checked. Then
    /// it is started again.
    Wheel(TimerId),
    /// No timer. If there is a turn, the run is due, and begins with that turn.
    Off(Option<Turn>),
}

pub(super) enum Body<W: ?Sized> {
    Plain(Box<W>),
    Other(Other),
}

/// Eight bytes with the tag, so that a body is not larger than a box.
#[derive(Clone, Copy)]
pub(super) enum Other {
    /// The job has a life. `with_more` is set if the life may have a `More`, which a move changes
    /// too.
    Full { life: u32, with_more: bool },
    /// A waker, and `true` if it limits a run.
    Wake(u32, bool),
    /// Brief work: its slab, and its index there.
    InSlab(u16, u32),
    /// A run has the work.
    Gone,
}

/// Work that was taken out of a job.
pub(crate) enum Held<W: Task + ?Sized> {
    Work(Box<W>),
    InSlab(Lying<W>),
    Wake(Waker),
}

/// A job that was taken out and will not run.
pub(crate) struct Taken<W: Task + ?Sized> {
    pub(crate) id: Id,
    pub(crate) deadline: Moment,
    pub(crate) info: Option<Arc<Info>>,
    pub(crate) held: Option<Held<W>>,
}

/// The stages of stopping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Open,
    /// Nothing more is scheduled. Scheduled jobs still come due, and futures may wait.
    Draining,
    /// Nothing more is scheduled, and no more runs are handed out.
    Closed,
    /// The jobs that did not run were returned: a periodic job whose run ends is over. Threads
    /// still carry out the runs that have begun, and hold them to their limits.
    Ending,
    /// The same, and the threads have ended.
    Over,
}

impl Stage {
    /// Returns `true` if jobs come due, and can be changed.
    pub(super) fn runs(self) -> bool {
        matches!(self, Self::Open | Self::Draining)
    }

    /// Returns `true` if the service has returned the jobs that did not run.
    pub(super) fn is_over(self) -> bool {
        matches!(self, Self::Ending | Self::Over)
    }
}

pub(crate) struct Core<W: Task + ?Sized> {
    pub(super) wheel: Box<dyn Wheel>,
    /// The wheel is of the default kind, and may be replaced by another.
    pub(super) own_wheel: bool,
    pub(super) ticks: Ticks,
    pub(super) slots: Arena<Slot<W>>,
    pub(super) lives: Arena<Life<W>>,
    pub(super) wakers: Arena<Waker>,
    pub(super) slabs: Slabs<W>,
    /// Nothing is due before this tick. It may be too early: the job that was due then may have
    /// been cancelled.
    pub(super) next: Tick,
    pub(super) stage: Stage,
    /// The number of shards, and the number of this one. The numbers of jobs alternate between
    /// shards, so shards need no common counter.
    shards: u64,
    shard: u32,
    /// The number of jobs in all shards, if there is a limit.
    pub(super) room: Option<Arc<AtomicUsize>>,
    /// During a poll: the last job number, and the tick up to which this poll goes. Jobs with a
    /// higher number were scheduled during the poll and are for the next one.
    pub(super) fence: Option<(u64, Tick)>,
    pub(super) aside: Vec<Id>,
    /// No job comes due. `put_aside` are the jobs whose time has come since then.
    pub(super) held: bool,
    pub(super) put_aside: Vec<Id>,
    /// The turn of the last run that was handed out.
    pub(super) turn: Turn,
    pub(crate) runs: Runs,
    pub(crate) counts: Counts,
    /// 80 KiB, allocated by the first run.
    pub(super) distributions: Option<Box<Distributions>>,
}

impl<W: Task + ?Sized> Core<W> {
    pub(super) fn new(
        (wheel, own_wheel): (Box<dyn Wheel>, bool),
        ticks: Ticks,
        (shard, shards): (u32, u64),
        room: Option<Arc<AtomicUsize>>,
    ) -> Self {
        Self {
            wheel,
            own_wheel,
            ticks,
            slots: Arena::default(),
            lives: Arena::default(),
            wakers: Arena::default(),
            slabs: Slabs::<W>::new(),
            next: Tick::MAX,
            stage: Stage::Open,
            shards,
            shard,
            room,
            fence: None,
            aside: Vec::new(),
            held: false,
            put_aside: Vec::new(),
            turn: Turn::MIN,
            runs: Runs::default(),
            counts: Counts::default(),
            distributions: None,
        }
    }

    pub(super) fn shard(&self) -> u32 {
        self.shard
    }

    /// The number of the job that was scheduled last. If there is none, a number below all others.
    pub(super) fn last_number(&self) -> u64 {
        (self.counts.scheduled * self.shards + u64::from(self.shard) + 1)
            .saturating_sub(self.shards)
    }

    /// The number of jobs that are not over.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn distributions(&self) -> Option<&Distributions> {
        self.distributions.as_deref()
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// Schedules a plain job, unless the service was stopped. The shortest path, since most jobs
    /// are plain.
    #[inline]
    pub(crate) fn schedule_plain(&mut self, deadline: Moment, work: Box<W>) -> Result<Id, Box<W>> {
        if self.stage != Stage::Open {
            return Err(work);
        }
        Ok(self.put(deadline, self.ticks.not_before(deadline), Body::Plain(work)))
    }

    /// The same for work that `put` stores in a slab.
    #[inline]
    pub(crate) fn schedule_in_slab<T>(
        &mut self,
        deadline: Moment,
        work: T,
        put: impl FnOnce(&mut Slabs<W>, T) -> Result<(u16, u32), T>,
    ) -> Result<Id, (Option<Reason>, T)> {
        if self.stage != Stage::Open {
            return Err((Some(Reason::Stopped), work));
        }
        let (slab, its_place) = put(&mut self.slabs, work).map_err(|work| (None, work))?;
        let body = Body::Other(Other::InSlab(slab, its_place));
        Ok(self.put(deadline, self.ticks.not_before(deadline), body))
    }

    /// Schedules a job that is due at once. It has no timer. Returns the turn with which its run is
    /// to be handed out. `None` if all jobs are paused: the job then waits with them.
    pub(crate) fn schedule_due(
        &mut self,
        now: Moment,
        work: Box<W>,
        is_async: bool,
    ) -> Result<(Id, Option<Turn>), Box<W>> {
        if self.stage != Stage::Open {
            return Err(work);
        }
        let body = if is_async {
            let way = Way { is_async, ..Way::default() };
            let mut life = Life::plain(work, self.ticks);
            life.more.get_or_insert_default().way = way;
            Body::Other(Other::Full { life: self.lives.insert(life), with_more: true })
        } else {
            Body::Plain(work)
        };
        let number = self.next_number();
        let turn = (!self.held).then(|| self.next_turn());
        let place = Place::Off(turn);
        let index = self.slots.insert(Slot { number, deadline: now, place, body });
        let id = Id::new(number, index, self.shard);
        match turn {
            Some(_) => self.runs.in_flight += 1,
            None => self.put_aside.push(id),
        }
        Ok((id, turn))
    }

    #[inline]
    fn next_number(&mut self) -> NonZeroU64 {
        let number = self.counts.scheduled * self.shards + u64::from(self.shard);
        self.counts.scheduled += 1;
        NonZeroU64::MIN.saturating_add(number)
    }

    /// Returns the turn of the next run that is handed out.
    pub(super) fn next_turn(&mut self) -> Turn {
        self.turn = self.turn.checked_add(1).unwrap_or(Turn::MIN);
        self.turn
    }

    /// Inserts a job, with a timer for this tick.
    #[inline]
    fn put(&mut self, deadline: Moment, tick: Tick, body: Body<W>) -> Id {
        let number = self.next_number();
        self.next = self.next.min(tick);
        let wheel = &mut self.wheel;
        let index = self.slots.insert_with(|index| {
            let place = Place::Wheel(wheel.insert(tick, JobIndex(index)));
            Slot { number, deadline, place, body }
        });
        Id::new(number, index, self.shard)
    }

    /// Schedules a job, unless the service was stopped. `look_by` is when the driver must check it.
    pub(crate) fn schedule(
        &mut self,
        due: &Due,
        look_by: Moment,
        new: New<W>,
    ) -> Result<Id, New<W>> {
        let is_accepted = match &new {
            New::Full(_) => self.stage == Stage::Open,
            New::Wake { limits_run, .. } => self.stage.runs() || *limits_run,
        };
        if !is_accepted {
            return Err(new);
        }
        let ticks = if let New::Full(life) = &new { life.ticks } else { self.ticks };
        let body = match new {
            New::Full(life) => {
                let with_more = life.more.is_some();
                Body::Other(Other::Full { life: self.lives.insert(life), with_more })
            }
            New::Wake { waker, limits_run } => {
                Body::Other(Other::Wake(self.wakers.insert(waker), limits_run))
            }
        };
        Ok(self.put(due.deadline, ticks.not_before(look_by), body))
    }

    /// Returns `true` if a job is the limit of a run.
    pub(super) fn limits_run(&self, index: u32) -> bool {
        let body = self.slots.get(index).map(|slot| &slot.body);
        matches!(body, Some(Body::Other(Other::Wake(_, true))))
    }

    /// Starts the timer of a job whose former timer, if it had one, has fired or was cancelled.
    #[inline]
    pub(super) fn start_timer(&mut self, index: u32, tick: Tick) {
        let Some(slot) = self.slots.get_mut(index) else {
            return debug_assert!(false, "no job has the index {index}");
        };
        let is_over = |timer| self.wheel.deadline(timer).is_none();
        debug_assert!(
            if let Place::Wheel(timer) = slot.place { is_over(timer) } else { true },
            "a job has one timer"
        );
        slot.place = Place::Wheel(self.wheel.insert(tick, JobIndex(index)));
        self.next = self.next.min(tick);
    }

    /// The job, if it is not over.
    pub(super) fn slot(&mut self, id: Id) -> Option<&mut Slot<W>> {
        self.slots.get_mut(id.index()).filter(|slot| slot.number == id.number)
    }

    /// The state of a job. `None` if it is over.
    pub(crate) fn status(&mut self, id: Id) -> Option<Status> {
        let slot = self.slots.get(id.index()).filter(|slot| slot.number == id.number)?;
        Some(match () {
            () if self.is_running(slot) => Status::Running,
            () if self.is_paused(slot) => Status::Paused,
            () => Status::Pending,
        })
    }

    pub(super) fn is_paused(&self, slot: &Slot<W>) -> bool {
        slot.life().and_then(|life| self.lives.get(life)).is_some_and(Life::is_paused)
    }

    #[inline]
    pub(super) fn is_running(&self, slot: &Slot<W>) -> bool {
        match (&slot.place, &slot.body) {
            (Place::Wheel(_), _) => false,
            (_, Body::Plain(_) | Body::Other(Other::Wake(..) | Other::InSlab(..))) => false,
            (_, Body::Other(Other::Gone)) => true,
            (_, Body::Other(Other::Full { life, .. })) => {
                self.lives.get(*life).is_some_and(Life::is_running)
            }
        }
    }

    /// The next deadline of a pending job, and the wall-clock time that it waits for.
    pub(crate) fn due(&self, id: Id) -> Option<Due> {
        let slot = self.slots.get(id.index()).filter(|slot| slot.number == id.number)?;
        let pending = !self.is_running(slot) && !self.is_paused(slot);
        let life = slot.life().and_then(|life| self.lives.get(life));
        let wall = life.and_then(|life| life.wall().cloned().map(Box::new));
        pending.then_some(Due { deadline: slot.deadline, wall })
    }

    /// The part of a job that its handles share. `None` for a plain job.
    pub(crate) fn info(&mut self, id: Id) -> Option<Arc<Info>> {
        let life = self.slot(id)?.life()?;
        self.lives.get(life).map(|life| Arc::clone(&life.info))
    }

    /// How many runs of a job with a life have begun. `None` if it is over.
    pub(crate) fn runs_of(&mut self, id: Id) -> Option<u64> {
        let life = self.slot(id)?.life()?;
        self.lives.get(life).map(|life| life.runs)
    }

    /// Sets another waker, and returns the old one. `None` if the job is over. Drop the old waker
    /// without the lock: that may drop a task whose futures want the lock.
    pub(crate) fn listen(&mut self, id: Id, waker: Waker) -> Option<Waker> {
        let Body::Other(Other::Wake(index, _)) = self.slot(id)?.body else { return None };
        Some(std::mem::replace(self.wakers.get_mut(index)?, waker))
    }

    /// The error for a job that does not exist.
    #[inline]
    pub(super) fn missing(&self) -> ChangeError {
        if self.stage.runs() { ChangeError::Over } else { ChangeError::Stopped }
    }
}
