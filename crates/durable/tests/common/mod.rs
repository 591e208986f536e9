//! An in-memory store, a clock that a test sets, and a store that fails as planned.
#![allow(dead_code)]

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{
    Change, ClaimLimit, Dead, Entry, Key, Kind, Kinds, Leased, MemoryStore, Next, Outcome, Store,
    StoreClock, StoreError, Timestamp, Waker,
};
use wheelhouse_durable::{Builder, Durable, Event, EventKind, Handlers};
use wheelhouse_service::ManualClock;

/// The default kind of jobs.
pub(crate) const KIND: &str = "work/1";

/// The kind of [`World::with_a_pace`].
pub(crate) const PACE: &str = "pace/1";

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Waits until other threads have reached a state. No test depends on the duration.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < secs(20), "waited for 20 s: {what}");
        thread::yield_now();
    }
}

/// One store, one clock, and the reported events.
pub(crate) struct World {
    pub(crate) clock: ManualClock,
    pub(crate) store: MemoryStore,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = ManualClock::new();
        let store = MemoryStore::with_clock(StoreClock::new(clock.clone()));
        Self { clock, store, events: Arc::default() }
    }

    pub(crate) fn builder(&self, handlers: Handlers) -> Builder {
        let events = Arc::clone(&self.events);
        let report = move |event: &Event| events.lock().push(event.clone());
        Durable::builder(handlers).clock(self.clock.clone()).on_event(report)
    }

    pub(crate) fn start(&self, handlers: Handlers) -> Durable {
        self.builder(handlers).start(self.store.clone()).unwrap()
    }

    pub(crate) fn find(&self, key: &str) -> Option<Entry> {
        self.store.clone().find(&Key::new(key).unwrap()).unwrap()
    }

    pub(crate) fn leased(&self) -> usize {
        let mut leased = 0;
        let mut count = |row: &Entry| leased += usize::from(row.state.is_held());
        self.store.clone().scan(None, usize::MAX, &mut count).unwrap();
        leased
    }

    /// Advances the clock, unless a job is leased: otherwise a test that advances it in a loop
    /// would outlast the lease on a busy machine.
    pub(crate) fn pass(&self, time: Duration) {
        if self.leased() == 0 {
            self.clock.advance(time);
        }
    }

    /// Leases the due jobs, like a machine that dies before it calls a handler.
    pub(crate) fn lease_and_die(&self, visibility: Duration) -> Vec<Leased> {
        let mut leased = Vec::new();
        let (mut store, limit) = (self.store.clone(), ClaimLimit::jobs(100));
        store.claim(&Kinds::new([KIND]), limit, visibility, &mut leased).unwrap();
        leased
    }

    /// Leases and begins the due jobs, like a machine that dies in their handlers: the attempts
    /// count.
    pub(crate) fn claim_and_die(&self, visibility: Duration) -> Vec<Leased> {
        let mut leased = self.lease_and_die(visibility);
        for leased in &mut leased {
            let (key, token) = (leased.job.key.clone(), leased.token);
            let outcomes = self.store.clone().commit(&[Change::Begin { key, token }]).unwrap();
            assert_eq!(outcomes, [Outcome::Done]);
            leased.job.attempt += 1;
        }
        leased
    }

    /// Adds a handler for [`PACE`], whose runs take ten milliseconds.
    pub(crate) fn with_a_pace(&self, handlers: Handlers) -> Handlers {
        let clock = self.clock.clone();
        handlers.on_bytes(PACE, move |_, _| {
            clock.advance(millis(10));
            Ok(wheelhouse_durable::Next::Done)
        })
    }

    /// Runs a job that takes ten milliseconds. From then on the timers lease eleven jobs for each
    /// worker, and begin none before a worker is free for it.
    pub(crate) fn set_the_pace(&self, timers: &Durable) {
        timers.after(secs(0)).schedule_bytes(PACE, "").unwrap();
        wait_until("it has run", || timers.snapshot().counts.acked == 1);
    }

    pub(crate) fn has_event(&self, is_it: impl Fn(&EventKind) -> bool) -> bool {
        self.events.lock().iter().any(|event| is_it(&event.kind))
    }
}

/// The fault of one call of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call works.
    None,
    /// The call fails without any effect.
    Before,
    /// The call takes effect, and fails.
    After,
}

/// Controls a [`FaultyStore`]. Clones share their state.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    inner: Arc<Mutex<Plan>>,
}

#[derive(Default)]
struct Plan {
    next: VecDeque<Fault>,
    down: bool,
    refused: Option<Vec<u8>>,
    never_acked: Option<&'static str>,
    never_claimed: Option<&'static str>,
    refused_claims: usize,
    commits: Vec<usize>,
    committers: Vec<ThreadId>,
    renewals: Vec<usize>,
    calls: usize,
    finds: usize,
    lists_of_kinds: usize,
}

impl Faults {
    /// Plans the faults of the following calls, in order.
    pub(crate) fn plan(&self, faults: impl IntoIterator<Item = Fault>) {
        self.inner.lock().next.extend(faults);
    }

    /// With `true` all calls fail, as if the server could not be reached.
    pub(crate) fn down(&self, down: bool) {
        self.inner.lock().down = down;
    }

    /// Lets the store refuse this payload.
    pub(crate) fn refuse(&self, payload: &[u8]) {
        self.inner.lock().refused = Some(payload.to_vec());
    }

    /// Lets the store refuse each ack of this job, with the error that it is damaged.
    pub(crate) fn refuse_acks_of(&self, key: &'static str) {
        self.inner.lock().never_acked = Some(key);
    }

    /// Lets the store refuse each claim of this kind, with the error that it is damaged.
    pub(crate) fn refuse_claims_of(&self, kind: &'static str) {
        self.inner.lock().never_claimed = Some(kind);
    }

    /// The number of claims that were refused by [`refuse_claims_of`](Self::refuse_claims_of).
    pub(crate) fn refused_claims(&self) -> usize {
        self.inner.lock().refused_claims
    }

    /// The sizes of all commits.
    pub(crate) fn commits(&self) -> Vec<usize> {
        self.inner.lock().commits.clone()
    }

    /// The threads that made the commits.
    pub(crate) fn committers(&self) -> Vec<ThreadId> {
        self.inner.lock().committers.clone()
    }

    /// The numbers of lease renewals in all commits.
    pub(crate) fn renewals(&self) -> Vec<usize> {
        self.inner.lock().renewals.clone()
    }

    pub(crate) fn calls(&self) -> usize {
        self.inner.lock().calls
    }

    /// The number of lookups by key.
    pub(crate) fn finds(&self) -> usize {
        self.inner.lock().finds
    }

    /// The number of calls that listed all kinds.
    pub(crate) fn lists_of_kinds(&self) -> usize {
        self.inner.lock().lists_of_kinds
    }

    /// Fails if the store is down: for calls that only read, which take no planned fault.
    fn reach(&self) -> Result<(), StoreError> {
        if self.inner.lock().down { Err(unavailable()) } else { Ok(()) }
    }

    fn next(&self) -> Fault {
        let mut plan = self.inner.lock();
        plan.calls += 1;
        if plan.down { Fault::Before } else { plan.next.pop_front().unwrap_or(Fault::None) }
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable("planned".into())
}

/// A store that fails as planned.
pub(crate) struct FaultyStore {
    pub(crate) store: MemoryStore,
    pub(crate) faults: Faults,
    /// Locked during each commit, so that a test can delay a commit by holding the lock.
    pub(crate) gate: Arc<Mutex<()>>,
    /// Claims have a separate connection, which always works.
    pub(crate) has_beside: bool,
}

impl FaultyStore {
    pub(crate) fn new(world: &World) -> Self {
        let (faults, gate) = (Faults::default(), Arc::default());
        Self { store: world.store.clone(), faults, gate, has_beside: false }
    }

    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut MemoryStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.faults.next() {
            Fault::None => call(&mut self.store),
            Fault::Before => Err(unavailable()),
            Fault::After => call(&mut self.store).and(Err(unavailable())),
        }
    }
}

impl Store for FaultyStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        let (refused, never_acked) = {
            let mut plan = self.faults.inner.lock();
            plan.commits.push(changes.len());
            plan.committers.push(thread::current().id());
            let renewals = changes.iter().filter(|change| matches!(change, Change::Extend { .. }));
            plan.renewals.push(renewals.count());
            (plan.refused.clone(), plan.never_acked)
        };
        let is_damaged = |change: &Change| match (change, never_acked) {
            (Change::Ack { key, .. }, Some(never)) => key.as_bytes() == never.as_bytes(),
            _ => false,
        };
        if changes.iter().any(is_damaged) {
            return Err(StoreError::Damaged("a page".to_owned()));
        }
        let is_refused = |change: &Change| match change {
            Change::Put(put) => refused.as_ref() == Some(&put.payload),
            _ => false,
        };
        if changes.iter().any(is_refused) {
            return Err(StoreError::Refused("this payload".to_owned()));
        }
        let gate = Arc::clone(&self.gate);
        let _open = gate.lock();
        self.call(|store| store.commit(changes))
    }

    fn claim(
        &mut self,
        kinds: &Kinds,
        limit: ClaimLimit,
        visibility: Duration,
        into: &mut Vec<Leased>,
    ) -> Result<Next, StoreError> {
        let mut plan = self.faults.inner.lock();
        if plan.never_claimed.is_some_and(|never| kinds.contains(never)) {
            plan.refused_claims += 1;
            return Err(StoreError::Damaged("a page".to_owned()));
        }
        drop(plan);
        let before = into.len();
        let claimed = self.call(|store| store.claim(kinds, limit, visibility, into));
        if claimed.is_err() {
            into.truncate(before);
        }
        claimed
    }

    fn wake_by(&mut self, waker: Waker) {
        self.store.wake_by(waker);
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(self.has_beside.then(|| Box::new(self.store.clone()) as Box<dyn Store>))
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.faults.inner.lock().finds += 1;
        self.faults.reach()?;
        self.store.find(key)
    }

    fn scan(
        &mut self,
        after: Option<&Key>,
        max: usize,
        each: &mut dyn FnMut(&Entry),
    ) -> Result<(), StoreError> {
        self.faults.reach()?;
        self.store.scan(after, max, each)
    }

    fn dead(
        &mut self,
        after: Option<u64>,
        max: usize,
        each: &mut dyn FnMut(&Dead),
    ) -> Result<(), StoreError> {
        self.faults.reach()?;
        self.store.dead(after, max, each)
    }

    fn kinds(&mut self, each: &mut dyn FnMut(&Kind, Timestamp)) -> Result<(), StoreError> {
        self.faults.inner.lock().lists_of_kinds += 1;
        self.faults.reach()?;
        self.store.kinds(each)
    }

    fn gauges(&mut self, each: &mut dyn FnMut(&'static str, u64)) -> Result<(), StoreError> {
        each("dead_rows", 7);
        self.store.gauges(each)
    }
}
