//! The driver of the shards takes out due jobs, runs them, and sleeps until the next deadline.

mod async_run;
mod builder;
mod due_run;
mod executor;
mod lead;
mod scheduler;
mod service;
mod span;
mod stopping;

pub use async_run::AsyncRun;
pub use builder::Builder;
pub use due_run::DueRun;
pub(crate) use executor::push_ready;
#[cfg(wheelhouse_loom)]
pub(crate) use lead::{Member, Pool, Role};
pub use scheduler::Scheduler;
pub use service::{Service, Stop, Stopped};
pub use stopping::Stopping;

use crate::event::EventKind;
use crate::guard::guarded;
use crate::handle::Handle;
use crate::job::Id;
use crate::job_handle::Job;
use crate::shard::{
    Cleanup, DueJob, EndedRun, HandedOut, PlainRun, ReadyItem, ShardState, StopStage, TakenJob,
    Watch,
};
use crate::shared::Work;
use crate::time::Moment;
use executor::Runner;
#[cfg(not(wheelhouse_loom))]
use lead::Member;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// After this many runs the driver checks all shards again, so that catching up after a stall does
/// not delay jobs with earlier deadlines elsewhere.
const RUNS: usize = 64;

/// A driver: a thread of a service, or the owner of a scheduler.
pub(crate) struct Driver {
    timers: Handle,
    runner: Arc<Runner>,
    lead: Member,
    /// The latest moment that was polled.
    now: Moment,
    /// When to check for slow runs. `None` while no run is in flight.
    slow_check: Cell<Option<Moment>>,
    /// There may be runs to watch. Also set when the lead was taken: the former leader may have
    /// started some.
    may_watch: Cell<bool>,
}

/// A run on this thread that has ended.
enum LeaderRun {
    /// The run of a plain job: its deadline, and when it began.
    Plain(Id, Moment, Moment),
    Other(EndedRun<dyn Work>),
}

impl LeaderRun {
    fn id(&self) -> Id {
        match self {
            Self::Plain(id, ..) => *id,
            Self::Other(done) => done.id,
        }
    }
}

impl Driver {
    fn new(timers: Handle, runner: Arc<Runner>, lead: Member) -> Self {
        let (slow_check, may_watch) = (Cell::new(None), Cell::new(true));
        Self { timers, runner, lead, now: Moment::ORIGIN, slow_check, may_watch }
    }

    /// Begins a poll at `now`, and checks for slow runs.
    fn begin_poll(&mut self, now: Moment) {
        let shared = self.timers.shared();
        shared.shards.signal.awake();
        shared.shards.count_poll();
        self.now = self.now.max(now);
        if self.slow_check.get().is_some_and(|check| check <= self.now) {
            self.slow_check.set(None);
            // Reported without a lock: an observer may stop the service, and a slow observer does
            // not block threads that do.
            for (id, info, time) in shared.shards.take_slow(self.now, shared.slow_after) {
                shared.report(self.timers.job_handle(id, info), EventKind::StillRunning(time));
            }
        }
    }

    /// Carries out ready runs: at most [`RUNS`]. At most `most` of them are polls of futures, since
    /// a future may be ready again at once, and runs that are handed out, since such a run may
    /// schedule the next. Returns the number of runs.
    fn ready(&self, most: &mut usize) -> usize {
        let shards = self.timers.shards();
        let mut runs = 0;
        while runs < RUNS
            && self.lead.leads()
            && let Some(ready) = self.timers.shards().ready.pop(*most == 0)
        {
            runs += 1;
            let ready = match ready {
                ReadyItem::Due(run) => {
                    *most -= 1;
                    self.may_watch.set(true);
                    if run.dispatch.is_async || !self.runner.is_on_leader() {
                        self.hand_out(run);
                        continue;
                    }
                    ReadyItem::Run(run, None)
                }
                other => other,
            };
            let started = shards.now();
            let blocks = matches!(&ready, ReadyItem::Run(run, _) if run.dispatch.blocks);
            self.lead.begin(started.as_nanos(), Duration::ZERO, blocks);
            match ready {
                ReadyItem::Run(run, permit) => DueRun::new(self.timers.clone(), run, permit).run(),
                ReadyItem::Due(_) => unreachable!("it is a `Run` by now, or was handed out"),
                ReadyItem::Poll(task) => {
                    *most -= 1;
                    task.run();
                }
            }
            self.lead.ended(shards.now().saturating_since(started));
        }
        runs
    }

    /// Carries out what is due in the shard with the earliest deadline, up to the tick of the next
    /// shard, and at most [`RUNS`]. Returns the number of runs. `None` if nothing is due.
    ///
    /// When this returns, the lead may have been lost.
    fn portion(&self) -> Option<usize> {
        let shards = self.timers.shards();
        let (shard, upto) = shards.first_due(shards.ticks.reached(self.now))?;
        let (clock, on_leader) = (&*shards.clock, self.runner.is_on_leader());
        let (mut runs, mut now, mut reported) = (0, self.now, false);
        // The run of this thread that has ended.
        let mut ended = None::<LeaderRun>;
        while ended.is_some() || (runs < RUNS && self.lead.leads()) {
            let id = ended.as_ref().map(LeaderRun::id);
            // Not results of the closure: they are large and rare.
            let (mut cleanup, mut due, mut spacious) = (None, None, false);
            let ((plain, stage), waited) = shards.with_contention(shard, |state| {
                // One run ends and the next begins under one lock.
                if let Some(ended) = ended.take() {
                    cleanup = self.end(state, ended, now);
                }
                let more = cleanup.is_none() && runs < RUNS && self.lead.leads();
                let pop_due = || state.pop_due(upto, now, clock, on_leader, &mut due);
                let plain = more.then(pop_due).flatten();
                spacious = plain.is_none() && due.is_none() && state.is_spacious();
                (plain, state.stage())
            });
            if let Some(id) = id
                && self.hand_in(id, cleanup, stage)
            {
                continue;
            }
            // The end of the last run is also the begin of this one, if nothing was waited for in
            // between: reading the clock takes half as long as all the rest.
            let at_once = id.is_some() && !waited && !reported;
            let begin = || if at_once { now } else { shards.now() };
            if let Some(plain) = plain {
                runs += 1;
                let started = begin();
                ended = Some(LeaderRun::Plain(plain.id, plain.deadline, started));
                (now, reported) = self.run_plain(plain, started);
                continue;
            }
            let Some(due) = due else {
                if spacious {
                    shards.shrink(shard);
                }
                break;
            };
            runs += 1;
            if let Some((run, at, any)) = self.carry_out(due, begin) {
                (ended, now, reported) = (Some(run), at, any);
            }
        }
        Some(runs)
    }

    /// Carries out a plain job. Returns when it ended, and `true` if something was reported.
    #[inline]
    fn run_plain(&self, plain: PlainRun<dyn Work>, started: Moment) -> (Moment, bool) {
        let PlainRun { id, deadline, work } = plain;
        self.begin(id, deadline, started, false);
        let _inside = self.timers.shards().enter();
        let started = (started, self.lead.number());
        let (now, reported) = due_run::call_plain(&self.timers, (id, deadline), started, work);
        self.lead.ended(now.saturating_since(started.0));
        (now, reported)
    }

    /// Carries out a job that came due and is not plain. `begin` returns the current time, when the
    /// run begins. Returns the run if there was one on this thread, when it ended, and `true` if
    /// something was reported.
    #[inline]
    fn carry_out(
        &self,
        due: DueJob<dyn Work>,
        begin: impl Fn() -> Moment,
    ) -> Option<(LeaderRun, Moment, bool)> {
        match due {
            DueJob::Begun(begun) => {
                let _inside = self.timers.shards().enter();
                // In an instant run the lead is not taken: values must arrive in order.
                let (started, is_instant) = (begin(), begun.is_instant());
                if !is_instant {
                    self.begin(begun.facts.id, begun.facts.deadline, started, begun.blocks);
                }
                let me = Some(self.lead.number());
                let (done, reported) = due_run::call(&self.timers, begun, started, me);
                let now = done.ended;
                if !is_instant {
                    self.lead.ended(now.saturating_since(started));
                }
                Some((LeaderRun::Other(done), now, reported))
            }
            DueJob::Wake(waker) => {
                guarded(|| waker.wake()).unwrap_or_default();
                None
            }
            DueJob::HandedOut(run) => {
                self.may_watch.set(true);
                self.hand_out(run);
                None
            }
        }
    }

    /// A run begins on this thread.
    #[inline]
    fn begin(&self, id: Id, deadline: Moment, started: Moment, blocks: bool) {
        self.lead.names_run(id);
        self.lead.begin(started.as_nanos(), started.saturating_since(deadline), blocks);
    }

    /// Ends a run of this thread, under the lock.
    #[inline]
    fn end(
        &self,
        state: &mut ShardState<dyn Work>,
        ended: LeaderRun,
        now: Moment,
    ) -> Option<Cleanup<dyn Work>> {
        if self.lead.forgets_run() {
            state.runs.unwatch_thread(self.lead.number());
        }
        match ended {
            LeaderRun::Plain(id, deadline, started) => {
                state.end_plain(id, deadline, started, now);
                None
            }
            LeaderRun::Other(done) => state.end(done),
        }
    }

    /// Hands in a run that has ended under the lock. Returns `true` if it was cleaned up, which may
    /// take long.
    #[inline]
    fn hand_in(&self, id: Id, cleanup: Option<Cleanup<dyn Work>>, stage: StopStage) -> bool {
        let shards = self.timers.shards();
        let Some(cleanup) = cleanup else {
            shards.handed_in(stage);
            return false;
        };
        let _inside = shards.enter();
        due_run::clean_up(self.timers.shared(), id, cleanup);
        true
    }

    /// The lead has passed to this thread. If the former leader is still in its run, that is
    /// watched from here on.
    fn watch_former_leader(&self) {
        let Some(thread) = self.lead.former_leader() else { return };
        let Some(id) = self.lead.run_of(thread) else { return };
        let now = self.timers.now();
        self.timers.shards().with(id.shard(), |state| {
            // A run ends under this lock. So either it has not ended, or the thread is in another
            // run.
            if self.lead.run_of(thread) == Some(id) {
                let info = state.info(id);
                state.runs.watch_thread(thread, id, info, now);
            }
        });
    }

    /// Hands out a run, or queues it until its group has a place.
    fn hand_out(&self, run: HandedOut) {
        let group = run.dispatch.group.clone();
        let mut run = DueRun::new(self.timers.clone(), run, None);
        let Some(group) = group else { return self.runner.launch(run) };
        // Weak, so that the queue of the group does not keep the executor alive.
        let runner = Arc::downgrade(&self.runner);
        group.enter(Box::new(move |permit| {
            *run.permit() = Some(permit);
            // Without an executor the run is dropped, which reports it.
            if let Some(runner) = runner.upgrade() {
                runner.launch(run);
            }
        }));
    }

    /// When there may be something to do again. From here on, the driver is woken for anything that
    /// is due earlier.
    pub(crate) fn next_wakeup(&self) -> Option<Moment> {
        let shards = self.timers.shards();
        let watch = self.watch_runs();
        let next = || match self.timers.shards().ready.is_empty() {
            true => shards.next_due().into_iter().chain(watch).min(),
            false => Some(self.now),
        };
        let mut until = next();
        loop {
            shards.signal.sleep_until(until);
            // Check again after that: a thread that makes a job the first from here on sees that
            // the driver sleeps.
            let now = next();
            if now == until {
                return until;
            }
            until = now;
        }
    }

    /// When to check for slow runs. A chosen moment is kept until it has come. So while runs come
    /// and go, they are searched once in that time, and not before each sleep.
    fn watch_runs(&self) -> Option<Moment> {
        if !self.may_watch.get() {
            return None;
        }
        let shared = self.timers.shared();
        let Watch { oldest, reported, waiting } = shared.shards.watch();
        if oldest.is_none() && waiting == 0 {
            self.slow_check.set(None);
            self.may_watch.set(reported);
        } else if self.slow_check.get().is_none() {
            // A tick more: at exactly that moment the run has not taken longer.
            let check = oldest.unwrap_or(self.now).checked_add(shared.slow_after);
            self.slow_check
                .set(check.and_then(|check| check.checked_add(shared.shards.ticks.length())));
        }
        self.slow_check.get()
    }
}

/// Takes back the jobs that will not run, and notifies the futures among them that the service has
/// been stopped. This is done at once: a run may wait for such a future, and the stop for that run.
fn give_back(timers: &Handle, due: bool, stage: StopStage) -> Vec<Job> {
    let taken = timers.shards().take_back(due, stage);
    let mut jobs = Vec::new();
    for taken in taken {
        let job = given_back(timers, taken);
        guarded(|| jobs.extend(job.notify().err())).unwrap_or_default();
    }
    jobs
}

fn given_back(timers: &Handle, taken: TakenJob<dyn Work>) -> Job {
    Job::new(Arc::clone(timers.service_ref(taken.id.shard())), taken)
}

/// Sorts jobs by deadline, then by the order of scheduling.
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

    /// The steps of a thread from its wake-up to its next sleep.
    fn wake_and_sleep(driver: &Driver) {
        driver.timers.shards().signal.awake();
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
        wake_and_sleep(scheduler.driver());
        for _ in 0..100 {
            clock.advance(Duration::from_millis(100));
            let request = timers.after(minute).run(|_| ()).unwrap();
            wake_and_sleep(scheduler.driver());
            drop(request.cancel().unwrap());
            wake_and_sleep(scheduler.driver());
        }
        assert_eq!(woken.load(Ordering::Relaxed), 1);
        clock.advance(minute);
        assert_eq!(scheduler.poll(clock.now()), 0, "it wakes up for the first once");
        let next = scheduler.driver().next_wakeup().map(|next| next.saturating_since(clock.now()));
        assert!(next.is_some_and(|next| next > 50 * minute), "{next:?}");
    }
}
