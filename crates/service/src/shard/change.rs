//! What is done to a job from outside: it is ended, moved, or taken back.

use super::core::{Body, Core, Held, Other, Place, Slot, Stage, Taken, Task};
use super::slab::Lying;
use super::wheel::{JobIndex, Wheel};
use crate::ChangeError;
use crate::job::{Ending, Id};
use crate::time::{Due, Moment};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

impl<W: Task + ?Sized> Core<W> {
    /// Cancels a job that is no more than work in a box and waits for its time, as most do that are
    /// cancelled: what [`end_as`](Self::end_as) does, by the shortest way. Its deadline, and the
    /// work.
    #[inline]
    pub(crate) fn cancel_plain(&mut self, id: Id) -> Option<(Moment, Box<W>)> {
        let slot = self.slots.get(id.index()).filter(|slot| slot.number == id.number)?;
        let (Place::Wheel(timer), Body::Plain(_)) = (slot.place, &slot.body) else { return None };
        self.wheel.cancel(timer);
        let Slot { deadline, body: Body::Plain(work), .. } = self.slots.remove(id.index())? else {
            return None;
        };
        self.count_end(Ending::Cancelled);
        Some((deadline, work))
    }

    /// Ends a job: it was cancelled, or is finished as one of its runs says. The answer of a
    /// running job is `Running`, and no run follows.
    #[inline]
    pub(crate) fn end_as(&mut self, id: Id, ending: Ending) -> Result<Taken<W>, ChangeError> {
        let slot = self.slots.get(id.index()).filter(|slot| slot.number == id.number);
        let slot = slot.ok_or_else(|| self.missing())?;
        if self.is_running(slot) {
            if let Some(life) = slot.life()
                && let Some(life) = self.lives.get_mut(life)
                // The last run is no less finished for having been cancelled too late.
                && life.another_may_follow()
            {
                life.end_after(ending);
            }
            return Err(ChangeError::Running);
        }
        self.take(id.index(), ending).ok_or(ChangeError::Over)
    }

    /// Takes a job out that is over, with its timer.
    #[inline]
    pub(super) fn take(&mut self, index: u32, ending: Ending) -> Option<Taken<W>> {
        let Slot { number, deadline, place, body } = self.slots.remove(index)?;
        if let Place::Wheel(timer) = place {
            self.wheel.cancel(timer);
        }
        self.count_end(ending);
        let (info, held) = match body {
            Body::Plain(work) => (None, Some(Held::Work(work))),
            Body::Other(Other::InSlab(slab, place)) => {
                (None, Some(Held::InSlab(Lying::new(&self.slabs, slab, place))))
            }
            Body::Other(Other::Gone) => (None, None),
            Body::Other(Other::Wake(waker, _)) => (None, self.wakers.remove(waker).map(Held::Wake)),
            Body::Other(Other::Full { life, .. }) => {
                let life = self.lives.remove(life)?;
                life.info.end(ending, life.runs);
                (Some(Arc::clone(&life.info)), life.into_work().map(Held::Work))
            }
        };
        Some(Taken { id: Id::new(number, index, self.shard()), deadline, info, held })
    }

    #[inline]
    pub(super) fn count_end(&mut self, ending: Ending) {
        match ending {
            Ending::Finished => self.counts.finished += 1,
            Ending::Cancelled => self.counts.cancelled += 1,
            Ending::Stopped => self.counts.stopped += 1,
        }
        if let Some(room) = &self.room {
            room.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Moves the next run. To a later time that writes the deadline and no more: a timer that fires
    /// before it is noticed when it does, and sessions are put off far more often than they expire.
    pub(crate) fn reschedule(
        &mut self,
        id: Id,
        due: Due,
        look_by: Moment,
    ) -> Result<(), ChangeError> {
        if due.wall.is_some() {
            // A plain job has nowhere to keep that.
            self.life(id)?;
        }
        let missing = self.missing();
        let (stage, ticks) = (self.stage, self.ticks);
        let slot = self.slots.get_mut(id.index()).filter(|slot| slot.number == id.number);
        let slot = slot.ok_or(missing)?;
        if stage.runs() && slot.is_put_off_by(due.deadline) {
            slot.deadline = due.deadline;
            return Ok(());
        }
        let mut life = slot.life().and_then(|life| self.lives.get_mut(life));
        if life.as_mut().is_some_and(|life| life.end_exception())
            && let Place::Wheel(timer) = std::mem::replace(&mut slot.place, Place::Off(None))
        {
            self.wheel.cancel(timer);
        }
        let tick = life.as_ref().map_or(ticks, |life| life.ticks).not_before(look_by);
        match (slot.place, &slot.body) {
            (Place::Wheel(_), _) if !stage.runs() => return Err(ChangeError::Stopped),
            // Its time came during the stop, see `come`.
            (Place::Off(None), Body::Other(Other::Full { .. }))
                if !stage.runs() && life.as_ref().is_some_and(|life| !life.is_running()) =>
            {
                return Err(ChangeError::Stopped);
            }
            (Place::Wheel(timer), _) => {
                if due.deadline < slot.deadline
                    && self.wheel.deadline(timer).is_some_and(|set| tick < set)
                {
                    self.wheel.reschedule(timer, tick);
                    self.next = self.next.min(tick);
                }
            }
            (_, Body::Other(Other::Gone)) => return Err(ChangeError::Running),
            _ => match &life {
                Some(life) if life.is_running() && !life.another_follows() => {
                    return Err(ChangeError::Running);
                }
                Some(life) if life.is_running() || life.is_paused() => {}
                _ => {
                    slot.place = Place::Wheel(self.wheel.insert(tick, JobIndex(id.index())));
                    self.next = self.next.min(tick);
                }
            },
        }
        slot.deadline = due.deadline;
        if let Some(life) = life {
            life.wait_for(due.wall);
            life.moved();
        }
        Ok(())
    }

    /// Takes away all jobs that wait for their time, and with `due` those whose runs were handed
    /// out and have not begun. Nothing is scheduled from here on but limits of runs, which stay as
    /// long as there are threads. With them comes the wheel if no other timer will be in it, to be
    /// dropped without the lock.
    pub(crate) fn take_back(
        &mut self,
        due: bool,
        stage: Stage,
    ) -> (Vec<Taken<W>>, Option<Box<dyn Wheel>>) {
        self.stage = stage;
        let stays = |slot: &Slot<W>| {
            stage != Stage::Over && matches!(slot.body, Body::Other(Other::Wake(_, true)))
        };
        let waits = |slot: &Slot<W>| {
            let is_due = || due && !self.is_running(slot);
            !stays(slot) && (matches!(slot.place, Place::Wheel(_)) || is_due())
        };
        let waiting = self.slots.iter().filter(|(_, slot)| waits(slot));
        let waiting: Vec<_> = waiting.map(|(index, _)| index).collect();
        let taken =
            waiting.into_iter().filter_map(|index| self.take(index, Ending::Stopped)).collect();
        let empty = || -> Box<dyn Wheel> { Box::new(HierarchicalWheel::new()) };
        let is_last = stage.is_over() && self.wakers.len() == 0;
        let wheel = is_last.then(|| std::mem::replace(&mut self.wheel, empty()));
        self.find_next();
        (taken, wheel)
    }
}
