//! The parts of running timers, before threads run them.

use super::away::Asked;
use super::shard::Place;
use super::{Paused, Settings, Shared, Timers};
use crate::claim::{Bound, Claimer, Flight, Message, Paces, Waiting};
use crate::commit::{Committer, Queue, SharedStore};
use crate::error::StartError;
use crate::handlers::{Handler, Lane};
use crate::observe::{Counters, Observer, Reporter};
use crate::store::{Kind, Kinds, Store};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use parking_lot::{FairMutex, Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wheelhouse_service::{AsyncRun, Builder as ServiceBuilder, Clock, Handle, Scheduler, Service};

/// The checked settings of a builder.
pub(crate) struct Parts {
    pub(crate) handlers: BTreeMap<Kind, Handler>,
    pub(crate) queue: String,
    pub(crate) clock: Arc<dyn Clock>,
    /// The most jobs leased at a time, and the most that run at a time, by lane.
    pub(crate) bounds: [(usize, usize); 2],
    pub(crate) settings: Settings,
    pub(crate) observer: Option<Observer>,
}

/// Hands async runs to an executor.
pub(crate) type Spawner = Box<dyn Fn(AsyncRun) + Send + Sync>;

/// A shard whose threads are not started.
pub(crate) struct Shard {
    pub(crate) timers: Timers,
    pub(crate) committer: Committer,
    /// `None` in a program without handlers.
    pub(crate) claimer: Option<Claimer>,
    /// The channels of the claimer.
    pub(super) sender: Sender<Message>,
    pub(super) stopped: Receiver<()>,
}

/// The parts with which a claimer starts.
struct Claim {
    store: SharedStore,
    sender: Sender<Message>,
    inbox: Receiver<Message>,
}

impl Parts {
    /// Returns the configuration of the workers. `None` in a program without handlers.
    pub(super) fn pool(&self) -> Option<ServiceBuilder> {
        let workers = self.bounds[Lane::Threads as usize].1;
        let pool = || Service::builder().clock(Arc::clone(&self.clock)).workers(workers);
        (!self.handlers.is_empty()).then(pool)
    }

    /// Makes the parts of each shard. `workers` is the handle of the [pool](Self::pool).
    pub(super) fn shards(
        &self,
        stores: Vec<Asked>,
        workers: Option<Handle>,
    ) -> Result<Vec<Shard>, StartError> {
        let of = stores.len();
        let kinds = Kinds::new(self.handlers.keys().cloned());
        let (counters, paces) = (Arc::new(Counters::new(&kinds)), Arc::new(Paces::new(&kinds)));
        let at_once = self.bounds.map(|(_, at_once)| at_once);
        let waiting = Arc::new(Waiting::new(workers, at_once, Arc::clone(&paces)));
        let (mut shards, mut claims) = (Vec::new(), Vec::new());
        for (shard, Asked { store, lost }) in (0..).zip(stores) {
            let place = Place { shard, of };
            let (shard, claim) = self.shard(store, place, &counters, (&waiting, &paces))?;
            lost.iter().for_each(|lost| shard.reporter.report_failure(lost));
            shards.push(shard);
            claims.push(claim);
        }
        let all = Timers::of_shards(shards).into_iter().zip(claims);
        all.map(|(timers, claim)| Shard::new(timers, claim)).collect()
    }

    /// Makes the parts on a single store, with workers that are no threads.
    #[cfg(feature = "sim")]
    pub(crate) fn simulated(
        &self,
        store: Box<dyn Store>,
    ) -> Result<(Shard, Option<Scheduler>), StartError> {
        let stores = super::away::ask_all(vec![store])?;
        let workers = self.pool().map(ServiceBuilder::build).transpose();
        let workers = workers.map_err(StartError::Service)?;
        let mut shards = self.shards(stores, workers.as_ref().map(Scheduler::handle))?;
        Ok((shards.remove(0), workers))
    }

    /// Returns the state that the threads of a shard share, and the parts of its claimer.
    fn shard(
        &self,
        mut store: Box<dyn Store>,
        place: Place,
        counters: &Arc<Counters>,
        (waiting, paces): (&Arc<Waiting>, &Arc<Paces>),
    ) -> Result<(Shared, Claim), StartError> {
        let (sender, inbox) = unbounded();
        let mut beside = store.beside()?;
        // Without handlers no claimer waits for jobs.
        if !self.handlers.is_empty() {
            let waker = sender.clone();
            let claims = beside.as_mut().unwrap_or(&mut store);
            claims.wake_by(Arc::new(move || waker.send(Message::Ask).unwrap_or_default()));
        }
        let store: SharedStore = Arc::new(FairMutex::new(store));
        let claims =
            beside.map_or_else(|| Arc::clone(&store), |store| Arc::new(FairMutex::new(store)));
        let part = |whole: u32| u32::try_from(place.part(whole as usize)).unwrap_or(whole);
        let bound = |(most, at_once)| Bound::new(place.part(most), place.part(at_once));
        let shared = Shared {
            queue: self.queue.clone(),
            clock: Arc::clone(&self.clock),
            store,
            queue_of_changes: Queue::default(),
            handlers: self.handlers.clone(),
            kinds: Kinds::new(self.handlers.keys().cloned()),
            settings: Settings {
                catch_up_rate: self.settings.catch_up_rate.map(part),
                ..self.settings
            },
            flight: Arc::new(Flight::new(
                self.bounds.map(bound),
                Arc::clone(paces),
                sender.clone(),
            )),
            waiting: Arc::clone(waiting),
            reporter: Reporter {
                counters: Arc::clone(counters),
                observer: self.observer.clone(),
                store_name: (place.of > 1).then(|| place.text()),
            },
            paused: RwLock::new(Paused::default()),
            gauges: Mutex::default(),
            overdue: Mutex::default(),
            stopping: AtomicBool::new(false),
        };
        Ok((shared, Claim { store: claims, sender, inbox }))
    }
}

impl Shard {
    fn new(timers: Timers, claim: Claim) -> Result<Self, StartError> {
        let Claim { store, sender, inbox } = claim;
        let (tell, stopped) = bounded(1);
        let claimer = || {
            let wheel = Scheduler::builder().clock(Arc::clone(&timers.shared().clock)).build();
            let channels = (sender.clone(), inbox, tell);
            wheel.map(|wheel| Claimer::new(timers.clone(), store, wheel, channels))
        };
        let has_handlers = !timers.shared().kinds.is_empty();
        let claimer = has_handlers.then(claimer).transpose().map_err(StartError::Service)?;
        let committer = Committer::new(timers.clone());
        Ok(Self { timers, committer, claimer, sender, stopped })
    }
}
