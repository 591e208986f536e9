//! The claimer: one thread that claims due jobs from the store.
//!
//! ```text
//!   its wheel: next claim, renewals .. ─┐
//!   store: an earlier job ──────────────┼──▶ claimer ──▶ store: claim ──▶ waiting: judge, begin
//!   runs: there is room again ──────────┘       ▲                 │
//!                                               └─────────────────┘ next `visible_at`
//! ```
//!
//! The thread polls a [`Scheduler`]. Its wheel contains the times of messages, not the jobs: the
//! time of the next claim, which is the next `visible_at` that the last claim returned; the renewal
//! of leases; and a poll each second in case the store cannot wake the claimer. So leases are
//! renewed even if all workers are in handlers for hours.
//!
//! Closures and futures are two *lanes*. Each lane has its own limits and its own claims, so a lane
//! that is full does not block the other. The lane whose last claim leased jobs is asked last, so
//! that its backlog does not use up the catch-up rate. A lane whose last claim has failed is asked
//! last too, because no lane is asked after a transient error.
//!
//! A claim is limited by the jobs and bytes of payloads that may be in flight
//! ([`lease`](crate::lease)), and by the catch-up rate. It begins the runs that would begin at
//! once, see [`waiting`].

mod judge;
mod lane;
mod run;
mod upkeep;
mod waiting;
mod work;

pub(crate) use waiting::Waiting;

use crate::commit::{SharedStore, carry_out, pause};
use crate::lease::{JobLease, Lane, Message};
use crate::observe::{EventKind, count};
use crate::store::{
    Change, ClaimLimit, ClaimResult, Kind, Kinds, Leased, Next, Outcome, Store, StoreError,
    Timestamp,
};
use crate::timers::{Paused, Shared, Timers};
use crossbeam_channel::{Receiver, Sender, bounded};
use lane::{LATE, LaneClaims, Rate};
use parking_lot::FairMutexGuard;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use upkeep::Letters;
use waiting::{MayBegin, Ready};
use wheelhouse_service::{Handle, Moment, Scheduler, Waker};
use work::{Claimed, Task};

/// How often the claimer looks for kinds without a handler.
const LOOK_FOR_KINDS: Duration = Duration::from_secs(60);

const MOST_IN_CLAIM: usize = 512;

/// If a store's clock has shown the same time for this long, it stands still. The claimer then
/// waits at least this long before the next claim.
const STANDS: Duration = Duration::from_millis(50);

const NOT_STOPPED: &str = "only a stopped scheduler refuses a value";

pub(crate) struct Claimer {
    timers: Timers,
    pub(crate) waiting: Arc<Waiting>,
    /// The connection that claims jobs. Not in [`Shared`], whose handles outlive this thread.
    store: SharedStore,
    scheduler: Scheduler,
    wheel: Handle,
    /// Ends the sleep of the thread. Kept here, since a clock that is set by hand keeps only a weak
    /// reference to it.
    _waker: Waker,
    /// The clock is set by hand, and calls the waker at each change.
    by_hand: bool,
    asking: wheelhouse_service::Key,
    inbox: Receiver<Message>,
    /// Receives a value when the claimer leases no more jobs. `None` after that.
    stopped: Option<Sender<()>>,
    rate: Option<Rate>,
    /// The lanes that have handlers, in the order of the next claims.
    lanes: Vec<LaneClaims>,
    /// The time that the store's clock shows, and when the claimer first saw it.
    shown: (Timestamp, Moment),
    /// The number of times in a row that a claim has failed, in any lane.
    failures: u32,
    unknown: BTreeSet<Kind>,
    /// The kinds of the rows that pause kinds of this program.
    pauses: Kinds,
    letters: Letters,
}

impl Claimer {
    /// Also returns a channel on which the claimer says that it leases no more jobs.
    pub(crate) fn new(
        timers: Timers,
        waiting: Arc<Waiting>,
        store: SharedStore,
        inbox: Receiver<Message>,
        mut scheduler: Scheduler,
    ) -> (Self, Receiver<()>) {
        let shared = timers.shared();
        let waker = shared.flight.waker(Message::Look);
        scheduler.set_waker(Arc::clone(&waker));
        let wheel = scheduler.handle();
        let by_hand = wheel.clock().watch(&waker);
        let settings = &shared.settings;
        for (each, message) in [
            (settings.visibility / 3, Message::Renew),
            (settings.poll, Message::Watch),
            (LOOK_FOR_KINDS, Message::LookForKinds),
        ] {
            // The first time at once.
            shared.flight.tell(message);
            drop(wheel.every(each).send(&shared.flight.claimer, message).expect(NOT_STOPPED));
        }
        shared.flight.tell(Message::Ask);
        let (stopped, has_stopped) = bounded(1);
        let claimer = Self {
            asking: "ask".into(),
            rate: settings.catch_up_rate.map(Rate::new),
            pauses: Paused::rows(shared.handlers.keys()),
            lanes: Lane::ALL.iter().filter_map(|lane| LaneClaims::new(shared, *lane)).collect(),
            timers,
            waiting,
            store,
            scheduler,
            wheel,
            _waker: waker,
            by_hand,
            inbox,
            stopped: Some(stopped),
            shown: (Timestamp::default(), Moment::ORIGIN),
            failures: 0,
            unknown: BTreeSet::new(),
            letters: Letters::default(),
        };
        (claimer, has_stopped)
    }

    pub(crate) fn run(mut self) {
        loop {
            let told = self.receive();
            if !self.step(&told) {
                return;
            }
        }
    }

    /// Handles messages; one that arrived several times is handled once. Returns `false` at
    /// [`Message::Over`].
    fn step(&mut self, told: &[Message]) -> bool {
        if told.contains(&Message::Over) {
            return false;
        }
        if told.contains(&Message::Stop) {
            let stopped = self.stopped.take();
            stopped.into_iter().for_each(|told| told.send(()).unwrap_or_default());
        }
        if told.contains(&Message::Watch) {
            self.watch();
        }
        if told.contains(&Message::Renew) {
            self.renew();
        }
        if self.stopped.is_none() {
            return true;
        }
        if told.contains(&Message::LookForKinds) {
            self.look_for_kinds();
            self.look_for_letters();
        }
        let is_new = told.contains(&Message::Watch) && self.look_for_pauses();
        if is_new || told.contains(&Message::Ask) {
            self.ask();
        }
        if told.contains(&Message::Letters) {
            self.step_letters();
        }
        true
    }

    /// Handles the messages that have arrived or are due, without waiting.
    #[cfg(feature = "sim")]
    pub(crate) fn turn(&mut self) {
        self.scheduler.poll(self.wheel.now());
        let told: Vec<_> = self.inbox.try_iter().collect();
        self.step(&told);
    }

    /// Returns `true` if no job is in flight, and no message has arrived.
    #[cfg(feature = "sim")]
    pub(crate) fn is_idle(&self) -> bool {
        self.inbox.is_empty() && self.timers.shared().flight.leases.lock().is_empty()
    }

    /// Returns when [`turn`](Self::turn) has something to do.
    #[cfg(feature = "sim")]
    pub(crate) fn next_turn(&self) -> Moment {
        match self.inbox.is_empty() {
            true => self.scheduler.next_wakeup().unwrap_or(Moment::MAX),
            false => self.wheel.now(),
        }
    }

    /// Waits for messages, and returns them. This thread itself sends the messages of the wheel
    /// when they are due.
    fn receive(&mut self) -> Vec<Message> {
        loop {
            self.scheduler.poll(self.wheel.now());
            let told: Vec<_> = self.inbox.try_iter().collect();
            if !told.is_empty() {
                return told;
            }
            let first = match self.scheduler.next_wakeup() {
                Some(next) if !self.by_hand => {
                    let time = next.saturating_since(self.wheel.now());
                    self.inbox.recv_timeout(time).ok()
                }
                // The clock calls the waker when it is set.
                _ => self.inbox.recv().ok(),
            };
            if first.is_some() {
                return first.into_iter().chain(self.inbox.try_iter()).collect();
            }
        }
    }

    /// Claims due jobs, once for each lane, and sets the time of the next claim.
    fn ask(&mut self) {
        let (asked, mut next) = (self.wheel.now(), None::<Moment>);
        if self.lanes.first().is_some_and(|first| first.was_served || first.has_failed) {
            self.lanes.rotate_left(1);
        }
        let mut has_failed = false;
        for lane in 0..self.lanes.len() {
            match self.claim(lane, asked) {
                Ok(at) => next = next.into_iter().chain(at).min(),
                Err(error) => {
                    self.timers.shared().reporter.report_failure(&error);
                    has_failed = true;
                    // The claim of the other lane would wait for the timeout of the store again.
                    if error.is_transient() {
                        break;
                    }
                }
            }
        }
        self.failures = if has_failed { self.failures.saturating_add(1) } else { 0 };
        let again = has_failed.then(|| asked.saturating_add(pause(self.failures)));
        if let Some(next) = next.into_iter().chain(again).min() {
            let plan = self.wheel.at(next).replacing(Arc::clone(&self.asking));
            let claimer = &self.timers.shared().flight.claimer;
            drop(plan.send(claimer, Message::Ask).expect(NOT_STOPPED));
        }
    }

    /// Claims due jobs of a lane. Returns the time of the next claim. `None` if a message will
    /// cause it.
    fn claim(&mut self, lane: usize, asked: Moment) -> Result<Option<Moment>, StoreError> {
        let shared = self.timers.shared();
        self.lanes[lane].was_served = false;
        let its = &self.lanes[lane];
        let Some(room) = shared.flight.room(its.lane) else { return Ok(None) };
        let is_late = its.is_late(asked);
        let allowed = self.rate.as_mut().map_or(MOST_IN_CLAIM, |rate| rate.allowed(asked, is_late));
        if allowed == 0 {
            return Ok(Some(asked.saturating_add(Duration::from_millis(50))));
        }
        let jobs = room.jobs.min(allowed).min(MOST_IN_CLAIM);
        // Held until the runs that begin at once have begun: otherwise commits of other threads
        // would delay them.
        let connection = Arc::clone(&self.store);
        let mut store = connection.lock();
        // Not before: the wait for the connection may be long, and the leases count from here.
        let (may_begin, asked) = (self.may_begin(its), self.wheel.now());
        let limit = ClaimLimit { jobs, begin: may_begin.most().min(jobs), ..room };
        let claimed = claim(shared, &mut **store, &its.kinds, limit);
        self.lanes[lane].has_failed = claimed.is_err();
        let (leased, next) = claimed?;
        if self.shown.0 != next.now {
            self.shown = (next.now, asked);
        }
        let count = leased.len();
        let (ready, lost) = self.hand_out(leased, may_begin, next, asked);
        self.begin(store, ready);
        // Not before: an observer may use the store.
        let reporter = &self.timers.shared().reporter;
        lost.iter().for_each(|lease| reporter.job(&lease.name, EventKind::LeaseLost));
        self.lanes[lane].last = Some((next, asked));
        self.lanes[lane].was_served = count > 0;
        if count == limit.jobs {
            self.timers.shared().flight.tell(Message::Ask);
            return Ok(None);
        }
        Ok(Some(self.next_ask(next, asked)))
    }

    /// Returns how many runs the next claim of a lane may begin. None if jobs have one or two
    /// attempts: a lost answer of the claim would use up the only one, or make the job a suspect.
    /// None after a claim of the lane that has failed, since the answer of this one may be lost
    /// too. None during a stop, which would wait for them.
    fn may_begin(&self, its: &LaneClaims) -> MayBegin {
        let Shared { settings, stopping, .. } = self.timers.shared();
        let is_stopping = stopping.load(Ordering::SeqCst);
        match !its.has_failed && !is_stopping && settings.backoff.most_attempts() > 2 {
            true => self.waiting.may_begin(its.lane, &its.kinds),
            false => MayBegin::default(),
        }
    }

    /// Returns when the next job is visible, or the time of the next poll if that is earlier.
    fn next_ask(&self, next: Next, asked: Moment) -> Moment {
        let poll = self.timers.shared().settings.poll;
        let wait = next.visible_at.map_or(poll, |at| at.saturating_since(next.now).min(poll));
        // A store's clock that was set back stands still until it has caught up.
        let stands = asked.saturating_since(self.shown.1) >= STANDS;
        asked.saturating_add(if stands { wait.max(STANDS) } else { wait })
    }

    /// Also returns the runs that have lost their leases to jobs of this claim.
    fn hand_out(
        &mut self,
        leased: Vec<Leased>,
        may_begin: MayBegin,
        next: Next,
        asked: Moment,
    ) -> (Ready, Vec<Arc<JobLease>>) {
        let is_late = |leased: &&Leased| next.now.saturating_since(leased.job.due) > LATE;
        if let Some(rate) = &mut self.rate {
            rate.took(leased.iter().filter(is_late).count());
        }
        let shared = self.timers.shared();
        let claimed = Claimed { now: next.now, asked, answered: self.wheel.now() };
        let mut tasks = Vec::with_capacity(leased.len());
        let (hanging, mut lost) = (shared.flight.hanging(&leased, claimed.answered), Vec::new());
        for leased in leased {
            count(&shared.reporter.counters.of(&leased.job.kind).counts.leased);
            let hangs = hanging.get(&leased.job.key).map(Arc::clone);
            let is_new =
                |lease: &&Arc<JobLease>| !lease.is_lost(claimed.answered) && lease.supersede();
            lost.extend(hangs.iter().filter(is_new).map(Arc::clone));
            tasks.push(Task::new(&self.timers, leased, claimed, hangs));
        }
        (self.waiting.add(tasks, may_begin), lost)
    }

    /// Hands over the runs that the claim has begun. Then begins the other runs of this shard in
    /// one commit, by the connection that has leased them, since the committer may be busy with a
    /// longer commit, and hands them over. If that commit fails, the jobs are put into the queue of
    /// the committer, like those of other shards, and of a lane that has one worker.
    fn begin(&self, mut store: FairMutexGuard<'_, Box<dyn Store>>, mut ready: Ready) {
        let all = std::mem::take(&mut ready.begins);
        let shared = self.timers.shared();
        let is_own = |task: &Task| std::ptr::eq(task.shared(), shared);
        let (own, others): (Vec<Task>, Vec<Task>) = all.into_iter().partition(is_own);
        ready.begins = others;
        let (begun, own): (Vec<Task>, Vec<Task>) = own.into_iter().partition(|task| task.is_begun);
        // Released before the commit: all shards share the order, and this store may hang.
        let order = self.waiting.keep_order();
        begun.into_iter().for_each(|task| task.begun(Outcome::Done));
        drop(order);
        let changes: Vec<Change> = own.iter().map(Task::begin).collect();
        let committed = match changes.is_empty() {
            true => Ok(Vec::new()),
            false => carry_out(&shared.reporter, &mut **store, &changes),
        };
        // Released before observers are called: they may use the store.
        drop(store);
        match committed {
            Ok(outcomes) => {
                own.into_iter().zip(outcomes).for_each(|(task, outcome)| task.begun(outcome));
            }
            Err(error) => {
                shared.reporter.report_failure(&error);
                own.into_iter().for_each(Task::submit);
            }
        }
        self.waiting.advance(ready);
    }
}

/// Claims jobs, counts the claim, and records the offset of the store's clock.
fn claim(shared: &Shared, store: &mut dyn Store, kinds: &Kinds, limit: ClaimLimit) -> ClaimResult {
    let counters = &shared.reporter.counters;
    count(&counters.others.counts.claims);
    let began = Instant::now();
    let claimed = store.claim(kinds, limit, shared.settings.visibility);
    counters.claim_time.record_micros(began.elapsed());
    if let Ok((_, next)) = &claimed {
        let here = Timestamp::at_or_before(shared.clock.wall());
        let ahead = next.now.as_millis().wrapping_sub(here.as_millis()).cast_signed();
        counters.clock_offset.store(ahead, Ordering::Relaxed);
    }
    claimed
}
