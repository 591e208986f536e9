//! The driver of the shards takes out due jobs, runs them, and sleeps until the next deadline.

mod async_run;
mod builder;
mod carry_out;
mod lead;
mod scheduler;
mod service;
mod stopping;

pub use async_run::AsyncRun;
pub use builder::Builder;
#[cfg(wheelhouse_loom)]
pub(crate) use lead::{Member, Pool, Role};
pub use scheduler::Scheduler;
pub use service::{Service, Stop, Stopped};
pub use stopping::Stopping;

use crate::event::EventKind;
use crate::guard::guarded;
use crate::handle::Handle;
use crate::job::{GroupPermit, Id, Waiting};
use crate::job_handle::Job;
use crate::shard::{
    ActiveRun, DueJob, HandedOut, PlainRun, ShardState, SlowRun, StopStage, TaskKind,
};
use crate::shared::Work;
use crate::time::Moment;
use async_run::{Spawner, spawn};
#[cfg(not(wheelhouse_loom))]
use lead::Member;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;
use wheelhouse_core::Tick;

/// After this many runs the driver checks all shards again, so that catching up after a stall does
/// not delay jobs with earlier deadlines elsewhere.
const RUNS: usize = 64;

/// A driver: a thread of a service, or the owner of a scheduler.
pub(crate) struct Driver {
    timers: Handle,
    spawner: Arc<Spawner>,
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
    Other(ActiveRun<dyn Work>),
}

impl LeaderRun {
    fn id(&self) -> Id {
        match self {
            Self::Plain(id, ..) => *id,
            Self::Other(run) => run.facts.id,
        }
    }
}

/// The results of a [step](Driver::step) that are large and rare.
#[derive(Default)]
struct RareResults {
    /// The last run was not handed in: it must be cleaned up.
    needs_cleanup: bool,
    /// A due job that is not plain.
    due: Option<DueJob<dyn Work>>,
    /// The shard has memory to release.
    spacious: bool,
}

impl Driver {
    fn new(timers: Handle, spawner: Arc<Spawner>, lead: Member) -> Self {
        let (slow_check, may_watch) = (Cell::new(None), Cell::new(true));
        Self { timers, spawner, lead, now: Moment::ORIGIN, slow_check, may_watch }
    }

    fn begin_poll(&mut self, now: Moment) {
        let shared = self.timers.shared();
        shared.shards.signal.awake();
        shared.shards.polls.fetch_add(1, Ordering::Relaxed);
        self.now = self.now.max(now);
        if self.slow_check.get().is_some_and(|check| check <= self.now) {
            self.slow_check.set(None);
            self.report_slow(shared.shards.take_slow(self.now, shared.slow_after));
        }
    }

    /// Reports slow runs. Without a lock: an observer may stop the service, and a slow observer
    /// does not block threads that do. The lead may be lost in this.
    fn report_slow(&self, runs: Vec<SlowRun>) {
        if runs.is_empty() {
            return;
        }
        let shared = self.timers.shared();
        let _inside = shared.shards.enter(None);
        self.lead.as_in_a_run(self.now.as_nanos(), || {
            for (id, info, time) in runs {
                shared.report(self.timers.job_handle(id, info), EventKind::StillRunning(time));
            }
        });
    }

    /// Carries out ready runs: at most [`RUNS`]. At most `most` of them are polls of futures, since
    /// a future may be ready again at once. Returns the number of runs.
    fn ready(&self, most: &mut usize) -> usize {
        let shards = self.timers.shards();
        let mut runs = 0;
        while runs < RUNS
            && self.lead.leads()
            && let Some(run) = shards.ready.pop(*most == 0)
        {
            runs += 1;
            let started = shards.now();
            let blocks = match *run.metadata() {
                TaskKind::Closure { blocks } => blocks,
                TaskKind::Future => {
                    *most -= 1;
                    false
                }
            };
            self.lead.begin(started.as_nanos(), Duration::ZERO, blocks);
            run.run();
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
        let (mut runs, mut now, mut reported) = (0, self.now, false);
        let mut ended = None::<LeaderRun>;
        while ended.is_some() || (runs < RUNS && self.lead.leads()) {
            let (follows, mut rest) = (ended.is_some(), RareResults::default());
            let ((plain, stage), waited) = shards.with_contention(shard, |state| {
                self.step(state, &mut ended, (upto, now), runs < RUNS, &mut rest)
            });
            // Both are rare, so they share a branch.
            if rest.needs_cleanup || stage != StopStage::Open {
                match ended.take() {
                    Some(LeaderRun::Other(run)) if rest.needs_cleanup => {
                        let _inside = shards.enter(Some(run.facts.id));
                        carry_out::clean_up(self.timers.shared(), run, Some(&self.lead));
                        continue;
                    }
                    Some(_) => shards.notify_stop(stage),
                    None => {}
                }
            }
            ended = None;
            // The end of the last run is also the begin of this one, if nothing was waited for in
            // between: reading the clock takes half as long as all the rest.
            let at_once = follows && !waited && !reported;
            let begin = || if at_once { now } else { shards.now() };
            if let Some(plain) = plain {
                (now, reported) = self.run_plain(plain, begin(), &mut ended);
            } else if let Some(due) = rest.due {
                let end = self.carry_out(due, begin, &mut ended);
                (now, reported) = end.unwrap_or((now, reported));
            } else {
                if rest.spacious {
                    shards.shrink_if_quiet(shard, self.now);
                }
                break;
            }
            runs += 1;
        }
        Some(runs)
    }

    /// Ends the last run of this thread, and takes out the next due job, under one lock.
    #[inline]
    fn step(
        &self,
        state: &mut ShardState<dyn Work>,
        ended: &mut Option<LeaderRun>,
        (upto, now): (Tick, Moment),
        may_run: bool,
        rest: &mut RareResults,
    ) -> (Option<PlainRun<dyn Work>>, StopStage) {
        if let Some(run) = ended
            && self.lead.clear_run()
        {
            state.runs.unwatch(run.id());
        }
        match ended {
            Some(LeaderRun::Plain(id, deadline, started)) => {
                state.end_plain(*id, *deadline, *started, now);
            }
            Some(LeaderRun::Other(run)) => rest.needs_cleanup = state.end(run),
            None => {}
        }
        let mut plain = None;
        if !rest.needs_cleanup && may_run && self.lead.leads() {
            plain = state.pop_due(upto, now, self.timers.clock(), &mut rest.due);
        }
        rest.spacious = plain.is_none() && rest.due.is_none() && state.storm_ended;
        (plain, state.stage)
    }

    /// Carries out a plain job, and stores the run in `ended`. Returns when it ended, and `true` if
    /// something was reported.
    #[inline]
    fn run_plain(
        &self,
        plain: PlainRun<dyn Work>,
        started: Moment,
        ended: &mut Option<LeaderRun>,
    ) -> (Moment, bool) {
        let PlainRun { id, deadline, work } = plain;
        *ended = Some(LeaderRun::Plain(id, deadline, started));
        self.begin(id, deadline, started, false);
        let _inside = self.timers.shards().enter(Some(id));
        let begun = (started, &self.lead);
        let (now, reported) = carry_out::call_plain(&self.timers, (id, deadline), begun, work);
        self.lead.ended(now.saturating_since(started));
        (now, reported)
    }

    /// Carries out a job that came due and is not plain. `begin` returns the current time, when the
    /// run begins. If there was a run on this thread, it is stored in `ended`. Returns when it
    /// ended, and `true` if something was reported.
    #[inline]
    fn carry_out(
        &self,
        due: DueJob<dyn Work>,
        begin: impl Fn() -> Moment,
        ended: &mut Option<LeaderRun>,
    ) -> Option<(Moment, bool)> {
        match due {
            DueJob::Begun(mut run) => {
                let _inside = self.timers.shards().enter(Some(run.facts.id));
                run.started = begin();
                // In an instant run the lead is not taken: values must arrive in order.
                let is_instant = run.is_instant();
                if !is_instant {
                    self.begin(run.facts.id, run.facts.deadline, run.started, run.facts.blocks);
                }
                let reported = carry_out::call(&self.timers, &mut run, &self.lead);
                let now = run.ended;
                if !is_instant {
                    self.lead.ended(now.saturating_since(run.started));
                }
                *ended = Some(LeaderRun::Other(run));
                Some((now, reported))
            }
            DueJob::Wake(waker) => {
                guarded(|| waker.wake()).unwrap_or_default();
                None
            }
            DueJob::HandedOut(run) => {
                self.hand_out(run);
                None
            }
        }
    }

    #[inline]
    fn begin(&self, id: Id, deadline: Moment, started: Moment, blocks: bool) {
        self.lead.set_run(id);
        self.lead.begin(started.as_nanos(), started.saturating_since(deadline), blocks);
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
                state.runs.watch(id, info, now);
            }
        });
    }

    /// Hands out a run, or queues it until its group has a place.
    fn hand_out(&self, mut run: HandedOut) {
        self.may_watch.set(true);
        let group = run.dispatch.group.take();
        let run = AsyncRun::new(self.timers.clone(), run);
        let Some(group) = group else { return spawn(&self.spawner, run) };
        group.enter(Box::new(InGroup { run, spawner: Arc::downgrade(&self.spawner) }));
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
        let (oldest, waiting) = shared.shards.watch();
        if oldest.is_none() && waiting == 0 {
            self.slow_check.set(None);
            self.may_watch.set(false);
        } else if self.slow_check.get().is_none() {
            // A tick more: at exactly that moment the run has not taken longer.
            let check = oldest.unwrap_or(self.now).checked_add(shared.slow_after);
            self.slow_check
                .set(check.and_then(|check| check.checked_add(shared.shards.ticks.length())));
        }
        self.slow_check.get()
    }
}

/// A run that waits for a place in its group.
struct InGroup {
    run: AsyncRun,
    /// Weak, so that the queue of the group does not keep the user's closure alive.
    spawner: Weak<Spawner>,
}

impl Waiting for InGroup {
    fn start(mut self: Box<Self>, permit: GroupPermit) {
        self.run.permit = Some(permit);
        // Once the service is gone, the run is dropped, which reports it.
        if let Some(spawner) = self.spawner.upgrade() {
            spawn(&spawner, self.run);
        }
    }

    fn is_over(&self) -> bool {
        self.run.is_over()
    }
}

/// Takes back the jobs that will not run, and notifies the futures among them that the service has
/// been stopped. This is done at once: a run may wait for such a future, and the stop for that run.
fn give_back(timers: &Handle, due: bool, stage: StopStage) -> Vec<Job> {
    let mut jobs = Vec::new();
    for taken in timers.shards().take_back(due, stage) {
        match Job::new(Arc::clone(timers.service_ref(taken.id.shard())), taken) {
            Ok(job) => jobs.push(job),
            Err(waker) => guarded(|| waker.wake()).unwrap_or_default(),
        }
    }
    jobs
}

fn in_order(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| (job.deadline(), job.handle().number()));
    jobs
}
