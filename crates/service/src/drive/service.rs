//! The service: a driver with a thread of its own.

use super::executor::Runner;
use super::scheduler::Scheduler;
use super::{Driver, give_back};
use crate::guard::discard;
use crate::handle::Handle;
use crate::shard::Stage;
use crate::sync::Parker;
use crate::sync::thread::{self, JoinHandle};
use crate::time::Waker;
use crate::{BuildError, Builder, Job};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A timer service that runs by itself: one thread sleeps until something is due, and hands it to
/// workers, or runs it.
///
/// The thread sleeps until the next wake-up and is woken for what is due earlier; with nothing to
/// do it uses no processor time. A stall of the machine is made up for when it ends, without drift:
/// what a deadline is follows from the plan, not from when the thread looked.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{Service, Stop};
///
/// let service = Service::builder().workers(2).start()?;
/// let timers = service.handle(); // cheap to clone, for every thread that schedules
///
/// timers.after(Duration::from_millis(1)).run(|run| println!("{:?} late", run.lateness()))?;
/// let hourly = timers.every(Duration::from_secs(3600)).named("report");
/// hourly.run(|_| println!("an hour has passed"))?;
///
/// let stopped = service.stop(Stop::Wait);
/// assert!(stopped.jobs.iter().any(|job| job.handle().name() == Some("report")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Dropping it stops it and joins its threads: it waits for runs that go on, drops the jobs that
/// are still to run, and handles then answer that it has been stopped.
pub struct Service {
    pub(super) timers: Handle,
    pub(super) runner: Arc<Runner>,
    pub(super) driver: Option<JoinHandle<()>>,
}

/// How to stop a [`Service`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// At once. Runs that have begun go on; what waits for a worker is given back. The threads end
    /// by themselves.
    Now,
    /// When the runs have ended that have begun or wait for a worker, however long it takes.
    Wait,
    /// The same, but no longer than this; then as with `Now`.
    WaitFor(Duration),
    /// When all jobs have come to their times and their ends, but no longer than this; then as with
    /// `Now`. New jobs are refused meanwhile, and periodic jobs without an end are given back at
    /// once, but for those of which a run goes on, which end with that. Futures go on.
    Drain(Duration),
}

/// What is left when a [`Service`] has stopped.
#[derive(Debug)]
#[must_use = "these jobs did not run"]
#[non_exhaustive]
pub struct Stopped {
    /// Jobs that were still to run, in the order of their deadlines. For a one-shot job: it never
    /// ran. Periodic jobs of which a run went on during the stop are among them if the service
    /// waited for it. What futures wait for is not: they hear of the stop before it returns.
    pub jobs: Vec<Job>,
    /// Runs that still go on: none, unless the service did not wait for them, or was stopped by one
    /// of its own jobs.
    pub running: usize,
}

impl Scheduler {
    /// Gives the scheduler a thread of its own. It is gone by that, so that it cannot be started
    /// twice. What is built by [`Builder::start`] has a shard for each processor, and workers; this
    /// one has one shard, and runs jobs on its thread, unless something else was chosen.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started. The scheduler is then dropped, and with it the jobs that
    /// were scheduled before: handles answer that it has been stopped. Jobs that must not be lost
    /// by that are scheduled when the service runs.
    pub fn start(self) -> Result<Service, BuildError> {
        let driver = self.driver();
        let (timers, runner) = (driver.timers.clone(), Arc::clone(&driver.runner));
        let its = Driver::new(timers.clone(), Arc::clone(&runner));
        let slack = self.timer_slack;
        let drive = move || {
            slack.into_iter().for_each(set_timer_slack);
            run(its);
        };
        let thread = thread::Builder::new().name("wheelhouse-driver".to_owned()).spawn(drive)?;
        self.leave();
        Ok(Service { timers, runner, driver: Some(thread) })
    }
}

impl Service {
    /// A service with the defaults: a tick of 50 microseconds, a [worker](Builder::workers) for
    /// each processor and two at least, no limit.
    ///
    /// Keep it for as long as jobs are to run: when it is dropped, it stops. So
    /// `Service::start()?.handle()` is the handle of a service that is over at the end of the
    /// statement, and refuses each job.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub fn start() -> Result<Self, BuildError> {
        Self::builder().start()
    }

    /// Chooses tick, limit, workers, clock, backend ...
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// A handle to schedule jobs with, from any thread. It does not keep the service running: once
    /// that is stopped or dropped, the handle refuses jobs with
    /// [`Reason::Stopped`](crate::Reason::Stopped).
    pub fn handle(&self) -> Handle {
        self.timers.clone()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if self.driver.is_some() {
            let jobs = give_back(&self.timers, true, Stage::Over);
            self.timers.house().signal.wake();
            jobs.into_iter().for_each(discard);
            self.end_threads(true);
        }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("snapshot", &self.timers.snapshot()).finish_non_exhaustive()
    }
}

/// How late the system may wake up this thread. What cannot be set stays as it is.
#[cfg(target_os = "linux")]
fn set_timer_slack(slack: Duration) {
    let nanos = u64::try_from(slack.as_nanos()).unwrap_or(u64::MAX);
    // Zero would mean the default.
    let nanos = std::num::NonZeroU64::new(nanos).unwrap_or(std::num::NonZeroU64::MIN);
    rustix::thread::set_current_timer_slack(Some(nanos)).unwrap_or_default();
}

#[cfg(not(target_os = "linux"))]
fn set_timer_slack(_: Duration) {}

/// What the thread does.
fn run(mut driver: Driver) {
    let parker = Parker::of_this_thread();
    let waker: Waker = Arc::new({
        let parker = parker.clone();
        move || parker.unpark()
    });
    let timers = driver.timers.clone();
    let house = timers.house();
    house.signal.set_waker(Arc::clone(&waker));
    let by_hand = house.clock.watch(&waker);
    while !house.is_closed() {
        driver.begin_poll(house.now());
        if driver.portion().is_some() {
            continue;
        }
        let next = driver.next_wakeup();
        // Looked at only now: an unpark that came while a job ran may have been taken by that job,
        // if it blocked on something. From here to `park` there is nothing of the user's that could
        // take it.
        if !house.is_closed() {
            sleep(&parker, next.map(|next| next.saturating_since(house.now())), by_hand);
        }
    }
}

/// Sleeps for so long, or until the waker is called: also if that happened before.
fn sleep(parker: &Parker, time: Option<Duration>, by_hand: bool) {
    match time {
        Some(Duration::ZERO) => {}
        Some(time) if !by_hand => parker.park_timeout(time),
        _ => parker.park(),
    }
}
