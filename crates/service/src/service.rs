//! The service: a scheduler with a thread of its own.

use crate::executor::{Runner, join};
use crate::scheduler::{JobIndex, Scheduler, given_back, in_order};
use crate::shared::{Shared, discard};
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{Mutex, Parker};
use crate::{BuildError, Builder, Handle, Job, Moment, Waker};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use wheelhouse_core::Timer;

/// A timer service that runs by itself: one thread sleeps until something is due, and runs it or hands it to workers.
///
/// The thread sleeps until the next wake-up and is woken for what is due earlier; with nothing to do it uses no
/// processor time. A stall of the machine is made up for when it ends, without drift: what a deadline is follows from
/// the plan, not from when the thread looked.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{Service, Stop};
///
/// let service = Service::builder().workers(2).start()?;
/// let timers = service.handle(); // cheap to clone, for every thread that wants to schedule something
///
/// timers.after(Duration::from_millis(1)).run(|run| println!("{:?} late", run.lateness()))?;
/// timers.every(Duration::from_secs(3600)).named("report").run(|_| println!("an hour has passed"))?;
///
/// let stopped = service.stop(Stop::Wait);
/// assert!(stopped.jobs.iter().any(|job| job.handle().name() == Some("report")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Dropping it stops it and joins its threads: it waits for runs that go on, drops the jobs that are still to run, and
/// handles then answer that it has been stopped.
pub struct Service {
    shared: Arc<Shared>,
    core: Arc<Mutex<dyn TakeBack>>,
    runner: Arc<Runner>,
    driver: Option<JoinHandle<()>>,
}

/// How to stop a [`Service`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// At once. Runs that have begun go on; what waits for a worker is given back. The threads end by themselves.
    Now,
    /// When the runs have ended that have begun or wait for a worker, however long it takes.
    Wait,
    /// The same, but no longer than this; then as with `Now`.
    WaitFor(Duration),
}

/// What is left when a [`Service`] has stopped.
#[derive(Debug)]
#[must_use = "these jobs did not run"]
#[non_exhaustive]
pub struct Stopped {
    /// Jobs that were still to run, in the order of their deadlines. For a one-shot job: it never ran. Periodic jobs of which a
    /// run went on during the stop are among them if the service waited for it. What futures wait for is not: they hear of the stop before
    /// it returns.
    pub jobs: Vec<Job>,
    /// Runs that still go on: none, unless the service did not wait for them, or was stopped by one of its own jobs.
    pub running: usize,
}

/// After so many runs the driver takes in again, so that making up for a stall keeps nothing waiting that is due before it.
const RUNS_PER_POLL: usize = 64;

/// What the service wants of a scheduler, whatever its backend is.
trait TakeBack: Send {
    fn take_back(&mut self, due: bool) -> Vec<Job>;
}

impl<B: Timer<JobIndex> + Send> TakeBack for Scheduler<B> {
    fn take_back(&mut self, due: bool) -> Vec<Job> {
        Self::take_back(self, due)
    }
}

impl<B: Timer<JobIndex> + Send + 'static> Scheduler<B> {
    /// Gives the scheduler a thread of its own. It is gone by that, so that it cannot be started twice.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started. The scheduler is then dropped, and with it the jobs that were scheduled before: handles answer
    /// that it has been stopped. Jobs that must not be lost by that are scheduled when the service runs.
    pub fn start(self) -> Result<Service, BuildError> {
        let (shared, runner) = (Arc::clone(self.shared()), Arc::clone(self.runner()));
        let core = Arc::new(Mutex::new(self));
        let driver = Driver {
            core: Arc::clone(&core),
            shared: Arc::clone(&shared),
            runner: Arc::clone(&runner),
        };
        let driver = thread::Builder::new()
            .name("wheelhouse-driver".to_owned())
            .spawn(move || driver.run())?;
        Ok(Service { shared, core, runner, driver: Some(driver) })
    }
}

impl Service {
    /// A service with the defaults: a tick of a millisecond, jobs run on its one thread, no limit.
    ///
    /// Keep it for as long as jobs are to run: when it is dropped, it stops. So `Service::start()?.handle()` is the handle of a service
    /// that is over at the end of the statement, and refuses each job.
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

    /// A handle to schedule jobs with, from any thread. It does not keep the service running: once that is stopped or dropped, the
    /// handle refuses jobs with [`Reason::Stopped`](crate::Reason::Stopped).
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.shared))
    }

    /// Stops, and gives back the jobs that were still to run. From the first instant of the call, handles refuse new jobs.
    ///
    /// A job that is to run once, and was not cancelled, has begun its run or is among these, and never both; a periodic one of which a
    /// run is still to come is among them, whether or not it ran before. May be called by a job
    /// of the service, or by an observer of its events: it does not wait for that run, nor is the job given back.
    pub fn stop(mut self, how: Stop) -> Stopped {
        self.shared.close();
        if how == Stop::Now {
            self.shared.close_for_good();
        }
        let taken = self.core.lock().take_back(how == Stop::Now);
        let mut jobs = given_back(taken);
        self.shared.signal.wake();
        let ended = match how {
            Stop::Now => false,
            Stop::Wait => self.shared.runs.wait(Duration::MAX),
            Stop::WaitFor(longest) => self.shared.runs.wait(longest),
        };
        if how != Stop::Now {
            // What still waits for a worker, what was moved to a later time while it did, and what waits for its next run.
            self.shared.close_for_good();
            let taken = self.core.lock().take_back(true);
            jobs.extend(given_back(taken));
        }
        self.end_threads(ended);
        Stopped { jobs: in_order(jobs), running: self.shared.runs.count().1 }
    }

    fn end_threads(&mut self, wait: bool) {
        let driver = self.driver.take();
        if wait {
            driver.into_iter().for_each(join);
        }
        self.runner.close(wait);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if self.driver.is_some() {
            self.shared.close();
            self.shared.close_for_good();
            let jobs = self.core.lock().take_back(true);
            self.shared.signal.wake();
            // Without the lock, as what they hold may do anything when it is dropped.
            jobs.into_iter().for_each(discard);
            self.end_threads(true);
        }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("snapshot", &self.shared.snapshot()).finish_non_exhaustive()
    }
}

/// What the thread runs.
struct Driver<B: Timer<JobIndex>> {
    core: Arc<Mutex<Scheduler<B>>>,
    shared: Arc<Shared>,
    runner: Arc<Runner>,
}

impl<B: Timer<JobIndex>> Driver<B> {
    fn run(self) {
        let parker = Parker::of_this_thread();
        let waker: Waker = Arc::new({
            let parker = parker.clone();
            move || parker.unpark()
        });
        self.core.lock().set_waker(Arc::clone(&waker));
        let by_hand = self.shared.clock.watch(&waker);
        loop {
            self.poll();
            let next = self.core.lock().next_wakeup();
            // Looked at only now: an unpark that came while a job ran may have been taken by that job, if it blocked on
            // something. From here to `park` there is nothing of the user's that could take it.
            if self.shared.is_closed() {
                return;
            }
            self.sleep(&parker, next, by_hand);
        }
    }

    /// As [`Scheduler::poll`], but the lock is free while a job runs, so that the service can be stopped meanwhile; and only so
    /// many runs. If more is due, the next wake-up is past, and the next poll follows at once.
    fn poll(&self) {
        let now = self.shared.now();
        let slow = self.core.lock().take_in(now);
        // Without the lock, so that an observer may stop the service, and one that takes its time holds up nobody who does.
        self.shared.report_slow(slow);
        let mut ended = None;
        for _ in 0..RUNS_PER_POLL {
            let run = self.core.lock().step(ended.take());
            let Some(run) = run else { return };
            ended = self.runner.launch(run);
        }
        if let Some(job) = ended {
            self.core.lock().look_at(&job);
        }
    }

    /// Sleeps until then, or until the waker is called: also if that happened before.
    fn sleep(&self, parker: &Parker, until: Option<Moment>, by_hand: bool) {
        match until.map(|until| until.saturating_since(self.shared.now())) {
            Some(Duration::ZERO) => {}
            Some(time) if !by_hand => parker.park_timeout(time),
            _ => parker.park(),
        }
    }
}
