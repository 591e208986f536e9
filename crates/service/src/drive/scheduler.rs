//! The service without threads: for programs with an event loop, and for tests.

use super::async_run::{Spawner, close_ready};
use super::builder::Builder;
use super::lead::Member;
use super::{Driver, give_back, in_order};
use crate::guard::discard;
use crate::handle::Handle;
use crate::job_handle::Job;
use crate::shard::{ShardState, StopStage};
use crate::time::{Clock, ManualClock, Moment, Waker};
use std::fmt;
use std::sync::Arc;

/// How often [`Scheduler::play`] polls at one moment before it moves the clock by a tick.
const ROUNDS: u32 = 1_000;

/// Jobs and their timers, without threads: for programs with an event loop, and for tests.
///
/// Any thread schedules jobs through [handles](Self::handle). The owner of the scheduler calls
/// [`poll`](Self::poll), which runs the due jobs, and then sleeps until
/// [`next_wakeup`](Self::next_wakeup). The threads of a [`Service`](crate::Service) do the same.
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
/// Dropping it drops the jobs, and handles then return that the service has been stopped.
/// [`stop`](Self::stop) returns the jobs.
pub struct Scheduler {
    pub(crate) driver: Driver,
}

impl Scheduler {
    /// Configures tick, limit, clock, backend ...
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(super) fn new(timers: Handle, spawner: Spawner) -> Self {
        Self { driver: Driver::new(timers, Arc::new(spawner), Member::alone()) }
    }

    /// Returns a handle that schedules jobs, from any thread.
    pub fn handle(&self) -> Handle {
        self.driver.timers.clone()
    }

    /// Sets a callback for changes that cannot wait until [`next_wakeup`](Self::next_wakeup), such
    /// as a job that is due earlier. For an event loop that sleeps in a system call. It is called
    /// at most once for each time that the loop sleeps.
    pub fn set_waker(&mut self, waker: Waker) {
        self.driver.timers.shards().signal.set_waker(Some(waker));
    }

    /// Runs the jobs that are due at `now`, in the order of their deadlines, and returns the number
    /// of runs. In the number, handing out a run to its group or as a future counts as one, and so
    /// does each poll of the future here.
    ///
    /// All changes made before the call take effect. Jobs that are scheduled, or moved to the
    /// present, while jobs run are for the next call, and [`next_wakeup`](Self::next_wakeup)
    /// returns when: so a job that does this to itself, or to another, does not keep this call from
    /// returning. Each job that is taken out and each run costs one or two operations of the
    /// backend, and a few uncontended locks.
    pub fn poll(&mut self, now: Moment) -> usize {
        let driver = &mut self.driver;
        driver.begin_poll(now);
        let shards = driver.timers.shards();
        let upto = shards.ticks.reached(driver.now);
        shards.with_all(|state| state.close_fence(upto));
        let mut runs = 0;
        while let Some(more) = driver.portion() {
            runs += more;
        }
        // Closures of groups. Also futures, each at most once.
        let mut most = shards.ready.len();
        loop {
            match driver.ready(&mut most) {
                0 => break,
                more => runs += more,
            }
        }
        shards.with_all(|state| state.open_fence(driver.now));
        runs
    }

    /// Returns when to call [`poll`](Self::poll) again, if nothing happens before. `None` if no job
    /// waits for a time and no run is in flight. Call it just before sleeping: from then on,
    /// handles call the [waker](Self::set_waker) for changes that cannot wait. Costs a lock and a
    /// query of the backend for each shard.
    ///
    /// The moment may be past, if something is due already. The poll at that moment may find
    /// nothing to run: a wheel may only have to cascade timers, a job may have been moved to a
    /// later time, or the driver only releases memory or checks whether a run takes too long.
    pub fn next_wakeup(&self) -> Option<Moment> {
        // A poll that finds nothing due does not look into the shards.
        self.driver.timers.shards().with_all(ShardState::find_next);
        self.driver.next_wakeup()
    }

    /// Advances a manual clock to `until`: moves it from one wake-up to the next and polls at each,
    /// so that each job runs at its time. The clock must be the one that this scheduler was built
    /// with. Returns the number of runs. If a job schedules itself again and again without delay,
    /// the clock moves on by a tick after a thousand rounds.
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

    /// Stops the scheduler and returns the jobs that did not run, in the order of their deadlines.
    #[must_use = "these jobs did not run"]
    pub fn stop(self) -> Vec<Job> {
        in_order(self.end())
    }

    fn end(&self) -> Vec<Job> {
        let timers = &self.driver.timers;
        let mut jobs = give_back(timers, true, StopStage::Closed);
        close_ready(timers);
        jobs.extend(give_back(timers, true, StopStage::Over));
        // Handles may be kept much longer.
        timers.shards().signal.set_waker(None);
        jobs
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        if !self.driver.timers.is_stopped() {
            self.end().into_iter().for_each(discard);
        }
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("timers", &self.driver.timers).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// The steps of a thread from its wake-up to its next sleep.
    fn wake_and_sleep(driver: &Driver) {
        driver.timers.shards().signal.awake();
        while driver.portion().is_some() {}
        driver.next_wakeup();
    }

    /// The leader may take out what is due between two portions.
    #[test]
    fn the_jobs_that_came_due_first_are_resumed_first() {
        let clock = ManualClock::new();
        let mut scheduler = Scheduler::builder().clock(clock.clone()).build().unwrap();
        let (timers, (sender, sent)) = (scheduler.handle(), crossbeam_channel::unbounded());
        for n in 0..1_000 {
            timers.after(Duration::from_millis(n)).send(&sender, n).unwrap();
        }
        timers.pause();
        clock.advance(Duration::from_secs(1));
        scheduler.poll(clock.now());
        timers.shards().set_paused(false);
        assert!(timers.shards().with(0, |state| state.resume_deferred(&clock)), "more are left");
        scheduler.poll(clock.now());
        assert!(sent.try_iter().eq(0..64));
        timers.resume();
        scheduler.poll(clock.now());
        assert!(sent.try_iter().eq(64..1_000));
    }

    #[test]
    fn timeouts_that_are_set_and_cancelled_in_turn_wake_the_driver_once() {
        let (minute, woken) = (Duration::from_secs(60), Arc::new(AtomicUsize::new(0)));
        let clock = ManualClock::new();
        let mut scheduler = Scheduler::builder().clock(clock.clone()).build().unwrap();
        let count = Arc::clone(&woken);
        scheduler.set_waker(Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        }));
        let timers = scheduler.handle();
        timers.after(60 * minute).run(|_| ()).unwrap();
        wake_and_sleep(&scheduler.driver);
        for _ in 0..100 {
            clock.advance(Duration::from_millis(100));
            let request = timers.after(minute).run(|_| ()).unwrap();
            wake_and_sleep(&scheduler.driver);
            drop(request.cancel().unwrap());
            wake_and_sleep(&scheduler.driver);
        }
        assert_eq!(woken.load(Ordering::Relaxed), 1);
        clock.advance(minute);
        assert_eq!(scheduler.poll(clock.now()), 0, "it wakes up for the first once");
        let next = scheduler.driver.next_wakeup().map(|next| next.saturating_since(clock.now()));
        assert!(next.is_some_and(|next| next > 50 * minute), "{next:?}");
    }
}
