//! The owner of the threads.

use super::{Builder, Observer, Settings, Shared, SharedStore, Timers};
use crate::claim::{Claimer, Flight, Message};
use crate::error::StartError;
use crate::handlers::{Handler, Handlers};
use crate::observe::Counters;
use crate::store::{Kind, Kinds, Store};
use crate::{commit, commit::Queue};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use parking_lot::FairMutex;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use wheelhouse_service::{Clock, Missed, Moment, Service, Stop};

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
    /// Runs jobs.
    workers: Option<Service>,
    claimer: Option<Claims>,
    committer: Option<JoinHandle<()>>,
}

/// The claimer's thread, and what belongs to it.
struct Claims {
    /// When to ask, and when to renew. Not the workers' service: leases are renewed while that
    /// waits for its runs.
    wheel: Service,
    sender: Sender<Message>,
    /// It leases no more.
    stopped: Receiver<()>,
    thread: JoinHandle<()>,
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
    let service = || Service::builder().clock(Its(Arc::clone(&clock)));
    let services = match handlers.is_empty() {
        true => None,
        false => {
            let (wheel, runs) = (service().inline(), service().workers(workers));
            Some((wheel.start(), runs.start()))
        }
    };
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
    let mut durable = Durable { timers, workers: None, claimer: None, committer: None };
    durable.start_committer()?;
    if let Some((wheel, workers)) = services {
        let wheel = wheel.map_err(StartError::Service)?;
        durable.workers = Some(workers.map_err(StartError::Service)?);
        durable.start_claimer(claims, wheel, (sender, inbox), renewal)?;
    }
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

    fn start_committer(&mut self) -> Result<(), StartError> {
        let timers = self.timers.clone();
        let committer = named("committer").spawn(move || commit::run(timers.shared()));
        self.committer = Some(committer.map_err(StartError::Thread)?);
        Ok(())
    }

    fn start_claimer(
        &mut self,
        store: SharedStore,
        wheel: Service,
        (sender, inbox): (Sender<Message>, Receiver<Message>),
        renewal: Duration,
    ) -> Result<(), StartError> {
        let Some(workers) = self.workers.as_ref().map(Service::handle) else { return Ok(()) };
        let asks = wheel.handle();
        // Refused only by a service that was stopped.
        for (each, message) in [(renewal, Message::Renew), (LOOK_FOR_KINDS, Message::LookForKinds)]
        {
            drop(asks.every(each).missed(Missed::Burst).send(&sender, message));
        }
        let (tell, stopped) = bounded(1);
        let channels = (sender.clone(), inbox, tell);
        let claimer = Claimer::new(self.timers.clone(), store, (asks, workers), channels);
        let thread = named("claimer").spawn(move || claimer.run()).map_err(StartError::Thread)?;
        self.claimer = Some(Claims { wheel, sender, stopped, thread });
        Ok(())
    }

    fn end(&mut self, how: Stop) -> usize {
        let shared = self.timers.shared();
        shared.stopping.store(true, Ordering::SeqCst);
        if let Some(claims) = &self.claimer {
            claims.sender.send(Message::Stop).unwrap_or_default();
            // Or it has ended, by a panic.
            claims.stopped.recv().unwrap_or_default();
        }
        let running = self.workers.take().map_or(0, |workers| workers.stop(how).running);
        shared.queue_of_changes.close();
        self.committer.take().into_iter().for_each(|thread| thread.join().unwrap_or_default());
        if let Some(Claims { wheel, sender, thread, .. }) = self.claimer.take() {
            sender.send(Message::Over).unwrap_or_default();
            thread.join().unwrap_or_default();
            drop(wheel);
        }
        running
    }
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(format!("wheelhouse-{name}"))
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
