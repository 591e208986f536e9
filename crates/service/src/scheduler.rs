//! The core, without a thread: what is due, and when to look again.

use crate::executor::Runner;
use crate::record::{Phase, Popped, Record, State};
use crate::run::DueRun;
use crate::shared::{Shared, discard};
use crate::sync::Receiver;
use crate::{Builder, Clock, Handle, Job, ManualClock, Moment, Waker};
use slab::Slab;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

/// How often [`Scheduler::play`] polls at one moment.
const ROUNDS: u32 = 1_000;

/// What a backend holds for each job: a [`Scheduler`] runs on any `Timer<JobIndex>`. Only a scheduler makes these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobIndex(u32);

impl JobIndex {
    fn new(index: usize) -> Self {
        // Of jobs that the driver holds there are twice `MOST_JOBS` at most: see `Shared::admit`.
        Self(u32::try_from(index).expect("no more than 2^32 jobs are held"))
    }

    fn get(self) -> usize {
        self.0 as usize
    }
}

/// Jobs and their timers, without a thread of its own: for a program that has an event loop, and for tests.
///
/// Jobs are scheduled through [handles](Self::handle), from any thread. Whoever owns the scheduler calls
/// [`poll`](Self::poll), which runs what is due, and then sleeps until [`next_wakeup`](Self::next_wakeup).
/// [`start`](Self::start) makes a [`Service`](crate::Service) of it, with a thread that does just that.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{Clock, ManualClock, Scheduler};
///
/// let clock = ManualClock::new();
/// let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
/// let job = scheduler.handle().after(Duration::from_micros(1500)).run(|run| assert_eq!(run.number(), 1))?;
///
/// assert_eq!(scheduler.poll(clock.now()), 0);
/// let wakeup = scheduler.next_wakeup().ok_or("a job is pending")?;
/// assert_eq!(wakeup.since_origin(), Duration::from_millis(2)); // rounded up to the tick: never early
/// clock.set(wakeup);
/// assert_eq!(scheduler.poll(clock.now()), 1);
/// assert_eq!((job.runs(), scheduler.next_wakeup()), (1, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Dropping it drops the jobs, and handles then answer that the service has been stopped; [`stop`](Self::stop) gives
/// the jobs back.
pub struct Scheduler<B: Timer<JobIndex> = HierarchicalWheel<JobIndex>> {
    shared: Arc<Shared>,
    intake: Receiver<Arc<Record>>,
    backend: B,
    jobs: Slab<Entry>,
    runner: Arc<Runner>,
    /// The latest moment that was polled.
    now: Moment,
    /// When to look for runs that take long. Not set while none is in flight.
    look_for_slow: Cell<Option<Moment>>,
}

/// A job that was taken in and has not been found to be over.
struct Entry {
    job: Arc<Record>,
    /// Its timer in the backend, unless a run has been handed out and no other is waited for. It never fires after
    /// the deadline of the job, but it may before: then the job was moved to a later one, or the wall clock was to be looked at, and
    /// the timer is started again. (A wall clock that is set forward brings a deadline closer; that is noticed when the timer fires.)
    timer: Option<TimerId>,
}

impl Scheduler {
    /// Chooses tick, limit, workers, clock, backend ...
    pub fn builder() -> Builder {
        Builder::new()
    }
}

impl<B: Timer<JobIndex>> Scheduler<B> {
    pub(crate) fn with_parts(
        shared: Arc<Shared>,
        intake: Receiver<Arc<Record>>,
        backend: B,
        runner: Runner,
    ) -> Self {
        Self {
            shared,
            intake,
            backend,
            jobs: Slab::new(),
            runner: Arc::new(runner),
            now: Moment::ORIGIN,
            look_for_slow: Cell::new(None),
        }
    }

    /// A handle to schedule jobs with, from any thread.
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.shared))
    }

    /// Has `waker` called when a handle did something that cannot wait until [`next_wakeup`](Self::next_wakeup): it
    /// scheduled a job that is due earlier, say. For an event loop that sleeps in a system call. At most once for each
    /// time it sleeps.
    pub fn set_waker(&mut self, waker: Waker) {
        self.shared.signal.set_waker(waker);
    }

    /// Runs what is due at `now`, in the order of deadlines, and returns how many runs there were. With workers or an executor
    /// it hands them those of closures; futures and values that are sent it brings itself.
    ///
    /// What is scheduled, moved or cancelled before the call is taken into account, all of it. What jobs schedule while
    /// they run is for the next call, and [`next_wakeup`](Self::next_wakeup) says so, so that a job which schedules
    /// itself again at once does not keep this call from returning. Each job that is taken in and each run costs one
    /// operation of the backend or two, and a few locks that nobody else wants.
    pub fn poll(&mut self, now: Moment) -> usize {
        let slow = self.take_in(now);
        self.shared.report_slow(slow);
        let (mut runs, mut look_at) = (0, None);
        while let Some(run) = self.step(look_at.take()) {
            runs += 1;
            look_at = self.runner.launch(run);
        }
        runs
    }

    /// When to call [`poll`](Self::poll) again, if nothing happens before; `None` if no job waits for a time and no
    /// run is in flight. To be called just before sleeping: from then on, handles call the [waker](Self::set_waker) for
    /// what cannot wait. O(1).
    ///
    /// The moment may be past, if something is to be taken in. At it, there may be nothing to run: a wheel may only have
    /// to move timers closer, a job may have been moved to a later time, or it is looked whether a run takes too long.
    pub fn next_wakeup(&self) -> Option<Moment> {
        let due = self.backend.next_wakeup().map(|tick| self.shared.ticks.instant(tick));
        let next = due.into_iter().chain(self.watch_runs()).min();
        self.shared.signal.sleep_until(next);
        // After that: what is put in the intake from here on finds that the driver sleeps.
        if self.intake.is_empty() { next } else { Some(self.now) }
    }

    /// When to look for runs that take long. A moment that was chosen stays until it has come, so that while runs come and go
    /// they are searched once in that time, and not before each sleep.
    fn watch_runs(&self) -> Option<Moment> {
        let runs = &self.shared.runs;
        if !runs.any_to_watch(|told| self.runner.may_begin_one_beside(told)) {
            self.look_for_slow.set(None);
        } else if self.look_for_slow.get().is_none() {
            let since = runs.oldest_untold().unwrap_or(self.now);
            // A tick more than that: at the very moment it has not taken longer.
            let look = since.checked_add(self.shared.slow_after());
            self.look_for_slow
                .set(look.and_then(|look| look.checked_add(self.shared.ticks.length())));
        }
        self.look_for_slow.get()
    }

    /// Plays the time up to `until` on a manual clock, which must be the one this scheduler was built with: moves it
    /// from one wake-up to the next and polls at each, so that jobs run when they would have. Returns the number of
    /// runs.
    ///
    /// What jobs schedule for the moment they run at is run at that moment too. Where that does not end, because a job
    /// schedules itself again without delay, time goes on by a tick after a thousand rounds.
    pub fn play(&mut self, clock: &ManualClock, until: Moment) -> usize {
        let mut runs = self.poll(clock.now());
        let mut rounds = 0;
        while let Some(wakeup) = self.next_wakeup().filter(|wakeup| *wakeup <= until) {
            let now = clock.now();
            rounds = if wakeup > now { 0 } else { rounds + 1 };
            let next = if rounds < ROUNDS {
                wakeup
            } else {
                now.saturating_add(self.shared.ticks.length())
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

    /// Ends the scheduler and gives back the jobs that are still to run, in the order of their deadlines. Waits for runs that go on
    /// on its workers, and gives back the periodic jobs among them too.
    #[must_use = "these jobs did not run"]
    pub fn stop(mut self) -> Vec<Job> {
        self.shared.close();
        let mut jobs = given_back(self.take_back(true));
        self.runner.close(true);
        self.shared.close_for_good();
        jobs.extend(given_back(self.take_back(true)));
        in_order(jobs)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn runner(&self) -> &Arc<Runner> {
        &self.runner
    }

    /// Begins a poll: takes in what has come. As much as is there now, so that producers who never pause cannot keep
    /// anything from running. The answer is which runs take long by now, for the caller to report.
    #[must_use = "these runs are to be reported"]
    pub(crate) fn take_in(&mut self, now: Moment) -> Vec<(Arc<Record>, Duration)> {
        self.shared.signal.awake();
        self.shared.counters.polls.count();
        self.now = self.now.max(now);
        for _ in 0..self.intake.len() {
            if !self.look_at_next() {
                break;
            }
        }
        if self.look_for_slow.get().is_none_or(|look| look > self.now) {
            return Vec::new();
        }
        self.look_for_slow.set(None);
        self.shared.runs.tell_slow(self.now, self.shared.slow_after())
    }

    /// Looks at a job whose run has ended here, if any, and hands out the next run that is due.
    pub(crate) fn step(&mut self, ended: Option<Arc<Record>>) -> Option<DueRun> {
        if let Some(job) = ended {
            self.look_at(&job);
        }
        let tick = self.shared.ticks.reached(self.now);
        while !self.shared.is_closed() {
            let Expired { value: index, deadline, .. } = self.backend.pop_expired(tick)?;
            if let Some(run) = self.fire(index, deadline) {
                return Some(run);
            }
        }
        None
    }

    /// The timer of a job has fired, which was set to this tick.
    fn fire(&mut self, index: JobIndex, fired: Tick) -> Option<DueRun> {
        let (ticks, clock) = (self.shared.ticks, &*self.shared.clock);
        let entry = &mut self.jobs[index.get()];
        entry.timer = None;
        match entry.job.come_due(ticks.instant(fired), self.now, clock, || self.shared.is_closed())
        {
            Popped::Nothing => None,
            Popped::Moved(moment) => {
                entry.timer = Some(self.backend.insert(ticks.not_before(moment), index));
                None
            }
            Popped::Due(turn, brief) => Some(DueRun::new(&entry.job, turn, brief)),
        }
    }

    /// Looks at the next job in the intake; false if there is none.
    fn look_at_next(&mut self) -> bool {
        let Ok(job) = self.intake.try_recv() else { return false };
        let mut state = job.lock();
        state.queued = false;
        self.settle(&job, &mut state);
        true
    }

    pub(crate) fn look_at(&mut self, job: &Arc<Record>) {
        self.settle(job, &mut job.lock());
    }

    /// Does for a job what its state asks for: starts its timer, moves it, or lets the job go. Doing it twice is harmless.
    fn settle(&mut self, job: &Arc<Record>, state: &mut State) {
        let tick = self.shared.ticks.not_before(state.due.look_by(|| self.now));
        match state.place {
            Some(index) if state.phase.is_over() => {
                state.place = None;
                if let Some(timer) = self.jobs.remove(index.get()).timer {
                    self.backend.cancel(timer);
                }
            }
            Some(index) if state.phase == Phase::Pending => {
                let timer = &mut self.jobs[index.get()].timer;
                match *timer {
                    Some(id) if self.backend.deadline(id).is_some_and(|set| set <= tick) => {}
                    Some(id) => {
                        self.backend.reschedule(id, tick);
                    }
                    None => *timer = Some(self.backend.insert(tick, index)),
                }
            }
            None if state.phase == Phase::Pending => {
                let vacant = self.jobs.vacant_entry();
                let index = JobIndex::new(vacant.key());
                let timer = Some(self.backend.insert(tick, index));
                vacant.insert(Entry { job: Arc::clone(job), timer });
                state.place = Some(index);
            }
            // A run was handed out and tells when it ends; or the job was over before it came here.
            _ => {}
        }
        if state.phase.is_over() && !state.queued && std::mem::take(&mut state.held) {
            self.shared.let_go();
        }
    }

    /// Takes away all jobs that wait for their time, and with `due` those whose runs were handed out and have not
    /// begun. To be called when closed, and what comes of it to be passed through [`given_back`] when no lock is held.
    pub(crate) fn take_back(&mut self, due: bool) -> Vec<Job> {
        while self.look_at_next() {}
        let records: Vec<_> = self.jobs.iter().map(|(_, entry)| Arc::clone(&entry.job)).collect();
        let mut jobs = Vec::new();
        for record in &records {
            if let Some(taken) = record.take_back(due) {
                self.shared.retire(record, Phase::Stopped);
                jobs.push(Job::new(record, taken));
                self.look_at(record);
            }
        }
        jobs
    }
}

/// What the user gets of the jobs that were taken back. Those that futures wait for are dropped, by which the futures hear that the
/// service has been stopped: at once, as one of them may be what a run waits for, which the stop waits for.
pub(crate) fn given_back(jobs: Vec<Job>) -> Vec<Job> {
    let (awaited, jobs): (Vec<_>, _) = jobs.into_iter().partition(Job::is_awaited);
    awaited.into_iter().for_each(discard);
    jobs
}

/// In the order of deadlines, and of scheduling.
pub(crate) fn in_order(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| (job.deadline(), job.handle().number()));
    jobs
}

impl<B: Timer<JobIndex>> Drop for Scheduler<B> {
    fn drop(&mut self) {
        // Once only: of what comes after the service was closed, whoever scheduled it takes it back, and is told that
        // it was refused. Taken here, it would be neither run nor refused nor given back.
        if !self.shared.is_closed() {
            self.shared.close();
            self.shared.close_for_good();
            self.take_back(true).into_iter().for_each(discard);
        }
    }
}

impl<B: Timer<JobIndex>> fmt::Debug for Scheduler<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("jobs", &self.jobs.len())
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
