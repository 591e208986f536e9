//! Jobs at their deadlines: a job is taken out, and its run begins. `end` has the rest.

use super::handover::{ActiveRun, DueJob, HandedOut, PlainRun, RunFacts, ShardWork, TakenWork};
use super::state::{Body, JobIndex, Other, ShardState, Slot, TimerState};
use crate::job::{Ending, Id, JobState, Status, Turn};
use crate::time::{Clock, Moment};
use std::mem::replace;
use std::sync::Arc;
use wheelhouse_core::{Expired, Tick};

/// The most timers that are taken out under one lock. Then another thread may have the lock.
const PORTION: usize = 64;

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// Takes out the next due job, up to the tick `upto`. Its run begins on this thread, unless it
    /// is handed out. A plain job is returned; any other is put into `other`.
    pub(crate) fn pop_due(
        &mut self,
        upto: Tick,
        now: Moment,
        clock: &dyn Clock,
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
            let limits_run =
                |slot: &Slot<W>| matches!(slot.body, Body::Other(Other::Wake(_, true)));
            if !self.stage.runs() && !limits_run(&self.slots[index]) {
                // A job that ended a run during the stop. It waits to be taken back.
                self.slots[index].timer = TimerState::Off(None);
                continue;
            }
            let plain = self.begin_plain(index, fired);
            if plain.is_some() {
                return plain;
            }
            *other = self.fire(index, fired, now, clock);
            if other.is_some() {
                return None;
            }
        }
        self.find_next();
        None
    }

    /// Updates `next`. A cancel leaves `next` unchanged, unless it ends a storm: if timeouts are
    /// set and cancelled in turn, each of them would otherwise become the first in its shard and
    /// wake the driver. Instead the driver wakes up once, when the first of them would have been
    /// due, and calls this. A wheel may return an earlier tick than that of its first timer, at
    /// which it cascades. So a known later tick is kept. After a storm `next` stays as it is until
    /// the driver has released the memory.
    pub(crate) fn find_next(&mut self) {
        if !self.storm_ended {
            self.next = self.next.max(self.wheel.next_wakeup().unwrap_or(Tick::MAX));
        }
    }

    /// Begins the run of a job whose timer has fired, if the job is plain and due, and is neither
    /// paused with all jobs nor behind the fence. This is the shortest path of [`fire`](Self::fire)
    /// and `begin`.
    #[inline]
    fn begin_plain(&mut self, index: u32, fired: Tick) -> Option<PlainRun<W>> {
        let shard = self.shard;
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
            Body::Plain(ref work) => !work.is_instant(),
            Body::Other(_) => false,
        };
        if slot.deadline > due_by || is_for_the_next || !is_plain {
            return None;
        }
        slot.timer = TimerState::Off(None);
        let (id, deadline) = (Id::new(slot.number, index, shard), slot.deadline);
        let Body::Plain(work) = replace(&mut slot.body, Body::Other(Other::Gone)) else {
            unreachable!("it has just been found to be plain");
        };
        self.counts.runs += 1;
        self.runs.in_flight += 1;
        self.runs.begun += 1;
        Some(PlainRun { id, deadline, work })
    }

    /// Handles the timer of a job, which was set to the tick `fired`. Returns `None` if there is
    /// nothing to run: the job is not due and its timer was started again, or it was deferred.
    fn fire(
        &mut self,
        index: u32,
        fired: Tick,
        now: Moment,
        clock: &dyn Clock,
    ) -> Option<DueJob<W>> {
        let slot = &self.slots[index];
        debug_assert!(
            self.is_in_time(slot, fired, slot.deadline),
            "the timer of tick {fired} fired after {:?}",
            slot.deadline
        );
        let id = self.id_of(slot.number, index);
        let slot = &mut self.slots[index];
        slot.timer = TimerState::Off(None);
        if self.fence.is_some_and(|(last, _)| slot.number.get() > last) {
            self.fenced.push(id);
            return None;
        }
        if let Some(wall) = self.job_states.of(slot).and_then(JobState::wall) {
            slot.deadline = wall.estimated(clock);
        }
        // The job was moved to a later deadline. The timer is started again even if that has passed
        // too: jobs that are due between the two deadlines run first.
        if slot.deadline > self.ticks.instant(fired) {
            self.restart_timer(index, now);
            return None;
        }
        if self.is_paused_with_all(index) {
            self.defer(id);
            return None;
        }
        Some(self.dispatch(id, now))
    }

    fn dispatch(&mut self, id: Id, now: Moment) -> DueJob<W> {
        let index = id.index();
        if matches!(self.slots[index].body, Body::Other(Other::Wake(..))) {
            let taken = self.remove(index, Ending::Finished);
            self.counts.runs += 1;
            self.measure(taken.deadline, now, now);
            let Some(TakenWork::Wake(waker)) = taken.work else {
                unreachable!("the job of a future that sleeps has a waker");
            };
            return DueJob::Wake(waker);
        }
        self.runs.in_flight += 1;
        match self.hand_out(id) {
            Some(run) => DueJob::HandedOut(run),
            None => DueJob::Begun(self.begin(index, true)),
        }
    }

    /// Hands out the run of an async job, or of a job in a group. `None` for any other job: its run
    /// begins on the leading thread. Sent values ignore groups.
    fn hand_out(&mut self, id: Id) -> Option<HandedOut> {
        let slot = &mut self.slots[id.index()];
        let job = self.job_states.of(slot)?;
        let dispatch = &job.rare.as_ref()?.dispatch;
        let is_instant = || job.work().is_some_and(ShardWork::is_instant);
        if !dispatch.is_async && (dispatch.group.is_none() || is_instant()) {
            return None;
        }
        self.turn = self.turn.checked_add(1).unwrap_or(Turn::MIN);
        slot.timer = TimerState::Off(Some(self.turn));
        let (info, dispatch) = (Arc::clone(&job.info), dispatch.clone());
        Some(HandedOut { id, turn: self.turn, info, dispatch })
    }

    /// Begins a run that was handed out, unless its turn is over: the job was cancelled, moved, or
    /// taken back.
    pub(crate) fn begin_turn(&mut self, id: Id, turn: Turn, now: Moment) -> Option<ActiveRun<W>> {
        if !self.is_turn(id, turn) {
            return None;
        }
        let run = self.begin(id.index(), false);
        self.runs.watch(id, run.info.clone(), now);
        Some(run)
    }

    pub(crate) fn is_turn(&self, id: Id, turn: Turn) -> bool {
        let is_its = |timer| matches!(timer, TimerState::Off(its) if its == Some(turn));
        self.status(id) == Some(Status::Pending)
            && self.slots.of(id).is_some_and(|slot| is_its(slot.timer))
    }

    /// Begins a run of a job whose timer has fired, and which is counted as in flight.
    fn begin(&mut self, index: u32, on_leader: bool) -> ActiveRun<W> {
        debug_assert!(self.runs.begun < self.runs.in_flight, "{:?}", self.runs);
        let shard = self.shard;
        let slot = &mut self.slots[index];
        let (id, deadline) = (Id::new(slot.number, index, shard), slot.deadline);
        slot.timer = TimerState::Off(None);
        self.runs.begun += 1;
        self.counts.runs += 1;
        let Some(job) = self.job_states.of_mut(slot) else {
            let Body::Plain(work) = replace(&mut slot.body, Body::Other(Other::Gone)) else {
                unreachable!("a plain job has a box of work until its run begins");
            };
            return ActiveRun::new(RunFacts::single(id, deadline), Some(work), None);
        };
        let facts = facts_of_run(job, id, deadline);
        self.counts.runs -= u64::from(facts.asks_rule_only);
        self.counts.missed += facts.missed;
        // The `Info` is in other memory than the rest of the job, so a run that can do without does
        // not touch it.
        let needs_info = !on_leader || facts.frees_key();
        let info = needs_info.then(|| Arc::clone(&job.info));
        ActiveRun::new(facts, Some(job.begin()), info)
    }
}

fn facts_of_run<W: ?Sized>(job: &mut JobState<W>, id: Id, deadline: Moment) -> RunFacts {
    let asks_rule_only = job.take_asks_rule_only();
    let (number, missed, extra) =
        if asks_rule_only { (job.runs, 0, false) } else { job.count_run() };
    let time = match asks_rule_only {
        true => job.wall().map(|wall| wall.time),
        false => job.time_of_run(extra),
    };
    let (last, (attempt, is_retried)) = (!job.another_follows(), job.tries());
    let blocks = job.rare.as_ref().is_some_and(|rare| rare.dispatch.blocks);
    RunFacts {
        id,
        deadline,
        time,
        number,
        missed,
        attempt,
        is_retried,
        last,
        extra,
        asks_rule_only,
        blocks,
    }
}
