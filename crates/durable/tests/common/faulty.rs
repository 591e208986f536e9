//! A store that fails as planned.

use super::*;
use parking_lot::{Mutex, MutexGuard};
use std::thread::ThreadId;
use wheelhouse_durable::store::{ClaimResult, Dead, Gauges, Kind, Timestamp, Waker};

/// The fault of one call of a store.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Fault {
    #[default]
    None,
    /// The call fails without any effect.
    Before,
    /// The call takes effect, and fails.
    After,
}

/// Controls a [`FaultyStore`], and shows what was called. Clones share their state.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    plan: Arc<Mutex<Plan>>,
    /// Locked during each commit, so that a test can delay a commit by holding the lock.
    pub(crate) gate: Arc<Mutex<()>>,
    /// Locked after each claim that has leased a job, so that a test can delay its answer.
    pub(crate) answer_gate: Arc<Mutex<()>>,
    /// Each read of a page of dead letters waits until the test receives a message, so that a test
    /// can delay it. Also reads by the second connection.
    pub(crate) pages: Arc<Mutex<Option<Sender<()>>>>,
}

type MakeError = fn() -> StoreError;

#[derive(Default)]
pub(crate) struct Plan {
    /// The fault of the next call.
    pub(crate) next: Fault,
    /// All calls fail, as if the server could not be reached.
    down: bool,
    pub(crate) refused: Option<Vec<u8>>,
    /// A job whose acks are refused, with the error that the store is damaged.
    pub(crate) never_acked: Option<&'static str>,
    /// A kind whose claims fail, with this error.
    pub(crate) never_claimed: Option<(&'static str, MakeError)>,
    pub(crate) refused_claims: usize,
    /// The next claim that leases jobs takes effect, and fails.
    pub(crate) loses_a_claim: bool,
    /// The most runs that each claim was to begin, since the one that was lost.
    pub(crate) to_begin: Vec<usize>,
    commits: Vec<usize>,
    pub(crate) committers: Vec<ThreadId>,
    /// The numbers of lease renewals in them.
    pub(crate) renewals: Vec<usize>,
    pub(crate) finds: usize,
    /// Claims of 0 jobs, by which programs look for pauses.
    pub(crate) looks: usize,
    pub(crate) lists_of_kinds: usize,
}

impl Faults {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock()
    }

    pub(crate) fn down(&self, down: bool) {
        self.lock().down = down;
    }

    pub(crate) fn commits(&self) -> Vec<usize> {
        self.lock().commits.clone()
    }

    /// Fails if the store is down: for calls that only read, which take no planned fault.
    fn reach(&self) -> Result<(), StoreError> {
        if self.lock().down { Err(unavailable()) } else { Ok(()) }
    }

    fn next(&self) -> Fault {
        let mut plan = self.lock();
        if plan.down { Fault::Before } else { std::mem::take(&mut plan.next) }
    }
}

pub(crate) fn unavailable() -> StoreError {
    StoreError::Unavailable("planned".into())
}

pub(crate) fn damaged() -> StoreError {
    StoreError::Damaged("a page".to_owned())
}

pub(crate) struct FaultyStore {
    pub(crate) store: MemoryStore,
    pub(crate) faults: Faults,
    /// Claims have a separate connection, which always works.
    pub(crate) has_beside: bool,
    /// Shared with the second connection, so that a test can count those that are open.
    pub(crate) open: Arc<()>,
}

impl FaultyStore {
    pub(crate) fn new(world: &World) -> Self {
        let (store, faults) = (world.store.clone(), world.faults.clone());
        Self { store, faults, has_beside: false, open: Arc::default() }
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
        let mut plan = self.faults.lock();
        plan.commits.push(changes.len());
        plan.committers.push(thread::current().id());
        let renewals = changes.iter().filter(|change| matches!(change, Change::Extend { .. }));
        plan.renewals.push(renewals.count());
        for change in changes {
            match change {
                Change::Ack { key, .. }
                    if plan.never_acked.is_some_and(|its| key.as_bytes() == its.as_bytes()) =>
                {
                    return Err(damaged());
                }
                Change::Put(put) if plan.refused.as_ref() == Some(&put.payload) => {
                    return Err(StoreError::Refused("this payload".to_owned()));
                }
                _ => {}
            }
        }
        drop(plan);
        let gate = Arc::clone(&self.faults.gate);
        let _open = gate.lock();
        self.call(|store| store.commit(changes))
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        let mut plan = self.faults.lock();
        if limit.jobs == 0 {
            plan.looks += 1;
            drop(plan);
            self.faults.reach()?;
            return self.store.claim(kinds, limit, visibility);
        }
        if let Some((_, error)) = plan.never_claimed.filter(|(never, _)| kinds.contains(never)) {
            plan.refused_claims += 1;
            return Err(error());
        }
        plan.to_begin.push(limit.begin);
        drop(plan);
        let claimed = self.call(|store| store.claim(kinds, limit, visibility))?;
        if !claimed.0.is_empty() {
            let gate = Arc::clone(&self.faults.answer_gate);
            drop(gate.lock());
            let mut plan = self.faults.lock();
            if std::mem::take(&mut plan.loses_a_claim) {
                plan.to_begin.clear();
                return Err(unavailable());
            }
        }
        Ok(claimed)
    }

    fn wake_by(&mut self, waker: Waker) {
        self.store.wake_by(waker);
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(self.has_beside.then(|| {
            let (store, open) = (self.store.clone(), Arc::clone(&self.open));
            let pages = Arc::clone(&self.faults.pages);
            let faults = Faults { pages, ..Faults::default() };
            let second = Self { store, faults, has_beside: false, open };
            Box::new(second) as Box<dyn Store>
        }))
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.faults.lock().finds += 1;
        self.faults.reach()?;
        self.store.find(key)
    }

    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.faults.reach()?;
        self.store.scan(after, max)
    }

    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
        self.faults.reach()?;
        let page = self.faults.pages.lock().clone();
        page.into_iter().for_each(|page| page.send(()).unwrap_or_default());
        self.store.dead(after, max)
    }

    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
        self.faults.lock().lists_of_kinds += 1;
        self.faults.reach()?;
        self.store.kinds()
    }

    fn gauges(&mut self) -> Result<Gauges, StoreError> {
        Ok(Gauges::from([("dead_rows", 7)]))
    }
}
