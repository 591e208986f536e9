//! The service without a thread: for a program that has an event loop, and for tests.

use super::executor::Runner;
use super::lead::Member;
use super::{Driver, give_back, in_order};
use crate::guard::discard;
use crate::handle::{Handle, Shared};
use crate::shard::Stage;
use crate::time::{Clock, ManualClock, Moment, Waker};
use crate::{Builder, Job};
use std::fmt;
use std::sync::Arc;

/// How often [`Scheduler::play`] polls at one moment.
const ROUNDS: u32 = 1_000;

/// Jobs and their timers, without a thread of its own: for a program that has an event loop, and
/// for tests.
///
/// Jobs are scheduled through [handles](Self::handle), from any thread. Whoever owns the scheduler
/// calls [`poll`](Self::poll), which runs what is due, and then sleeps until
/// [`next_wakeup`](Self::next_wakeup). [`start`](Self::start) makes a [`Service`](crate::Service)
/// of it, with a thread that does just that.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{Clock, ManualClock, Scheduler};
///
/// let clock = ManualClock::new();
/// let tick = Duration::from_millis(1);
/// let mut scheduler = Scheduler::builder().tick(tick).clock(clock.clone()).build()?;
/// let timers = scheduler.handle();
/// let later = timers.after(Duration::from_micros(1500));
/// let job = later.run(|run| assert_eq!(run.number(), 1))?;
///
/// assert_eq!(scheduler.poll(clock.now()), 0);
/// let wakeup = scheduler.next_wakeup().ok_or("a job is pending")?;
/// // Rounded up to the tick: never early.
/// assert_eq!(wakeup.since_origin(), Duration::from_millis(2));
/// clock.set(wakeup);
/// assert_eq!(scheduler.poll(clock.now()), 1);
/// assert_eq!((job.is_pending(), scheduler.next_wakeup()), (false, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Dropping it drops the jobs, and handles then answer that the service has been stopped;
/// [`stop`](Self::stop) gives the jobs back.
pub struct Scheduler {
    driver: Driver,
    /// How many threads are to drive it.
    pub(super) threads: usize,
    /// Another drives it.
    left: bool,
}

impl Scheduler {
    /// Chooses tick, limit, workers, clock, backend ...
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(super) fn new(shared: &Arc<Shared>, runner: Runner, threads: usize) -> Self {
        let driver = Driver::new(Handle::new(shared), Arc::new(runner), Member::alone());
        Self { driver, threads, left: false }
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Leaves what it drives to another.
    pub(super) fn leave(mut self) {
        self.left = true;
    }

    /// A handle to schedule jobs with, from any thread.
    pub fn handle(&self) -> Handle {
        self.driver.timers.clone()
    }

    /// Has `waker` called when a handle did something that cannot wait until
    /// [`next_wakeup`](Self::next_wakeup): it scheduled a job that is due earlier, say. For an
    /// event loop that sleeps in a system call. At most once for each time it sleeps.
    pub fn set_waker(&mut self, waker: Waker) {
        self.driver.timers.house().signal.set_waker(waker);
    }

    /// Runs what is due at `now`, in the order of deadlines, and returns how many runs there were.
    /// With an executor it hands that the closures; futures and values that are sent it brings
    /// itself, and it polls the async jobs that were woken.
    ///
    /// What is scheduled, moved or cancelled before the call is taken into account, all of it. What
    /// jobs schedule while they run is for the next call, and [`next_wakeup`](Self::next_wakeup)
    /// says so, so that a job which schedules itself again at once does not keep this call from
    /// returning. Each job that is taken in and each run costs one operation of the backend or two,
    /// and a few locks that nobody else wants.
    pub fn poll(&mut self, now: Moment) -> usize {
        let driver = &mut self.driver;
        driver.begin_poll(now);
        let house = driver.timers.house();
        house.close_fence(house.ticks.reached(driver.now));
        let mut runs = 0;
        while let Some(more) = driver.portion() {
            runs += more;
        }
        // Closures of groups; and futures and jobs that were handed over, each of them once.
        let mut most = driver.timers.shared().ready.len();
        loop {
            match driver.ready(&mut most) {
                0 => break,
                more => runs += more,
            }
        }
        house.open_fence();
        runs
    }

    /// When to call [`poll`](Self::poll) again, if nothing happens before; `None` if no job waits
    /// for a time and no run is in flight. To be called just before sleeping: from then on, handles
    /// call the [waker](Self::set_waker) for what cannot wait. A lock and a look at the backend for
    /// each shard.
    ///
    /// The moment may be past, if something is to be taken in. At it, there may be nothing to run:
    /// a wheel may only have to move timers closer, a job may have been moved to a later time, or
    /// it is looked whether a run takes too long.
    pub fn next_wakeup(&self) -> Option<Moment> {
        self.driver.timers.house().find_next();
        self.driver.next_wakeup()
    }

    /// Plays the time up to `until` on a manual clock, which must be the one this scheduler was
    /// built with: moves it from one wake-up to the next and polls at each, so that jobs run when
    /// they would have. Returns the number of runs.
    ///
    /// What jobs schedule for the moment they run at is run at that moment too. Where that does not
    /// end, because a job schedules itself again without delay, time goes on by a tick after a
    /// thousand rounds.
    pub fn play(&mut self, clock: &ManualClock, until: Moment) -> usize {
        let mut runs = self.poll(clock.now());
        let mut rounds = 0;
        while let Some(wakeup) = self.next_wakeup().filter(|wakeup| *wakeup <= until) {
            let now = clock.now();
            rounds = if wakeup > now { 0 } else { rounds + 1 };
            let next = if rounds < ROUNDS {
                wakeup
            } else {
                now.saturating_add(self.driver.timers.ticks().length())
            };
            if next > until {
                break;
            }
            clock.set(next);
            runs += self.poll(clock.now());
        }
        clock.set(until);
        runs
    }

    /// Ends the scheduler and gives back the jobs that are still to run, in the order of their
    /// deadlines.
    #[must_use = "these jobs did not run"]
    pub fn stop(self) -> Vec<Job> {
        let timers = &self.driver.timers;
        let mut jobs = give_back(timers, true, Stage::Closed);
        timers.shared().ready.close();
        jobs.extend(give_back(timers, true, Stage::Over));
        in_order(jobs)
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        if !self.left && !self.driver.timers.is_stopped() {
            give_back(&self.driver.timers, true, Stage::Over).into_iter().for_each(discard);
            self.driver.timers.shared().ready.close();
        }
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("timers", &self.driver.timers).finish_non_exhaustive()
    }
}
