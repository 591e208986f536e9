//! Shared helpers: a scheduler on a manual clock, and a log of runs.
#![allow(unreachable_pub)]

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use wheelhouse_service::{
    AsyncRun, Builder, Clock, Event, EventKind, Handle, ManualClock, Moment, Run, Scheduler,
    Service,
};

pub const HOUR: Duration = Duration::from_secs(3600);

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The moment `n` milliseconds after the origin.
pub fn at(n: u64) -> Moment {
    Moment::ORIGIN.saturating_add(ms(n))
}

/// A time limit that no machine reaches.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Gives up after [`PATIENCE`].
pub fn wait_until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "the condition never held");
        thread::sleep(Duration::from_micros(100));
    }
}

/// Receives from a channel. Fails if nothing arrives.
pub fn arrives<T>(receiver: &Receiver<T>) -> T {
    receiver.recv_timeout(PATIENCE).expect("something arrives")
}

/// Calls something that might block for ever, and fails if it does.
pub fn returns<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = bounded(1);
    thread::spawn(move || sender.send(call()).unwrap_or_default());
    receiver.recv_timeout(PATIENCE).expect("it returns")
}

/// Starts a service.
pub fn start(builder: Builder) -> (Service, Handle) {
    let service = builder.start().unwrap();
    let timers = service.handle();
    (service, timers)
}

/// Starts a service of this number of threads.
pub fn start_workers(workers: usize) -> (Service, Handle) {
    start(Service::builder().workers(workers))
}

/// Polls a future once, with a waker that does nothing.
pub fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// An async job that calls a closure, and is ready at once.
pub fn at_once<T>(
    mut job: impl FnMut(&Run<'_>) -> T + Send,
) -> impl FnMut(&Run<'_>) -> Ready<T> + Send {
    move |run| ready(job(run))
}

/// Carries out a run that is ready at once.
pub fn carry_out(mut run: AsyncRun) {
    assert!(poll(&mut run).is_ready());
}

/// Awaits a future on this thread, without timers of tokio.
pub fn await_here<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// A rule: each second of the wall clock.
pub fn each_second(after: SystemTime) -> Option<SystemTime> {
    let whole = after.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(whole + 1))
}

/// Controls a job that reports when each run has begun, and ends it on request or when this is
/// dropped.
pub struct BlockedJob {
    pub begun: Receiver<()>,
    release: Sender<()>,
}

impl BlockedJob {
    pub fn job() -> (Self, impl Fn(&Run<'_>) + Send + Sync + use<>) {
        let ((begins, begun), (release, released)) = (unbounded(), unbounded());
        let job = move |_: &Run<'_>| {
            begins.send(()).unwrap_or_default();
            released.recv().unwrap_or_default();
        };
        (Self { begun, release }, job)
    }

    /// Schedules it, and returns when it has begun.
    pub fn start(timers: &Handle) -> Self {
        let (held, job) = Self::job();
        timers.after(ms(0)).named("held").run(job).unwrap();
        arrives(&held.begun);
        held
    }

    pub fn release(&self) {
        self.release.send(()).unwrap();
    }
}

/// Panics when it is dropped.
pub struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// A list that jobs write to.
pub struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Send> Log<T> {
    /// A job that logs this of each run.
    pub fn job<F>(&self, entry: F) -> impl Fn(&Run<'_>) + Send + Sync + use<T, F>
    where
        F: Fn(&Run<'_>) -> T + Send + Sync,
    {
        let log = self.clone();
        move |run| log.push(entry(run))
    }
}

impl<T> Log<T> {
    pub fn push(&self, entry: T) {
        self.0.lock().unwrap().push(entry);
    }

    pub fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Returns `true` if no job has it.
    pub fn is_alone(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Returns what was written since the last call.
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// The only entry since the last call.
    pub fn one(&self) -> T {
        let mut entries = self.take();
        assert_eq!(entries.len(), 1);
        entries.remove(0)
    }
}

impl Log<u64> {
    /// A job that logs when it begins, in milliseconds.
    pub fn times(&self) -> impl Fn(&Run<'_>) + Send + Sync + use<> {
        self.job(|run| run.started().as_nanos() / 1_000_000)
    }
}

impl Log<Event> {
    /// The kinds of the events since the last call.
    pub fn kinds(&self) -> Vec<EventKind> {
        self.take().into_iter().map(|event| event.kind).collect()
    }
}

impl Log<(u64, &'static str)> {
    /// A job that logs when it begins, and a name.
    pub fn named(&self, name: &'static str) -> impl Fn(&Run<'_>) + Send + Sync + use<> {
        self.job(move |run| (run.started().as_nanos() / 1_000_000, name))
    }
}

/// A scheduler on a manual clock. It runs jobs on the thread that polls it.
pub struct Rig {
    pub clock: ManualClock,
    pub scheduler: Scheduler,
    pub timers: Handle,
}

impl Rig {
    pub fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub fn with(configure: impl FnOnce(Builder) -> Builder) -> Self {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().tick(ms(1)).clock(clock.clone());
        let scheduler = configure(builder).build().unwrap();
        let timers = scheduler.handle();
        Self { clock, scheduler, timers }
    }

    /// With a wall clock that starts at this time.
    pub fn starting(wall: SystemTime) -> Self {
        let rig = Self::new();
        rig.clock.set_wall(wall);
        rig
    }

    /// With a log of events.
    pub fn with_events() -> (Self, Log<Event>) {
        Self::with_events_and(|builder| builder)
    }

    pub fn with_events_and(configure: impl FnOnce(Builder) -> Builder) -> (Self, Log<Event>) {
        let events = Log::default();
        let log = events.clone();
        let rig = Self::with(|builder| {
            configure(builder.slow_after(ms(100)).on_event(move |event| log.push(event.clone())))
        });
        (rig, events)
    }

    /// Async runs are kept, so that a test decides when each begins and is polled.
    pub fn with_kept_futures() -> (Self, Log<AsyncRun>, Log<Event>) {
        let runs = Log::default();
        let keep = runs.clone();
        let (rig, events) =
            Self::with_events_and(|builder| builder.spawn_on(move |run| keep.push(run)));
        (rig, runs, events)
    }

    /// Plays the time up to `until` milliseconds after the origin. Returns the number of runs.
    pub fn play(&mut self, until: u64) -> usize {
        self.scheduler.play(&self.clock, at(until))
    }

    /// Plays the next part of the time. Returns the number of runs.
    pub fn pass(&mut self, time: Duration) -> usize {
        let until = self.clock.now().saturating_add(time);
        self.scheduler.play(&self.clock, until)
    }

    /// Moves the clock without polling, and then polls once. Returns the number of runs.
    pub fn stall(&mut self, until: u64) -> usize {
        self.clock.set(at(until));
        self.scheduler.poll(self.clock.now())
    }
}
