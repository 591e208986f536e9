//! A job as its owner sees it: a handle while it is scheduled, and the work itself when it is
//! returned.

use crate::ChangeError;
use crate::event::EventKind;
use crate::job::{Ending, Id, Info, Key, Status};
use crate::shard::{RunFacts, ShardState, Shards, TakenJob, TakenWork};
use crate::shared::{Run, RunResult, ServiceRef, Work};
use crate::time::{Due, Moment, When};
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, SystemTime};

/// The handle of a scheduled job: cheap to clone, valid for ever, and usable from any thread, also
/// from inside the job.
///
/// Dropping it does nothing to the job. Every method is O(1), takes the lock of a shard briefly,
/// and never waits for a run.
///
/// **When the job is over**, its handle still knows how it ended and how often it ran, if the plan
/// had a name, a key, several runs or another option. The handle of a plain job returns
/// [`Status::Over`] and [`ChangeError::Over`], or [`Stopped`](ChangeError::Stopped) once the
/// service is stopped.
#[derive(Clone)]
pub struct JobHandle {
    service: ServiceRef,
    id: Id,
    info: Option<Arc<Info>>,
}

impl JobHandle {
    #[inline]
    pub(crate) fn new(service: ServiceRef, id: Id, info: Option<Arc<Info>>) -> Self {
        Self { service, id, info }
    }

    /// The number of the job, which is unique within its service. The jobs that one thread
    /// schedules are numbered in the order of scheduling, with gaps.
    pub fn number(&self) -> u64 {
        self.id.number.get()
    }

    /// The name of the job, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.info.as_ref()?.name.as_deref()
    }

    /// The key of the job, if it has one.
    pub fn key(&self) -> Option<&Key> {
        self.info.as_ref()?.key.as_ref()
    }

    /// The state of the job.
    pub fn status(&self) -> Status {
        let status = self.shards().with(self.id.shard(), |state| state.status(self.id));
        status.or_else(|| self.ending().map(Status::from)).unwrap_or(Status::Over)
    }

    /// Returns `true` if the job waits for a run to begin. During a run it returns `false`, even if
    /// others follow.
    pub fn is_pending(&self) -> bool {
        self.status() == Status::Pending
    }

    /// The number of runs that have begun. Zero for a job that is [over](Status::Over) and kept
    /// nothing.
    pub fn runs(&self) -> u64 {
        match &self.info {
            Some(info) => {
                let runs = self.shards().with(self.id.shard(), |state| state.runs_of(self.id));
                runs.unwrap_or_else(|| info.runs())
            }
            None => u64::from(self.status() == Status::Running),
        }
    }

    /// The error of the last run that failed: the error it returned, or its panic message. `None`
    /// if none failed, or if the job [keeps nothing](JobHandle). A success does not clear it. A
    /// failure that is not retried is also [reported](crate::EventKind::GaveUp).
    pub fn last_error(&self) -> Option<String> {
        self.info.as_ref()?.last_error()
    }

    /// When the next run is due; `None` if it is running, paused or over. For a job that waits for
    /// a wall-clock time, this is an estimate from the current wall clock.
    pub fn deadline(&self) -> Option<Moment> {
        let due = self.shards().with(self.id.shard(), |state| state.due(self.id))?;
        // Without the lock: the clock may be the user's code.
        Some(due.wall.as_ref().map_or(due.deadline, |wall| wall.estimated(&*self.shards().clock)))
    }

    /// How long until the next run is due, zero if it is overdue; `None` if it is
    /// running, paused or over.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline().map(|deadline| deadline.saturating_since(self.shards().now()))
    }

    /// The wall-clock time at which the next run is due; `None` if it is running, paused or over.
    pub fn next_time(&self) -> Option<SystemTime> {
        let due = self.shards().with(self.id.shard(), |state| state.due(self.id))?;
        let clock = &*self.shards().clock;
        Some(match due.wall {
            Some(wall) => wall.time,
            None => clock.wall().checked_add(due.deadline.saturating_since(clock.now()))?,
        })
    }

    /// Cancels the job, and returns it.
    ///
    /// `Ok` means that no run is in progress and no further one begins, even if it was handed out
    /// to its group or as a future. If a cancel and a run race, exactly one wins, and the return
    /// value says which.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Running`]: the job is running; no other run follows.
    /// [`Finished`](ChangeError::Finished), [`Cancelled`](ChangeError::Cancelled),
    /// [`Stopped`](ChangeError::Stopped), [`Over`](ChangeError::Over): the job was over.
    pub fn cancel(&self) -> Result<Job, ChangeError> {
        // Not part of the return value: few jobs need it, and the plain result passes in registers.
        let mut other = None;
        let plain = self.shards().with(self.id.shard(), |state| {
            let plain = state.cancel_plain(self.id);
            if plain.is_none() {
                other = Some(state.end_as(self.id, Ending::Cancelled));
            }
            plain
        });
        if let Some((deadline, work)) = plain {
            let handle = JobHandle::new(Arc::clone(&self.service), self.id, None);
            return Ok(Job { handle, deadline, work });
        }
        self.ended(other.expect("set if the job is not plain"))
    }

    /// Moves the next run to `delay` from now, earlier or later. The schedule continues from there.
    ///
    /// `Ok` means that the next run does not begin before that time, even if it was due and handed
    /// out to its group or as a future. If a periodic job is running, the run after this one is
    /// moved.
    ///
    /// # Errors
    ///
    /// Those of [`cancel`](Self::cancel); [`ChangeError::Running`] means that the last run has
    /// begun. [`Overflow`](ChangeError::Overflow): the time is out of range, and the job stays as
    /// it was.
    pub fn refresh(&self, delay: Duration) -> Result<(), ChangeError> {
        self.move_to(self.shards().now().checked_add(delay).map(Due::at))
    }

    /// Moves the next run to a point in time, as [`refresh`](Self::refresh) does. Takes what
    /// [`Handle::at`](crate::Handle::at) takes. With a past time the run is due at once.
    ///
    /// # Errors
    ///
    /// Those of [`refresh`](Self::refresh).
    pub fn reschedule(&self, when: impl Into<When>) -> Result<(), ChangeError> {
        self.move_to(when.into().due(&*self.shards().clock))
    }

    /// Pauses the job: no further run begins until it is [resumed](Self::resume). A run in progress
    /// continues; a run that was handed out and has not begun loses its turn. A paused job is still
    /// scheduled: it can be cancelled, moved, and run [now](Self::run_now), and a stop returns it.
    ///
    /// A one-shot job without name or key takes some 200 bytes more from then on.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Running`]: too late, the last run has begun. Or those of
    /// [`refresh`](Self::refresh).
    pub fn pause(&self) -> Result<(), ChangeError> {
        self.change(|state| state.pause(self.id))
    }

    /// Resumes the job; does nothing if it is not paused. Scheduled times that passed during the
    /// pause are skipped, and not counted as missed: the next run is at the next period, or at the
    /// next time of the rule. The driver asks the rule; until then [`next_time`](Self::next_time)
    /// returns a time that has passed. A one-shot job whose time has come is due at once.
    ///
    /// # Errors
    ///
    /// Those of [`pause`](Self::pause).
    pub fn resume(&self) -> Result<(), ChangeError> {
        self.change(|state| state.resume(self.id, &*self.shards().clock))
    }

    /// Starts a run now, also if the job is [paused](Self::pause), but not while [all jobs
    /// are](crate::Handle::pause). The schedule of a periodic job does not change, and
    /// [`times`](crate::Periodic::times) does not count the run. A one-shot job runs now instead of
    /// later. Moving the job cancels this run. Pausing it again postpones the run.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Running`]: a run is in progress. Or those of [`refresh`](Self::refresh).
    pub fn run_now(&self) -> Result<(), ChangeError> {
        let now = self.shards().now();
        self.change(|state| state.run_now(self.id, now))
    }

    fn change(
        &self,
        change: impl FnOnce(&mut ShardState<dyn Work>) -> Result<(), ChangeError>,
    ) -> Result<(), ChangeError> {
        self.shards().with(self.id.shard(), change).map_err(|error| self.with_outcome(error))
    }

    /// Reports a failure, and keeps it as the last error.
    pub(crate) fn fail(&self, kind: EventKind) {
        self.info.iter().for_each(|info| info.fail(kind.reason()));
        self.service.report(self.clone(), kind);
    }

    pub(crate) fn id(&self) -> Id {
        self.id
    }

    #[inline]
    fn shards(&self) -> &Shards<dyn Work> {
        &self.service.shards
    }

    fn ending(&self) -> Option<Ending> {
        self.info.as_ref()?.ending()
    }

    /// Replaces the error of the shard, which no longer has the job, by the outcome that the handle
    /// keeps.
    fn with_outcome(&self, error: ChangeError) -> ChangeError {
        let is_gone = matches!(error, ChangeError::Over | ChangeError::Stopped);
        match self.ending().filter(|_| is_gone) {
            Some(Ending::Finished) => ChangeError::Finished,
            Some(Ending::Cancelled) => ChangeError::Cancelled,
            Some(Ending::Stopped) => ChangeError::Stopped,
            None => error,
        }
    }

    pub(crate) fn end_as(&self, ending: Ending) -> Result<Job, ChangeError> {
        self.ended(self.shards().with(self.id.shard(), |state| state.end_as(self.id, ending)))
    }

    #[inline(never)]
    fn ended(&self, taken: Result<TakenJob<dyn Work>, ChangeError>) -> Result<Job, ChangeError> {
        match taken {
            Ok(taken) => {
                self.shards().free_key(taken.info.as_deref(), self.id);
                Ok(Job::new(Arc::clone(&self.service), taken).expect("a future has no handle"))
            }
            Err(error) => {
                if error == ChangeError::Running {
                    // The run in progress is the last, so its key is free.
                    self.shards().free_key(self.info.as_deref(), self.id);
                }
                Err(self.with_outcome(error))
            }
        }
    }

    fn move_to(&self, due: Option<Due>) -> Result<(), ChangeError> {
        let moved = self.shards().move_to(self.id, due, true);
        moved.map_err(|error| self.with_outcome(error))
    }
}

/// The name of the job in messages: its name, else its key, else its number.
impl fmt::Display for JobHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.key()) {
            (Some(name), _) => write!(f, "job '{name}'"),
            (None, Some(key)) => write!(f, "job '{key}'"),
            (None, None) => write!(f, "job number {}", self.number()),
        }
    }
}

impl fmt::Debug for JobHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobHandle")
            .field("number", &self.number())
            .field("name", &self.name())
            .field("key", &self.key())
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// A job that was returned, because it was cancelled or the service was stopped. Drop it to discard
/// the work, or run it. It can also be scheduled again, for instance under another key:
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{ManualClock, Moment, Scheduler};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let clock = ManualClock::new();
///     let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
///     let timers = scheduler.handle();
///     let half_an_hour = Duration::from_secs(1800);
///     timers.after(half_an_hour).key("cart 7").run(|_| println!("it has expired"))?;
///
///     let job = timers.cancel("cart 7")?;
///     timers.at(job.deadline()).key("order 1").run(move |_| job.run())?;
///     assert!(timers.job("cart 7").is_none() && timers.job("order 1").is_some());
///     assert_eq!(scheduler.play(&clock, Moment::ORIGIN.saturating_add(half_an_hour)), 1);
///     Ok(())
/// }
/// ```
///
/// The closure still sees the original job: [`Run::job`] has the old key.
#[must_use = "the job is returned and was not run: `drop` it if it is not needed"]
pub struct Job {
    handle: JobHandle,
    deadline: Moment,
    work: Box<dyn Work>,
}

impl Job {
    /// The waker of a future, if that has waited for the job, is the error.
    #[inline]
    pub(crate) fn new(service: ServiceRef, taken: TakenJob<dyn Work>) -> Result<Self, Waker> {
        let TakenJob { id, deadline, info, work } = taken;
        match work.expect("no run has the work of a job that is not running") {
            TakenWork::Work(work) => {
                Ok(Self { handle: JobHandle::new(service, id, info), deadline, work })
            }
            TakenWork::Wake(waker) => Err(waker),
        }
    }

    /// Its handle, for its name, key and number.
    pub fn handle(&self) -> &JobHandle {
        &self.handle
    }

    /// When its next run would have been due.
    pub fn deadline(&self) -> Moment {
        self.deadline
    }

    /// How many runs had begun. Above zero only for a periodic job, or one that waited for a retry.
    pub fn runs(&self) -> u64 {
        self.handle.runs()
    }

    /// Runs the job now, once, on this thread. The run is neither counted nor timed, and a panic is
    /// passed on to the caller. An error is [kept](JobHandle::last_error) and
    /// [reported](EventKind::GaveUp). An async job is polled on this thread; if it reaches its
    /// [limit](crate::OneShot::limit), in real time, that is its error.
    pub fn run(self) {
        let (service, id) = (&self.handle.service, self.handle.id);
        let single = RunFacts::single(id, self.deadline);
        let facts = RunFacts { number: self.handle.runs() + 1, ..single };
        let (info, started) = (self.handle.info.as_ref(), service.shards.now());
        let (run, mut result) = (Run { service, info, started, facts }, RunResult::default());
        self.work.call(&run, &mut result);
        if let Some(undelivered) = result.undelivered {
            service.report(run.job(), undelivered.0);
        }
        if let Some(error) = result.error {
            run.job().fail(EventKind::GaveUp(error));
        }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Job").field(&self.handle).field(&self.deadline).finish()
    }
}
