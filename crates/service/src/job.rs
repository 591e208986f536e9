//! A job as its owner sees it: a handle while it is scheduled, and the work itself when it is given back.

use crate::record::{Phase, Record, Taken};
use crate::shared::Shared;
use crate::work::Work;
use crate::{ChangeError, Key, Moment, Run};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The handle of a scheduled job: two words, cheap to clone, safe to keep for ever (it keeps the memory of the job, in which the closure lies: a large one is better boxed) and to use from any thread, from
/// inside the job as well.
///
/// Dropping it does nothing to the job. Every method is O(1), takes the lock of this one job for an instant, and never
/// waits for a run.
#[derive(Clone)]
pub struct JobHandle {
    record: Arc<Record>,
}

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// It waits for its time, or for a worker.
    Pending,
    /// It is running; a periodic one may have more runs to come. A job whose runs may overlap is `Pending` while runs
    /// go on, until the last has begun, and then ends with that.
    Running,
    /// Its last run has ended: there were to be no more, it [ended itself](Run::end), or its rule named no other time.
    Finished,
    /// It was cancelled, or replaced by another with its key.
    Cancelled,
    /// The service was stopped before its (next) run.
    Stopped,
}

impl JobHandle {
    pub(crate) fn new(record: Arc<Record>) -> Self {
        Self { record }
    }

    /// Counts the jobs of one service from 1, in the order of scheduling.
    pub fn number(&self) -> u64 {
        self.record.number
    }

    /// The name it was given.
    pub fn name(&self) -> Option<&str> {
        self.record.name()
    }

    /// The key it was scheduled under.
    pub fn key(&self) -> Option<&Key> {
        self.record.key()
    }

    /// Where it is in its life.
    pub fn status(&self) -> Status {
        match self.record.lock().phase {
            Phase::Pending | Phase::Due => Status::Pending,
            Phase::Running => Status::Running,
            Phase::Finished => Status::Finished,
            Phase::Cancelled => Status::Cancelled,
            Phase::Stopped => Status::Stopped,
        }
    }

    /// Whether a run is still to begin. Not while one goes on, even if others follow.
    pub fn is_pending(&self) -> bool {
        self.status() == Status::Pending
    }

    /// How many runs have begun.
    pub fn runs(&self) -> u64 {
        self.record.lock().runs
    }

    /// When the next run is due; `None` if it is running or over. For a job that waits for a time of the wall clock: where that lies
    /// as things are now.
    pub fn deadline(&self) -> Option<Moment> {
        let state = self.record.lock();
        matches!(state.phase, Phase::Pending | Phase::Due)
            .then(|| state.due.reckoned(&*self.shared().clock))
    }

    /// How long until the next run is due, zero if it is overdue; `None` if it is running or over.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline().map(|deadline| deadline.saturating_since(self.shared().now()))
    }

    /// Cancels the job, and gives back what it was to do.
    ///
    /// `Ok` says that no run begins, even if its time had come and it waited for a worker; and that none goes on, except
    /// of a job whose runs may overlap. Of a cancellation and a run that race, one wins, and the answer says which.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Running`]: it is running; no other run follows. [`Finished`](ChangeError::Finished),
    /// [`Cancelled`](ChangeError::Cancelled), [`Stopped`](ChangeError::Stopped): it was over.
    pub fn cancel(&self) -> Result<Job, ChangeError> {
        self.shared().cancel(&self.record)
    }

    /// Moves the next run to `delay` from now, earlier or later. Those that follow it follow from there.
    ///
    /// `Ok` says that it does not begin before that time, even if its time had come and it waited for a worker. In a
    /// periodic job that is running, the run after this one is moved. To a later time it takes the lock of the job
    /// and sends no message: the driver notices when the former time comes.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Running`]: too late, the last run has begun. [`Finished`](ChangeError::Finished),
    /// [`Cancelled`](ChangeError::Cancelled): it was over. [`Stopped`](ChangeError::Stopped): it is given back by the stop.
    /// [`Overflow`](ChangeError::Overflow): there is no such time, and the job stays as it was.
    pub fn refresh(&self, delay: Duration) -> Result<(), ChangeError> {
        self.shared().reschedule(&self.record, self.shared().now().checked_add(delay))
    }

    /// Moves the next run to a moment, as [`refresh`](Self::refresh) does. A moment that is past makes it due at once.
    ///
    /// # Errors
    ///
    /// Those of [`refresh`](Self::refresh).
    pub fn reschedule(&self, moment: Moment) -> Result<(), ChangeError> {
        self.shared().reschedule(&self.record, Some(moment))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.record.shared
    }

    pub(crate) fn record(&self) -> &Arc<Record> {
        &self.record
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

/// A job that was given back, because it was cancelled or the service was stopped. To drop it is to forget it; to run it is
/// up to the owner.
#[must_use = "the job was not run: drop it knowingly"]
pub struct Job {
    /// Whose work is this one's: to be run, taken out, or dropped.
    handle: JobHandle,
    deadline: Moment,
    runs: u64,
}

impl Job {
    pub(crate) fn new(record: &Arc<Record>, taken: Taken) -> Self {
        Self {
            handle: JobHandle::new(Arc::clone(record)),
            deadline: taken.deadline,
            runs: taken.runs,
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

    /// How many runs had begun. Above zero only for a periodic job.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Whether it is one that a future waits for.
    pub(crate) fn is_awaited(&self) -> bool {
        self.handle.record.is_awaited()
    }

    pub(crate) fn into_work<W: Work>(self) -> Option<W> {
        self.handle.record.take_work()
    }

    /// Runs it now, once, on this thread. It is neither counted nor timed, and a panic is passed on.
    pub fn run(self) {
        let started = self.handle.shared().now();
        let run = Run {
            job: &self.handle,
            deadline: self.deadline,
            time: None,
            started,
            number: self.runs + 1,
            missed: 0,
            last: true,
        };
        self.handle.record.call(&run);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.handle.record.drop_work();
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("handle", &self.handle)
            .field("deadline", &self.deadline)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}
