//! Jobs that are kept from coming due: while they or all jobs are paused, or until the next poll.
//! And runs that are requested for now, whatever the schedule.
//!
//! A paused job has no timer. While all jobs are paused, a job whose time comes is deferred, and
//! gets its timer back when they are resumed. So pausing a million jobs costs nothing, and resuming
//! them costs as much as the jobs that came due in the meantime.
//!
//! The fence of a poll defers jobs that are scheduled, or moved to the present, during a poll of a
//! scheduler until its end, so that a job that does so with itself does not keep the poll from
//! returning.

use super::Shards;
use super::handover::ShardWork;
use super::state::{Body, Other, ShardState, TimerState};
use crate::error::ChangeError;
use crate::job::{Id, JobState, Status};
use crate::time::{Clock, Moment};
use std::mem::{replace, take};
use std::sync::Arc;
use wheelhouse_core::Tick;

/// The most jobs that are resumed under one lock.
const PORTION: usize = 64;

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// The state of a job. A plain job gets one.
    pub(super) fn full_state(&mut self, id: Id) -> Result<&mut JobState<W>, ChangeError> {
        let Some(slot) = self.slots.of_mut(id) else { return Err(self.missing()) };
        let job = match replace(&mut slot.body, Body::Other(Other::Gone)) {
            Body::Plain(work) => {
                self.job_states.insert(JobState::new(work, Arc::default(), self.ticks))
            }
            Body::Other(Other::Full { job, .. }) => job,
            other => {
                slot.body = other;
                return Err(ChangeError::Running);
            }
        };
        slot.body = Body::Other(Other::Full { job, with_rare: true });
        Ok(&mut self.job_states[job])
    }

    pub(crate) fn pause(&mut self, id: Id) -> Result<(), ChangeError> {
        let stage = self.stage;
        let job = self.full_state(id)?;
        let running = job.is_running();
        if running && !job.another_may_follow() {
            return Err(ChangeError::Running);
        }
        if !stage.runs() {
            return Err(ChangeError::Stopped);
        }
        job.pause();
        if !running {
            // This also ends the turn of a run that is due.
            self.stop_timer(id.index());
        }
        Ok(())
    }

    pub(crate) fn resume(&mut self, id: Id, clock: &dyn Clock) -> Result<(), ChangeError> {
        let runs = self.stage.runs();
        let job = self.full_state(id)?;
        if !runs {
            return Err(ChangeError::Stopped);
        }
        // Unless a run that was requested for now has a timer, or is due.
        if job.resume() && self.is_off(id) {
            self.resume_timer(id.index(), clock);
        }
        Ok(())
    }

    /// Starts the timer of a job that has none. Times of its schedule that have passed are skipped.
    fn resume_timer(&mut self, index: u32, clock: &dyn Clock) {
        let now = clock.now();
        let slot = &mut self.slots[index];
        debug_assert!(
            matches!(slot.timer, TimerState::Off(None)),
            "it has a timer, or its run is due"
        );
        if let Some(job) = self.job_states.of_mut(slot) {
            slot.deadline = job.skip_what_passed(slot.deadline, now, clock);
        }
        let tick = self.tick_of(index, now);
        if !self.fence_off(index, tick) {
            self.start_timer(index, tick);
        }
    }

    /// A caller moves a job to this tick. If the job would come due in the poll that is in
    /// progress, takes its timer and keeps it for the next poll. Returns `true` if so.
    pub(super) fn fence_off(&mut self, index: u32, tick: Tick) -> bool {
        let is_fenced = self.fires_in_this_poll(tick);
        if is_fenced {
            self.stop_timer(index);
            self.fenced.push(self.id_of(self.slots[index].number, index));
        }
        is_fenced
    }

    /// Returns `true` if a scheduler is in a poll that takes out timers of this tick.
    pub(super) fn fires_in_this_poll(&self, tick: Tick) -> bool {
        self.fence.is_some_and(|(_, upto)| tick <= upto)
    }

    /// Returns `true` if all jobs are paused, and this job is not that of a future.
    #[inline]
    pub(super) fn is_paused_with_all(&self, index: u32) -> bool {
        self.all_paused && !matches!(self.slots[index].body, Body::Other(Other::Wake(..)))
    }

    /// The time of a job has come while all jobs are paused.
    pub(super) fn defer(&mut self, id: Id) {
        if self.deferred.len() >= 2 * self.slots.len() {
            self.prune_deferred();
        }
        self.deferred.push_back(id);
    }

    /// Keeps each deferred job once, if it is not over and does not wait for a time again. O(log
    /// n) amortized for each job that is deferred.
    pub(super) fn prune_deferred(&mut self) {
        let mut deferred = Vec::from(take(&mut self.deferred));
        deferred.retain(|id| self.is_off(*id));
        deferred.sort_by_key(|id| {
            let slot = &self.slots[id.index()];
            let ticks = self.job_states.of(slot).map_or(self.ticks, |job| job.ticks);
            (ticks.not_before(slot.deadline), id.number)
        });
        deferred.dedup();
        deferred.shrink_to_fit();
        self.deferred = deferred.into();
    }

    /// Resumes a portion of the deferred jobs, unless all are paused again. Returns `true` if more
    /// are left.
    pub(crate) fn resume_deferred(&mut self, clock: &dyn Clock) -> bool {
        for _ in 0..PORTION {
            if self.all_paused {
                return false;
            }
            let Some(id) = self.deferred.pop_front() else { return false };
            // Unless it was moved, cancelled, taken back or paused since then.
            if self.is_off(id) {
                self.resume_timer(id.index(), clock);
            }
        }
        true
    }

    /// Returns `true` if a job should have a timer, and has none.
    fn is_off(&self, id: Id) -> bool {
        self.slots.of(id).is_some_and(|slot| {
            matches!(slot.timer, TimerState::Off(None)) && self.status_of(slot) == Status::Pending
        })
    }

    pub(crate) fn run_now(&mut self, id: Id, now: Moment) -> Result<(), ChangeError> {
        let stage = self.stage;
        let planned = self.slots.of(id).ok_or_else(|| self.missing())?.deadline;
        let job = self.full_state(id)?;
        if job.is_running() {
            return Err(ChangeError::Running);
        }
        if !stage.runs() {
            return Err(ChangeError::Stopped);
        }
        job.await_extra(planned);
        self.stop_timer(id.index());
        let tick = self.ticks.reached(now);
        // The instant of that tick, not `now`: if the deadline were after the tick, the timer would
        // be started again.
        self.slots[id.index()].deadline = self.ticks.instant(tick);
        if !self.fence_off(id.index(), tick) {
            self.start_timer(id.index(), tick);
        }
        Ok(())
    }

    /// From here to [`open_fence`](Self::open_fence), jobs that are scheduled, or moved to the
    /// present, are kept for the next poll.
    pub(crate) fn close_fence(&mut self, upto: Tick) {
        debug_assert!(self.fence.is_none(), "one poll at a time");
        debug_assert!(self.fenced.is_empty(), "the poll before has left jobs behind its fence");
        self.fence = Some((self.last_number(), upto));
    }

    /// The timers of these jobs are started. `now` is the moment of the poll.
    pub(crate) fn open_fence(&mut self, now: Moment) {
        debug_assert!(self.fence.is_some(), "no poll is in progress");
        self.fence = None;
        for id in take(&mut self.fenced) {
            if self.is_off(id) {
                self.restart_timer(id.index(), now);
            }
        }
    }
}

impl<W: ShardWork + ?Sized> Shards<W> {
    /// Pauses all jobs except futures, or lets them come due again: then the deferred ones are to
    /// be resumed. One call at a time, so that no shard is left in another state than the rest. No
    /// code of the user runs under this lock.
    pub(crate) fn set_paused(&self, all_paused: bool) {
        let _one_at_a_time = self.pausing.lock();
        self.with_all(|state| state.all_paused = all_paused);
    }
}
