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
//! of leases; and a poll each second in case the store cannot wake the claimer. So memory grows
//! with the running jobs, not with the pending jobs. The pool of workers takes no part in this:
//! even if all workers are in handlers for hours, leases are renewed.
//!
//! Closures and futures are two *lanes*. Each lane has its own limits and its own claims, so a lane
//! that is full does not block the other.
//!
//! A claim is limited by the number of jobs that may be in flight, and by the catch-up rate. It
//! leases no more jobs than the workers are expected to begin within a tenth of a second, so that
//! other programs can run the rest. If the workers are busy, the next claim waits until half of the
//! leased jobs have ended, so that claims are large.

mod ended;
mod flight;
mod future;
mod judge;
mod rate;
mod waiting;
mod work;

pub(crate) use ended::{Ended, Renewed};
pub(crate) use flight::{Bound, Flight};
#[cfg(feature = "cron")]
pub(crate) use judge::CronRule;
pub(crate) use waiting::Waiting;
pub(crate) use work::Task;

use crate::Timers;
use crate::commit::{Then, carry_out, pause};
use crate::drive::{Paused, Settings, Shared, SharedStore};
use crate::handlers::Lane;
use crate::observe::{EventKind, count};
use crate::store::{Change, Dead, Kinds, Leased, Next, PAUSE, Store, StoreError, Timestamp};
use crossbeam_channel::{Receiver, Sender};
use parking_lot::FairMutexGuard;
use rate::Rate;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use waiting::Ready;
use wheelhouse_service::{Handle, Missed, Moment, Scheduler, Waker};
use work::Claimed;

/// The number of dead letters in a page.
const DEAD_AT_ONCE: usize = 128;

/// How often the claimer looks for kinds without a handler.
const LOOK_FOR_KINDS: Duration = Duration::from_secs(60);

/// The most jobs in a claim.
const MOST_IN_CLAIM: usize = 512;

/// A job that is later than this counts towards the catch-up rate.
const LATE: Duration = Duration::from_secs(1);

/// If a store's clock has shown the same time for this long, it stands still. The claimer then
/// waits at least this long before the next claim.
const STANDS: Duration = Duration::from_millis(50);

/// Why the wheel accepts each message.
const NOT_STOPPED: &str = "only a stopped scheduler refuses a value";

/// A message to the claimer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The clock was set, or the wheel has an earlier deadline: poll it.
    Look,
    /// A job may be due, or there is room again: claim.
    Ask,
    /// Renew leases.
    Renew,
    /// Look for slow runs and for pauses.
    Watch,
    /// Look for kinds without a handler.
    LookForKinds,
    /// Lease no more jobs, and continue to renew leases.
    Stop,
    /// No job is in flight any more: end the thread.
    Over,
}

/// The state of the claimer's thread.
pub(crate) struct Claimer {
    timers: Timers,
    store: SharedStore,
    /// Its wheel contains the deadline of each message.
    scheduler: Scheduler,
    wheel: Handle,
    /// Ends the sleep of the thread. Kept here, since a clock that is set by hand keeps only a weak
    /// reference to it.
    _waker: Waker,
    /// The clock is set by hand, and calls the waker at each change.
    by_hand: bool,
    /// The key of the timer for the next claim.
    asking: wheelhouse_service::Key,
    sender: Sender<Message>,
    inbox: Receiver<Message>,
    /// Receives a value when the claimer leases no more jobs. `None` after that.
    stopped: Option<Sender<()>>,
    rate: Option<Rate>,
    /// The lanes that have handlers.
    lanes: Vec<LaneClaims>,
    /// The time that the store's clock shows, and when the claimer first saw it.
    shown: (Timestamp, Moment),
    failures: u32,
    leased: Vec<Leased>,
    unknown: BTreeSet<crate::store::Kind>,
}

/// The claims of a lane.
struct LaneClaims {
    lane: Lane,
    /// The kinds of this lane that have handlers.
    all: Kinds,
    /// The kinds of `all` that are not paused.
    kinds: Kinds,
    /// The result of the last claim, and the time before it was sent.
    last: Option<(Next, Moment)>,
}

impl LaneClaims {
    /// Returns `None` if the lane has no handler.
    fn new(shared: &Shared, lane: Lane) -> Option<Self> {
        let handlers = shared.handlers.iter().filter(|(_, handler)| handler.lane() == lane);
        let all = Kinds::new(handlers.map(|(kind, _)| kind.clone()));
        (!all.is_empty()).then(|| Self { lane, kinds: all.clone(), all, last: None })
    }

    /// Returns `true` if the first visible job is late by now, judging by the last claim.
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

    /// Runs the thread until it receives [`Message::Over`].
    pub(crate) fn run(mut self) {
        self.look_for_kinds();
        self.look_for_pauses();
        self.ask();
        loop {
            // A message that arrived several times is handled once.
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
        for lane in 0..self.lanes.len() {
            match self.claim(lane, asked) {
                Ok(at) => next = next.into_iter().chain(at).min(),
                Err(failed) => {
                    self.timers.shared().report_failure(&failed);
                    self.failures += 1;
                    return self.ask_at(asked.saturating_add(pause(self.failures)));
                }
            }
        }
        next.into_iter().for_each(|next| self.ask_at(next));
    }

    /// Claims due jobs of a lane. Returns the time of the next claim. `None` if a message will
    /// cause it.
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
        // Held until the runs that begin at once have begun: otherwise commits of other threads
        // would delay them.
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

    /// Returns when the next job is visible, or the time of the next poll if that is earlier.
    fn next_ask(&self, next: Next, asked: Moment) -> Moment {
        let poll = self.timers.shared().settings.poll;
        let wait = next.visible_at.map_or(poll, |at| at.saturating_since(next.now).min(poll));
        // A store's clock that was set back stands still until it has caught up.
        let stands = asked.saturating_since(self.shown.1) >= STANDS;
        asked.saturating_add(if stands { wait.max(STANDS) } else { wait })
    }

    /// Sets the time of the next claim.
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
            count(&shared.counters.of(&leased.job.kind).counts.leased);
            let hangs = hanging.get(&leased.job.key).map(Arc::clone);
            let fits = shared.flight.fits(leased.job.payload.len());
            let task = Task::new(&self.timers, leased, claimed, hangs);
            if fits { tasks.push(task) } else { task.put_back() }
        }
        shared.waiting.add(tasks)
    }

    /// Begins runs of this shard in one commit, by the connection that has leased them, since the
    /// committer may be busy with a longer commit. If that fails, the committer repeats it.
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
        // Released before observers are called: they may use the store.
        drop(store);
        ready.submit();
        match committed {
            Ok(outcomes) => {
                tasks.into_iter().zip(outcomes).for_each(|(task, outcome)| task.tell(outcome));
            }
            Err(error) => {
                shared.report_failure(&error);
                tasks.into_iter().zip(changes).for_each(|(task, change)| task.submit(change));
            }
        }
    }

    /// Reports slow handlers. Wakes futures that must end: the timers of the pool cannot wake them
    /// while all of its threads are in handlers.
    fn watch(&self) {
        let shared = self.timers.shared();
        let (now, slow_after) = (self.wheel.now(), shared.settings.slow_after);
        for held in shared.flight.held() {
            let (slow, limit) = held.takes_long(now, slow_after);
            if let Some(time) = slow {
                shared.report(Some(held.name.clone()), EventKind::StillRunning(time));
            }
            if let Some(limit) = limit {
                count(&shared.counters.of(&held.name.kind).counts.timed_out);
                shared.report(Some(held.name.clone()), EventKind::TimedOut(limit));
            }
            if limit.is_some() || held.is_lost(now) {
                held.wake();
            }
        }
    }

    /// Renews the leases of all jobs in flight, except those of runs that have reached their
    /// limits.
    fn renew(&self) {
        self.watch();
        let shared = self.timers.shared();
        let (now, visibility) = (self.wheel.now(), shared.settings.visibility);
        for held in shared.flight.held().into_iter().filter(|held| !held.has_timed_out()) {
            let (key, token) = (held.name.key.clone(), held.token);
            let until = now.saturating_add(visibility);
            let then = Then::Renewed(Renewed { held, until });
            shared.queue_of_changes.put(Change::Extend { key, token, visibility }, then);
        }
    }

    /// Reads which kinds are paused, by the keys of their rows. A server may take long to list all
    /// kinds, and claims and renewals would wait for the list. Returns `true` if the kinds to claim
    /// have changed.
    fn look_for_pauses(&mut self) -> bool {
        let shared = self.timers.shared();
        let paused = Paused::read(&mut **self.store.lock(), &shared.kinds);
        // Some errors are returned only once, by whichever call is next, so this one is reported.
        let paused = match paused {
            Ok(paused) => paused,
            Err(error) => {
                shared.report_failure(&error);
                return false;
            }
        };
        let mut is_new = false;
        for lane in &mut self.lanes {
            let kinds = paused.rest(&lane.all);
            is_new |= kinds != lane.kinds;
            lane.kinds = kinds;
        }
        *shared.paused.write() = paused;
        is_new
    }

    /// Removes dead letters that are too old or too many. Reads all of them, page by page.
    fn forget_dead(&self) {
        let shared = self.timers.shared();
        let Settings { dead_for, most_dead, .. } = shared.settings;
        if dead_for.is_none() && most_dead.is_none() {
            return;
        }
        let (mut letters, mut after) = (Vec::new(), None);
        let now = loop {
            let (mut store, before) = (self.store.lock(), letters.len());
            let mut see = |its: &Dead| letters.push((its.at, its.job.generation));
            if let Err(error) = store.dead(after, DEAD_AT_ONCE, &mut see) {
                break Err(error);
            }
            if letters.len() == before {
                break store.now();
            }
            after = letters.last().map(|(_, generation)| *generation);
        };
        let now = match now {
            Ok(now) => now,
            Err(error) => return shared.report_failure(&error),
        };
        letters.sort_unstable();
        let is_old = |at: Timestamp| dead_for.is_some_and(|time| at.saturating_add(time) <= now);
        let old = letters.iter().take_while(|(at, _)| is_old(*at)).count();
        let gone = old.max(letters.len().saturating_sub(most_dead.unwrap_or(usize::MAX)));
        for (_, generation) in letters.drain(..gone) {
            shared.queue_of_changes.put(Change::Forget { generation }, Then::Forgotten);
        }
    }

    /// Reports each due kind without a handler, once. Records how long the oldest job of each other
    /// kind has waited.
    fn look_for_kinds(&mut self) {
        let shared = self.timers.shared();
        if shared.kinds.is_empty() {
            return;
        }
        let (mut found, mut gauges) = (Vec::new(), BTreeMap::new());
        let mut store = self.store.lock();
        let gauged = store.gauges(&mut |name, value| gauges.extend([(name, value)]));
        let listed = store.kinds(&mut |kind, first| found.push((kind.clone(), first)));
        let now = listed.and_then(|()| store.now());
        drop(store);
        match gauged {
            Ok(()) => *shared.gauges.lock() = gauges,
            Err(error) => shared.report_failure(&error),
        }
        let now = match now {
            Ok(now) => now,
            Err(error) => return shared.report_failure(&error),
        };
        let (known, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(kind, _)| shared.kinds.contains(kind));
        let waits = |(kind, first)| (kind, now.saturating_since(first));
        *shared.overdue.lock() = known.into_iter().map(waits).collect();
        for (kind, first) in others {
            let is_due = first <= now && !kind.starts_with(PAUSE);
            if is_due && self.unknown.insert(kind.clone()) {
                shared.report(None, EventKind::UnknownKind(kind));
            }
        }
    }
}

/// Claims jobs, counts the claim, and records the offset of the store's clock.
fn claim(
    shared: &Shared,
    store: &mut dyn Store,
    (kinds, max): (&Kinds, usize),
    leased: &mut Vec<Leased>,
) -> Result<Next, StoreError> {
    let counters = &shared.counters;
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
