//! The state that only some jobs have: a name, a key, a wall-clock time, more runs.
//!
//! A plain job is two words of work, a deadline and a number. All other state is here, so only the
//! jobs that need it pay for it.
//!
//! An *extra run* is not part of the schedule of its job: a retry, or a run that was requested for
//! now. The schedule waits until it has ended.

use super::{Backoff, Dispatch, Ending, Info, Pace, Repeat};
use crate::time::{Clock, Moment, Ticks, Wall};
use std::mem::{replace, take};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use wheelhouse_core::Tick;

/// The kind of run that a job waits for.
#[derive(Default)]
enum Awaited {
    /// The next one of the schedule.
    #[default]
    Scheduled,
    /// An extra run. The schedule continues after it with this run, unless it is over.
    Extra(Option<(Moment, Planned)>),
}

/// The next run of the schedule, without its deadline.
#[derive(Default)]
pub(crate) struct Planned {
    /// The wall-clock time that it waits for.
    pub(crate) wall: Option<Box<Wall>>,
    /// How much of its deadline is jitter: its time in the schedule is earlier by this.
    pub(crate) jitter_delay: Duration,
    /// The run only asks the rule for the next time. Its own time passed while the job was paused,
    /// or the rule panicked in the run before.
    asks_rule_only: bool,
}

/// If a job is paused, its runs do not begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pause {
    #[default]
    Off,
    On,
    /// On, except for one run that was requested for now.
    AllButOne,
}

/// The state that few of these jobs have.
#[derive(Default)]
pub(crate) struct RareState {
    pub(crate) dispatch: Dispatch,
    /// Empty while the schedule is suspended.
    pub(crate) planned: Planned,
    /// The wall-clock time of the last run that was no retry, if it has one.
    time: Option<SystemTime>,
    pub(crate) retry: Option<Backoff>,
    failed: u32,
    awaited: Awaited,
    extra_runs: u64,
    /// The longest random delay of a run.
    pub(crate) jitter: Duration,
    pause: Pause,
}

impl RareState {
    fn suspend_schedule(&mut self, next: Option<Moment>) {
        debug_assert!(
            !matches!(self.awaited, Awaited::Extra(Some(_))),
            "a run of the schedule is suspended already"
        );
        let planned = take(&mut self.planned);
        self.awaited = Awaited::Extra(next.map(|deadline| (deadline, planned)));
    }

    /// Waits for the suspended run of the schedule, if there is one. Returns its deadline.
    fn restore_schedule(&mut self) -> Option<Moment> {
        let Awaited::Extra(suspended) = &mut self.awaited else { return None };
        let (deadline, planned) = suspended.take()?;
        (self.awaited, self.planned) = (Awaited::Scheduled, planned);
        Some(deadline)
    }
}

pub(crate) fn draw_jitter(jitter: Duration) -> Duration {
    if jitter.is_zero() { jitter } else { jitter.mul_f64(fastrand::f64()) }
}

/// The owner of the work of a job. See the table of [states](super).
enum Phase<W: ?Sized> {
    /// The job: it waits for its time, is due, or is paused.
    Idle(Box<W>),
    Running(After),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The next run of the schedule, if there is one.
    Schedule,
    /// A run at the deadline that the job has been moved to.
    Moved,
    /// None: the job ends.
    End(Ending),
}

/// A job that has more than a deadline.
pub(crate) struct JobState<W: ?Sized> {
    phase: Phase<W>,
    pub(crate) info: Arc<Info>,
    pub(crate) repeat: Option<Repeat>,
    /// How many runs have begun. Stored here, so a run need not touch the part that its handles
    /// share.
    pub(crate) runs: u64,
    pub(crate) ticks: Ticks,
    pub(crate) rare: Option<Box<RareState>>,
}

impl<W: ?Sized> JobState<W> {
    /// The state of a job that runs once. Its deadlines are rounded up to `ticks`.
    pub(crate) fn new(work: Box<W>, info: Arc<Info>, ticks: Ticks) -> Self {
        Self { phase: Phase::Idle(work), info, repeat: None, runs: 0, ticks, rare: None }
    }

    /// Returns the work; `None` if a run has it.
    pub(crate) fn into_work(self) -> Option<Box<W>> {
        if let Phase::Idle(work) = self.phase { Some(work) } else { None }
    }

    pub(crate) fn work(&self) -> Option<&W> {
        if let Phase::Idle(work) = &self.phase { Some(&**work) } else { None }
    }

    #[inline]
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running(_))
    }

    /// A run begins, and has the work until [`wait`](Self::wait).
    pub(crate) fn begin(&mut self) -> Box<W> {
        match replace(&mut self.phase, Phase::Running(After::Schedule)) {
            Phase::Idle(work) => work,
            Phase::Running(_) => unreachable!("of these runs one is in progress at a time"),
        }
    }

    pub(crate) fn wait(&mut self, work: Box<W>) {
        debug_assert!(self.is_running(), "the work comes back from a run");
        self.phase = Phase::Idle(work);
    }

    pub(crate) fn after(&self) -> After {
        match self.phase {
            Phase::Running(after) => after,
            Phase::Idle(_) => After::Schedule,
        }
    }

    /// No run follows the one in progress.
    pub(crate) fn end_after(&mut self, ending: Ending) {
        debug_assert!(self.is_running(), "a job that is idle ends at once");
        self.phase = Phase::Running(After::End(ending));
    }

    /// The next run was moved, perhaps to a wall-clock time, and the schedule continues from there.
    pub(crate) fn moved(&mut self, wall: Option<Box<Wall>>) {
        if let Phase::Running(after) = &mut self.phase {
            debug_assert!(!matches!(after, After::End(_)), "no run follows that could be moved");
            *after = After::Moved;
        }
        if wall.is_some() || self.rare.is_some() {
            let rare = self.rare.get_or_insert_default();
            rare.awaited = Awaited::Scheduled;
            rare.planned = Planned { wall, ..Planned::default() };
        }
    }

    pub(crate) fn pause(&mut self) {
        self.rare.get_or_insert_default().pause = Pause::On;
    }

    /// Runs begin again. Returns `true` if the job was paused.
    pub(crate) fn resume(&mut self) -> bool {
        self.rare.as_mut().is_some_and(|rare| take(&mut rare.pause) != Pause::Off)
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.pause == Pause::On)
    }

    /// The one run that was to begin although the job is paused has begun, or will not. Returns
    /// `true` if there was one.
    pub(crate) fn end_exception(&mut self) -> bool {
        let paused = self.rare.as_mut().filter(|rare| rare.pause == Pause::AllButOne);
        paused.map(|rare| rare.pause = Pause::On).is_some()
    }

    /// A run was requested for now. The next one of the schedule, at `planned`, waits for its end.
    pub(crate) fn await_extra(&mut self, planned: Moment) {
        debug_assert!(!self.is_running(), "one run at a time");
        let suspends = self.repeat.is_some() && !self.awaits_extra();
        let rare = self.rare.get_or_insert_default();
        if suspends {
            rare.suspend_schedule(Some(planned));
        }
        rare.planned.wall = None;
        if rare.pause == Pause::On {
            rare.pause = Pause::AllButOne;
        }
    }

    /// Returns `true` if the run that begins only asks the rule. Then it is not part of the
    /// schedule.
    pub(crate) fn take_asks_rule_only(&mut self) -> bool {
        self.rare.as_mut().is_some_and(|rare| take(&mut rare.planned.asks_rule_only))
    }

    /// The rule panicked in the run in progress. The next run asks it again.
    pub(crate) fn ask_rule_again(&mut self) {
        // A run that the job was moved to asks the rule anyway.
        if self.is_running() && self.after() == After::Schedule {
            self.rare.get_or_insert_default().planned.asks_rule_only = true;
        }
    }

    /// Returns `true` if a rule named the time of the next run, and it is not a retry.
    pub(crate) fn awaits_rule(&self) -> bool {
        self.repeat.is_some_and(|repeat| repeat.pace == Pace::Rule) && !self.awaits_extra()
    }

    /// A run was dropped before it began. If a rule named its time, the next run is for the same
    /// time. Otherwise a retry is for the same time.
    pub(crate) fn keep_time(&mut self) {
        let (extra, is_of_rule) = (self.awaits_extra(), self.awaits_rule());
        match self.rare.as_mut().filter(|_| is_of_rule) {
            Some(rare) => rare.planned.wall.iter_mut().for_each(|wall| wall.is_awaited = false),
            None => _ = self.time_of_run(extra),
        }
    }

    /// The deadline of a job that was paused. Times of the schedule that passed in the meantime are
    /// skipped. An extra run, and the run of a one-shot job, is due at once. The moments of
    /// wall-clock times are estimated again: no timer has checked that clock.
    pub(crate) fn skip_what_passed(
        &mut self,
        deadline: Moment,
        now: Moment,
        clock: &dyn Clock,
    ) -> Moment {
        if !self.awaits_extra() {
            return self.skip_schedule(deadline, now, clock);
        }
        let suspended = self.rare.as_mut().and_then(|rare| rare.restore_schedule());
        if let Some(planned) = suspended {
            let next = self.skip_schedule(planned, now, clock);
            self.rare.get_or_insert_default().suspend_schedule(Some(next));
        }
        deadline
    }

    fn skip_schedule(&mut self, deadline: Moment, now: Moment, clock: &dyn Clock) -> Moment {
        let deadline = self.wall().map_or(deadline, |wall| wall.estimated(clock));
        let is_for_time = self.wall().is_some();
        let Some(repeat) = self.repeat.as_ref().filter(|_| deadline < now) else { return deadline };
        let Some(rare) = self.rare.as_deref_mut() else {
            return repeat.not_before(self.ticks, deadline, now);
        };
        if repeat.pace == Pace::Rule {
            rare.planned.asks_rule_only |= is_for_time;
            return now;
        }
        let planned = deadline.saturating_sub(rare.planned.jitter_delay);
        let next = repeat.not_before(self.ticks, planned, now);
        let jitter_delay = draw_jitter(rare.jitter);
        rare.planned = Planned { jitter_delay, ..Planned::default() };
        next.saturating_add(jitter_delay).min(self.ticks.latest())
    }

    fn awaits_extra(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| matches!(rare.awaited, Awaited::Extra(_)))
    }

    /// A run begins. Returns its number, how many periods were skipped before it, and `true` if it
    /// is an extra run.
    pub(crate) fn count_run(&mut self) -> (u64, u64, bool) {
        debug_assert!(!self.is_running(), "of these runs one is in progress at a time");
        self.end_exception();
        let extra = self.count_attempt();
        let missed = self.repeat.as_mut().map_or(0, |repeat| take(&mut repeat.missed));
        (self.runs, missed, extra)
    }

    /// Counts a run, even if it was dropped before it began. Returns `true` if it is an extra run.
    pub(crate) fn count_attempt(&mut self) -> bool {
        self.runs += 1;
        let extra = self.awaits_extra();
        self.rare.iter_mut().for_each(|rare| rare.extra_runs += u64::from(extra));
        extra
    }

    /// Returns `true` if another run of the schedule follows the one in progress.
    pub(crate) fn another_follows(&self) -> bool {
        let rare = self.rare.as_deref();
        // Extra runs are counted in both.
        let runs = self.runs - rare.map_or(0, |rare| rare.extra_runs);
        let suspended = rare.is_some_and(|rare| matches!(rare.awaited, Awaited::Extra(Some(_))));
        !matches!(self.after(), After::End(_))
            && (suspended || self.repeat.is_some_and(|repeat| !repeat.is_last(runs)))
    }

    /// Returns the number of the attempt that begins, and `true` if a retry follows should it fail.
    pub(crate) fn tries(&self) -> (u32, bool) {
        let rare = self.rare.as_deref();
        let number = rare.map_or(0, |rare| rare.failed).saturating_add(1);
        let again = rare.and_then(|rare| rare.retry).is_some_and(|retry| retry.allows(number));
        (number, again && !matches!(self.after(), After::End(_)))
    }

    pub(crate) fn another_may_follow(&self) -> bool {
        self.another_follows() || self.tries().1
    }

    /// Returns `true` if it has no last run, and was not ended in the run in progress.
    pub(crate) fn is_endless(&self) -> bool {
        self.another_follows() && self.repeat.is_some_and(|repeat| repeat.times.is_none())
    }

    pub(crate) fn wall(&self) -> Option<&Wall> {
        self.rare.as_ref()?.planned.wall.as_deref().filter(|wall| wall.is_awaited)
    }

    /// The tick at which the driver must check the job.
    pub(crate) fn tick_of(&self, deadline: Moment, now: Moment) -> Tick {
        let check_by = self.wall().map_or(deadline, |wall| wall.check_by(deadline, now));
        self.ticks.not_before(check_by)
    }

    /// The wall-clock time of the run that begins. A retry has the time of the first attempt. A run
    /// that was requested for now has none.
    pub(crate) fn time_of_run(&mut self, extra: bool) -> Option<SystemTime> {
        let rare = self.rare.as_deref_mut()?;
        if !extra {
            rare.time = rare.planned.wall.as_ref().map(|wall| wall.time);
        } else if rare.failed == 0 {
            rare.time = None;
        }
        rare.time
    }

    /// The next deadline after a run. `None` if that is out of range, or no other run follows.
    pub(crate) fn wait_for_next(
        &mut self,
        deadline: Moment,
        started: Moment,
        ended: Moment,
    ) -> Option<Moment> {
        if self.awaits_extra()
            && let Some(rare) = &mut self.rare
        {
            let planned = rare.restore_schedule();
            if planned.is_some() {
                return planned;
            }
            rare.awaited = Awaited::Scheduled;
        }
        let repeat = self.repeat.as_mut()?;
        let (jitter_delay, jitter) = match self.rare.as_deref() {
            Some(rare) => (rare.planned.jitter_delay, draw_jitter(rare.jitter)),
            None => Default::default(),
        };
        let [deadline, started] =
            [deadline, started].map(|moment| moment.saturating_sub(jitter_delay));
        // At a fixed rate, a delay by jitter counts neither as lateness nor as missed periods.
        let ended = match repeat.pace {
            Pace::Rate(_) => ended.saturating_sub(jitter_delay),
            Pace::Delay | Pace::Rule => ended,
        };
        let (next, missed) = repeat.next(self.ticks, deadline, started, ended)?;
        repeat.missed = missed;
        if let Some(rare) = &mut self.rare {
            // `asks_rule_only` stays: it is set if the rule panicked, or if a run that only asks it
            // was dropped.
            rare.planned.wall.take_if(|wall| wall.is_awaited);
            rare.planned.jitter_delay = jitter;
        }
        // At the end of time the jitter is cut off.
        if jitter.is_zero() {
            return Some(next);
        }
        Some(next.saturating_add(jitter).min(self.ticks.latest()))
    }

    /// A run has ended. Returns when it is retried; `None` if it is not. A run that only asked the
    /// rule is no attempt, and so takes no retry away.
    pub(crate) fn try_again(
        &mut self,
        failed: bool,
        asked_rule_only: bool,
        ended: Moment,
    ) -> Option<Moment> {
        let rare = self.rare.as_mut()?;
        let retry = rare.retry?;
        if !asked_rule_only {
            rare.failed = if failed { rare.failed.saturating_add(1) } else { 0 };
        }
        if rare.failed == 0 || !retry.allows(rare.failed) {
            rare.failed = 0;
            return None;
        }
        // The failure was reported as one that is retried, so a retry follows, if only at the end
        // of time.
        Some(ended.saturating_add(retry.wait(rare.failed)).min(self.ticks.latest()))
    }

    /// The earlier of a retry and the next run of the schedule. If that is the retry, the schedule
    /// waits for its end.
    pub(crate) fn first_of(&mut self, again: Moment, next: Option<Moment>) -> Moment {
        if let Some(next) = next.filter(|next| *next <= again) {
            return next;
        }
        self.rare.iter_mut().for_each(|rare| rare.suspend_schedule(next));
        again
    }
}
