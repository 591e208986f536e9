//! The service: threads of which one drives, and another stands by.

use super::lead::{Member, Pool, Role};
use super::scheduler::Scheduler;
use super::{Driver, give_back};
use crate::guard::discard;
use crate::handle::Handle;
use crate::shard::Stage;
use crate::sync::Parker;
use crate::sync::thread::{self, JoinHandle};
use crate::time::{Moment, Waker};
use crate::{BuildError, Builder, Job};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A timer service that runs by itself, on a pool of threads. One of them leads: it sleeps until
/// something is due, and runs it. When it has been in one run for 200 microseconds, another takes
/// the lead, so that a slow job delays no other by more than that while a thread is free.
///
/// The leader sleeps until the next wake-up and is woken for what is due earlier; with nothing to
/// do no thread uses processor time. A stall of the machine is made up for when it ends, without
/// drift: what a deadline is follows from the plan, not from when the thread looked.
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
/// Dropping it stops it and joins its threads: it waits for runs that have begun, drops the jobs
/// that are still to run, and handles then answer that it has been stopped.
pub struct Service {
    pub(super) timers: Handle,
    pub(super) pool: Arc<Pool>,
    pub(super) threads: Vec<JoinHandle<()>>,
}

/// How to stop a [`Service`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// At once. Runs that have begun continue; what has not begun is given back. The threads end by
    /// themselves.
    Now,
    /// When the runs have ended that have begun or were handed out, however long it takes.
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
    /// Gives the scheduler [threads](Builder::workers) of its own, or a single one if it was built
    /// without a number of them. It is gone by that, so that it cannot be started twice. What is
    /// built by [`Builder::start`] has a shard for each processor and a thread for each; this one
    /// has one shard, unless something else was chosen.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started. The scheduler is then dropped, and with it the jobs that were
    /// scheduled before: handles answer that it has been stopped. Jobs that must not be lost by
    /// that are scheduled when the service runs.
    pub fn start(self) -> Result<Service, BuildError> {
        let timers = self.handle();
        let parkers: Vec<Parker> = (0..self.threads).map(|_| Parker::new()).collect();
        let pool = Arc::new(Pool::new(&parkers, timers.now().as_nanos(), &timers.house().held_up));
        let waker: Waker = Arc::new({
            let pool = Arc::clone(&pool);
            move || pool.wake_leader()
        });
        timers.house().signal.set_waker(Arc::clone(&waker));
        let by_hand = timers.clock().watch(&waker);
        let mut service = Service { timers, pool, threads: Vec::new() };
        for (number, parker) in parkers.into_iter().enumerate() {
            let member = Member::new(&service.pool, number, by_hand);
            let runner = Arc::clone(&self.driver().runner);
            let driver = Driver::new(service.handle(), runner, member);
            let (pool, waker) = (Arc::clone(&service.pool), Arc::clone(&waker));
            let live = move || {
                set_timer_slack(driver.timers.ticks().length());
                live(driver, &pool, &parker, by_hand);
                // The clock keeps no waker alive, so that those who watch it need not say goodbye.
                drop(waker);
            };
            let name = format!("wheelhouse-{}", number + 1);
            // If this fails, the service is dropped with the threads that there are.
            service.threads.push(thread::Builder::new().name(name).spawn(live)?);
        }
        self.leave();
        Ok(service)
    }
}

impl Service {
    /// A service with the defaults: a tick of 50 microseconds, a [thread](Builder::workers) for
    /// each processor and four at least, no limit.
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
        if !self.threads.is_empty() {
            let jobs = give_back(&self.timers, true, Stage::Ending);
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

/// Asks the system to wake up this thread at most a tick late, if that is less than the default. An
/// error changes nothing.
#[cfg(target_os = "linux")]
fn set_timer_slack(tick: Duration) {
    let default = Duration::from_micros(50);
    let nanos = u64::try_from(tick.as_nanos()).unwrap_or(u64::MAX);
    // Zero would mean the default, and is no tick.
    if tick < default
        && let Some(nanos) = std::num::NonZeroU64::new(nanos)
    {
        rustix::thread::set_current_timer_slack(Some(nanos)).unwrap_or_default();
    }
}

#[cfg(not(target_os = "linux"))]
fn set_timer_slack(_: Duration) {}

/// The life of a thread of the pool.
fn live(mut driver: Driver, pool: &Pool, parker: &Parker, by_hand: bool) {
    let timers = driver.timers.clone();
    while !is_done(&timers, pool) {
        match driver.lead.role() {
            Role::Lead => drive(&mut driver, pool, parker, by_hand),
            Role::StandBy => {
                let due = || timers.house().next_due().map(Moment::as_nanos);
                let now = || timers.now().as_nanos();
                let is_done = || is_done(&timers, pool);
                driver.lead.stand_by(parker, is_done, due, now);
            }
            Role::Idle => parker.park(),
        }
    }
    // The others may wait for this alone.
    pool.wake_all();
}

/// Returns `true` if no thread of the service has anything more to do.
fn is_done(timers: &Handle, pool: &Pool) -> bool {
    pool.is_over() && timers.shared().ready.is_done()
}

/// Leads, until the lead is lost or the service is over.
fn drive(driver: &mut Driver, pool: &Pool, parker: &Parker, by_hand: bool) {
    driver.lead.lead();
    driver.may_watch.set(true);
    driver.watch_former_leader();
    let timers = driver.timers.clone();
    let house = timers.house();
    while !is_done(&timers, pool) {
        driver.begin_poll(house.now());
        let runs = driver.ready(&mut timers.shared().ready.len());
        let due = driver.portion();
        if !driver.lead.leads() {
            return driver.lead.come_back(house.now().as_nanos());
        }
        if runs > 0 || due.is_some() {
            continue;
        }
        let next = driver.next_wakeup();
        // Read only now: from here on the end of the service wakes this thread.
        if !is_done(&timers, pool) {
            sleep(parker, next.map(|next| next.saturating_since(house.now())), by_hand);
        }
    }
    timers.shared().ready.close();
}

/// Sleeps for so long, or until the waker is called: also if that happened before.
fn sleep(parker: &Parker, time: Option<Duration>, by_hand: bool) {
    match time {
        Some(Duration::ZERO) => {}
        Some(time) if !by_hand => parker.park_timeout(time),
        _ => parker.park(),
    }
}
