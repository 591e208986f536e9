//! A job as its owner sees it: a handle while it is scheduled, and the work itself when it is given
//! back.

use crate::ChangeError;
use crate::handle::{Anchor, Back, Run, Work};
use crate::job::{Ending, Id, Info, Key, Status};
use crate::shard::{Core, Held, House, Taken};
use crate::time::{Due, Moment, When};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The handle of a scheduled job: cheap to clone, safe to keep for ever, and to use from any
/// thread, from inside the job as well.
///
/// Dropping it does nothing to the job. Every method is O(1), takes the lock of a shard for an
/// instant, and never waits for a run.
///
/// **When the job is over**, the handle of one that has a [name](crate::OneShot::named), a key or
/// several runs knows how it ended and how often it ran. Of any other one-shot job nothing is kept:
/// its handle returns [`Status::Over`] and [`ChangeError::Over`], or
/// [`Stopped`](ChangeError::Stopped) once the service is.
#[derive(Clone)]
pub struct JobHandle {
    anchor: Anchor,
    id: Id,
    info: Option<Arc<Info>>,
}

impl JobHandle {
    #[inline]
    pub(crate) fn new(anchor: Anchor, id: Id, info: Option<Arc<Info>>) -> Self {
        Self { anchor, id, info }
    }

    /// Counts the jobs of one service from 1, in the order of scheduling where one thread
    /// schedules; of several threads each counts on its own, and no two jobs have one number.
    pub fn number(&self) -> u64 {
        self.id.number.get()
    }

    /// The name it was given.
    pub fn name(&self) -> Option<&str> {
        self.info.as_ref()?.name.as_deref()
    }

    /// The key it was scheduled under.
    pub fn key(&self) -> Option<&Key> {
        self.info.as_ref()?.key.as_ref()
    }

    /// Where it is in its life.
    pub fn status(&self) -> Status {
        let status = self.house().with(self.id.shard(), |core| core.status(self.id));
        status.or_else(|| self.ending().map(Status::from)).unwrap_or(Status::Over)
    }

    /// Whether a run is still to begin. Not while one goes on, even if others follow.
    pub fn is_pending(&self) -> bool {
        self.status() == Status::Pending
    }

    /// How many runs have begun. Zero for a job that is [over](Status::Over) and of which nothing
    /// is kept.
    pub fn runs(&self) -> u64 {
        match &self.info {
            Some(info) => {
                let runs = self.house().with(self.id.shard(), |core| core.runs_of(self.id));
                runs.unwrap_or_else(|| info.runs())
            }
            None => u64::from(self.status() == Status::Running),
        }
    }

    /// Why a run failed last: the error it returned, or what it panicked with. `None` if none did,
    /// and for a one-shot job of which [nothing is kept](JobHandle). A success does not clear it;
    /// that a job was given up is [told](crate::EventKind::GaveUp).
    pub fn last_error(&self) -> Option<String> {
        self.info.as_ref()?.last_error()
    }

    /// When the next run is due; `None` if it is running, paused or over. For a job that waits for
    /// a time of the wall clock: where that lies as things are now.
    pub fn deadline(&self) -> Option<Moment> {
        let due = self.house().with(self.id.shard(), |core| core.due(self.id))?;
        // Without the lock, as the clock may be the user's.
        Some(due.wall.as_ref().map_or(due.deadline, |wall| wall.reckoned(&*self.house().clock)))
    }

    /// How long until the next run is due, zero if it is overdue; `None` if it is
    /// running, paused or over.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline().map(|deadline| deadline.saturating_since(self.house().now()))
    }

    /// What the wall clock shows when the next run is due; `None` if it is running, paused or over.
    pub fn next_time(&self) -> Option<SystemTime> {
        let due = self.house().with(self.id.shard(), |core| core.due(self.id))?;
        let clock = &*self.house().clock;
        Some(match due.wall {
            Some(wall) => wall.time,
            None => clock.wall().checked_add(due.deadline.saturating_since(clock.now()))?,
        })
    }

    /// Cancels the job, and gives back what it was to do.
    ///
    /// `Ok` says that no run begins, even if its time had come and it waited for an executor or its
    /// group; and that none is in progress, except of a job whose runs may overlap. If a
    /// cancellation and a run race, one wins, and the answer says which.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Running`]: it is running; no other run follows.
    /// [`Finished`](ChangeError::Finished), [`Cancelled`](ChangeError::Cancelled),
    /// [`Stopped`](ChangeError::Stopped): it was over.
    pub fn cancel(&self) -> Result<Job, ChangeError> {
        // Aside, as few do: what most do passes in registers.
        let mut other = None;
        let plain = self.house().with(self.id.shard(), |core| {
            let plain = core.cancel_plain(self.id);
            if plain.is_none() {
                other = Some(core.end_as(self.id, Ending::Cancelled));
            }
            plain
        });
        if let Some((deadline, work)) = plain {
            let handle = JobHandle::new(Arc::clone(&self.anchor), self.id, None);
            return Ok(Job { handle, deadline, held: Some(Held::Work(work)) });
        }
        self.ended(other.unwrap_or(Err(ChangeError::Over)))
    }

    /// Moves the next run to `delay` from now, earlier or later. Those that follow it follow from
    /// there.
    ///
    /// `Ok` says that it does not begin before that time, even if its time had come and it waited
    /// for an executor or its group. In a periodic job that is running, the run after this one is
    /// moved. To a later time it takes the lock of the job and sends no message: the driver notices
    /// when the former time comes.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Running`]: too late, the last run has begun.
    /// [`Finished`](ChangeError::Finished), [`Cancelled`](ChangeError::Cancelled): it was over.
    /// [`Stopped`](ChangeError::Stopped): it is given back by the stop.
    /// [`Overflow`](ChangeError::Overflow): there is no such time, and the job stays as it was.
    pub fn refresh(&self, delay: Duration) -> Result<(), ChangeError> {
        self.move_to(self.house().now().checked_add(delay).map(Due::at))
    }

    /// Moves the next run to a point in time, as [`refresh`](Self::refresh) does: any that
    /// [`Handle::at`](crate::Handle::at) takes. One that is past makes it due at once.
    ///
    /// # Errors
    ///
    /// Those of [`refresh`](Self::refresh).
    pub fn reschedule(&self, when: impl Into<When>) -> Result<(), ChangeError> {
        self.move_to(when.into().due(&*self.house().clock))
    }

    /// Pauses the job: no further run begins until it is [resumed](Self::resume). A run in progress
    /// continues; a run that waits for an executor or its group loses its turn. A paused job is
    /// still scheduled: it can be cancelled, moved, run [now](Self::run_now), and is given back by
    /// a stop.
    ///
    /// A single job without name or key takes some 200 bytes more from then on.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Running`]: too late, the last run has begun. Or those of
    /// [`refresh`](Self::refresh).
    pub fn pause(&self) -> Result<(), ChangeError> {
        self.change(|core| core.pause(self.id))
    }

    /// Ends a pause; does nothing if there is none. What of a schedule has passed meanwhile is left
    /// out, and not counted as missed: the next run is at the next period, or the next time of the
    /// rule. The driver asks the rule; until it has, [`next_time`](Self::next_time) is a time that
    /// has passed. A single job whose time has come is due at once.
    ///
    /// # Errors
    ///
    /// Those of [`pause`](Self::pause).
    pub fn resume(&self) -> Result<(), ChangeError> {
        let now = self.house().now();
        self.change(|core| core.resume(self.id, now))
    }

    /// Starts a run now, also if the job is [paused](Self::pause). The run is additional to those
    /// of the schedule, which does not change, and to the runs that
    /// [`times`](crate::Periodic::times) counts; a job that is to run once runs now instead. While
    /// [all jobs are paused](crate::Handle::pause), the run waits until they are resumed. Moving
    /// the job takes the run back; pausing the job again puts it off until the job is resumed.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Running`]: a run goes on. Or those of [`refresh`](Self::refresh).
    pub fn run_now(&self) -> Result<(), ChangeError> {
        let now = self.house().now();
        self.change(|core| core.run_now(self.id, now))
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Core<dyn Work>) -> Result<(), ChangeError>,
    ) -> Result<(), ChangeError> {
        self.house().with(self.id.shard(), change).map_err(|error| self.known(error))
    }

    pub(crate) fn id(&self) -> Id {
        self.id
    }

    #[inline]
    fn house(&self) -> &House<dyn Work> {
        &self.anchor.house
    }

    fn ending(&self) -> Option<Ending> {
        self.info.as_ref()?.ending()
    }

    /// What is known of how it ended, in place of the answer of a shard where it is no more.
    fn known(&self, error: ChangeError) -> ChangeError {
        match (error, self.ending()) {
            (ChangeError::Over | ChangeError::Stopped, Some(Ending::Finished)) => {
                ChangeError::Finished
            }
            (ChangeError::Over | ChangeError::Stopped, Some(Ending::Cancelled)) => {
                ChangeError::Cancelled
            }
            (ChangeError::Over, Some(Ending::Stopped)) => ChangeError::Stopped,
            (error, _) => error,
        }
    }

    /// Ends the job, cancelled or finished.
    pub(crate) fn end_as(&self, ending: Ending) -> Result<Job, ChangeError> {
        self.ended(self.house().with(self.id.shard(), |core| core.end_as(self.id, ending)))
    }

    /// What came of ending it.
    #[inline(never)]
    fn ended(&self, taken: Result<Taken<dyn Work>, ChangeError>) -> Result<Job, ChangeError> {
        match taken {
            Ok(taken) => {
                self.house().free_key(taken.info.as_deref(), self.id);
                Ok(Job::new(Arc::clone(&self.anchor), taken))
            }
            Err(error) => {
                if error == ChangeError::Running {
                    // A periodic job that is running has its last run.
                    self.house().free_key(self.info.as_deref(), self.id);
                }
                Err(self.known(error))
            }
        }
    }

    fn move_to(&self, due: Option<Due>) -> Result<(), ChangeError> {
        let moved = self.house().move_to(self.id, due, true);
        moved.map_err(|error| self.known(error))
    }
}

/// As it is called in messages: its name, else its key, else its number.
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

/// A job that was given back, because it was cancelled or the service was stopped. To drop it is to
/// forget it; to run it is up to the owner, who may schedule that, under another key say:
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
///     assert_eq!(timers.keys(), ["order 1".into()]);
///     assert_eq!(scheduler.play(&clock, Moment::ORIGIN.saturating_add(half_an_hour)), 1);
///     Ok(())
/// }
/// ```
///
/// What is run so is told of the job that it was: [`Run::job`] has the former key.
#[must_use = "the job comes back and was not run: `drop` it where nobody wants it"]
pub struct Job {
    handle: JobHandle,
    deadline: Moment,
    held: Option<Held<dyn Work>>,
}

impl Job {
    #[inline]
    pub(crate) fn new(anchor: Anchor, taken: Taken<dyn Work>) -> Self {
        let Taken { id, deadline, info, held } = taken;
        Self { handle: JobHandle::new(anchor, id, info), deadline, held }
    }

    /// Its handle, for its name, key and number.
    pub fn handle(&self) -> &JobHandle {
        &self.handle
    }

    /// When its next run would have been due.
    pub fn deadline(&self) -> Moment {
        self.deadline
    }

    /// How many runs had begun. Above zero only for a periodic job.
    pub fn runs(&self) -> u64 {
        self.handle.runs()
    }

    /// Has what waits for it hear that it will not run: false if nothing does.
    pub(crate) fn tell(self) -> Result<(), Self> {
        match self.held {
            Some(Held::Wake(waker)) => waker.wake(),
            Some(Held::Work(work)) if work.is_awaited() => drop(work),
            held => return Err(Self { held, ..self }),
        }
        Ok(())
    }

    pub(crate) fn into_work<W: Work>(self) -> Option<W> {
        let Some(Held::Work(work)) = self.held else { return None };
        work.into_any().downcast().ok().map(|work| *work)
    }

    /// Runs it now, once, on this thread. It is neither counted nor timed, and a panic is passed
    /// on.
    pub fn run(self) {
        let run = Run {
            anchor: &self.handle.anchor,
            id: self.handle.id,
            info: self.handle.info.as_ref(),
            deadline: self.deadline,
            time: None,
            started: self.handle.house().now(),
            number: self.handle.runs() + 1,
            missed: 0,
            last: true,
            extra: false,
            stale: false,
            attempt: 1,
        };
        self.held.into_iter().for_each(|held| held.call(&run, &mut Back::default()));
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("handle", &self.handle)
            .field("deadline", &self.deadline)
            .field("runs", &self.runs())
            .finish_non_exhaustive()
    }
}
