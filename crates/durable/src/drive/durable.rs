//! The owner of the threads.

use super::{Builder, Observer, Settings, Shared, SharedStore, Timers};
use crate::claim::{Claimer, Flight, Message};
use crate::error::StartError;
use crate::handlers::{Handler, Handlers};
use crate::observe::Counters;
use crate::store::{Kind, Kinds, Store};
use crate::{commit, commit::Queue};
use crossbeam_channel::{Sender, unbounded};
use parking_lot::FairMutex;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use wheelhouse_service::{Clock, Moment, Service, Stop};

/// How often it is looked for kinds without a handler.
const LOOK_FOR_KINDS: Duration = Duration::from_secs(60);

/// Durable timers that run. Schedules by the methods of [`Timers`], to which it dereferences; give
/// other threads a clone of [`timers`](Self::timers).
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_durable::store::MemoryStore;
/// use wheelhouse_durable::{Cancel, Durable, Handlers, Next};
///
/// let handlers = Handlers::new().on_bytes("close-order/1", |run, order| {
///     println!("close order {}", String::from_utf8_lossy(order));
///     Ok(Next::Done)
/// });
/// let timers = Durable::start(MemoryStore::new(), handlers)?;
/// let half_an_hour = Duration::from_secs(1_800);
/// timers.after(half_an_hour).key("order-17").schedule_bytes("close-order/1", "17")?;
/// timers.refresh("order-17", half_an_hour)?;
/// assert_eq!(timers.cancel("order-17")?, Cancel::Cancelled);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Dropping it stops it, as [`stop`](Self::stop) does.
pub struct Durable {
    timers: Timers,
    service: Option<Service>,
    claimer: Option<(Sender<Message>, JoinHandle<()>)>,
    committer: Option<JoinHandle<()>>,
}

/// What a builder has checked.
pub(super) struct Parts {
    pub(super) handlers: BTreeMap<Kind, Arc<Handler>>,
    pub(super) queue: String,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) workers: usize,
    pub(super) max_in_flight: usize,
    pub(super) settings: Settings,
    pub(super) observer: Option<Observer>,
}

/// The clock that was given, for the service.
struct Its(Arc<dyn Clock>);

impl Clock for Its {
    fn now(&self) -> Moment {
        self.0.now()
    }

    fn wall(&self) -> std::time::SystemTime {
        self.0.wall()
    }

    fn watch(&self, waker: &wheelhouse_service::Waker) -> bool {
        self.0.watch(waker)
    }
}

pub(super) fn assemble(mut store: Box<dyn Store>, parts: Parts) -> Result<Durable, StartError> {
    let Parts { handlers, queue, clock, workers, max_in_flight, settings, observer } = parts;
    let service = Service::builder().clock(Its(Arc::clone(&clock)));
    let service = if handlers.is_empty() { service } else { service.workers(workers) };
    let service = service.start().map_err(StartError::Service)?;
    let (sender, inbox) = unbounded();

    let mut beside = store.beside()?;
    let waker = sender.clone();
    let claims = beside.as_mut().unwrap_or(&mut store);
    claims.wake_by(Arc::new(move || waker.send(Message::Ask).unwrap_or_default()));
    let store: SharedStore = Arc::new(FairMutex::new(store));
    let claims = beside.map_or_else(|| Arc::clone(&store), |store| Arc::new(FairMutex::new(store)));

    let renewal = settings.visibility / 3;
    let kinds = Kinds::new(handlers.keys().cloned());
    let counters = Counters::new(&kinds);
    let timers = Timers::new(Arc::new(Shared {
        queue,
        clock,
        store,
        queue_of_changes: Queue::default(),
        kinds,
        handlers,
        settings,
        flight: Arc::new(Flight::new(max_in_flight, workers, sender.clone())),
        counters,
        observer,
        stopping: AtomicBool::new(false),
    }));
    let mut durable = Durable { timers, service: Some(service), claimer: None, committer: None };
    durable.start_threads(claims, (sender, inbox), renewal)?;
    Ok(durable)
}

impl Durable {
    /// Chooses workers, timeouts, limits ...
    pub fn builder(handlers: Handlers) -> Builder {
        Builder::new(handlers)
    }

    /// Starts with the defaults of a [`Builder`].
    ///
    /// # Errors
    ///
    /// Those of [`Builder::start`].
    pub fn start(store: impl Store, handlers: Handlers) -> Result<Self, StartError> {
        Self::builder(handlers).start(store)
    }

    /// What other threads schedule with. It does not keep the threads running: when this has been
    /// stopped, it answers [`Error::Stopped`](crate::Error::Stopped).
    pub fn timers(&self) -> Timers {
        self.timers.clone()
    }

    /// Stops: no more jobs are leased, those that have not begun are given back, the runs that go
    /// on are waited for, and their ends are committed. Returns when all of that is durable. Jobs
    /// stay in the store. Not to be called by a handler, whose own run it would wait for.
    pub fn stop(mut self) {
        self.end(Stop::Wait);
    }

    /// The same, but waits for runs so long at most. Returns how many go on then: their ends are
    /// not committed, and they are repeated when their leases have run out.
    pub fn stop_within(mut self, longest: Duration) -> usize {
        self.end(Stop::WaitFor(longest))
    }

    fn start_threads(
        &mut self,
        claims: SharedStore,
        (sender, inbox): (Sender<Message>, crossbeam_channel::Receiver<Message>),
        renewal: Duration,
    ) -> Result<(), StartError> {
        let Some(service) = self.service.as_ref().map(Service::handle) else { return Ok(()) };
        let named = |name: &str| thread::Builder::new().name(format!("wheelhouse-{name}"));
        let timers = self.timers.clone();
        let committer = named("committer").spawn(move || commit::run(timers.shared()));
        self.committer = Some(committer.map_err(StartError::Thread)?);
        if self.timers.shared().kinds.is_empty() {
            return Ok(());
        }
        // Refused only by a service that was stopped.
        drop(service.every(renewal).fixed_delay().send(&sender, Message::Renew));
        drop(service.every(LOOK_FOR_KINDS).fixed_delay().send(&sender, Message::LookForKinds));
        let claimer = Claimer::new(self.timers.clone(), claims, service, (sender.clone(), inbox));
        let claimer = named("claimer").spawn(move || claimer.run());
        self.claimer = Some((sender, claimer.map_err(StartError::Thread)?));
        Ok(())
    }

    fn end(&mut self, how: Stop) -> usize {
        let shared = self.timers.shared();
        shared.stopping.store(true, Ordering::SeqCst);
        if let Some((sender, claimer)) = self.claimer.take() {
            sender.send(Message::Stop).unwrap_or_default();
            claimer.join().unwrap_or_default();
        }
        let running = self.service.take().map_or(0, |service| service.stop(how).running);
        shared.queue_of_changes.close();
        self.committer.take().into_iter().for_each(|thread| thread.join().unwrap_or_default());
        running
    }
}

impl Deref for Durable {
    type Target = Timers;

    fn deref(&self) -> &Timers {
        &self.timers
    }
}

impl Drop for Durable {
    fn drop(&mut self) {
        self.end(Stop::Wait);
    }
}

impl fmt::Debug for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable").field("timers", &self.timers).finish_non_exhaustive()
    }
}
