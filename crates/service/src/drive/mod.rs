//! What drives the shards: it takes out what is due, runs it or hands it to workers, and sleeps
//! until the next.

mod async_run;
mod builder;
mod due_run;
mod executor;
mod scheduler;
mod service;
mod stopping;

pub use async_run::AsyncRun;
pub(crate) use async_run::block_on;
pub use builder::Builder;
pub use due_run::DueRun;
pub use executor::Executor;
pub use scheduler::Scheduler;
pub use service::{Service, Stop, Stopped};
pub use stopping::Stopping;

use crate::guard::guarded;
use crate::handle::{Back, Futures, Handle, Run, Work};
use crate::job::Id;
use crate::shard::{Came, Done, Plain, Stage, Taken, Watch};
use crate::time::Moment;
use crate::{EventKind, Job};
use executor::Runner;
use std::cell::Cell;
use std::sync::Arc;

/// After so many runs the driver looks at all shards again, so that making up for a stall keeps
/// nothing waiting that is due before it.
const RUNS: usize = 64;

pub(crate) struct Driver {
    timers: Handle,
    runner: Arc<Runner>,
    /// The latest moment that was polled.
    now: Moment,
    /// When to look for runs that take long. Not set while none is in flight.
    look_for_slow: Cell<Option<Moment>>,
}

impl Driver {
    fn new(timers: Handle, runner: Arc<Runner>) -> Self {
        Self { timers, runner, now: Moment::ORIGIN, look_for_slow: Cell::new(None) }
    }

    /// Looks at the time, and for runs that take long by now.
    fn begin_poll(&mut self, now: Moment) {
        let shared = self.timers.shared();
        shared.house.signal.awake();
        shared.house.count_poll();
        self.now = self.now.max(now);
        if self.look_for_slow.get().is_some_and(|look| look <= self.now) {
            self.look_for_slow.set(None);
            // Without a lock, so that an observer may stop the service, and one that takes its time
            // holds up nobody who does.
            for (id, info, time) in shared.house.tell_slow(self.now, shared.slow_after) {
                shared.report(self.timers.job_handle(id, info), EventKind::StillRunning(time));
            }
        }
    }

    /// Carries out or hands out what is due: of the shard that is first, up to the tick of the
    /// next, and so many runs at most. How many there were; `None` if nothing is due.
    fn portion(&self) -> Option<usize> {
        let (shared, runner) = (self.timers.shared(), &self.runner);
        let house = &shared.house;
        if house.is_closed() {
            return None;
        }
        let (shard, upto) = house.first_due(house.ticks.reached(self.now))?;
        let (mut runs, mut now, mut reported) = (0, self.now, false);
        // A plain run that has ended: which, when it was due, and when it began. Or any other.
        let (mut plain_ended, mut ended) = (None::<(Id, Moment, Moment)>, None::<Done<_>>);
        while runs < RUNS || ended.is_some() || plain_ended.is_some() {
            let id = ended.as_ref().map(|done| done.id).or(plain_ended.map(|(id, ..)| id));
            // Not results of the closure: they are large, and seldom there.
            let (mut leftover, mut came) = (None, None);
            let ((plain, stage), waited) = house.with_told(shard, |core| {
                // One run ends and the next begins under one lock.
                if let Some((id, deadline, started)) = plain_ended.take() {
                    core.end_plain(id, deadline, started, now);
                } else if let Some(done) = ended.take() {
                    leftover = core.end(done);
                }
                let here = runner.is_inline();
                let plain = if leftover.is_none() && runs < RUNS {
                    core.come(upto, now, &*house.clock, here, &mut came)
                } else {
                    None
                };
                (plain, core.stage())
            });
            match (id, leftover) {
                (Some(id), Some(leftover)) => {
                    let _inside = house.enter();
                    due_run::clear(shared, id, leftover);
                    continue;
                }
                (Some(_), None) => house.handed_in(stage),
                _ => {}
            }
            // The end of the last run is the begin of this one, if nothing was waited for in
            // between: to read the clock takes as long as half of the rest.
            let at_once = id.is_some() && !waited && !reported;
            let begin = || if at_once { now } else { house.now() };
            if let Some(Plain { id, deadline, work }) = plain {
                let (_inside, started) = (house.enter(), begin());
                let call = |run: &Run<'_>, back: &mut Back| work.call(run, back);
                (now, reported) = due_run::call_plain(&self.timers, (id, deadline), started, call);
                plain_ended = Some((id, deadline, started));
                runs += 1;
                continue;
            }
            match came {
                Some(Came::InSlab(id, deadline, lying)) => {
                    let (_inside, started) = (house.enter(), begin());
                    let call = |run: &Run<'_>, _: &mut Back| lying.carry_out(run);
                    (now, reported) =
                        due_run::call_plain(&self.timers, (id, deadline), started, call);
                    plain_ended = Some((id, deadline, started));
                }
                None => break,
                Some(Came::Wake(waker)) => guarded(|| waker.wake()).unwrap_or_default(),
                Some(Came::There(id, turn, info, way)) => {
                    self.hand_out(DueRun::new(self.timers.clone(), id, info, turn, way));
                }
                Some(Came::Here(begun)) => {
                    let _inside = house.enter();
                    let done;
                    (done, reported) = due_run::call(&self.timers, begun, begin());
                    now = done.ended;
                    ended = Some(done);
                }
            }
            runs += 1;
        }
        Some(runs)
    }

    /// Has a run carried out elsewhere, when its group has a place for it.
    fn hand_out(&self, mut run: DueRun) {
        let Some(group) = run.group() else { return launch(&self.runner, run) };
        // The queue of the group must not keep the workers alive that it waits for.
        let runner = Arc::downgrade(&self.runner);
        group.enter(Box::new(move |seat| {
            *run.seat() = Some(seat);
            // Without workers it is dropped, and reported by that.
            if let Some(runner) = runner.upgrade() {
                launch(&runner, run);
            }
        }));
    }

    /// When there may be something to do again; from here on it is woken for what is due before.
    pub(crate) fn next_wakeup(&self) -> Option<Moment> {
        let house = self.timers.house();
        let watch = self.watch_runs();
        let next = || house.next_due().into_iter().chain(watch).min();
        let mut until = next();
        loop {
            house.signal.sleep_until(until);
            // After that: who makes a job the first from here on finds that the driver sleeps.
            let now = next();
            if now == until {
                return until;
            }
            until = now;
        }
    }

    /// When to look for runs that take long. A moment that was chosen stays until it has come, so
    /// that while runs come and go they are searched once in that time, and not before each sleep.
    fn watch_runs(&self) -> Option<Moment> {
        if self.runner.is_inline() {
            return None;
        }
        let shared = self.timers.shared();
        let Watch { oldest, told, waiting } = shared.house.watch();
        if oldest.is_none() && !(waiting > 0 && self.runner.may_begin_one_beside(told)) {
            self.look_for_slow.set(None);
        } else if self.look_for_slow.get().is_none() {
            // A tick more than that: at the very moment it has not taken longer.
            let look = oldest.unwrap_or(self.now).checked_add(shared.slow_after);
            self.look_for_slow
                .set(look.and_then(|look| look.checked_add(shared.house.ticks.length())));
        }
        self.look_for_slow.get()
    }
}

/// Has a run carried out.
fn launch(runner: &Runner, run: DueRun) {
    let timers = run.timers().clone();
    match &timers.shared().futures {
        // If it panics, the run is dropped and reported; the driver goes on.
        Futures::Spawned(spawn) if run.is_async() => {
            guarded(|| spawn(AsyncRun::new(run))).unwrap_or_default();
        }
        _ => runner.launch(run),
    }
}

/// Takes back what will not run, and tells the futures among it, which hear that the service has
/// been stopped: at once, as one of them may be what a run waits for, which the stop waits for.
fn give_back(timers: &Handle, due: bool, stage: Stage) -> Vec<Job> {
    let taken = timers.house().take_back(due, stage);
    let mut jobs = Vec::new();
    for taken in taken {
        let job = given_back(timers, taken);
        guarded(|| jobs.extend(job.tell().err())).unwrap_or_default();
    }
    jobs
}

fn given_back(timers: &Handle, taken: Taken<dyn Work>) -> Job {
    Job::new(Arc::clone(timers.anchor(taken.id.shard())), taken)
}

/// In the order of deadlines, and of scheduling.
fn in_order(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| (job.deadline(), job.handle().number()));
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, ManualClock};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// What a thread does that is woken, until it sleeps again.
    fn look(driver: &Driver) {
        driver.timers.house().signal.awake();
        while driver.portion().is_some() {}
        driver.next_wakeup();
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
        look(scheduler.driver());
        for _ in 0..100 {
            clock.advance(Duration::from_millis(100));
            let request = timers.after(minute).run(|_| ()).unwrap();
            look(scheduler.driver());
            drop(request.cancel().unwrap());
            look(scheduler.driver());
        }
        assert_eq!(woken.load(Ordering::Relaxed), 1);
        clock.advance(minute);
        assert_eq!(scheduler.poll(clock.now()), 0, "it wakes up for the first once");
        let next = scheduler.driver().next_wakeup().map(|next| next.saturating_since(clock.now()));
        assert!(next.is_some_and(|next| next > 50 * minute), "{next:?}");
    }
}
