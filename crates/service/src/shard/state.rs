//! The state under the lock of a shard: jobs, and a wheel of their timers. Jobs are scheduled here.
//! `change` cancels and moves them, and `due` handles them at their deadlines.

use super::arena::Arena;
use super::handover::ShardWork;
use super::runs::Runs;
use crate::error::ChangeError;
use crate::job::{Id, JobState, Turn};
use crate::observe::{Counts, Distributions};
use crate::time::{Moment, Ticks};
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::Waker;
use wheelhouse_core::{Tick, Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

/// The value that a backend stores for each job: a service runs on any `Timer<JobIndex>`. Only a
/// service creates these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobIndex(pub(super) u32);

pub(crate) type DynTimer = dyn Timer<JobIndex> + Send;

/// The backend of a shard, unless the user has set one.
pub(crate) fn default_wheel() -> Box<DynTimer> {
    Box::new(HierarchicalWheel::new())
}

#[inline]
pub(super) fn cancel_timer(wheel: &mut DynTimer, timer: TimerId, index: u32) {
    let cancelled = wheel.cancel(timer);
    debug_assert_eq!(cancelled, Some(JobIndex(index)), "the job has another timer, or none");
}

/// One job. A plain job has only this and its closure. Its timer takes another 32 bytes in the
/// wheel.
pub(super) struct Slot<W: ?Sized> {
    pub(super) number: NonZeroU64,
    /// When the next run is due. During a run, its deadline, unless the next run has been moved.
    pub(super) deadline: Moment,
    pub(super) timer: TimerState,
    pub(super) body: Body<W>,
}

// This, the 32 bytes of a timer in the wheel and a closure of 16 bytes are the memory that the
// documentation promises. (`Any` stands for any trait object.)
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Option<Slot<dyn std::any::Any>>>() == 40);

impl<W: ?Sized> Slot<W> {
    fn job_state(&self) -> Option<u32> {
        if let Body::Other(Other::Full { job, .. }) = self.body { Some(job) } else { None }
    }

    /// Returns `true` if a run has the work of this plain job.
    pub(super) fn is_gone(&self) -> bool {
        matches!((self.timer, &self.body), (TimerState::Off(None), Body::Other(Other::Gone)))
    }

    /// Returns `true` if a move to `deadline` only has to write the deadline: its timer fires
    /// earlier anyway, and nothing else changes. Then its state, which is in other memory, is not
    /// touched.
    pub(super) fn only_postpones(&self, deadline: Moment) -> bool {
        let with_rare = matches!(self.body, Body::Other(Other::Full { with_rare: true, .. }));
        matches!(self.timer, TimerState::Wheel(_)) && deadline >= self.deadline && !with_rare
    }
}

impl<W: ?Sized> Arena<Slot<W>> {
    /// The job, if it is not over.
    #[inline]
    pub(super) fn of(&self, id: Id) -> Option<&Slot<W>> {
        self.get(id.index()).filter(|slot| slot.number == id.number)
    }

    #[inline]
    pub(super) fn of_mut(&mut self, id: Id) -> Option<&mut Slot<W>> {
        self.get_mut(id.index()).filter(|slot| slot.number == id.number)
    }
}

impl<W: ?Sized> Arena<JobState<W>> {
    #[inline]
    pub(super) fn of(&self, slot: &Slot<W>) -> Option<&JobState<W>> {
        slot.job_state().map(|job| &self[job])
    }

    #[inline]
    pub(super) fn of_mut(&mut self, slot: &Slot<W>) -> Option<&mut JobState<W>> {
        slot.job_state().map(|job| &mut self[job])
    }
}

#[derive(Clone, Copy)]
pub(super) enum TimerState {
    /// The timer in the wheel. It never fires after the tick of the job's deadline, or of the
    /// present if the job cannot catch up with its schedule. It fires earlier if the job was moved
    /// to a later deadline, or if the wall clock must be checked. Then it is started again.
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
    /// The job has a state. `with_rare` is set if that may have a `RareState`, which a move changes
    /// too.
    Full { job: u32, with_rare: bool },
    /// A waker, and `true` if it limits a run.
    Wake(u32, bool),
    /// A run has the work.
    Gone,
}

/// The stages of stopping, in their order: none is followed by an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopStage {
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

impl StopStage {
    /// Returns `true` if jobs come due, and can be changed.
    pub(super) fn runs(self) -> bool {
        matches!(self, Self::Open | Self::Draining)
    }

    pub(super) fn is_over(self) -> bool {
        matches!(self, Self::Ending | Self::Over)
    }
}

pub(crate) struct ShardState<W: ShardWork + ?Sized> {
    pub(super) wheel: Box<DynTimer>,
    /// The wheel is of the default kind, and may be replaced by another.
    pub(super) own_wheel: bool,
    pub(super) ticks: Ticks,
    pub(super) slots: Arena<Slot<W>>,
    pub(super) job_states: Arena<JobState<W>>,
    pub(super) wakers: Arena<Waker>,
    /// Nothing is due before this tick. It may be too early: the job that was due then may have
    /// been cancelled.
    pub(super) next: Tick,
    /// Few jobs were left of many, and the memory of the others is to be released.
    pub(crate) storm_ended: bool,
    pub(crate) stage: StopStage,
    /// The number of shards, and the number of this one. The numbers of jobs alternate between
    /// shards, so shards need no common counter.
    shards: u64,
    pub(super) shard: u32,
    /// The number of jobs in all shards, if there is a limit.
    pub(super) room: Option<Arc<AtomicUsize>>,
    /// During a poll: the last job number, and the tick up to which this poll goes. Jobs with a
    /// higher number were scheduled during the poll and are for the next one.
    pub(super) fence: Option<(u64, Tick)>,
    pub(super) fenced: Vec<Id>,
    /// No job comes due. `deferred` are the jobs whose time has come since then, in that order.
    pub(super) all_paused: bool,
    pub(super) deferred: VecDeque<Id>,
    /// The turn of the last run that was handed out.
    pub(super) turn: Turn,
    pub(crate) runs: Runs,
    pub(crate) counts: Counts,
    /// 80 KiB, allocated by the first run.
    pub(crate) distributions: Option<Box<Distributions>>,
}

impl<W: ShardWork + ?Sized> ShardState<W> {
    pub(super) fn new(
        (wheel, own_wheel): (Box<DynTimer>, bool),
        ticks: Ticks,
        (shard, shards): (u32, u64),
        room: Option<Arc<AtomicUsize>>,
    ) -> Self {
        Self {
            wheel,
            own_wheel,
            ticks,
            slots: Arena::default(),
            job_states: Arena::default(),
            wakers: Arena::default(),
            next: Tick::MAX,
            storm_ended: false,
            stage: StopStage::Open,
            shards,
            shard,
            room,
            fence: None,
            fenced: Vec::new(),
            all_paused: false,
            deferred: VecDeque::new(),
            turn: Turn::MIN,
            runs: Runs::default(),
            counts: Counts::default(),
            distributions: None,
        }
    }

    pub(super) fn id_of(&self, number: NonZeroU64, index: u32) -> Id {
        Id::new(number, index, self.shard)
    }

    /// The number of the job that was scheduled last. If there is none, a number below all others.
    pub(super) fn last_number(&self) -> u64 {
        (self.counts.scheduled * self.shards + u64::from(self.shard) + 1)
            .saturating_sub(self.shards)
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Schedules a plain job, unless the service was stopped. The shortest path, since most jobs
    /// are plain.
    #[inline]
    pub(crate) fn schedule_plain(&mut self, deadline: Moment, work: Box<W>) -> Result<Id, Box<W>> {
        if self.stage != StopStage::Open {
            return Err(work);
        }
        Ok(self.put(deadline, self.ticks.not_before(deadline), Body::Plain(work)))
    }

    #[inline]
    fn put(&mut self, deadline: Moment, tick: Tick, body: Body<W>) -> Id {
        let before = self.counts.scheduled * self.shards + u64::from(self.shard);
        let number = NonZeroU64::MIN.saturating_add(before);
        self.counts.scheduled += 1;
        self.next = self.next.min(tick);
        let wheel = &mut self.wheel;
        let index = self.slots.insert_with(|index| {
            let timer = TimerState::Wheel(wheel.insert(tick, JobIndex(index)));
            Slot { number, deadline, timer, body }
        });
        debug_assert!(self.fires_by(index, deadline), "the timer fires after the deadline");
        debug_assert!(self.all_are_counted(), "{:?} with {} jobs", self.counts, self.len());
        self.id_of(number, index)
    }

    /// Schedules a job, unless the service was stopped. `check_by` is when the driver must check
    /// it.
    pub(super) fn schedule(
        &mut self,
        deadline: Moment,
        check_by: Moment,
        job: JobState<W>,
    ) -> Result<Id, JobState<W>> {
        if self.stage != StopStage::Open {
            return Err(job);
        }
        let (tick, with_rare) = (job.ticks.not_before(check_by), job.rare.is_some());
        let full = Other::Full { job: self.job_states.insert(job), with_rare };
        Ok(self.put(deadline, tick, Body::Other(full)))
    }

    /// Schedules a job that wakes a task. A drain lets futures wait.
    pub(super) fn schedule_wake(
        &mut self,
        deadline: Moment,
        waker: Waker,
        limits_run: bool,
    ) -> Result<Id, Waker> {
        if !self.stage.runs() && !limits_run {
            return Err(waker);
        }
        let wake = Other::Wake(self.wakers.insert(waker), limits_run);
        Ok(self.put(deadline, self.ticks.not_before(deadline), Body::Other(wake)))
    }

    /// Starts the timer of a job whose former timer, if it had one, has fired or was cancelled.
    #[inline]
    pub(super) fn start_timer(&mut self, index: u32, tick: Tick) {
        let slot = &mut self.slots[index];
        let is_over = |timer| self.wheel.deadline(timer).is_none();
        debug_assert!(
            if let TimerState::Wheel(timer) = slot.timer { is_over(timer) } else { true },
            "a job has one timer"
        );
        let deadline = slot.deadline;
        slot.timer = TimerState::Wheel(self.wheel.insert(tick, JobIndex(index)));
        self.next = self.next.min(tick);
        debug_assert!(self.fires_by(index, deadline), "the timer fires after the deadline");
    }

    /// The same for a job that waits for its deadline, or for the next check of the wall clock.
    pub(super) fn restart_timer(&mut self, index: u32, now: Moment) {
        self.start_timer(index, self.tick_of(index, now));
    }

    /// The tick at which the driver must check the job.
    pub(super) fn tick_of(&self, index: u32, now: Moment) -> Tick {
        let slot = &self.slots[index];
        match self.job_states.of(slot) {
            None => self.ticks.not_before(slot.deadline),
            Some(job) => job.tick_of(slot.deadline, now),
        }
    }

    /// Returns `true` if a job has no timer, or one that fires by the tick of this moment and not
    /// before `next`.
    pub(super) fn fires_by(&self, index: u32, moment: Moment) -> bool {
        let slot = &self.slots[index];
        let TimerState::Wheel(timer) = slot.timer else { return true };
        self.wheel.deadline(timer).is_some_and(|tick| {
            // The wake-up of a wheel that is late by design may be after the deadline of a timer.
            (self.next <= tick || !self.own_wheel) && self.is_in_time(slot, tick, moment)
        })
    }

    /// Returns `true` if a timer for this tick is not too late for this moment.
    pub(super) fn is_in_time(&self, slot: &Slot<W>, tick: Tick, moment: Moment) -> bool {
        let job = self.job_states.of(slot);
        // A run that makes up for a missed period may be deferred: see `wait_again`.
        job.and_then(|job| job.repeat).is_some_and(|repeat| repeat.makes_up())
            || tick <= job.map_or(self.ticks, |job| job.ticks).not_before(moment)
    }

    /// Returns `true` if each job that was scheduled is here, or is counted as over.
    pub(super) fn all_are_counted(&self) -> bool {
        let over = self.counts.finished + self.counts.cancelled + self.counts.stopped;
        self.counts.scheduled == over + self.slots.len() as u64
    }

    /// Stores this waker, unless the stored one wakes the same task, and returns the one that it
    /// replaces. `None` if the job is over. Drop the old waker without the lock: that may drop a
    /// task whose futures want the lock.
    pub(crate) fn listen(&mut self, id: Id, waker: &Waker) -> Option<Option<Waker>> {
        let Body::Other(Other::Wake(index, _)) = self.slots.of(id)?.body else {
            unreachable!("only a future that sleeps calls this, and its job has a waker");
        };
        let stored = &mut self.wakers[index];
        Some((!stored.will_wake(waker)).then(|| std::mem::replace(stored, waker.clone())))
    }

    #[inline]
    pub(super) fn missing(&self) -> ChangeError {
        if self.stage.runs() { ChangeError::Over } else { ChangeError::Stopped }
    }
}
