//! The handle through which any thread schedules jobs, and what hangs together with it: what a job
//! does is told of its run, and from its run it reaches the service again. These types are one
//! knot, so they lie in one file; what is built on them is not.

use crate::brief::BriefSlab;
use crate::drive::ReadyQueue;
use crate::guard::guarded;
use crate::job::{Id, Info, Key};
use crate::shard::{House, Task};
use crate::time::{Clock, Due, Moment, Ticks, When};
use crate::{AsyncRun, ChangeError, Event, EventKind, Job, JobHandle, Snapshot};
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What a job does when it runs.
pub(crate) trait Work: Send + 'static {
    /// Runs it. What is to be run again, or to be dropped only when the job is over, is put back,
    /// also if it panics.
    fn call(self: Box<Self>, run: &Run<'_>, back: &mut Back);

    /// Begins a run that is a future; `None` if it is none. What is to be run again is put back at
    /// once.
    fn call_async(self: Box<Self>, run: &Run<'_>, back: &mut Back) -> Option<RunFuture> {
        let _ = (run, back);
        None
    }

    /// For giving it back to a caller who knows what it is.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;

    /// Another of the same, for a run beside one that goes on; `None` if there can be but one.
    fn fork(&self) -> Option<Box<dyn Work>> {
        None
    }

    /// Returns `true` if it is done in an instant and calls no closure of the user's, so that it
    /// may run on this thread also where closures run on an executor. Then no slow job holds it up,
    /// and the order of deadlines is that in which it is done.
    fn is_brief(&self) -> bool {
        false
    }

    /// Whether a future waits for it, and hears of it when it is dropped: then it is no job that
    /// anybody would want back.
    fn is_awaited(&self) -> bool {
        false
    }
}

/// What a run leaves behind.
#[derive(Default)]
pub(crate) struct Back {
    /// What is to be run again, or dropped when the job is over.
    pub(crate) work: Option<Box<dyn Work>>,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
}

/// A run that is a future.
pub(crate) struct RunFuture {
    /// An error is why it failed.
    pub(crate) future: Pin<Box<dyn Future<Output = Result<(), String>> + Send>>,
    /// How long it may take.
    pub(crate) limit: Option<Duration>,
}

impl Task for dyn Work {
    type Slab = dyn BriefSlab;

    fn fork(&self) -> Option<Box<Self>> {
        Work::fork(self)
    }

    fn is_brief(&self) -> bool {
        Work::is_brief(self)
    }

    fn is_awaited(&self) -> bool {
        Work::is_awaited(self)
    }
}

/// What is told of what goes wrong.
pub(crate) type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// The state that handles and threads share.
pub(crate) struct Shared {
    pub(crate) house: House<dyn Work>,
    pub(crate) slow_after: Duration,
    pub(crate) observer: Option<Observer>,
    /// Where async jobs run, if not on the threads of the service.
    pub(crate) spawner: Option<Spawner>,
    pub(crate) ready: ReadyQueue,
}

/// What hands a run to an executor of futures.
pub(crate) type Spawner = Box<dyn Fn(AsyncRun) + Send + Sync>;

/// A reference to the service that is counted in a place of its own, one for each shard: references
/// of jobs come and go with each call, and threads that write to one count wait for one another.
pub(crate) type Anchor = Arc<CachePadded<Arc<Shared>>>;

impl Shared {
    /// Counts what happened, and tells those who want to know.
    pub(crate) fn report(&self, job: JobHandle, kind: EventKind) {
        let shard = job.id().shard();
        self.house.with(shard, |core| match kind {
            EventKind::Panicked(_) => core.counts.panicked += 1,
            EventKind::ChannelFull | EventKind::ChannelClosed => core.counts.undelivered += 1,
            EventKind::TimedOut(_) => core.counts.timed_out += 1,
            EventKind::GaveUp(_) => core.counts.gave_up += 1,
            // Counted by who finds them.
            EventKind::Failed(_)
            | EventKind::Abandoned
            | EventKind::StillRunning(_)
            | EventKind::Slow(_) => {}
        });
        let event = Event { job, kind };
        #[cfg(feature = "tracing")]
        tracing::warn!(job = %event.job, "{event}");
        if let Some(observer) = &self.observer {
            // A callback that panics must not end the thread that it is told on; there is nobody
            // left to tell.
            guarded(|| observer(&event)).unwrap_or_default();
        }
    }
}

/// What a job is told about the run it is in.
pub struct Run<'a> {
    pub(crate) anchor: &'a Anchor,
    pub(crate) id: Id,
    /// `None` too where the job has it, and this run did not need it.
    pub(crate) info: Option<&'a Arc<Info>>,
    pub(crate) deadline: Moment,
    pub(crate) time: Option<SystemTime>,
    pub(crate) started: Moment,
    pub(crate) number: u64,
    pub(crate) missed: u64,
    pub(crate) last: bool,
    pub(crate) extra: bool,
    pub(crate) stale: bool,
    pub(crate) attempt: u32,
}

/// Schedules jobs, from any thread and from inside jobs: one word, cheap to clone.
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
/// No call waits for jobs. Scheduling, cancelling and moving are done at once, under the lock of
/// one shard, which others hold for no longer than it takes to do the same, and the driver for no
/// more than 64 jobs.
#[derive(Clone)]
pub struct Handle {
    /// One for each shard.
    anchors: Arc<[Anchor]>,
}

impl Handle {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        let anchor = |_| Arc::new(CachePadded::new(Arc::clone(shared)));
        Self { anchors: (0..shared.house.shards()).map(anchor).collect() }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.anchors[0]
    }

    #[inline]
    pub(crate) fn house(&self) -> &House<dyn Work> {
        &self.shared().house
    }

    /// The anchor for jobs of a shard.
    #[inline]
    pub(crate) fn anchor(&self, shard: u32) -> &Anchor {
        &self.anchors[shard as usize]
    }

    /// The job that has the key; `None` if none is pending or periodic under it. O(1).
    pub fn job(&self, key: &str) -> Option<JobHandle> {
        let house = self.house();
        let id = house.job_of_key(key)?;
        let info = house.with(id.shard(), |core| core.info(id))?;
        Some(self.job_handle(id, Some(info)))
    }

    /// The keys in use, in the order in which their jobs were scheduled. O(k log k).
    pub fn keys(&self) -> Vec<Key> {
        self.house().keys_in_order()
    }

    /// Cancels the job that has the key. See [`JobHandle::cancel`].
    ///
    /// # Errors
    ///
    /// [`ChangeError::UnknownKey`], or [`ChangeError::Stopped`] in its place once the service has
    /// been stopped; or those of [`JobHandle::cancel`].
    pub fn cancel(&self, key: &str) -> Result<Job, ChangeError> {
        self.job(key).ok_or_else(|| self.missing_key())?.cancel()
    }

    /// Moves the next run of the job that has the key to `delay` from now. See
    /// [`JobHandle::refresh`].
    ///
    /// # Errors
    ///
    /// [`ChangeError::UnknownKey`], or [`ChangeError::Stopped`] in its place once the service has
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
        let id = self.house().job_of_key(key).ok_or_else(|| self.missing_key())?;
        match self.house().move_to(id, due, true) {
            // It has ended since.
            Err(ChangeError::Over) => Err(ChangeError::UnknownKey),
            moved => moved,
        }
    }

    /// A stop takes the keys away with the jobs, so that by the key alone nobody could tell it from
    /// the end of the job.
    fn missing_key(&self) -> ChangeError {
        if self.is_stopped() { ChangeError::Stopped } else { ChangeError::UnknownKey }
    }

    /// Holds all jobs: from here on no run begins, but of those that wait for an executor or their
    /// group already. Futures continue: sleeps, timeouts, intervals and delay queues. Jobs can be
    /// scheduled meanwhile. To wait for runs that have begun, see [`Snapshot::in_flight`]. O(1) for
    /// each shard.
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
        self.house().hold();
    }

    /// Lets jobs come due again. What of a schedule has passed meanwhile is left out, and not
    /// counted as missed; single jobs whose time has come, and runs that are to be tried again, are
    /// due at once. O(k) for k jobs whose times have come.
    pub fn resume(&self) {
        self.house().let_go();
    }

    /// Gives back the memory that was needed by jobs which are gone. The service does so by itself
    /// where a thousand jobs or fewer are left of 65,536 and more in a shard. Threads that schedule
    /// meanwhile wait for a shard as long as it takes to move its timers. O(n) for n places
    /// of jobs; a [backend](crate::Builder::backend) that was given keeps what it has.
    pub fn compact(&self) {
        self.house().compact();
    }

    /// How many jobs are scheduled and not over.
    pub fn len(&self) -> usize {
        self.house().jobs()
    }

    /// Whether no job is scheduled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the service has been stopped.
    pub fn is_stopped(&self) -> bool {
        self.house().is_closed()
    }

    /// The present, by the clock of the service.
    pub fn now(&self) -> Moment {
        self.house().now()
    }

    /// The clock of the service.
    pub fn clock(&self) -> &dyn Clock {
        &*self.house().clock
    }

    /// Counters and distributions.
    pub fn snapshot(&self) -> Snapshot {
        self.house().snapshot()
    }

    /// The ticks of the service.
    #[inline]
    pub(crate) fn ticks(&self) -> Ticks {
        self.house().ticks
    }

    #[inline]
    pub(crate) fn job_handle(&self, id: Id, info: Option<Arc<Info>>) -> JobHandle {
        JobHandle::new(Arc::clone(self.anchor(id.shard())), id, info)
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
