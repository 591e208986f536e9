//! The handle through which any thread schedules jobs, and the types that form a cycle with it:
//! work is called with a `Run`, and a `Run` refers to the service. So they share one file.

use crate::drive::ReadyQueue;
use crate::guard::guarded;
use crate::instant::InstantSlab;
use crate::job::{Id, Info, Key};
use crate::shard::{ShardWork, Shards};
use crate::time::{Clock, Due, Moment, Ticks, When};
use crate::{AsyncRun, ChangeError, Event, EventKind, Job, JobHandle, Snapshot};
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The work of a job.
pub(crate) trait Work: Send + 'static {
    /// Runs the work. Work that runs again, or that must not be dropped before the job is over, is
    /// put into `result`, even if it panics.
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult);

    /// Begins a run that is a future. Returns `None` if the work is not async. Work that runs again
    /// is put into `result` at once.
    fn call_async(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) -> Option<RunFuture> {
        let _ = (run, result);
        None
    }

    /// Converts it, to return it to a caller who knows its type.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;

    /// A second copy, for a run that overlaps with one in progress. `None` if the runs of this work
    /// cannot overlap.
    fn fork(&self) -> Option<Box<dyn Work>> {
        None
    }

    /// Returns `true` if it takes only an instant and calls no closure of the user. It then runs on
    /// the leading thread even if closures run on an executor, so no slow job delays it, and such
    /// work is done in the order of deadlines.
    fn is_instant(&self) -> bool {
        false
    }

    /// Returns `true` if a future waits for the work and is notified when the work is dropped. Such
    /// a job is not returned to callers.
    fn is_awaited(&self) -> bool {
        false
    }
}

/// The results of a run.
#[derive(Default)]
pub(crate) struct RunResult {
    /// Work that runs again, or that is dropped when the job is over.
    pub(crate) work: Option<Box<dyn Work>>,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
}

/// A run that is a future.
pub(crate) struct RunFuture {
    /// Its error is why the run failed.
    pub(crate) future: Pin<Box<dyn Future<Output = Result<(), String>> + Send>>,
    /// The time limit of the run.
    pub(crate) limit: Option<Duration>,
}

impl ShardWork for dyn Work {
    type Slab = dyn InstantSlab;

    fn fork(&self) -> Option<Box<Self>> {
        Work::fork(self)
    }

    fn is_instant(&self) -> bool {
        Work::is_instant(self)
    }

    fn is_awaited(&self) -> bool {
        Work::is_awaited(self)
    }
}

/// The callback for failures.
pub(crate) type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// The state that handles and threads share.
pub(crate) struct Shared {
    pub(crate) shards: Shards<dyn Work>,
    pub(crate) slow_after: Duration,
    pub(crate) observer: Option<Observer>,
    /// Where async jobs run, if not on the threads of the service.
    pub(crate) spawner: Option<Spawner>,
    pub(crate) ready: ReadyQueue,
}

/// Hands a run to an executor of futures.
pub(crate) type Spawner = Box<dyn Fn(AsyncRun) + Send + Sync>;

/// A reference to the service, with one reference count for each shard: jobs add and drop
/// references with each call, and threads that write to one count would wait for one another.
pub(crate) type ServiceRef = Arc<CachePadded<Arc<Shared>>>;

impl Shared {
    /// Counts an event, and reports it to the observer.
    pub(crate) fn report(&self, job: JobHandle, kind: EventKind) {
        let shard = job.id().shard();
        self.shards.with(shard, |state| match kind {
            EventKind::Panicked(_) => state.counts.panicked += 1,
            EventKind::ChannelFull | EventKind::ChannelClosed => state.counts.undelivered += 1,
            EventKind::TimedOut(_) => state.counts.timed_out += 1,
            EventKind::GaveUp(_) => state.counts.gave_up += 1,
            // Counted where they are found.
            EventKind::Failed(_)
            | EventKind::Abandoned
            | EventKind::StillRunning(_)
            | EventKind::Slow(_) => {}
        });
        let event = Event { job, kind };
        #[cfg(feature = "tracing")]
        tracing::warn!(job = %event.job, "{event}");
        if let Some(observer) = &self.observer {
            // A panic of the callback must not end this thread, and cannot be reported.
            guarded(|| observer(&event)).unwrap_or_default();
        }
    }
}

/// The run that a job is in: the argument of its closure.
pub struct Run<'a> {
    pub(crate) service: &'a ServiceRef,
    pub(crate) id: Id,
    /// `None` also if the job has an `Info` that this run did not need.
    pub(crate) info: Option<&'a Arc<Info>>,
    pub(crate) deadline: Moment,
    pub(crate) time: Option<SystemTime>,
    pub(crate) started: Moment,
    pub(crate) number: u64,
    pub(crate) missed: u64,
    pub(crate) last: bool,
    pub(crate) extra: bool,
    pub(crate) asks_rule_only: bool,
    pub(crate) attempt: u32,
}

/// Schedules jobs, from any thread and from inside jobs. Cheap to clone: one reference count.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::crossbeam_channel::unbounded;
/// use wheelhouse_service::{ManualClock, Moment, Scheduler};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let clock = ManualClock::new();
///     let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
///     let timers = scheduler.handle();
///
///     let (sender, fired) = unbounded();
///     timers.after(Duration::from_secs(1)).send(&sender, "once")?;
///     timers.every(Duration::from_secs(2)).times(2).send(&sender, "twice")?;
///     timers.after(Duration::from_secs(30)).key("session 1").run(|_| println!("expired"))?;
///     timers.refresh("session 1", Duration::from_secs(60))?;
///
///     scheduler.play(&clock, Moment::from_nanos(10_000_000_000));
///     assert_eq!(fired.try_iter().collect::<Vec<_>>(), ["once", "twice", "twice"]);
///     Ok(())
/// }
/// ```
///
/// No call waits for a job. Scheduling, cancelling and moving take effect at once, under the lock
/// of one shard. Another thread holds that lock only for one such call, and the driver for at most
/// 64 jobs.
#[derive(Clone)]
pub struct Handle {
    /// One for each shard.
    refs: Arc<[ServiceRef]>,
}

impl Handle {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        let service = |_| Arc::new(CachePadded::new(Arc::clone(shared)));
        Self { refs: (0..shared.shards.count()).map(service).collect() }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.refs[0]
    }

    #[inline]
    pub(crate) fn shards(&self) -> &Shards<dyn Work> {
        &self.shared().shards
    }

    /// The reference for jobs of a shard.
    #[inline]
    pub(crate) fn service_ref(&self, shard: u32) -> &ServiceRef {
        &self.refs[shard as usize]
    }

    /// The job that has the key; `None` if no job has it. The key of a job becomes free when its
    /// last run begins. O(1).
    pub fn job(&self, key: &str) -> Option<JobHandle> {
        let shards = self.shards();
        let id = shards.job_of_key(key)?;
        let info = shards.with(id.shard(), |state| state.info(id))?;
        Some(self.job_handle(id, Some(info)))
    }

    /// The keys in use, in the order in which their jobs were scheduled. O(k log k).
    pub fn keys(&self) -> Vec<Key> {
        self.shards().keys_in_order()
    }

    /// Cancels the job that has the key. See [`JobHandle::cancel`].
    ///
    /// # Errors
    ///
    /// [`ChangeError::UnknownKey`], or [`ChangeError::Stopped`] once the service has
    /// been stopped; or those of [`JobHandle::cancel`].
    pub fn cancel(&self, key: &str) -> Result<Job, ChangeError> {
        self.job(key).ok_or_else(|| self.missing_key())?.cancel()
    }

    /// Moves the next run of the job that has the key to `delay` from now. See
    /// [`JobHandle::refresh`].
    ///
    /// # Errors
    ///
    /// [`ChangeError::UnknownKey`], or [`ChangeError::Stopped`] once the service has
    /// been stopped; or those of [`JobHandle::refresh`].
    pub fn refresh(&self, key: &str, delay: Duration) -> Result<(), ChangeError> {
        self.move_to(key, self.now().checked_add(delay).map(Due::at))
    }

    /// Moves the next run of the job that has the key to a point in time, earlier or later. See
    /// [`JobHandle::reschedule`].
    ///
    /// # Errors
    ///
    /// Those of [`refresh`](Self::refresh).
    pub fn reschedule(&self, key: &str, when: impl Into<When>) -> Result<(), ChangeError> {
        self.move_to(key, when.into().due(self.clock()))
    }

    fn move_to(&self, key: &str, due: Option<Due>) -> Result<(), ChangeError> {
        let id = self.shards().job_of_key(key).ok_or_else(|| self.missing_key())?;
        match self.shards().move_to(id, due, true) {
            // It has ended since.
            Err(ChangeError::Over) => Err(ChangeError::UnknownKey),
            moved => moved,
        }
    }

    /// A stop removes the keys together with the jobs, so by the key alone, a stopped job and a
    /// finished one look the same.
    fn missing_key(&self) -> ChangeError {
        if self.is_stopped() { ChangeError::Stopped } else { ChangeError::UnknownKey }
    }

    /// Pauses all jobs: no further run begins, except runs that already wait for an executor or
    /// their group. Futures continue: sleeps, timeouts, intervals and delay queues. Jobs can still
    /// be scheduled. To wait for runs that have begun, see [`Snapshot::in_flight`]. O(1) for each
    /// shard.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheelhouse_service::{ManualClock, Moment, Scheduler};
    ///
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let clock = ManualClock::new();
    ///     let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
    ///     let timers = scheduler.handle();
    ///     let job = timers.every(Duration::from_secs(10)).run(|run| assert_eq!(run.missed(), 0))?;
    ///
    ///     timers.pause();
    ///     scheduler.play(&clock, Moment::from_nanos(35_000_000_000));
    ///     assert_eq!(job.runs(), 0);
    ///     timers.resume(); // the next run is at 40 s, and nothing was missed
    ///     scheduler.play(&clock, Moment::from_nanos(40_000_000_000));
    ///     assert_eq!(job.runs(), 1);
    ///     Ok(())
    /// }
    /// ```
    pub fn pause(&self) {
        self.shards().pause_all();
    }

    /// Resumes all jobs. Scheduled times of a periodic job that passed during the pause are
    /// skipped, and not counted as missed. One-shot jobs whose time has come, and retries, are due
    /// at once. O(k) for k jobs whose times have come.
    pub fn resume(&self) {
        self.shards().resume_all();
    }

    /// Releases memory that belonged to jobs which are gone. The service does so by itself when a
    /// shard that had 65,536 jobs or more has 1,024 or fewer left. While the timers of a shard are
    /// moved, threads that schedule there wait. O(n) for n slots, used or free. A custom
    /// [backend](crate::Builder::backend) keeps its memory.
    pub fn compact(&self) {
        self.shards().compact();
    }

    /// The number of jobs that are scheduled and not over.
    pub fn len(&self) -> usize {
        self.shards().jobs()
    }

    /// Returns `true` if no job is scheduled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if the service has been stopped.
    pub fn is_stopped(&self) -> bool {
        self.shards().is_closed()
    }

    /// The current time, by the clock of the service.
    pub fn now(&self) -> Moment {
        self.shards().now()
    }

    /// The clock of the service.
    pub fn clock(&self) -> &dyn Clock {
        &*self.shards().clock
    }

    /// Counters, and the distributions of lateness and run time.
    pub fn snapshot(&self) -> Snapshot {
        self.shards().snapshot()
    }

    /// The ticks of the service.
    #[inline]
    pub(crate) fn ticks(&self) -> Ticks {
        self.shards().ticks
    }

    #[inline]
    pub(crate) fn job_handle(&self, id: Id, info: Option<Arc<Info>>) -> JobHandle {
        JobHandle::new(Arc::clone(self.service_ref(id.shard())), id, info)
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
