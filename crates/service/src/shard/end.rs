//! The ends of runs: a job waits for its next run, or is over.

use super::handover::{Cleanup, EndedRun};
use super::state::{ShardState, StopStage, TakenWork, TimerState};
use super::work::ShardWork;
use crate::job::{After, Ending, Id, Info, JobState, Turn};
use crate::observe::Distributions;
use crate::time::Moment;
use std::sync::Arc;

/// The deadline of a run, when it began, and when it ended.
type RunTimes = (Moment, Moment, Moment);

impl<W: ShardWork + ?Sized> ShardState<W> {
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
        times: RunTimes,
        failed: bool,
    ) -> (Option<Box<W>>, Option<Arc<Info>>) {
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
        let again = job.try_again(failed, times.2).filter(|_| work.is_some());
        let moved = job.after() == After::Moved || again.is_some();
        let next = next_run(job, self.stage, slot.deadline, again, times);
        debug_assert!(work.is_some() || next.is_err(), "work that runs again was not put back");
        match (next, work) {
            (Ok(next), Some(work)) => {
                slot.deadline = next;
                self.wait_again(id, work, moved, times);
                (None, None)
            }
            (next, work) => {
                let taken = self.take(id.index(), next.err().unwrap_or(Ending::Finished));
                (work, taken.info)
            }
        }
    }

    /// Puts the work of a job back, and starts the timer for its next run. `moved` is set if that
    /// is not simply the next one of the schedule.
    fn wait_again(&mut self, id: Id, work: Box<W>, moved: bool, (_, started, ended): RunTimes) {
        let slot = &mut self.slots[id.index()];
        let job = slot.job_state().expect("only a job with a state has another run");
        let job = &mut self.job_states[job];
        job.wait(work);
        let next = slot.deadline;
        let mut tick = job.ticks.not_before(job.wall().map_or(next, |w| w.check_by(next, ended)));
        if job.repeat.is_some_and(|repeat| repeat.falls_behind(ended.saturating_since(started))) {
            // This job never makes up for all, so its deadlines fall ever further behind. By its
            // deadline it would come before all other jobs for ever.
            tick = tick.max(self.ticks.reached(ended));
        }
        if job.is_paused() {
            // No timer until it is resumed.
        } else if moved && self.fence.is_some_and(|(_, upto)| tick <= upto) {
            // A job that moves itself to the present, or is retried at once, is for the next poll.
            self.fenced.push(id);
        } else {
            self.start_timer(id.index(), tick);
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
    pub(super) fn measure(&mut self, deadline: Moment, started: Moment, ended: Moment) {
        let between = |a: Moment, b: Moment| b.as_nanos().saturating_sub(a.as_nanos());
        let distributions =
            self.distributions.get_or_insert_with(|| Box::new(Distributions::new()));
        distributions.record(between(deadline, started), between(started, ended));
    }
}

/// The deadline of the next run, or how the job ends. `again` is that of a retry, and `moved_to`
/// the one that the job was moved to during the run, if it was.
fn next_run<W: ?Sized>(
    job: &mut JobState<W>,
    stage: StopStage,
    moved_to: Moment,
    again: Option<Moment>,
    (deadline, started, ended): RunTimes,
) -> Result<Moment, Ending> {
    let (follows, after) = (job.another_follows(), job.after());
    match after {
        After::End(ending) => return Err(ending),
        _ if !follows && again.is_none() => return Err(Ending::Finished),
        _ if stage.is_over() => return Err(Ending::Stopped),
        _ => {}
    }
    let next = match follows {
        true if after == After::Moved => Some(moved_to),
        true => job.wait_for_next(deadline, started, ended),
        false => None,
    };
    let next = again.map(|again| job.first_of(again, next)).or(next);
    next.ok_or(Ending::Finished)
}
