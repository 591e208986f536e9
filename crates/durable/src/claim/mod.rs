//! The claimer: one thread that asks the store for what is due, when it is time to.
//!
//! ```text
//!   its wheel: when to ask, renew ... ─┐
//!   store: something is earlier ───────┼──▶ claimer ──▶ store: claim ──▶ waiting: judge, begin
//!   runs: there is room again ─────────┘       ▲                 │
//!                                              └─────────────────┘ next `visible_at`
//! ```
//!
//! The thread polls a scheduler. Its wheel contains *when to ask*, not the jobs: the next
//! `visible_at` that the last claim returned, the renewal of leases, and a poll each second in case
//! the store cannot wake it. So memory follows what is running, and not what is pending. The pool
//! of workers has no part in this: it may be in handlers for hours, and leases are renewed.
//!
//! Handlers that are closures and handlers that are futures are two *lanes*, each with its own
//! bounds and claims, so that a lane that is full does not keep jobs from the other.
//!
//! A claim is bounded by how many jobs may be in flight and by the rate for catching up. No more is
//! leased than the workers are expected to begin within a tenth of a second, so that nothing is
//! kept from other programs. Where workers are busy, the next claim waits until half of what was
//! taken is done, so that claims are large.

mod ended;
mod flight;
mod future;
mod judge;
mod message;
mod pace;
mod rate;
mod run;
mod upkeep;
mod waiting;
mod work;

use ended::Renewed;
pub(crate) use flight::{Bound, Flight};
#[cfg(feature = "cron")]
pub(crate) use judge::CronRule;
pub(crate) use message::Message;
pub(crate) use pace::Paces;
pub(crate) use waiting::Waiting;
pub(crate) use work::Recipient;

use crate::Timers;
use crate::commit::{carry_out, pause};
use crate::drive::{Shared, SharedStore};
use crate::handlers::Lane;
use crate::observe::count;
use crate::store::{Change, Kinds, Leased, Next, Store, StoreError, Timestamp};
use crossbeam_channel::{Receiver, Sender};
use parking_lot::FairMutexGuard;
use rate::Rate;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use waiting::Ready;
use wheelhouse_service::{Handle, Missed, Moment, Scheduler, Waker};
use work::{Claimed, Task};

/// How often it is looked for kinds without a handler.
const LOOK_FOR_KINDS: Duration = Duration::from_secs(60);

/// The most jobs in a claim.
const MOST_IN_CLAIM: usize = 512;

/// What is later than this counts for the rate at which a backlog is worked off.
const LATE: Duration = Duration::from_secs(1);

/// A store's clock that shows the same for so long stands still, and is asked no more often.
const STANDS: Duration = Duration::from_millis(50);

/// Why the wheel takes each message.
const NOT_STOPPED: &str = "only a stopped scheduler refuses a value";

/// What the thread has.
pub(crate) struct Claimer {
    timers: Timers,
    store: SharedStore,
    /// Contains when each of the messages is due.
    scheduler: Scheduler,
    wheel: Handle,
    /// Ends the sleep of the thread. A clock that is set by hand has no other reference to it.
    _waker: Waker,
    /// The clock is set by hand, and calls the waker.
    by_hand: bool,
    /// The key of the job in the wheel that says when to ask.
    asking: wheelhouse_service::Key,
    sender: Sender<Message>,
    inbox: Receiver<Message>,
    /// To be told that it leases no more; `None` when that was told.
    stopped: Option<Sender<()>>,
    rate: Option<Rate>,
    /// Those with handlers.
    lanes: Vec<LaneClaims>,
    /// What the store's clock shows, and since when.
    shown: (Timestamp, Moment),
    failures: u32,
    leased: Vec<Leased>,
    unknown: BTreeSet<crate::store::Kind>,
}

/// The claims of a lane.
struct LaneClaims {
    lane: Lane,
    /// Those that have handlers.
    all: Kinds,
    /// Those of them that are not paused.
    kinds: Kinds,
    /// The answer of the last claim, and when it was asked.
    last: Option<(Next, Moment)>,
}

impl LaneClaims {
    /// `None` if no handler is in the lane.
    fn new(shared: &Shared, lane: Lane) -> Option<Self> {
        let handlers = shared.handlers.iter().filter(|(_, handler)| handler.lane() == lane);
        let all = Kinds::new(handlers.map(|(kind, _)| kind.clone()));
        (!all.is_empty()).then(|| Self { lane, kinds: all.clone(), all, last: None })
    }

    /// Returns `true` if what is visible first is late by now, as far as is known.
    fn is_late(&self, asked: Moment) -> bool {
        self.last.is_none_or(|(next, then)| {
            let now = next.now.saturating_add(asked.saturating_since(then));
            next.visible_at.is_some_and(|at| now.saturating_since(at) > LATE)
        })
    }
}

impl Claimer {
    pub(crate) fn new(
        timers: Timers,
        store: SharedStore,
        mut scheduler: Scheduler,
        (sender, inbox, stopped): (Sender<Message>, Receiver<Message>, Sender<()>),
    ) -> Self {
        let wakes = sender.clone();
        let waker: Waker = Arc::new(move || wakes.send(Message::Look).unwrap_or_default());
        scheduler.set_waker(Arc::clone(&waker));
        let wheel = scheduler.handle();
        let by_hand = wheel.clock().watch(&waker);
        let settings = &timers.shared().settings;
        for (each, message) in [
            (settings.visibility / 3, Message::Renew),
            (settings.poll, Message::Watch),
            (LOOK_FOR_KINDS, Message::LookForKinds),
        ] {
            let plan = wheel.every(each).missed(Missed::Burst);
            drop(plan.send(&sender, message).expect(NOT_STOPPED));
        }
        let asking = timers.named("ask").into();
        let rate = timers.shared().settings.catch_up_rate.map(Rate::new);
        let lane = |lane| LaneClaims::new(timers.shared(), lane);
        let lanes = Lane::ALL.into_iter().filter_map(lane).collect();
        Self {
            timers,
            store,
            scheduler,
            wheel,
            _waker: waker,
            by_hand,
            asking,
            sender,
            inbox,
            stopped: Some(stopped),
            rate,
            lanes,
            shown: (Timestamp::default(), Moment::ORIGIN),
            failures: 0,
            leased: Vec::new(),
            unknown: BTreeSet::new(),
        }
    }

    /// What the thread does, until it is told to stop.
    pub(crate) fn run(mut self) {
        self.look_for_kinds();
        self.look_for_pauses();
        self.ask();
        loop {
            // A message that has arrived several times is handled once.
            let told = self.receive();
            if told.contains(&Message::Over) {
                return;
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
                continue;
            }
            if told.contains(&Message::LookForKinds) {
                self.look_for_kinds();
                self.forget_dead();
            }
            if told.contains(&Message::Watch) && self.look_for_pauses() {
                self.ask();
            }
            if told.contains(&Message::Ask) {
                self.ask();
            }
        }
    }

    /// Waits for messages; those of the wheel are sent by this thread as they come due.
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

    /// Claims what is due, once for each lane, and sees to it that it is done again in time.
    fn ask(&mut self) {
        let (asked, mut next) = (self.wheel.now(), None::<Moment>);
        for lane in 0..self.lanes.len() {
            match self.claim(lane, asked) {
                Ok(at) => next = next.into_iter().chain(at).min(),
                Err(failed) => {
                    self.timers.shared().reporter.report_failure(&failed);
                    self.failures += 1;
                    return self.ask_at(asked.saturating_add(pause(self.failures)));
                }
            }
        }
        next.into_iter().for_each(|next| self.ask_at(next));
    }

    /// Claims what is due in a lane. Returns when to ask again; `None` if a message comes for that.
    fn claim(&mut self, lane: usize, asked: Moment) -> Result<Option<Moment>, StoreError> {
        let shared = self.timers.shared();
        let its = &self.lanes[lane];
        let Some(room) = shared.flight.room(its.lane) else { return Ok(None) };
        let is_late = its.is_late(asked);
        let allowed = self.rate.as_mut().map_or(MOST_IN_CLAIM, |rate| rate.allowed(asked));
        let allowed = if is_late { allowed } else { MOST_IN_CLAIM };
        if allowed == 0 {
            return Ok(Some(asked.saturating_add(Duration::from_millis(50))));
        }
        let max = room.min(allowed).min(MOST_IN_CLAIM);
        // Kept until what is to begin at once has begun: commits of others would come between.
        let connection = Arc::clone(&self.store);
        let mut store = connection.lock();
        let next = claim(shared, &mut **store, (&its.kinds, max), &mut self.leased)?;
        self.failures = 0;
        if self.shown.0 != next.now {
            self.shown = (next.now, asked);
        }
        let count = self.leased.len();
        let ready = self.hand_out(next, asked);
        self.begin(store, ready);
        self.lanes[lane].last = Some((next, asked));
        if count == max {
            self.sender.send(Message::Ask).unwrap_or_default();
            return Ok(None);
        }
        Ok(Some(self.next_ask(next, asked)))
    }

    /// When something is visible next; at the latest when the net says so.
    fn next_ask(&self, next: Next, asked: Moment) -> Moment {
        let poll = self.timers.shared().settings.poll;
        let wait = next.visible_at.map_or(poll, |at| at.saturating_since(next.now).min(poll));
        // A store's clock that was set back stands still until it has caught up.
        let stands = asked.saturating_since(self.shown.1) >= STANDS;
        asked.saturating_add(if stands { wait.max(STANDS) } else { wait })
    }

    /// Puts into the wheel when to ask.
    fn ask_at(&self, moment: Moment) {
        let plan = self.wheel.at(moment).replacing(Arc::clone(&self.asking));
        drop(plan.send(&self.sender, Message::Ask).expect(NOT_STOPPED));
    }

    fn hand_out(&mut self, next: Next, asked: Moment) -> Ready {
        let is_late = |leased: &&Leased| next.now.saturating_since(leased.job.due) > LATE;
        if let Some(rate) = &mut self.rate {
            rate.took(self.leased.iter().filter(is_late).count());
        }
        let shared = self.timers.shared();
        shared.flight.claimed(&self.leased);
        let claimed = Claimed { now: next.now, asked, answered: self.wheel.now() };
        let mut tasks = Vec::with_capacity(self.leased.len());
        let hanging = shared.flight.hanging(claimed.answered);
        for leased in self.leased.drain(..) {
            count(&shared.reporter.counters.of(&leased.job.kind).counts.leased);
            let hangs = hanging.get(&leased.job.key).map(Arc::clone);
            let fits = shared.flight.fits(leased.job.payload.len());
            let task = Task::new(&self.timers, leased, claimed, hangs);
            if fits { tasks.push(task) } else { task.put_back() }
        }
        shared.waiting.add(tasks)
    }

    /// Begins runs of this shard by the connection that has leased them, in one commit: the
    /// committer may be busy with a longer one. If that fails, the committer repeats it.
    fn begin(&self, mut store: FairMutexGuard<'_, Box<dyn Store>>, mut ready: Ready) {
        let begins = std::mem::take(&mut ready.begins).into_iter();
        let (own, others) = begins.partition(|(_, task)| task.is_of(&self.timers));
        ready.begins = others;
        let (changes, tasks): (Vec<Change>, Vec<Task>) = Vec::into_iter(own).unzip();
        let shared = self.timers.shared();
        let committed = match changes.is_empty() {
            true => Ok(Vec::new()),
            false => carry_out(shared, &mut **store, &changes),
        };
        // Observers are called from here on: they may use the store.
        drop(store);
        ready.submit();
        match committed {
            Ok(outcomes) => {
                tasks.into_iter().zip(outcomes).for_each(|(task, outcome)| task.tell(outcome));
            }
            Err(error) => {
                shared.reporter.report_failure(&error);
                tasks.into_iter().zip(changes).for_each(|(task, change)| task.submit(change));
            }
        }
    }
}

/// Claims, counts it, and notes what the store's clock shows.
fn claim(
    shared: &Shared,
    store: &mut dyn Store,
    (kinds, max): (&Kinds, usize),
    leased: &mut Vec<Leased>,
) -> Result<Next, StoreError> {
    let counters = &shared.reporter.counters;
    count(&counters.others.counts.claims);
    let began = Instant::now();
    let claimed = store.claim(kinds, max, shared.settings.visibility, leased);
    counters.claim_time.record_micros(began.elapsed());
    match &claimed {
        Ok(next) => {
            let here = Timestamp::at_or_before(shared.clock.wall());
            let ahead = next.now.as_millis().wrapping_sub(here.as_millis()).cast_signed();
            counters.clock_offset.store(ahead, Ordering::Relaxed);
        }
        Err(_) => count(&counters.others.counts.store_errors),
    }
    claimed
}
