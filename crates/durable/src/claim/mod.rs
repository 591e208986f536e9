//! The claimer: one thread that asks the store for what is due, when it is time to.
//!
//! ```text
//!            when to ask, when to renew
//!   wheel ─────────────────────────────┐
//!   store: something is earlier ───────┼──▶ claimer ──▶ store: claim ──▶ waiting: judge, begin
//!   runs: there is room again ─────────┘       ▲                 │
//!                                              └─────────────────┘ next `visible_at`
//! ```
//!
//! The wheel of the service holds *when to ask*, not the jobs: the next `visible_at` that the last
//! claim said, the renewal of leases, and once a second as a net below. So memory follows what is
//! running, and not what is pending.
//!
//! A claim is bounded by how many jobs and how many bytes of payloads may be in flight, and by the
//! rate for catching up. No more is leased than the workers are expected to begin within a tenth of
//! a second, so that nothing is kept from other programs. Where workers are busy, the next claim
//! waits until half of what was taken is done, so that claims are large.

mod ended;
mod flight;
mod judge;
mod rate;
mod waiting;
mod work;

pub(crate) use ended::{Ended, Renewed};
pub(crate) use flight::Flight;
#[cfg(feature = "cron")]
pub(crate) use judge::CronRule;
pub(crate) use waiting::Waiting;
pub(crate) use work::Task;

use crate::Timers;
use crate::commit::{Then, carry_out, pause};
use crate::drive::{Paused, Settings, Shared, SharedStore};
use crate::observe::{EventKind, count};
use crate::store::{
    Change, ClaimLimit, Dead, Kinds, Leased, Next, PAUSE, Store, StoreError, Timestamp,
};
use crossbeam_channel::{Receiver, Sender};
use parking_lot::FairMutexGuard;
use rate::Rate;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use waiting::Ready;
use wheelhouse_service::{Handle, Moment};
use work::Claimed;

/// How many dead letters are read at a time.
const DEAD_AT_ONCE: usize = 128;

/// The most jobs in a claim.
const MOST_IN_CLAIM: usize = 512;

/// What is later than this counts for the rate at which a backlog is worked off.
const LATE: Duration = Duration::from_secs(1);

/// A store's clock that shows the same for so long stands still, and is asked no more often.
const STANDS: Duration = Duration::from_millis(50);

/// What the claimer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Something is due, or there is room again.
    Ask,
    /// It is time to renew leases.
    Renew,
    /// It is time to look for runs that take long, and for what is paused.
    Watch,
    /// It is time to look for kinds without a handler.
    LookForKinds,
    /// No more is to be leased; what is leased is renewed.
    Stop,
    /// Nothing is in flight any more.
    Over,
}

/// What the thread has.
pub(crate) struct Claimer {
    timers: Timers,
    store: SharedStore,
    wheel: Handle,
    /// Under which it is in the wheel when to ask.
    asking: wheelhouse_service::Key,
    sender: Sender<Message>,
    inbox: Receiver<Message>,
    /// To be told that it leases no more; `None` when that was told.
    stopped: Option<Sender<()>>,
    rate: Option<Rate>,
    /// What the last claim said of the next, and when.
    last: Option<(Next, Moment)>,
    /// What the store's clock shows, and since when.
    shown: (Timestamp, Moment),
    failures: u32,
    leased: Vec<Leased>,
    /// Those that have handlers and are not paused.
    kinds: Kinds,
    unknown: BTreeSet<crate::store::Kind>,
}

impl Claimer {
    pub(crate) fn new(
        timers: Timers,
        store: SharedStore,
        wheel: Handle,
        (sender, inbox, stopped): (Sender<Message>, Receiver<Message>, Sender<()>),
    ) -> Self {
        let asking = timers.named("ask").into();
        let rate = timers.shared().settings.catch_up_rate.map(Rate::new);
        let kinds = timers.shared().kinds.clone();
        Self {
            timers,
            store,
            wheel,
            asking,
            sender,
            inbox,
            stopped: Some(stopped),
            rate,
            last: None,
            shown: (Timestamp::default(), Moment::ORIGIN),
            failures: 0,
            leased: Vec::new(),
            kinds,
            unknown: BTreeSet::new(),
        }
    }

    /// What the thread does, until it is told to stop.
    pub(crate) fn run(mut self) {
        self.look_for_kinds();
        self.look_for_pauses();
        self.ask();
        while let Ok(first) = self.inbox.recv() {
            // What came several times meanwhile is done once.
            let told: Vec<_> = std::iter::once(first).chain(self.inbox.try_iter()).collect();
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

    /// Claims what is due, once, and sees to it that it is done again in time.
    fn ask(&mut self) {
        let (shared, asked) = (self.timers.shared(), self.wheel.now());
        let Some(room) = shared.flight.room() else { return };
        let is_late = self.is_late(asked);
        let allowed = self.rate.as_mut().map_or(MOST_IN_CLAIM, |rate| rate.allowed(asked));
        let allowed = if is_late { allowed } else { MOST_IN_CLAIM };
        if allowed == 0 {
            return self.ask_at(asked.saturating_add(Duration::from_millis(50)));
        }
        let limit = ClaimLimit { jobs: room.jobs.min(allowed).min(MOST_IN_CLAIM), ..room };
        // Kept until what is to begin at once has begun: commits of others would come between.
        let connection = Arc::clone(&self.store);
        let mut store = connection.lock();
        let next = match claim(shared, &mut **store, (&self.kinds, limit), &mut self.leased) {
            Ok(next) => next,
            Err(error) => {
                drop(store);
                shared.report_failure(&error);
                self.failures += 1;
                return self.ask_at(asked.saturating_add(pause(self.failures)));
            }
        };
        self.failures = 0;
        if self.shown.0 != next.now {
            self.shown = (next.now, asked);
        }
        let count = self.leased.len();
        let ready = self.hand_out(next, asked);
        self.begin(store, ready);
        if count == limit.jobs {
            self.sender.send(Message::Ask).unwrap_or_default();
        } else {
            self.ask_at(self.next_ask(next, asked));
        }
        self.last = Some((next, asked));
    }

    /// Whether what is visible first is late by now, as far as it is known.
    fn is_late(&self, asked: Moment) -> bool {
        self.last.is_none_or(|(next, then)| {
            let now = next.now.saturating_add(asked.saturating_since(then));
            next.visible_at.is_some_and(|at| now.saturating_since(at) > LATE)
        })
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
        // Refused only if the service was stopped, and with it this thread is.
        drop(plan.send(&self.sender, Message::Ask));
    }

    fn hand_out(&mut self, next: Next, asked: Moment) -> Ready {
        let is_late = |leased: &&Leased| next.now.saturating_since(leased.job.due) > LATE;
        if let Some(rate) = &mut self.rate {
            rate.took(self.leased.iter().filter(is_late).count());
        }
        let shared = self.timers.shared();
        let claimed = Claimed { now: next.now, asked, answered: self.wheel.now() };
        let mut tasks = Vec::with_capacity(self.leased.len());
        let hanging = shared.flight.hanging(claimed.answered);
        for leased in self.leased.drain(..) {
            count(&shared.counters.of(&leased.job.kind).counts.leased);
            let hangs = hanging.get(&leased.job.key).map(Arc::clone);
            tasks.push(Task::new(&self.timers, leased, claimed, hangs));
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
                shared.report_failure(&error);
                tasks.into_iter().zip(changes).for_each(|(task, change)| task.submit(change));
            }
        }
    }

    /// Tells of handlers that take long.
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
        }
    }

    /// Renews the leases of what is in this program's hands, all in one commit: except of runs that
    /// have taken as long as they may.
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

    /// Finds out which kinds are paused, by the keys of their rows. A list of all kinds may take a
    /// server long, and claims and renewals would wait for it. Returns `true` if other kinds are to
    /// be claimed than before.
    fn look_for_pauses(&mut self) -> bool {
        let shared = self.timers.shared();
        let paused = Paused::read(&mut **self.store.lock(), &shared.kinds);
        // Some errors come once, whichever call is the next.
        let paused = match paused {
            Ok(paused) => paused,
            Err(error) => {
                shared.report_failure(&error);
                return false;
            }
        };
        let kinds = paused.rest(&shared.kinds);
        *shared.paused.write() = paused;
        std::mem::replace(&mut self.kinds, kinds) != self.kinds
    }

    /// Removes dead letters that are too old or too many. Reads all of them, by pages.
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

    /// Reports each kind that is due and has no handler, once, and notes how long the first job of
    /// each other kind waits.
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

/// Claims, counts it, and notes what the store's clock shows.
fn claim(
    shared: &Shared,
    store: &mut dyn Store,
    (kinds, limit): (&Kinds, ClaimLimit),
    leased: &mut Vec<Leased>,
) -> Result<Next, StoreError> {
    let counters = &shared.counters;
    count(&counters.others.counts.claims);
    let began = Instant::now();
    let claimed = store.claim(kinds, limit, shared.settings.visibility, leased);
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
