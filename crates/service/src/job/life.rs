//! What only some jobs have: a name, a key, a time of the wall clock, runs to come, and somebody
//! who asks how it ended.
//!
//! A plain one-shot job is two words of work, a deadline and a number. All else lies here, so that
//! it costs those who want it.

use super::{Backoff, Group, Key, Pace, Repeat, Status};
use crate::time::{Due, Moment, Ticks, Wall};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Finished = 1,
    Cancelled,
    Stopped,
}

/// What its handles know of a job, also when it is over. Written under the lock of its shard.
#[derive(Debug, Default)]
pub(crate) struct Info {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) key: Option<Key>,
    /// Zero until the job is over: then an [`Ending`], and four times the number of runs. Until
    /// then that is in its [`Life`].
    end: AtomicU64,
    /// Why a run failed last.
    #[expect(clippy::box_collection, reason = "few jobs have one, so it is to be one word")]
    error: Mutex<Option<Box<String>>>,
}

impl Info {
    pub(crate) fn new(name: Option<Arc<str>>, key: Option<Key>) -> Self {
        Self { name, key, ..Self::default() }
    }

    /// How many runs had begun when the job was over.
    pub(crate) fn runs(&self) -> u64 {
        self.end.load(Ordering::Acquire) / 4
    }

    /// A run has failed.
    pub(crate) fn fail(&self, error: String) {
        *self.error.lock() = Some(Box::new(error));
    }

    pub(crate) fn last_error(&self) -> Option<String> {
        self.error.lock().as_deref().cloned()
    }

    /// The job is over, after so many runs.
    pub(crate) fn end(&self, how: Ending, runs: u64) {
        self.end.store(runs * 4 + how as u64, Ordering::Release);
    }

    /// How it ended; `None` if it has not.
    pub(crate) fn ending(&self) -> Option<Ending> {
        let endings = [Ending::Finished, Ending::Cancelled, Ending::Stopped];
        let end = self.end.load(Ordering::Acquire) % 4;
        endings.into_iter().find(|ending| *ending as u64 == end)
    }
}

impl From<Ending> for Status {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Finished => Self::Finished,
            Ending::Cancelled => Self::Cancelled,
            Ending::Stopped => Self::Stopped,
        }
    }
}

/// What few of these have.
#[derive(Default)]
pub(crate) struct More {
    /// Its runs are futures.
    pub(crate) is_async: bool,
    /// Its runs may block, so that another thread is to lead meanwhile.
    pub(crate) blocks: bool,
    pub(crate) group: Option<Group>,
    /// The time of the wall clock that the next run waits for.
    pub(crate) wall: Option<Box<Wall>>,
    /// The time that the last run of the schedule was for.
    pub(crate) time: Option<SystemTime>,
    /// Whether runs that fail are tried again.
    pub(crate) retry: Option<Backoff>,
    /// How many tries have failed in a row.
    pub(crate) failed: u32,
    /// The run that is waited for is none of the schedule: another try, or one that was to be now.
    pub(crate) extra: bool,
    /// How many such runs there were.
    pub(crate) extras: u64,
    /// When the schedule goes on after it, and how much of that is jitter.
    pub(crate) aside: Option<(Due, Duration)>,
    /// Each run is late by anything up to this.
    pub(crate) jitter: Duration,
    /// By how much that which is waited for is: its time in the schedule is so much earlier.
    pub(crate) late: Duration,
    /// No run begins.
    pub(crate) paused: bool,
    /// But for one, which was to be now.
    pub(crate) all_the_same: bool,
    /// A rule says when the next run is.
    pub(crate) by_rule: bool,
    /// The run that is waited for is for a time that has passed while the job was paused: the rule
    /// is to name the next, and no more.
    pub(crate) stale: bool,
}

impl More {
    /// By how much a run is to be late.
    pub(crate) fn draw(&self) -> Duration {
        draw(self.jitter)
    }
}

/// Anything up to a duration, by chance.
pub(crate) fn draw(jitter: Duration) -> Duration {
    if jitter.is_zero() { jitter } else { jitter.mul_f64(fastrand::f64()) }
}

/// Of a job that has more than a deadline.
pub(crate) struct Life<W: ?Sized> {
    /// `None` while a run has it.
    pub(crate) work: Option<Box<W>>,
    pub(crate) info: Arc<Info>,
    pub(crate) repeat: Option<Repeat>,
    /// How many runs have begun: here, so that a run need not touch what its handles have.
    pub(crate) runs: u64,
    /// How its deadlines are rounded.
    pub(crate) ticks: Ticks,
    pub(crate) more: Option<Box<More>>,
    /// While a run goes on: the deadline is where the next run was moved to.
    pub(crate) moved: bool,
    /// While a run goes on: no other follows, and so the job ends.
    pub(crate) ending: Option<Ending>,
}

impl<W: ?Sized> Life<W> {
    /// Of a job that had no more than a deadline.
    pub(crate) fn plain(work: Box<W>, ticks: Ticks) -> Self {
        let (work, info) = (Some(work), Arc::default());
        Self { work, info, repeat: None, runs: 0, ticks, more: None, moved: false, ending: None }
    }

    /// Whether no run begins until the job is resumed.
    pub(crate) fn is_paused(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.paused && !more.all_the_same)
    }

    /// A run that was to be now although the job is paused does not begin after all. Whether there
    /// was one.
    pub(crate) fn take_all_the_same(&mut self) -> bool {
        self.more.as_mut().is_some_and(|more| std::mem::take(&mut more.all_the_same))
    }

    /// Whether the run that begins is for a time that has passed while the job was paused.
    pub(crate) fn take_stale(&mut self) -> bool {
        let of_the_schedule = self.more.as_mut().filter(|more| !more.extra);
        of_the_schedule.is_some_and(|more| std::mem::take(&mut more.stale))
    }

    /// The deadline of a job that was held: what of a schedule has passed meanwhile is left out.
    /// What is to run once, or was to be tried again, is due at once.
    pub(crate) fn skip_what_passed(&mut self, deadline: Moment, now: Moment) -> Moment {
        let Some(more) = self.more.as_deref_mut().filter(|more| more.extra) else {
            return self.skip_schedule(deadline, now);
        };
        if let Some((due, late)) = more.aside.take() {
            (more.wall, more.late) = (due.wall, late);
            let next = self.skip_schedule(due.deadline, now);
            if let Some(more) = self.more.as_deref_mut() {
                let due = Due { deadline: next, wall: more.wall.take() };
                more.aside = Some((due, std::mem::take(&mut more.late)));
            }
        }
        deadline
    }

    fn skip_schedule(&mut self, deadline: Moment, now: Moment) -> Moment {
        let Some(repeat) = self.repeat.as_ref().filter(|_| deadline < now) else { return deadline };
        let Some(more) = self.more.as_deref_mut() else {
            return repeat.not_before(self.ticks, deadline, now);
        };
        if more.by_rule {
            more.stale = more.wall.is_some();
            return now;
        }
        let next = repeat.not_before(self.ticks, deadline.saturating_sub(more.late), now);
        more.late = more.draw();
        more.wall = None;
        next.saturating_add(more.late).min(self.ticks.latest())
    }

    /// A run begins: its number, how many periods were left out before it, and whether it is none
    /// of the schedule.
    pub(crate) fn count_run(&mut self) -> (u64, u64, bool) {
        self.runs += 1;
        self.take_all_the_same();
        let extra = self.more.as_mut().is_some_and(|more| std::mem::take(&mut more.extra));
        self.more.iter_mut().for_each(|more| more.extras += u64::from(extra));
        let missed = self.repeat.as_mut().map_or(0, |repeat| std::mem::take(&mut repeat.missed));
        (self.runs, missed, extra)
    }

    /// Whether another run of the schedule follows the one that goes on.
    pub(crate) fn another_follows(&self) -> bool {
        let more = self.more.as_deref();
        let runs = self.runs - more.map_or(0, |more| more.extras);
        self.ending.is_none()
            && (more.is_some_and(|more| more.aside.is_some())
                || self.repeat.as_ref().is_some_and(|repeat| !repeat.is_last(runs)))
    }

    /// The tries of which the run that begins is one: which, and whether another follows if it
    /// fails.
    pub(crate) fn tries(&self) -> (u32, bool) {
        let more = self.more.as_deref();
        let number = more.map_or(0, |more| more.failed).saturating_add(1);
        let again = more.and_then(|more| more.retry).is_some_and(|retry| retry.allows(number));
        (number, again && self.ending.is_none())
    }

    /// Whether any run may follow the one that goes on.
    pub(crate) fn another_may_follow(&self) -> bool {
        self.another_follows() || self.tries().1
    }

    /// Whether the runs of the job go on beside each other.
    pub(crate) fn overlaps(&self) -> bool {
        self.repeat.as_ref().is_some_and(|repeat| repeat.overlapping)
    }

    /// What the next run waits for, if that is a time of the wall clock.
    pub(crate) fn wall(&self) -> Option<&Wall> {
        self.more.as_ref()?.wall.as_deref()
    }

    pub(crate) fn wait_for(&mut self, wall: Option<Box<Wall>>) {
        if wall.is_some() || self.more.is_some() {
            self.more.get_or_insert_default().wall = wall;
        }
    }

    /// The time of the wall clock that the run that begins is for: another try has that of the
    /// first, and a run that was to be now has none.
    pub(crate) fn time_of_run(&mut self, extra: bool) -> Option<SystemTime> {
        let more = self.more.as_deref_mut()?;
        if !extra {
            more.time = more.wall.as_ref().map(|wall| wall.time);
        }
        more.time.filter(|_| !extra || more.failed > 0)
    }

    /// The deadline that follows a run; `None` if there is no such moment, or no other run.
    pub(crate) fn wait_for_next(
        &mut self,
        deadline: Moment,
        started: Moment,
        ended: Moment,
    ) -> Option<Moment> {
        if let Some(more) = &mut self.more
            && let Some((due, late)) = more.aside.take()
        {
            more.extra = false;
            more.late = late;
            more.wall = due.wall;
            return Some(due.deadline);
        }
        let repeat = self.repeat.as_mut()?;
        let (late, jitter) = match self.more.as_deref() {
            Some(more) => (more.late, more.draw()),
            None => Default::default(),
        };
        let [deadline, started] = [deadline, started].map(|moment| moment.saturating_sub(late));
        // What is late by that is neither late nor missed.
        let ended = match repeat.pace {
            Pace::Rate(_) => ended.saturating_sub(late),
            Pace::Delay => ended,
        };
        let (next, missed) = repeat.next(self.ticks, deadline, started, ended)?;
        repeat.missed = missed;
        if let Some(more) = &mut self.more {
            more.wall = None;
            more.late = jitter;
        }
        // Without it at the end of time.
        if jitter.is_zero() {
            return Some(next);
        }
        Some(next.saturating_add(jitter).min(self.ticks.latest()))
    }

    /// A run has ended, which failed or did not: when it is to be tried again, if it is.
    pub(crate) fn try_again(&mut self, failed: bool, ended: Moment) -> Option<Moment> {
        let more = self.more.as_mut()?;
        let retry = more.retry?;
        more.failed = if failed { more.failed.saturating_add(1) } else { 0 };
        if !failed || !retry.allows(more.failed) {
            more.failed = 0;
            return None;
        }
        let at = ended.checked_add(retry.delay(more.failed, fastrand::f64()))?;
        self.ticks.reaches(at).then_some(at)
    }

    /// Of another try and the next run of the schedule, that which comes first; the schedule waits
    /// for the other.
    pub(crate) fn first_of(&mut self, again: Moment, next: Option<Moment>) -> Moment {
        if let Some(next) = next.filter(|next| *next <= again) {
            return next;
        }
        if let Some(more) = &mut self.more {
            let wall = more.wall.take();
            more.extra = true;
            let late = std::mem::take(&mut more.late);
            more.aside = next.map(|deadline| (Due { deadline, wall }, late));
        }
        again
    }

    /// The next run was moved: the schedule goes on from there.
    pub(crate) fn forget_aside(&mut self) {
        if let Some(more) = &mut self.more {
            more.aside = None;
            more.extra = false;
            more.stale = false;
            more.late = Duration::ZERO;
        }
    }
}
