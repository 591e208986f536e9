//! An in-memory store, a clock that a test sets, and a store that fails as planned. Also the names
//! that most tests use.

mod faulty;

pub(crate) use crossbeam_channel::{Receiver, Sender, unbounded};
pub(crate) use faulty::{Fault, Faults, FaultyStore, damaged, unavailable};
use parking_lot::Mutex;
use std::ops::Deref;
pub(crate) use std::sync::Arc;
pub(crate) use std::thread;
pub(crate) use std::time::{Duration, Instant};
pub(crate) use wheelhouse_durable::store::{
    Change, ClaimLimit, Entry, Key, Kinds, Leased, MemoryStore, Outcome, Put, State, Store,
    StoreClock, StoreError,
};
pub(crate) use wheelhouse_durable::{
    AsyncRun, Backoff, Builder, Cancel, Commit, Durable, DurableRun, Error, Event, EventKind,
    Failure, Handlers, JobState, Late, MAX_PAYLOAD, Missed, Next, Scheduled, StartError, Stop,
    Timers, When,
};
pub(crate) use wheelhouse_service::ManualClock;

pub(crate) const KIND: &str = "work/1";

/// The kind of [`World::with_a_pace`].
pub(crate) const PACE: &str = "pace/1";

/// No test waits for as long as this unless it fails.
const PATIENCE: Duration = MINUTE;

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The default backoff with another number of attempts.
pub(crate) fn attempts_up_to(most: u32) -> Backoff {
    Backoff::new(secs(1)).jitter(0.5).attempts(most)
}

pub(crate) fn schedule(timers: &Timers, key: &str) {
    timers.after(secs(0)).key(key).schedule_bytes(KIND, "").unwrap();
}

#[track_caller]
pub(crate) fn wait_acked(timers: &Timers, runs: u64) {
    wait_until("the runs are acked", || timers.snapshot().counts.acked == runs);
}

/// Waits for commits, all of which are submitted first.
pub(crate) fn wait_all<T>(commits: impl Iterator<Item = Commit<T>>) {
    let commits: Vec<_> = commits.collect();
    commits.into_iter().for_each(|commit| drop(commit.wait().unwrap()));
}

#[track_caller]
pub(crate) fn receive<T>(receiver: &Receiver<T>) -> T {
    receiver.recv_timeout(PATIENCE).expect("a message within a minute")
}

pub(crate) fn done() -> Handlers {
    Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done))
}

/// Handlers of [`KIND`] that send what they see, and succeed.
pub(crate) fn telling<T: Send + 'static>(
    see: impl Fn(&DurableRun<'_>) -> T + Send + Sync + 'static,
) -> (Handlers, Receiver<T>) {
    let (sender, seen) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(see(run)).unwrap_or_default();
        Ok(Next::Done)
    });
    (handlers, seen)
}

/// The key of a run, for [`telling`].
pub(crate) fn key(run: &DurableRun<'_>) -> String {
    run.key().to_string()
}

/// Timers whose handler of [`KIND`] sends its key, and then may wait.
pub(crate) struct Waiting<G = Sender<()>, M = String> {
    /// Lets a handler continue. Dropped before the timers, so that a failing test does not hang.
    pub(crate) go: G,
    pub(crate) begun: Receiver<M>,
    pub(crate) timers: Durable,
}

impl<G, M> Waiting<G, M> {
    /// Waits until a handler is called. Returns its message.
    #[track_caller]
    pub(crate) fn next(&self) -> M {
        receive(&self.begun)
    }
}

impl Waiting {
    pub(crate) fn go(&self) {
        self.go.send(()).unwrap();
    }

    /// Waits until the handler of this job is called, and lets it continue.
    #[track_caller]
    pub(crate) fn runs(&self, key: &str) {
        assert_eq!(self.next(), key);
        self.go();
    }
}

impl<G, M> Deref for Waiting<G, M> {
    type Target = Durable;

    fn deref(&self) -> &Durable {
        &self.timers
    }
}

/// Handlers of [`KIND`] that send their key, and then run this code, which may wait. Also a
/// function that combines them with their timers.
pub(crate) fn waiting(
    code: impl Fn(&DurableRun<'_>, &dyn Fn()) -> Result<Next, Failure> + Send + Sync + 'static,
) -> (Handlers, impl FnOnce(Durable) -> Waiting) {
    let ((sender, begun), (go, wait)) = (unbounded(), unbounded::<()>());
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(key(run))?;
        code(run, &|| wait.recv().unwrap_or_default())
    });
    (handlers, move |timers| Waiting { go, begun, timers })
}

/// The same, but they always wait, and then succeed.
pub(crate) fn always_waiting() -> (Handlers, impl FnOnce(Durable) -> Waiting) {
    waiting(|_, wait| {
        wait();
        Ok(Next::Done)
    })
}

/// The put of a job that is due now, as another program could have written it.
pub(crate) fn put(key: impl AsRef<[u8]>, kind: &str, policy: &str) -> Change {
    let (key, kind, when) = (Key::new(key).unwrap(), kind.into(), When::After(secs(0)));
    let (payload, policy, replace) = (Vec::new(), policy.to_owned(), false);
    Change::Put(Put { key, kind, payload, policy, when, replace })
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Waits until other threads have reached a state. No test depends on the duration.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "waited for a minute: {what}");
        thread::yield_now();
    }
}

/// One store, one clock, and the reported events.
pub(crate) struct World {
    pub(crate) clock: ManualClock,
    pub(crate) store: MemoryStore,
    /// Those of each [`FaultyStore`].
    pub(crate) faults: Faults,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = ManualClock::new();
        let store = MemoryStore::with_clock(StoreClock::new(clock.clone()));
        Self { clock, store, faults: Faults::default(), events: Arc::default() }
    }

    pub(crate) fn builder(&self, handlers: Handlers) -> Builder {
        let events = Arc::clone(&self.events);
        let report = move |event: &Event| events.lock().push(event.clone());
        Durable::builder(handlers).clock(self.clock.clone()).on_event(report)
    }

    pub(crate) fn start(&self, handlers: Handlers) -> Durable {
        self.builder(handlers).start(self.store.clone()).unwrap()
    }

    pub(crate) fn start_faulty(&self, handlers: Handlers) -> Durable {
        self.builder(handlers).start(FaultyStore::new(self)).unwrap()
    }

    /// Calls `then` while a commit of the [`FaultyStore`] is in progress: what it submits is the
    /// next batch.
    pub(crate) fn during_a_commit<T>(&self, timers: &Timers, then: impl FnOnce() -> T) -> T {
        let (closed, before) = (self.faults.gate.lock(), self.faults.commits().len());
        let first = timers.after(1_000_000 * MINUTE).submit_bytes(KIND, "");
        wait_until("a commit is in progress", || self.faults.commits().len() > before);
        let answer = then();
        drop(closed);
        first.wait().unwrap();
        answer
    }

    pub(crate) fn other_store(&self) -> MemoryStore {
        MemoryStore::with_clock(StoreClock::new(self.clock.clone()))
    }

    /// Starts timers whose handlers of [`KIND`] wait, and then succeed.
    pub(crate) fn start_waiting(&self, set: impl FnOnce(Builder) -> Builder) -> Waiting {
        self.start_waiting_on(self.store.clone(), set)
    }

    pub(crate) fn start_waiting_on(
        &self,
        store: impl Store,
        set: impl FnOnce(Builder) -> Builder,
    ) -> Waiting {
        let (handlers, with) = always_waiting();
        with(set(self.builder(self.with_a_pace(handlers))).start(store).unwrap())
    }

    /// Like [`start_waiting`](Self::start_waiting), on [one worker](Self::set_the_pace), which can
    /// have several jobs leased.
    pub(crate) fn start_waiting_at_a_pace(&self) -> Waiting {
        let waiting = self.start_waiting(|its| its.workers(1));
        self.set_the_pace(&waiting);
        waiting
    }

    pub(crate) fn find(&self, key: &str) -> Option<Entry> {
        self.store.clone().find(&Key::new(key).unwrap()).unwrap()
    }

    /// Returns `true` if a run of the job has begun.
    pub(crate) fn has_begun(&self, key: &str) -> bool {
        self.find(key).is_some_and(|row| row.state.run().is_some())
    }

    /// When the job is visible, in seconds.
    pub(crate) fn visible_at(&self, key: &str) -> Option<u64> {
        self.find(key).map(|row| row.visible_at.as_millis() / 1_000)
    }

    /// Releases the lease of a job, as another program can whose clock is ahead.
    pub(crate) fn release(&self, key: &str, wait: Duration) {
        let Entry { key, state, .. } = self.find(key).unwrap();
        let (token, when) = (state.lease().unwrap().token, When::After(wait));
        let release = Change::Release { key, token, when };
        assert_eq!(self.store.clone().commit(&[release]).unwrap(), [Outcome::Done]);
    }

    pub(crate) fn leased(&self) -> usize {
        self.rows().iter().filter(|row| row.state.is_held()).count()
    }

    pub(crate) fn rows(&self) -> Vec<Entry> {
        self.store.clone().scan(None, usize::MAX).unwrap()
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
        let limit = ClaimLimit::jobs(100);
        self.store.clone().claim(&Kinds::new([KIND]), limit, visibility).unwrap().0
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
            Ok(Next::Done)
        })
    }

    /// Runs a job that takes ten milliseconds. From then on the timers lease eleven jobs for each
    /// worker, and begin none before a worker is free for it.
    pub(crate) fn set_the_pace(&self, timers: &Durable) {
        timers.after(secs(0)).schedule_bytes(PACE, "").unwrap();
        wait_acked(timers, 1);
    }

    pub(crate) fn has_event(&self, is_it: impl Fn(&EventKind) -> bool) -> bool {
        self.events.lock().iter().any(|event| is_it(&event.kind))
    }
}
