//! The service: a pool of threads, of which one drives and another stands by.

use super::async_run::{Spawner, close_ready};
use super::builder::Builder;
use super::lead::{Member, Pool, Role};
use super::{Driver, give_back};
use crate::error::BuildError;
use crate::guard::discard;
use crate::handle::Handle;
use crate::job_handle::Job;
use crate::shard::StopStage;
use crate::sync::Parker;
use crate::sync::thread::{self, JoinHandle};
use crate::time::{Moment, Waker};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A timer service that runs by itself, on a pool of threads: see [`workers`](Builder::workers). An
/// idle service uses no processor time. After a stall of the machine, the service catches up
/// without drift: deadlines follow from the plan, not from the time at which a thread looked. The
/// [first page](crate) has an example.
///
/// Dropping it stops it and joins its threads: it waits for runs that have begun on them, and drops
/// the other jobs. Handles then return that the service has been stopped.
pub struct Service {
    pub(super) timers: Handle,
    pub(super) pool: Arc<Pool>,
    pub(super) threads: Vec<JoinHandle<()>>,
}

/// How to stop a [`Service`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// Stops at once. Runs that have begun continue, and jobs whose runs have not begun are
    /// returned. The threads end by themselves.
    Now,
    /// Waits for all runs that have begun or were handed out, without a limit. Other jobs are
    /// returned.
    Wait,
    /// As `Wait`, for at most this time; then as `Now`.
    WaitFor(Duration),
    /// Waits until all jobs have run at their times and are over, for at most this time; then as
    /// `Now`. New jobs are refused from the start. Periodic jobs without a last run are returned at
    /// once; if one is running, it ends with that run. Futures continue to work. The drain does not
    /// wait for the values of a [`DelayQueue`](crate::future::DelayQueue).
    Drain(Duration),
}

/// The result of stopping a [`Service`].
#[derive(Debug)]
#[must_use = "these jobs did not run"]
#[non_exhaustive]
pub struct Stopped {
    /// The jobs that did not run, in the order of their deadlines. A one-shot job in this list
    /// never ran, or waited for a retry. A periodic job that was running during the stop is in the
    /// list if the service waited for its run. Futures are not in the list: they are notified
    /// before the stop returns.
    pub jobs: Vec<Job>,
    /// The number of runs still in progress: zero, unless the service did not wait for them, or
    /// one of its jobs stopped it.
    pub running: usize,
}

impl Service {
    /// If a thread cannot be started, those that were started end.
    pub(super) fn on_threads(
        timers: Handle,
        spawner: &Arc<Spawner>,
        threads: usize,
    ) -> Result<Self, BuildError> {
        let parkers: Vec<Parker> = (0..threads).map(|_| Parker::new()).collect();
        let pool =
            Arc::new(Pool::new(&parkers, timers.now().as_nanos(), &timers.shards().delayed_others));
        let waker: Waker = Arc::new({
            let pool = Arc::clone(&pool);
            move || pool.wake_leader()
        });
        timers.shards().signal.set_waker(Some(Arc::clone(&waker)));
        let by_hand = timers.clock().watch(&waker);
        let mut service = Self { timers, pool, threads: Vec::new() };
        for (number, parker) in parkers.into_iter().enumerate() {
            let member = Member::new(&service.pool, number, by_hand);
            let driver = Driver::new(service.handle(), Arc::clone(spawner), member);
            let (pool, waker) = (Arc::clone(&service.pool), Arc::clone(&waker));
            let run = move || {
                set_timer_slack(driver.timers.ticks().length());
                thread_loop(driver, &pool, &parker, by_hand);
                // The clock holds a weak reference to the waker, so dropping the waker unregisters
                // it.
                drop(waker);
            };
            let name = format!("wheelhouse-{}", number + 1);
            let thread = thread::Builder::new().name(name).spawn(run);
            service.threads.push(thread.map_err(BuildError::Thread)?);
        }
        Ok(service)
    }

    /// Starts a service with the defaults: a tick of 50 microseconds, a [thread](Builder::workers)
    /// for each processor and four at least, and no limit of jobs.
    ///
    /// Keep it alive while jobs must run: dropping it stops the service. So
    /// `Service::start()?.handle()` is the handle of a service that ends with the statement, and
    /// refuses each job.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn start() -> Result<Self, BuildError> {
        Self::builder().start()
    }

    /// Configures tick, limit, workers, clock, backend ...
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Returns a handle that schedules jobs, from any thread. It does not keep the service running:
    /// once the service is stopped or dropped, the handle refuses jobs with
    /// [`Reason::Stopped`](crate::Reason::Stopped).
    pub fn handle(&self) -> Handle {
        self.timers.clone()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            let jobs = give_back(&self.timers, true, StopStage::Ending);
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

/// Asks Linux to wake up this thread at most a tick late, if a tick is shorter than the default
/// timer slack. An error is ignored: the slack then stays as it was.
#[cfg(target_os = "linux")]
fn set_timer_slack(tick: Duration) {
    // Zero would mean the default. A tick is never zero.
    if tick < Duration::from_micros(50)
        && let Some(nanos) = std::num::NonZeroU64::new(tick.as_nanos() as u64)
    {
        rustix::thread::set_current_timer_slack(Some(nanos)).unwrap_or_default();
    }
}

#[cfg(not(target_os = "linux"))]
fn set_timer_slack(_: Duration) {}

fn thread_loop(mut driver: Driver, pool: &Pool, parker: &Parker, by_hand: bool) {
    let timers = driver.timers.clone();
    while !is_done(&timers, pool) {
        match driver.lead.role() {
            Role::Lead => drive(&mut driver, pool, parker, by_hand),
            Role::StandBy => {
                let due = || timers.shards().next_due().map(Moment::as_nanos);
                let now = || timers.now().as_nanos();
                let is_done = || is_done(&timers, pool);
                driver.lead.stand_by(parker, is_done, due, now);
            }
            Role::Idle => parker.park(),
        }
    }
    // A run that ends on another thread may still push the next of its group.
    close_ready(&timers);
    // The other threads may wait only for this one to find that all is done.
    pool.wake_all();
}

/// Returns `true` if no thread of the service has anything more to do.
fn is_done(timers: &Handle, pool: &Pool) -> bool {
    pool.is_over() && timers.shards().ready.is_done()
}

/// Leads until the lead is lost or the service is over.
fn drive(driver: &mut Driver, pool: &Pool, parker: &Parker, by_hand: bool) {
    driver.lead.lead();
    driver.may_watch.set(true);
    driver.watch_former_leader();
    let timers = driver.timers.clone();
    let shards = timers.shards();
    while !is_done(&timers, pool) {
        driver.begin_poll(shards.now());
        let runs = driver.ready(&mut timers.shards().ready.len());
        let due = driver.portion();
        if !driver.lead.leads() {
            return driver.lead.come_back(shards.now().as_nanos());
        }
        if runs > 0 || due.is_some() {
            continue;
        }
        let next = driver.next_wakeup();
        // Checked after `next_wakeup`: from then on the end of the service wakes this thread.
        if !is_done(&timers, pool) {
            sleep(parker, next.map(|next| next.saturating_since(shards.now())), by_hand);
        }
    }
}

/// Sleeps for `time`, or until the waker is called, which may have happened already.
fn sleep(parker: &Parker, time: Option<Duration>, by_hand: bool) {
    match time {
        Some(Duration::ZERO) => {}
        Some(time) if !by_hand => parker.park_timeout(time),
        _ => parker.park(),
    }
}
