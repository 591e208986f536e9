//! Changes of jobs by callers: cancelling, moving, and taking them back.

use super::dyn_timer::{DynTimer, JobIndex, cancel_timer};
use super::state::{Body, Other, ShardState, Slot, StopStage, TakenJob, TakenWork, TimerState};
use super::work::ShardWork;
use crate::error::ChangeError;
use crate::job::{Ending, Id};
use crate::time::{Due, Moment};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wheelhouse_core::Tick;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// Cancels a plain job that waits for its time. This is the shortest path of
    /// [`end_as`](Self::end_as), for most jobs that are cancelled. Returns its deadline and its
    /// work.
    #[inline]
    pub(crate) fn cancel_plain(&mut self, id: Id) -> Option<(Moment, Box<W>)> {
        let slot = self.slots.get(id.index()).filter(|slot| slot.number == id.number)?;
        let (TimerState::Wheel(timer), Body::Plain(_)) = (slot.timer, &slot.body) else {
            return None;
        };
        cancel_timer(&mut *self.wheel, timer, id.index());
        let Some(Slot { deadline, body: Body::Plain(work), .. }) = self.slots.remove(id.index())
        else {
            unreachable!("it has just been found");
        };
        self.count_end(Ending::Cancelled);
        Some((deadline, work))
    }

    /// Ends a job: it was cancelled, or one of its runs finishes it. If the job is running, returns
    /// `Running`, and no run follows.
    #[inline]
    pub(crate) fn end_as(&mut self, id: Id, ending: Ending) -> Result<TakenJob<W>, ChangeError> {
        let slot = self.slots.get(id.index()).filter(|slot| slot.number == id.number);
        let slot = slot.ok_or_else(|| self.missing())?;
        if self.is_running(slot) {
            if let Some(job) = slot.job_state()
                && let job = &mut self.job_states[job]
                // If this is the last run anyway, the job ends as finished, even though it was
                // cancelled too late.
                && job.another_may_follow()
            {
                job.end_after(ending);
            }
            return Err(ChangeError::Running);
        }
        let taken = self.take(id.index(), ending);
        debug_assert!(taken.work.is_some(), "no run has the work of a job that is not running");
        Ok(taken)
    }

    /// Removes a job that is over, with its timer.
    #[inline]
    pub(super) fn take(&mut self, index: u32, ending: Ending) -> TakenJob<W> {
        let removed = self.slots.remove(index).expect("a job ends once, and is here until then");
        let Slot { number, deadline, timer, body } = removed;
        if let TimerState::Wheel(timer) = timer {
            cancel_timer(&mut *self.wheel, timer, index);
        }
        self.count_end(ending);
        let (info, work) = match body {
            Body::Plain(work) => (None, Some(TakenWork::Work(work))),
            Body::Other(Other::Gone) => (None, None),
            Body::Other(Other::Wake(waker, _)) => {
                let waker = self.wakers.remove(waker).expect("each such job has a waker");
                (None, Some(TakenWork::Wake(waker)))
            }
            Body::Other(Other::Full { job, .. }) => {
                let job = self.job_states.remove(job).expect("each such job has a state");
                job.info.end(ending, job.runs);
                (Some(Arc::clone(&job.info)), job.into_work().map(TakenWork::Work))
            }
        };
        debug_assert!(
            self.job_states.len() + self.wakers.len() <= self.slots.len(),
            "a state or a waker is left of a job that is over"
        );
        TakenJob { id: Id::new(number, index, self.shard()), deadline, info, work }
    }

    #[inline]
    pub(super) fn count_end(&mut self, ending: Ending) {
        match ending {
            Ending::Finished => self.counts.finished += 1,
            Ending::Cancelled => self.counts.cancelled += 1,
            Ending::Stopped => self.counts.stopped += 1,
        }
        debug_assert!(self.all_are_counted(), "{:?} with {} jobs", self.counts, self.len());
        if let Some(room) = &self.room {
            let before = room.fetch_sub(1, Ordering::Relaxed);
            debug_assert!(before > 0, "a job ended without having room");
        }
    }

    /// Moves the next run. A move to a later time only writes the deadline. Its timer fires early,
    /// which is noticed then: sessions are postponed far more often than they expire.
    pub(crate) fn reschedule(
        &mut self,
        id: Id,
        due: Due,
        check_by: Moment,
    ) -> Result<(), ChangeError> {
        if due.wall.is_some() {
            // A plain job cannot store a wall-clock time.
            self.full_state(id)?;
        }
        let missing = self.missing();
        let (stage, ticks) = (self.stage, self.ticks);
        let slot = self.slots.get_mut(id.index()).filter(|slot| slot.number == id.number);
        let slot = slot.ok_or(missing)?;
        if stage.runs() && slot.only_postpones(due.deadline) {
            slot.deadline = due.deadline;
            return Ok(());
        }
        let mut job = slot.job_state().map(|job| &mut self.job_states[job]);
        if job.as_mut().is_some_and(|job| job.end_exception())
            && let TimerState::Wheel(timer) =
                std::mem::replace(&mut slot.timer, TimerState::Off(None))
        {
            cancel_timer(&mut *self.wheel, timer, id.index());
        }
        let tick = job.map_or(ticks, |job| job.ticks).not_before(check_by);
        // With a wall-clock time it must be checked early, even if it is postponed.
        let may_be_earlier = due.deadline < slot.deadline || due.wall.is_some();
        self.move_timer(id.index(), tick, may_be_earlier)?;
        let slot = &mut self.slots[id.index()];
        slot.deadline = due.deadline;
        if let Some(job) = slot.job_state().map(|job| &mut self.job_states[job]) {
            job.wait_for(due.wall);
            job.moved();
        }
        debug_assert!(
            self.fires_by(id.index(), check_by),
            "the timer fires after the job must be checked"
        );
        Ok(())
    }

    /// Moves the timer of a job to an earlier tick, or starts it if the job waits without one. A
    /// timer that is set to an earlier tick stays: when it fires, the job is found not to be due.
    fn move_timer(
        &mut self,
        index: u32,
        tick: Tick,
        may_be_earlier: bool,
    ) -> Result<(), ChangeError> {
        let runs = self.stage.runs();
        let slot = &mut self.slots[index];
        let job = slot.job_state().map(|job| &self.job_states[job]);
        let is_running = job.is_some_and(|job| job.is_running());
        match (slot.timer, &slot.body) {
            (TimerState::Wheel(_), _) if !runs => return Err(ChangeError::Stopped),
            // Its time came during the stop, see `pop_due`.
            (TimerState::Off(None), Body::Other(Other::Full { .. })) if !runs && !is_running => {
                return Err(ChangeError::Stopped);
            }
            (TimerState::Wheel(timer), _) => {
                if may_be_earlier && self.wheel.deadline(timer).is_some_and(|set| tick < set) {
                    self.wheel.reschedule(timer, tick);
                    self.next = self.next.min(tick);
                }
            }
            (_, Body::Other(Other::Gone)) => return Err(ChangeError::Running),
            _ if is_running => {
                if !job.is_some_and(|job| job.another_follows()) {
                    return Err(ChangeError::Running);
                }
            }
            _ if job.is_some_and(|job| job.is_paused()) => {}
            _ => {
                slot.timer = TimerState::Wheel(self.wheel.insert(tick, JobIndex(index)));
                self.next = self.next.min(tick);
            }
        }
        Ok(())
    }

    /// Removes all jobs that wait for their time, and with `due` also jobs whose runs were handed
    /// out and have not begun. From here on only limits of runs are scheduled, and those stay as
    /// long as there are threads. If no further timer will be in the wheel, it is returned too, to
    /// be dropped without the lock.
    pub(crate) fn take_back(
        &mut self,
        due: bool,
        stage: StopStage,
    ) -> (Vec<TakenJob<W>>, Option<Box<DynTimer>>) {
        debug_assert!(self.stage <= stage, "{stage:?} after {:?}", self.stage);
        self.stage = stage;
        let stays = |slot: &Slot<W>| {
            stage != StopStage::Over && matches!(slot.body, Body::Other(Other::Wake(_, true)))
        };
        let waits = |slot: &Slot<W>| {
            let is_due = || due && !self.is_running(slot);
            !stays(slot) && (matches!(slot.timer, TimerState::Wheel(_)) || is_due())
        };
        let waiting = self.slots.iter().filter(|(_, slot)| waits(slot));
        let waiting: Vec<_> = waiting.map(|(index, _)| index).collect();
        let taken = waiting.into_iter().map(|index| self.take(index, Ending::Stopped)).collect();
        let empty = || -> Box<DynTimer> { Box::new(HierarchicalWheel::new()) };
        let is_last = stage.is_over() && self.wakers.len() == 0;
        let wheel = is_last.then(|| std::mem::replace(&mut self.wheel, empty()));
        debug_assert!(
            wheel.as_deref().is_none_or(|wheel| wheel.is_empty()),
            "a job that is left has a timer"
        );
        self.find_next();
        (taken, wheel)
    }
}
