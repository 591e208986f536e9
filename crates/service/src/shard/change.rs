//! Changes of jobs by callers: cancelling, moving, and taking them back.

use super::handover::{ShardWork, TakenJob, TakenWork};
use super::state::{
    Body, JobIndex, Other, ShardState, Slot, StopStage, TimerState, cancel_timer, default_wheel,
};
use crate::error::ChangeError;
use crate::job::{Ending, Id};
use crate::time::{Due, Moment};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wheelhouse_core::Tick;

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// Cancels a plain job that waits for its time. This is the shortest path of
    /// [`end_as`](Self::end_as), for most jobs that are cancelled. Returns its deadline and its
    /// work.
    #[inline]
    pub(crate) fn cancel_plain(&mut self, id: Id) -> Option<(Moment, Box<W>)> {
        let slot = self.slots.of(id)?;
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
        let slot = self.slots.of(id).ok_or_else(|| self.missing())?;
        if !self.is_running(slot) {
            return Ok(self.remove(id.index(), ending));
        }
        // If this is the last run anyway, the job ends as finished, even though it was cancelled
        // too late.
        if let Some(job) = self.job_states.of_mut(slot)
            && job.another_may_follow()
        {
            job.end_after(ending);
        }
        Err(ChangeError::Running)
    }

    /// Removes a job that is over, with its timer. Its work is `None` if a run has it.
    #[inline]
    pub(super) fn remove(&mut self, index: u32, ending: Ending) -> TakenJob<W> {
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
        TakenJob { id: self.id_of(number, index), deadline, info, work }
    }

    #[inline]
    pub(super) fn count_end(&mut self, ending: Ending) {
        match ending {
            Ending::Finished => self.counts.finished += 1,
            Ending::Cancelled => self.counts.cancelled += 1,
            Ending::Stopped => self.counts.stopped += 1,
        }
        self.look_if_spacious();
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
        let runs = self.stage.runs();
        let Some(slot) = self.slots.of_mut(id) else { return Err(self.missing()) };
        if runs && slot.only_postpones(due.deadline) {
            slot.deadline = due.deadline;
            return Ok(());
        }
        // With a wall-clock time it must be checked early, even if it is postponed.
        let may_be_earlier = due.deadline < slot.deadline || due.wall.is_some();
        let job = self.job_states.of_mut(slot);
        let ticks = job.as_ref().map_or(self.ticks, |job| job.ticks);
        if job.is_some_and(|job| job.end_exception()) {
            self.stop_timer(id.index());
        }
        self.move_timer(id.index(), ticks.not_before(check_by), may_be_earlier)?;
        let slot = &mut self.slots[id.index()];
        slot.deadline = due.deadline;
        if let Some(job) = self.job_states.of_mut(slot) {
            job.moved(due.wall);
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
        if let TimerState::Wheel(timer) = slot.timer {
            if !runs {
                return Err(ChangeError::Stopped);
            }
            if may_be_earlier
                && let Some(set) = self.wheel.deadline(timer).filter(|set| tick < *set)
                && (self.fires_in_this_poll(set) || !self.fence_off(index, tick))
            {
                self.wheel.reschedule(timer, tick);
                self.next = self.next.min(tick);
            }
            return Ok(());
        }
        match self.job_states.of(slot) {
            None if slot.is_gone() => return Err(ChangeError::Running),
            Some(job) if job.is_running() => {
                return if job.another_follows() { Ok(()) } else { Err(ChangeError::Running) };
            }
            // Its time came during the stop, see `pop_due`.
            Some(_) if !runs && matches!(slot.timer, TimerState::Off(None)) => {
                return Err(ChangeError::Stopped);
            }
            Some(job) if job.is_paused() => {}
            _ => {
                if !self.fence_off(index, tick) {
                    let slot = &mut self.slots[index];
                    slot.timer = TimerState::Wheel(self.wheel.insert(tick, JobIndex(index)));
                    self.next = self.next.min(tick);
                }
            }
        }
        Ok(())
    }

    /// Takes the timer, or the turn, from a job.
    pub(super) fn stop_timer(&mut self, index: u32) {
        let timer = std::mem::replace(&mut self.slots[index].timer, TimerState::Off(None));
        if let TimerState::Wheel(timer) = timer {
            cancel_timer(&mut *self.wheel, timer, index);
        }
    }

    /// Begins a stage of a stop, and removes the jobs that will not run: for a drain those without
    /// a last run; otherwise all that wait for their time, and with `due` those whose runs were
    /// handed out and have not begun. Limits of runs stay as long as there are threads. If no
    /// further timer will be in the wheel, it is returned too, with the memory of the jobs, to be
    /// dropped without the lock.
    pub(super) fn take_back(
        &mut self,
        due: bool,
        stage: StopStage,
    ) -> (Vec<TakenJob<W>>, impl Sized + use<W>) {
        debug_assert!(self.stage <= stage, "{stage:?} after {:?}", self.stage);
        self.stage = stage;
        let stays = |slot: &Slot<W>| match stage {
            StopStage::Draining => !self.job_states.of(slot).is_some_and(|job| job.is_endless()),
            StopStage::Over => false,
            _ => matches!(slot.body, Body::Other(Other::Wake(_, true))),
        };
        let due = due || stage == StopStage::Draining;
        let waits = |slot: &Slot<W>| {
            let is_due = || due && !self.is_running(slot);
            !stays(slot) && (matches!(slot.timer, TimerState::Wheel(_)) || is_due())
        };
        let waiting = self.slots.iter().filter(|(_, slot)| waits(slot));
        let waiting: Vec<_> = waiting.map(|(index, _)| index).collect();
        let taken = waiting.into_iter().map(|index| self.remove(index, Ending::Stopped)).collect();
        if stage == StopStage::Draining {
            // Those that are running end with their runs.
            for (_, slot) in self.slots.iter() {
                let job = self.job_states.of_mut(slot).filter(|job| job.is_endless());
                job.into_iter().for_each(|job| job.end_after(Ending::Stopped));
            }
        }
        let is_last = stage.is_over() && self.wakers.len() == 0;
        let wheel = is_last.then(|| std::mem::replace(&mut self.wheel, default_wheel()));
        debug_assert!(
            wheel.as_deref().is_none_or(|wheel| wheel.is_empty()),
            "a job that is left has a timer"
        );
        let arenas = is_last.then(|| self.shrink_arenas());
        self.find_next();
        (taken, (wheel, arenas))
    }
}
