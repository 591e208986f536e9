//! Jobs at their deadlines: a job is taken out, its run begins, its run ends.

use super::dyn_timer::JobIndex;
use super::handover::{Begun, Cleanup, DueJob, EndedRun, HandedOut, PlainRun, RunFacts};
use super::state::{Body, Other, ShardState, TakenWork, TimerState};
use super::work::{ShardWork, SlabWork};
use crate::job::{After, Dispatch, Ending, Id, Info, RareState, Turn};
use crate::observe::Distributions;
use crate::time::{Clock, Moment};
use std::sync::Arc;
use wheelhouse_core::{Expired, Tick};

/// The most timers that are taken out under one lock. Then another thread may have the lock.
const PORTION: usize = 64;

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// Takes out the next due job, up to the tick `upto`. If `on_leader` is set, runs begin at once
    /// on this thread; otherwise they are handed out. A plain job is returned; any other is put
    /// into `other`.
    pub(crate) fn pop_due(
        &mut self,
        upto: Tick,
        now: Moment,
        clock: &dyn Clock,
        on_leader: bool,
        other: &mut Option<DueJob<W>>,
    ) -> Option<PlainRun<W>> {
        for _ in 0..PORTION {
            let Some(Expired { value, deadline: fired, .. }) = self.wheel.pop_expired(upto) else {
                break;
            };
            // The wake-up of a wheel that is late by design may be after the deadline of a timer.
            debug_assert!(
                fired >= self.next || !self.own_wheel,
                "nothing is due before {}, but a timer fired for {fired}",
                self.next
            );
            let JobIndex(index) = value;
            if !self.stage.runs() && !self.limits_run(index) {
                // A job that ended a run during the stop. It waits to be taken back.
                self.slots[index].timer = TimerState::Off(None);
                continue;
            }
            match self.begin_plain(index, fired, on_leader) {
                Some((id, deadline, Body::Plain(work))) => {
                    return Some(PlainRun { id, deadline, work });
                }
                Some((id, deadline, Body::Other(Other::InSlab(slab, index)))) => {
                    let work = SlabWork::new(&self.slabs, slab, index);
                    *other = Some(DueJob::InSlab(id, deadline, work));
                }
                _ => *other = self.fire(index, fired, now, clock, on_leader),
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
    /// thread, and is neither paused with all jobs nor behind the fence. This is the shortest path
    /// of [`fire`](Self::fire) and `begin`.
    #[inline]
    fn begin_plain(
        &mut self,
        index: u32,
        fired: Tick,
        on_leader: bool,
    ) -> Option<(Id, Moment, Body<W>)> {
        let shard = self.shard();
        let due_by = self.ticks.instant(fired);
        if self.is_paused_with_all(index) {
            return None;
        }
        let slot = &mut self.slots[index];
        debug_assert!(
            matches!(slot.timer, TimerState::Wheel(_)),
            "the timer that fired is not its own"
        );
        let is_for_the_next = self.fence.is_some_and(|(last, _)| slot.number.get() > last);
        let is_plain = match slot.body {
            // In an instant run the lead is not taken, so it is handled separately.
            Body::Plain(ref work) => on_leader && !work.is_instant(),
            Body::Other(Other::InSlab(..)) => true,
            Body::Other(_) => false,
        };
        if slot.deadline > due_by || is_for_the_next || !is_plain {
            return None;
        }
        slot.timer = TimerState::Off(None);
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
        let slot = self.slot(id);
        debug_assert!(
            slot.as_ref().is_some_and(|slot| slot.is_gone()),
            "the run has taken its work, and its timer has fired"
        );
        if slot.is_some() {
            self.slots.remove(id.index());
            self.count_end(Ending::Finished);
        }
        self.hand_in(true);
    }

    /// Handles the timer of a job, which was set to the tick `fired`. Returns `None` if there is
    /// nothing to run: the job is not due and its timer was started again, or it was deferred.
    fn fire(
        &mut self,
        index: u32,
        fired: Tick,
        now: Moment,
        clock: &dyn Clock,
        on_leader: bool,
    ) -> Option<DueJob<W>> {
        let shard = self.shard();
        let slot = &mut self.slots[index];
        let id = Id::new(slot.number, index, shard);
        if self.fence.is_some_and(|(last, _)| slot.number.get() > last) {
            slot.timer = TimerState::Off(None);
            self.fenced.push(id);
            return None;
        }
        let job = slot.job_state().map(|job| &self.job_states[job]);
        let ticks = job.map_or(self.ticks, |job| job.ticks);
        debug_assert!(
            fired <= ticks.not_before(slot.deadline),
            "the timer of tick {fired} fired after {:?}",
            slot.deadline
        );
        let mut handed_out = false;
        if let Some(job) = job {
            let goes = |rare: &RareState| rare.dispatch.is_async || rare.dispatch.group.is_some();
            handed_out = job.rare.as_deref().is_some_and(goes);
            if let Some(wall) = job.wall() {
                slot.deadline = wall.estimated(clock);
            }
        }
        // The job was moved to a later deadline. The timer is started again even if that has passed
        // too: jobs that are due between the two deadlines run first.
        if slot.deadline > self.ticks.instant(fired) {
            self.restart_timer(index, now);
            return None;
        }
        let wakes = matches!(slot.body, Body::Other(Other::Wake(..)));
        if self.is_paused_with_all(index) {
            self.slots[index].timer = TimerState::Off(None);
            self.deferred.push(id);
            return None;
        }
        if wakes {
            return Some(self.wake(index, now));
        }
        if on_leader && !handed_out || self.is_instant(index) {
            self.runs.in_flight += 1;
            return Some(DueJob::Begun(self.begin(index, now, true)));
        }
        let turn = self.next_turn();
        let slot = &mut self.slots[index];
        slot.timer = TimerState::Off(Some(turn));
        self.runs.in_flight += 1;
        let (info, dispatch) = match slot.job_state().map(|job| &self.job_states[job]) {
            Some(job) => {
                let dispatch = job.rare.as_ref().map(|rare| rare.dispatch.clone());
                (Some(Arc::clone(&job.info)), dispatch.unwrap_or_default())
            }
            None => (None, Dispatch::default()),
        };
        Some(DueJob::HandedOut(HandedOut { id, turn, info, dispatch }))
    }

    fn is_instant(&self, index: u32) -> bool {
        match &self.slots[index].body {
            Body::Plain(work) => work.is_instant(),
            Body::Other(Other::Full { job, .. }) => {
                self.job_states[*job].work().is_some_and(|work| work.is_instant())
            }
            Body::Other(_) => false,
        }
    }

    fn wake(&mut self, index: u32, now: Moment) -> DueJob<W> {
        self.slots[index].timer = TimerState::Off(None);
        let taken = self.take(index, Ending::Finished);
        self.counts.runs += 1;
        self.measure(taken.deadline, now, now);
        let Some(TakenWork::Wake(waker)) = taken.work else {
            unreachable!("the job of a future that sleeps has a waker");
        };
        DueJob::Wake(waker)
    }

    /// Begins a run that was handed out, unless its turn is over: the job was cancelled, moved, or
    /// taken back.
    pub(crate) fn begin_turn(&mut self, id: Id, turn: Turn, now: Moment) -> Option<Begun<W>> {
        if !self.is_turn(id, turn) {
            return None;
        }
        let mut begun = self.begin(id.index(), now, false);
        begun.watch = Some(self.runs.watch(id, begun.info.clone(), now));
        Some(begun)
    }

    fn is_turn(&mut self, id: Id, turn: Turn) -> bool {
        self.status(id) == Some(crate::job::Status::Pending)
            && self
                .slot(id)
                .is_some_and(|slot| matches!(slot.timer, TimerState::Off(its) if its == Some(turn)))
    }

    /// Begins a run of a job whose timer has fired, and which is counted as in flight.
    fn begin(&mut self, index: u32, now: Moment, on_leader: bool) -> Begun<W> {
        debug_assert!(self.runs.begun < self.runs.in_flight, "{:?}", self.runs);
        let shard = self.shard();
        let slot = &mut self.slots[index];
        let (id, deadline) = (Id::new(slot.number, index, shard), slot.deadline);
        slot.timer = TimerState::Off(None);
        self.counts.runs += 1;
        let Some(job) = slot.job_state() else {
            let Body::Plain(work) = std::mem::replace(&mut slot.body, Body::Other(Other::Gone))
            else {
                unreachable!("a plain job has a box of work until its run begins");
            };
            self.runs.begun += 1;
            return Begun::plain(id, deadline, Some(work));
        };
        let job = &mut self.job_states[job];
        let asks_rule_only = job.take_passed();
        self.counts.runs -= u64::from(asks_rule_only);
        let (number, missed, extra) =
            if asks_rule_only { (job.runs, 0, false) } else { job.count_run() };
        let time = job.time_of_run(extra);
        let (last, (attempt, is_retried)) = (!job.another_follows(), job.tries());
        let frees_key = last && !is_retried;
        let blocks = job.rare.as_ref().is_some_and(|rare| rare.dispatch.blocks);
        let may_overlap = !last && job.may_overlap();
        // The `Info` is in other memory than the rest of the job, so a run that can do without does
        // not touch it.
        let info = (!on_leader || frees_key || may_overlap).then(|| Arc::clone(&job.info));
        let fork = job.work().filter(|_| may_overlap).and_then(ShardWork::fork);
        let next = fork.as_ref().and_then(|_| job.wait_for_next(deadline, now, now));
        let paused = job.is_paused();
        let (work, tick) = match (fork, next) {
            (Some(fork), Some(next)) => {
                slot.deadline = next;
                (fork, Some(job.ticks.not_before(next)))
            }
            _ => (job.begin(), None),
        };
        if let Some(tick) = tick.filter(|_| !paused) {
            self.start_timer(index, tick);
        }
        self.runs.begun += 1;
        self.counts.missed += missed;
        let facts =
            RunFacts { id, deadline, time, number, missed, attempt, last, extra, asks_rule_only };
        let overlaps = tick.is_some();
        let work = Some(work);
        Begun { facts, work, info, is_retried, frees_key, overlaps, blocks, watch: None }
    }

    /// Ends a run, and hands it in if nothing is left to do.
    pub(crate) fn end(&mut self, done: EndedRun<W>) -> Option<Cleanup<W>> {
        let EndedRun { id, work, deadline, started, ended, overlaps, failed, asks_rule_only } =
            done;
        if !asks_rule_only {
            self.measure(deadline, started, ended);
        }
        let (work, info) = if overlaps {
            (work, None)
        } else {
            self.end_of_job(id, work, (deadline, started, ended), failed)
        };
        if work.is_none() && info.is_none() {
            self.hand_in(true);
            return None;
        }
        Some(Cleanup { work, info })
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
            debug_assert!(false, "the job of a run in progress was removed");
            return (work, None);
        };
        debug_assert!(
            matches!(slot.timer, TimerState::Off(None)),
            "a job that is running has no timer"
        );
        let Some(job) = slot.job_state() else {
            debug_assert!(slot.is_gone(), "the run has taken its work");
            self.take(id.index(), Ending::Finished);
            return (work, None);
        };
        let job = &mut self.job_states[job];
        debug_assert!(job.is_running(), "a run ends once");
        let follows = job.another_follows();
        let again = job.try_again(failed, ended).filter(|_| work.is_some());
        let after = job.after();
        let ending = match after {
            After::End(ending) => Err(ending),
            _ if !follows && again.is_none() => Err(Ending::Finished),
            _ if stage.is_over() => Err(Ending::Stopped),
            _ => {
                let next = match follows {
                    true if after == After::Moved => Some(slot.deadline),
                    true => job.wait_for_next(deadline, started, ended),
                    false => None,
                };
                let next = again.map(|again| job.first_of(again, next)).or(next);
                next.ok_or(Ending::Finished)
            }
        };
        debug_assert!(work.is_some() || ending.is_err(), "work that runs again was not put back");
        match (ending, work) {
            (Ok(next), Some(work)) => {
                let moved = after == After::Moved || again.is_some();
                job.wait(work);
                slot.deadline = next;
                let check_by = job.wall().map_or(next, |wall| wall.check_by(next, ended));
                let tick = job.ticks.not_before(check_by);
                // A job that moves itself to the present, or is retried at once, is for the next
                // poll.
                if job.is_paused() {
                    // No timer until it is resumed.
                } else if moved && self.fence.is_some_and(|(_, upto)| tick <= upto) {
                    self.fenced.push(id);
                } else {
                    self.start_timer(id.index(), tick);
                }
                (None, None)
            }
            (ending, work) => {
                let taken = self.take(id.index(), ending.err().unwrap_or(Ending::Finished));
                (work, taken.info)
            }
        }
    }

    /// Handles a run that was dropped before it began. A periodic job continues, any other is over.
    /// `None` if the turn was over already.
    pub(crate) fn abandon(&mut self, id: Id, turn: Turn, now: Moment) -> Option<Cleanup<W>> {
        if !self.is_turn(id, turn) {
            return None;
        }
        self.runs.begun += 1;
        self.counts.abandoned += 1;
        let slot = &mut self.slots[id.index()];
        // The turn is over. A paused job has no timer until it is resumed.
        slot.timer = TimerState::Off(None);
        let deadline = slot.deadline;
        let job = slot.job_state().map(|job| &mut self.job_states[job]);
        let Some(job) = job.filter(|job| job.repeat.is_some()) else {
            let taken = self.take(id.index(), Ending::Cancelled);
            let Some(TakenWork::Work(work)) = taken.work else {
                unreachable!("a run that was handed out and has not begun has a box of work");
            };
            return Some(Cleanup { work: Some(work), info: taken.info });
        };
        job.end_exception();
        let work = job.begin();
        let (work, info) = self.end_of_job(id, Some(work), (deadline, now, now), false);
        Some(Cleanup { work, info })
    }

    /// Counts a run that was handed out as over, however it ended.
    pub(crate) fn hand_in(&mut self, begun: bool) {
        self.runs.in_flight -= 1;
        self.runs.begun -= usize::from(begun);
        debug_assert!(self.runs.begun <= self.runs.in_flight, "{:?}", self.runs);
    }

    #[inline]
    fn measure(&mut self, deadline: Moment, started: Moment, ended: Moment) {
        let between = |a: Moment, b: Moment| b.as_nanos().saturating_sub(a.as_nanos());
        let distributions =
            self.distributions.get_or_insert_with(|| Box::new(Distributions::new()));
        distributions.record(between(deadline, started), between(started, ended));
    }
}
