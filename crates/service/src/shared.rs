//! The types that name each other: work is called with a [`Run`], a run refers to the state that
//! all handles and threads share, and that has a callback for events, which name their job.

use crate::event::EventKind;
use crate::guard::guarded;
use crate::job::Info;
use crate::job_handle::JobHandle;
use crate::shard::{RunFacts, ShardWork, Shards};
use crate::time::Moment;
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

pub(crate) trait Work: Any + Send {
    /// Runs the work on this thread. Work that runs again, or that must not be dropped before the
    /// job is over, is put into `result`, even if it panics.
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        // The owner of a returned async job runs it.
        if let Some(RunFuture { future, limit }) = self.call_async(run, result) {
            result.error = match (block_on(future, limit), limit) {
                (None, Some(limit)) => Some(EventKind::TimedOut(limit).reason()),
                (ended, _) => ended.and_then(Result::err),
            };
        }
    }

    /// Begins a run that is a future. Returns `None` if the work is not async. Work that runs again
    /// is put into `result` at once.
    fn call_async(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) -> Option<RunFuture> {
        let _ = (run, result);
        None
    }

    /// Returns `true` if it takes only an instant and calls no closure of the user. Such work is
    /// done on the leading thread in the order of deadlines: it waits for no group, and the lead is
    /// not taken in it.
    fn is_instant(&self) -> bool {
        false
    }
}

/// Converts work back to its type, to return it to the caller who gave it.
pub(crate) fn unboxed<W: Work>(work: Box<dyn Work>) -> W {
    let work: Box<dyn Any> = work;
    *work.downcast().expect("the work that was given")
}

#[derive(Default)]
pub(crate) struct RunResult {
    /// Work that runs again, or that is dropped when the job is over.
    pub(crate) work: Option<Box<dyn Work>>,
    pub(crate) error: Option<String>,
    pub(crate) undelivered: Option<Box<Undelivered>>,
}

/// Why a value was not delivered, and the value, to be dropped where another thread can lead.
pub(crate) struct Undelivered(pub(crate) EventKind, pub(crate) Box<dyn Any + Send>);

pub(crate) struct RunFuture {
    /// Its error is why the run failed.
    pub(crate) future: Pin<Box<dyn Future<Output = Result<(), String>> + Send>>,
    pub(crate) limit: Option<Duration>,
}

/// Polls a future on this thread until it is ready. `None` if it reaches the limit before, in real
/// time.
fn block_on<T>(future: impl Future<Output = T>, limit: Option<Duration>) -> Option<T> {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let end = limit.and_then(|limit| Instant::now().checked_add(limit));
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        match end.map(|end| end.saturating_duration_since(Instant::now())) {
            Some(Duration::ZERO) => return None,
            Some(left) => thread::park_timeout(left),
            None => thread::park(),
        }
    }
}

impl ShardWork for dyn Work {
    fn is_instant(&self) -> bool {
        Work::is_instant(self)
    }
}

/// A failure in or around a run. It is counted, passed to the callback of
/// [`Builder::on_event`](crate::Builder::on_event), and with the feature `tracing` emitted as a
/// warning.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// The job.
    pub job: JobHandle,
    /// The kind of failure.
    pub kind: EventKind,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.write(f, &self.job)
    }
}

pub(crate) type Observer = Box<dyn Fn(&Event) + Send + Sync>;

pub(crate) struct Shared {
    pub(crate) shards: Shards<dyn Work>,
    pub(crate) slow_after: Duration,
    pub(crate) observer: Option<Observer>,
}

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
        guarded(|| tracing::warn!(job = %event.job, "{event}")).unwrap_or_default();
        if let Some(observer) = &self.observer {
            // A panic of the callback must not end this thread, and cannot be reported.
            guarded(|| observer(&event)).unwrap_or_default();
        }
    }
}

/// The run that a job is in: the argument of its closure.
pub struct Run<'a> {
    pub(crate) service: &'a ServiceRef,
    /// `None` also if the job has an `Info` that this run did not need.
    pub(crate) info: Option<&'a Arc<Info>>,
    pub(crate) started: Moment,
    pub(crate) facts: RunFacts,
}
