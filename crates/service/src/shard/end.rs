//! The ends of runs: a job waits for its next run, or is over.

use super::handover::{ActiveRun, RunFacts, ShardWork, TakenWork};
use super::state::{ShardState, StopStage, TimerState};
use crate::job::{After, Ending, Id, JobState, Turn};
use crate::time::Moment;

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// Ends the run of a plain job and so the job, and hands it in.
    #[inline]
    pub(crate) fn end_plain(&mut self, id: Id, deadline: Moment, started: Moment, ended: Moment) {
        self.measure(deadline, started, ended);
        let slot = self.slots.of(id);
        debug_assert!(
            slot.is_some_and(|slot| slot.is_gone()),
            "the run has taken its work, and its timer has fired"
        );
        if slot.is_some() {
            self.slots.remove(id.index());
            self.count_end(Ending::Finished);
        }
        self.hand_in(id, true);
    }

    /// Ends a run, and hands it in. Returns `true` if it was not handed in: then its work must be
    /// dropped and its key be released first, without the lock.
    pub(crate) fn end(&mut self, run: &mut ActiveRun<W>) -> bool {
        debug_assert!(run.info.is_none(), "it is released without the lock");
        if !run.facts.asks_rule_only {
            self.measure(run.facts.deadline, run.started, run.ended);
        }
        self.end_of_job(run);
        let needs_cleanup = run.work.is_some() || run.info.is_some();
        if !needs_cleanup {
            self.hand_in(run.facts.id, true);
        }
        needs_cleanup
    }

    /// Lets the job wait for its next run, or ends it. If it is over, the run keeps its work, and
    /// gets the info with its key.
    fn end_of_job(&mut self, run: &mut ActiveRun<W>) {
        let index = run.facts.id.index();
        let Some(slot) = self.slots.of_mut(run.facts.id) else {
            debug_assert!(false, "the job of a run in progress was removed");
            return;
        };
        debug_assert!(
            matches!(slot.timer, TimerState::Off(None)),
            "a job that is running has no timer"
        );
        let Some(job) = self.job_states.of_mut(slot) else {
            debug_assert!(slot.is_gone(), "the run has taken its work");
            self.remove(index, Ending::Finished);
            return;
        };
        debug_assert!(job.is_running(), "a run ends once");
        let again = job.try_again(run.failed, run.facts.asks_rule_only, run.ended);
        let again = again.filter(|_| run.work.is_some());
        let moved = job.after() == After::Moved || again.is_some();
        let next = next_run(job, self.stage, slot.deadline, again, run);
        debug_assert!(run.work.is_some() || next.is_err(), "work that runs again was not put back");
        match (next, run.work.take()) {
            (Ok(next), Some(work)) => {
                slot.deadline = next;
                self.wait_again(run, work, moved);
            }
            (next, work) => {
                run.work = work;
                run.info = self.remove(index, next.err().unwrap_or(Ending::Finished)).info;
            }
        }
    }

    /// Puts the work of a job back, and starts the timer for its next run. `moved` is set if that
    /// is not simply the next one of the schedule.
    fn wait_again(&mut self, run: &ActiveRun<W>, work: Box<W>, moved: bool) {
        let (id, ended) = (run.facts.id, run.ended);
        let took = ended.saturating_since(run.started);
        let slot = &self.slots[id.index()];
        let job = self.job_states.of_mut(slot).expect("only a job with a state has another run");
        job.wait(work);
        let mut tick = job.tick_of(slot.deadline, ended);
        if job.repeat.is_some_and(|repeat| repeat.falls_behind(took)) {
            // This job never makes up for all, so its deadlines fall ever further behind. By its
            // deadline it would come before all other jobs for ever.
            tick = tick.max(self.ticks.reached(ended));
        }
        if job.is_paused() {
            // No timer until it is resumed.
        } else if moved && self.fires_in_this_poll(tick) {
            // A job that moves itself to the present, or is retried at once, is for the next poll.
            self.fenced.push(id);
        } else {
            self.start_timer(id.index(), tick);
        }
    }

    /// Handles a run that was dropped before it began. If the job has a retry, this is a failed
    /// attempt; but a run that a rule named is only delayed. A periodic job continues, any other is
    /// over unless it is retried. Returns what is left, as for a run that has ended, and `true` if
    /// no retry follows the last attempt. `None` if the turn was over already.
    pub(crate) fn abandon(
        &mut self,
        id: Id,
        turn: Turn,
        now: Moment,
    ) -> Option<(ActiveRun<W>, bool)> {
        if !self.is_turn(id, turn) {
            return None;
        }
        let is_retried = self.is_retried(id);
        self.runs.begun += 1;
        self.counts.abandoned += 1;
        let slot = &mut self.slots[id.index()];
        // The turn is over. A paused job has no timer until it is resumed.
        slot.timer = TimerState::Off(None);
        let facts = RunFacts::single(id, slot.deadline);
        let mut run = ActiveRun::new(facts, None, None);
        (run.started, run.ended) = (now, now);
        let job = self.job_states.of_mut(slot);
        run.facts.asks_rule_only = job.as_ref().is_some_and(|job| job.awaits_rule());
        run.failed = is_retried.is_some() && !run.facts.asks_rule_only;
        match job.filter(|job| job.repeat.is_some() || is_retried == Some(true)) {
            Some(job) => {
                job.end_exception();
                if run.failed {
                    job.count_attempt();
                }
                job.keep_time();
                run.work = Some(job.begin());
                self.end_of_job(&mut run);
            }
            None => {
                let ending = if run.failed { Ending::Finished } else { Ending::Cancelled };
                let taken = self.remove(id.index(), ending);
                let Some(TakenWork::Work(work)) = taken.work else {
                    unreachable!("a run that was handed out and has not begun has a box of work");
                };
                (run.work, run.info) = (Some(work), taken.info);
            }
        }
        let gave_up = run.failed && is_retried == Some(false);
        Some((run, gave_up))
    }

    /// The rule of this job panicked in the run in progress.
    pub(crate) fn ask_rule_again(&mut self, id: Id) {
        if let Some(slot) = self.slots.of(id)
            && let Some(job) = self.job_states.of_mut(slot)
        {
            job.ask_rule_again();
        }
    }

    /// Counts a run that was handed out as over, however it ended.
    pub(crate) fn hand_in(&mut self, id: Id, begun: bool) {
        self.runs.in_flight -= 1;
        self.runs.begun -= usize::from(begun);
        if self.stage != StopStage::Open && begun {
            self.runs.end_excuse(id);
        }
        debug_assert!(self.runs.begun <= self.runs.in_flight, "{:?}", self.runs);
    }

    #[inline]
    pub(super) fn measure(&mut self, deadline: Moment, started: Moment, ended: Moment) {
        let between = |a: Moment, b: Moment| b.as_nanos().saturating_sub(a.as_nanos());
        let distributions = self.distributions.get_or_insert_default();
        distributions.lateness.record(between(deadline, started));
        distributions.run_time.record(between(started, ended));
    }
}

/// The deadline of the next run, or how the job ends. `again` is that of a retry, and `moved_to`
/// the one that the job was moved to during the run, if it was.
fn next_run<W: ?Sized>(
    job: &mut JobState<W>,
    stage: StopStage,
    moved_to: Moment,
    again: Option<Moment>,
    run: &ActiveRun<W>,
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
        true => job.wait_for_next(run.facts.deadline, run.started, run.ended),
        false => None,
    };
    let next = again.map(|again| job.first_of(again, next)).or(next);
    next.ok_or(Ending::Finished)
}
