//! Jobs at their deadlines: a job is taken out, its run begins, its run ends.

use super::core::{Body, Core, Held, Other, Place, Task};
use super::handover::{Begun, Came, Done, Leftover, Plain};
use super::slab::Lying;
use crate::job::{After, Ending, Id, Info, More, Turn, Way};
use crate::observe::Distributions;
use crate::time::{Clock, Moment};
use std::sync::Arc;
use wheelhouse_core::{Expired, Tick};

/// The most timers that are taken out under one lock. Then another thread may have the lock.
const PORTION: usize = 64;

impl<W: Task + ?Sized> Core<W> {
    /// Takes out the next due job, up to the tick `upto`. If `here` is set, runs begin at once on
    /// this thread; otherwise they are handed out. A plain job is returned; any other is put into
    /// `other`.
    pub(crate) fn come(
        &mut self,
        upto: Tick,
        now: Moment,
        clock: &dyn Clock,
        here: bool,
        other: &mut Option<Came<W>>,
    ) -> Option<Plain<W>> {
        for _ in 0..PORTION {
            let Some(Expired { value, deadline: fired, .. }) = self.wheel.pop_expired(upto) else {
                break;
            };
            if !self.stage.runs() && !self.limits_run(value.0) {
                // A job that ended a run during the stop. It waits to be taken back.
                if let Some(slot) = self.slots.get_mut(value.0) {
                    slot.place = Place::Off(None);
                }
                continue;
            }
            match self.begin_plain(value.0, fired, here) {
                Some((id, deadline, Body::Plain(work))) => {
                    return Some(Plain { id, deadline, work });
                }
                Some((id, deadline, Body::Other(Other::InSlab(slab, place)))) => {
                    let lying = Lying::new(&self.slabs, slab, place);
                    *other = Some(Came::InSlab(id, deadline, lying));
                }
                _ => *other = self.fire(value.0, fired, now, clock, here),
            }
            if other.is_some() {
                return None;
            }
        }
        self.find_next();
        None
    }

    /// Updates `next`. A cancel leaves `next` unchanged: if timeouts are set and cancelled in turn,
    /// each of them would otherwise become the first in its shard and wake the driver. Instead the
    /// driver wakes up once, when the first of them would have been due, and calls this. A wheel
    /// may return an earlier tick than that of its first timer, at which it cascades. So a known
    /// later tick is kept.
    pub(super) fn find_next(&mut self) {
        self.next = self.next.max(self.wheel.next_wakeup().unwrap_or(Tick::MAX));
    }

    /// Begins the run of a job whose timer has fired, if the job is plain and due, runs on this
    /// thread, and is neither held nor behind the fence. This is the shortest path of
    /// [`fire`](Self::fire) and `begin`.
    #[inline]
    fn begin_plain(
        &mut self,
        index: u32,
        fired: Tick,
        here: bool,
    ) -> Option<(Id, Moment, Body<W>)> {
        let shard = self.shard();
        let due_by = self.ticks.instant(fired);
        if self.is_held(index) {
            return None;
        }
        let slot = self.slots.get_mut(index)?;
        let is_for_the_next = self.fence.is_some_and(|(last, _)| slot.number.get() > last);
        let is_plain = match slot.body {
            // In a brief run the lead is not taken, so it is handled separately.
            Body::Plain(ref work) => here && !work.is_brief(),
            Body::Other(Other::InSlab(..)) => true,
            Body::Other(_) => false,
        };
        if slot.deadline > due_by || is_for_the_next || !is_plain {
            return None;
        }
        slot.place = Place::Off(None);
        let body = std::mem::replace(&mut slot.body, Body::Other(Other::Gone));
        self.counts.runs += 1;
        self.runs.in_flight += 1;
        self.runs.begun += 1;
        Some((Id::new(slot.number, index, shard), slot.deadline, body))
    }

    /// Ends the run of a plain job and so the job, and hands it in.
    #[inline]
    pub(crate) fn end_plain(&mut self, id: Id, deadline: Moment, started: Moment, ended: Moment) {
        self.measure(deadline, started, ended);
        if self.slot(id).is_some() {
            // The run has taken its work, and its timer has fired.
            self.slots.remove(id.index());
            self.count_end(Ending::Finished);
        }
        self.hand_in(true);
    }

    /// Handles the timer of a job, which was set to the tick `fired`. Returns `None` if there is
    /// nothing to run: the job is not due and its timer was started again, or it was put aside.
    fn fire(
        &mut self,
        index: u32,
        fired: Tick,
        now: Moment,
        clock: &dyn Clock,
        here: bool,
    ) -> Option<Came<W>> {
        let slot = self.slots.get_mut(index)?;
        let id = Id::new(slot.number, index, self.shard());
        let slot = self.slots.get_mut(index)?;
        if self.fence.is_some_and(|(last, _)| slot.number.get() > last) {
            slot.place = Place::Off(None);
            self.aside.push(id);
            return None;
        }
        let mut ticks = self.ticks;
        let mut look_by = slot.deadline;
        let mut elsewhere = false;
        if let Some(life) = slot.life() {
            let life = self.lives.get(life)?;
            ticks = life.ticks;
            let goes = |more: &More| more.way.is_async || more.way.group.is_some();
            elsewhere = life.more.as_deref().is_some_and(goes);
            if let Some(wall) = life.wall() {
                slot.deadline = wall.reckoned(clock);
                look_by = wall.look_by(slot.deadline, now);
            }
        }
        // The job was moved to a later deadline. The timer is started again even if that has passed
        // too: jobs that are due between the two deadlines run first.
        if slot.deadline > self.ticks.instant(fired) {
            self.start_timer(index, ticks.not_before(look_by));
            return None;
        }
        let wakes = matches!(slot.body, Body::Other(Other::Wake(..)));
        if self.is_held(index) {
            self.slots.get_mut(index)?.place = Place::Off(None);
            self.put_aside.push(id);
            return None;
        }
        if wakes {
            return self.wake(index, now);
        }
        if here && !elsewhere || self.is_brief(index) {
            self.runs.in_flight += 1;
            return self.begin(index, now, true).map(|(begun, _)| Came::Here(begun));
        }
        let turn = self.next_turn();
        let slot = self.slots.get_mut(index)?;
        slot.place = Place::Off(Some(turn));
        self.runs.in_flight += 1;
        let Some(life) = slot.life() else {
            return Some(Came::There(id, turn, None, Way::default()));
        };
        let life = self.lives.get(life)?;
        let way = life.more.as_ref().map(|more| more.way.clone());
        let info = Some(Arc::clone(&life.info));
        Some(Came::There(id, turn, info, way.unwrap_or_default()))
    }

    fn is_brief(&self, index: u32) -> bool {
        match self.slots.get(index).map(|slot| &slot.body) {
            Some(Body::Plain(work)) => work.is_brief(),
            Some(Body::Other(Other::Full { life, .. })) => {
                let work = self.lives.get(*life).and_then(|life| life.work());
                work.is_some_and(|work| work.is_brief())
            }
            _ => false,
        }
    }

    fn wake(&mut self, index: u32, now: Moment) -> Option<Came<W>> {
        self.slots.get_mut(index)?.place = Place::Off(None);
        let taken = self.take(index, Ending::Finished)?;
        self.counts.runs += 1;
        self.measure(taken.deadline, now, now);
        match taken.held? {
            Held::Wake(waker) => Some(Came::Wake(waker)),
            Held::Work(_) | Held::InSlab(_) => None,
        }
    }

    /// Begins a run that was handed out, unless its turn is over: the job was cancelled, moved, or
    /// taken back. Also returns `true` if the job waits for its next run already.
    pub(crate) fn begin_turn(
        &mut self,
        id: Id,
        turn: Turn,
        now: Moment,
    ) -> Option<(Begun<W>, bool)> {
        if !self.is_turn(id, turn) {
            return None;
        }
        let (mut begun, again) = self.begin(id.index(), now, false)?;
        begun.watch = Some(self.runs.watch(id, begun.info.clone(), now));
        Some((begun, again))
    }

    fn is_turn(&mut self, id: Id, turn: Turn) -> bool {
        self.status(id) == Some(crate::job::Status::Pending)
            && self
                .slot(id)
                .is_some_and(|slot| matches!(slot.place, Place::Off(its) if its == Some(turn)))
    }

    /// Begins a run of a job that has no timer. Also returns `true` if the job waits for its next
    /// run already.
    fn begin(&mut self, index: u32, now: Moment, here: bool) -> Option<(Begun<W>, bool)> {
        let shard = self.shard();
        let slot = self.slots.get_mut(index)?;
        let (id, deadline) = (Id::new(slot.number, index, shard), slot.deadline);
        slot.place = Place::Off(None);
        self.counts.runs += 1;
        let Some(life) = slot.life() else {
            let Body::Plain(work) = std::mem::replace(&mut slot.body, Body::Other(Other::Gone))
            else {
                return None;
            };
            self.runs.begun += 1;
            return Some((Begun::plain(id, deadline, Some(work)), false));
        };
        let life = self.lives.get_mut(life)?;
        let stale = life.take_passed();
        self.counts.runs -= u64::from(stale);
        let (number, missed, extra) = if stale { (life.runs, 0, false) } else { life.count_run() };
        let time = life.time_of_run(extra);
        let (last, tries) = (!life.another_follows(), life.tries());
        let frees_key = last && !tries.1;
        let blocks = life.more.as_ref().is_some_and(|more| more.way.blocks);
        let overlaps = !last && life.overlaps();
        // The `Info` is in other memory than the rest of the job, so a run that can do without does
        // not touch it.
        let info = (!here || frees_key || overlaps).then(|| Arc::clone(&life.info));
        let fork = life.work().filter(|_| overlaps).and_then(Task::fork);
        let next = fork.as_ref().and_then(|_| life.wait_for_next(deadline, now, now));
        let paused = life.is_paused();
        let (work, tick) = match (fork, next) {
            (Some(fork), Some(next)) => {
                slot.deadline = next;
                (fork, Some(life.ticks.not_before(next)))
            }
            _ => (life.begin()?, None),
        };
        if let Some(tick) = tick.filter(|_| !paused) {
            self.start_timer(index, tick);
        }
        self.runs.begun += 1;
        self.counts.missed += missed;
        let begun = Begun {
            info,
            time,
            number,
            missed,
            last,
            extra,
            stale,
            tries,
            frees_key,
            beside: tick.is_some(),
            blocks,
            ..Begun::plain(id, deadline, Some(work))
        };
        Some((begun, tick.is_some()))
    }

    /// Ends a run, and hands it in if nothing is left to do.
    pub(crate) fn end(&mut self, done: Done<W>) -> Option<Leftover<W>> {
        let Done { id, work, deadline, started, ended, beside, failed, stale } = done;
        if !stale {
            self.measure(deadline, started, ended);
        }
        let (work, info) = if beside {
            (work, None)
        } else {
            self.end_of_job(id, work, (deadline, started, ended), failed)
        };
        if work.is_none() && info.is_none() {
            self.hand_in(true);
            return None;
        }
        Some(Leftover { work, info })
    }

    /// Lets the job wait for its next run, or ends it. Then its work, and the info with its key,
    /// are returned.
    fn end_of_job(
        &mut self,
        id: Id,
        work: Option<Box<W>>,
        (deadline, started, ended): (Moment, Moment, Moment),
        failed: bool,
    ) -> (Option<Box<W>>, Option<Arc<Info>>) {
        let stage = self.stage;
        let Some(slot) = self.slots.get_mut(id.index()).filter(|slot| slot.number == id.number)
        else {
            return (work, None);
        };
        let Some(life) = slot.life() else {
            self.take(id.index(), Ending::Finished);
            return (work, None);
        };
        let Some(life) = self.lives.get_mut(life) else { return (work, None) };
        let follows = life.another_follows();
        let again = life.try_again(failed, ended).filter(|_| work.is_some());
        let after = life.after();
        let ending = match after {
            After::End(ending) => Err(ending),
            _ if !follows && again.is_none() => Err(Ending::Finished),
            _ if stage.is_over() => Err(Ending::Stopped),
            _ => {
                let next = match follows {
                    true if after == After::Moved => Some(slot.deadline),
                    true => life.wait_for_next(deadline, started, ended),
                    false => None,
                };
                let next = again.map(|again| life.first_of(again, next)).or(next);
                next.ok_or(Ending::Finished)
            }
        };
        match (ending, work) {
            (Ok(next), Some(work)) => {
                let moved = after == After::Moved || again.is_some();
                life.wait(work);
                slot.deadline = next;
                let look_by = life.wall().map_or(next, |wall| wall.look_by(next, ended));
                let tick = life.ticks.not_before(look_by);
                // A job that moves itself to the present, or is retried at once, is for the next
                // poll.
                if life.is_paused() {
                    // No timer until it is resumed.
                } else if moved && self.fence.is_some_and(|(_, upto)| tick <= upto) {
                    self.aside.push(id);
                } else {
                    self.start_timer(id.index(), tick);
                }
                (None, None)
            }
            (ending, work) => {
                let taken = self.take(id.index(), ending.err().unwrap_or(Ending::Finished));
                (work, taken.and_then(|taken| taken.info))
            }
        }
    }

    /// Handles a run that was dropped before it began. A periodic job continues, any other is over.
    /// `None` if the turn was over already.
    pub(crate) fn abandon(&mut self, id: Id, turn: Turn, now: Moment) -> Option<Leftover<W>> {
        if !self.is_turn(id, turn) {
            return None;
        }
        self.runs.begun += 1;
        self.counts.abandoned += 1;
        let slot = self.slots.get_mut(id.index())?;
        // The turn is over. A paused job has no timer until it is resumed.
        slot.place = Place::Off(None);
        let deadline = slot.deadline;
        let life = slot.life().and_then(|life| self.lives.get_mut(life));
        let life = life.filter(|life| life.repeat.is_some());
        let Some(life) = life else {
            let taken = self.take(id.index(), Ending::Cancelled)?;
            let work = if let Some(Held::Work(work)) = taken.held { Some(work) } else { None };
            return Some(Leftover { work, info: taken.info });
        };
        life.end_exception();
        let work = life.begin();
        let (work, info) = self.end_of_job(id, work, (deadline, now, now), false);
        Some(Leftover { work, info })
    }

    /// Counts a run that was handed out as over, however it ended.
    pub(crate) fn hand_in(&mut self, begun: bool) {
        self.runs.in_flight -= 1;
        self.runs.begun -= usize::from(begun);
    }

    #[inline]
    fn measure(&mut self, deadline: Moment, started: Moment, ended: Moment) {
        let between = |a: Moment, b: Moment| b.as_nanos().saturating_sub(a.as_nanos());
        let distributions =
            self.distributions.get_or_insert_with(|| Box::new(Distributions::new()));
        distributions.record(between(deadline, started), between(started, ended));
    }
}
