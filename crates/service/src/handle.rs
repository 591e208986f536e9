//! The handle through which any thread schedules jobs.

use crate::plan::{OneShot, Periodic, Plan};
use crate::record::Record;
use crate::shared::{Shared, discard};
use crate::time::Ticks;
use crate::work::Work;
use crate::{ChangeError, Clock, Job, JobHandle, Key, Moment, Reason, Snapshot};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Schedules jobs, from any thread and from inside jobs: one word, cheap to clone.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{ManualClock, Moment, Scheduler};
///
/// let clock = ManualClock::new();
/// let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
/// let timers = scheduler.handle();
///
/// let (sender, fired) = crossbeam_channel::unbounded();
/// timers.after(Duration::from_secs(1)).send(&sender, "once")?;
/// timers.every(Duration::from_secs(2)).times(2).send(&sender, "twice")?;
/// timers.after(Duration::from_secs(30)).key("session 1").run(|_| println!("expired"))?;
/// timers.refresh("session 1", Duration::from_secs(60))?;
///
/// scheduler.play(&clock, Moment::from_nanos(10_000_000_000));
/// assert_eq!(fired.try_iter().collect::<Vec<_>>(), ["once", "twice", "twice"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// No call waits: not for the driver, nor for jobs. Scheduling takes the job to the driver through a channel; cancelling and
/// moving are decided at once, under the lock of that one job.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Plans a job for `delay` from now: call [`run`](OneShot::run) or [`send`](OneShot::send) on it to schedule it.
    pub fn after(&self, delay: Duration) -> OneShot<'_> {
        OneShot::new(self, self.shared.now().checked_add(delay))
    }

    /// Plans a job for a moment of the service's [`Clock`]. One that is past is due at once.
    pub fn at(&self, moment: Moment) -> OneShot<'_> {
        OneShot::new(self, Some(moment))
    }

    /// Plans a job for a time of the wall clock: a date and a time of day. A time that is past is due at once.
    ///
    /// The job waits for the wall clock to show that time, never less, and follows it if it is set: forward within a minute, back however
    /// far. So it does if the machine is suspended meanwhile and the service's clock stands still for so long, as
    /// [`MonotonicClock`](crate::MonotonicClock) does on Linux. For that each such job is looked at once a minute. A job that is
    /// [moved](JobHandle::refresh) waits for a moment of the service's clock from then on.
    pub fn at_time(&self, time: SystemTime) -> OneShot<'_> {
        OneShot::at_time(self, time)
    }

    /// Plans a job that is run again and again, first a period from now, without end unless [`times`](Periodic::times) says so.
    pub fn every(&self, period: Duration) -> Periodic<'_> {
        Periodic::new(self, period, self.shared.now().checked_add(period))
    }

    /// The job that has the key; `None` if none is pending or periodic under it. O(1).
    pub fn job(&self, key: &str) -> Option<JobHandle> {
        self.shared.job_of_key(key)
    }

    /// The keys in use, in the order in which their jobs were scheduled. O(k log k).
    pub fn keys(&self) -> Vec<Key> {
        self.shared.keys_in_order()
    }

    /// Cancels the job that has the key. See [`JobHandle::cancel`].
    ///
    /// # Errors
    ///
    /// [`ChangeError::UnknownKey`], or [`ChangeError::Stopped`] in its place once the service has been stopped; or those of
    /// [`JobHandle::cancel`].
    pub fn cancel(&self, key: &str) -> Result<Job, ChangeError> {
        self.job_to_change(key)?.cancel()
    }

    /// Moves the next run of the job that has the key to `delay` from now. See [`JobHandle::refresh`].
    ///
    /// # Errors
    ///
    /// [`ChangeError::UnknownKey`], or [`ChangeError::Stopped`] in its place once the service has been stopped; or those of
    /// [`JobHandle::refresh`].
    pub fn refresh(&self, key: &str, delay: Duration) -> Result<(), ChangeError> {
        self.job_to_change(key)?.refresh(delay)
    }

    /// The job that has the key, or why there is none to be changed. A stop takes the keys away with the jobs, so that by the key
    /// alone nobody could tell it from the end of the job.
    fn job_to_change(&self, key: &str) -> Result<JobHandle, ChangeError> {
        let missing =
            || if self.is_stopped() { ChangeError::Stopped } else { ChangeError::UnknownKey };
        self.job(key).ok_or_else(missing)
    }

    /// How many jobs are scheduled and not over.
    pub fn len(&self) -> usize {
        self.shared.jobs()
    }

    /// Whether no job is scheduled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the service has been stopped.
    pub fn is_stopped(&self) -> bool {
        self.shared.is_closed()
    }

    /// The present, by the clock of the service.
    pub fn now(&self) -> Moment {
        self.shared.now()
    }

    /// The clock of the service.
    pub fn clock(&self) -> &dyn Clock {
        &*self.shared.clock
    }

    /// Counters and distributions.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.snapshot()
    }

    /// The ticks of the service.
    pub(crate) fn ticks(&self) -> Ticks {
        self.shared.ticks
    }

    /// Schedules a job, or gives it back.
    pub(crate) fn schedule<W: Work>(
        &self,
        plan: Result<Plan, Reason>,
        work: W,
    ) -> Result<JobHandle, (Reason, W)> {
        let scheduled = match plan.and_then(|plan| self.shared.admit().map(|()| plan)) {
            Ok(plan) => self.schedule_admitted(plan, work),
            Err(reason) => Err((reason, work)),
        };
        if scheduled.is_err() {
            self.shared.counters.rejected.count();
        }
        scheduled
    }

    fn schedule_admitted<W: Work>(&self, plan: Plan, work: W) -> Result<JobHandle, (Reason, W)> {
        let shared = &self.shared;
        let (look_by, key) = (plan.due.look_by(|| shared.now()), plan.tags.key.clone());
        let create = |work| -> Arc<Record> {
            let number = shared.counters.scheduled.count();
            Arc::new(Record::new(
                Arc::clone(shared),
                number,
                plan.tags,
                plan.due,
                plan.repeat,
                work,
            ))
        };
        let mut replaced_job = None;
        let record = if let Some(key) = key {
            let mut keys = shared.keys.lock();
            if !plan.replace && keys.get(&key).is_some() {
                drop(keys);
                shared.give_up();
                return Err((Reason::DuplicateKey, work));
            }
            let record = create(work);
            let replaced = keys.insert(key, Arc::clone(&record));
            drop(keys);
            replaced_job = replaced.map(|replaced| shared.cancel(&replaced));
            record
        } else {
            create(work)
        };
        let sent = shared.send_new(&record, look_by);
        // After all else, and without a lock: what it holds may do anything when it is dropped, such as panic.
        discard(replaced_job);
        if sent {
            return Ok(JobHandle::new(record));
        }
        Err((Reason::Stopped, record.take_work().expect("what was put into the record above")))
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("jobs", &self.len())
            .field("stopped", &self.is_stopped())
            .finish()
    }
}
