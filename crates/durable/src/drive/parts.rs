//! The parts of running timers, before threads run them.

use super::shard::{Asked, ShardNumber};
use crate::claim::{Claimer, Waiting};
use crate::commit::{Committer, Queue, SharedStore};
use crate::error::StartError;
use crate::handlers::Handler;
use crate::lease::{Flight, Lane, LaneLimit, Message, Paces};
use crate::observe::{Counters, Observer, Reporter};
use crate::store::{Kind, Store};
use crate::timers::{Settings, Shared, Timers};
use crossbeam_channel::{Receiver, unbounded};
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
    pub(crate) limits: [(usize, usize); 2],
    pub(crate) spawner: Option<Spawner>,
    pub(crate) settings: Settings,
    pub(crate) observer: Option<Observer>,
}

/// Hands async runs to an executor.
pub(crate) type Spawner = Box<dyn Fn(AsyncRun) + Send + Sync>;

/// A shard whose threads are not started.
pub(crate) struct Shard {
    pub(crate) timers: Timers,
    pub(crate) committer: Committer,
    /// Also a channel on which it says that it leases no more jobs. `None` in a program without
    /// handlers.
    pub(crate) claimer: Option<(Claimer, Receiver<()>)>,
}

/// The connection of a claimer that is not started, and its messages. It is the connection that
/// commits, unless the store can serve two at once.
type Claim = (SharedStore, Receiver<Message>);

impl Shard {
    /// The jobs that wait for the workers, which all shards share.
    pub(crate) fn waiting(&self) -> Option<Arc<Waiting>> {
        self.claimer.as_ref().map(|(claimer, _)| Arc::clone(&claimer.waiting))
    }
}

impl Parts {
    /// Returns the configuration of the workers. `None` in a program without handlers.
    pub(super) fn pool(&mut self) -> Option<ServiceBuilder> {
        let workers = self.limits[Lane::Threads as usize].1;
        // With one shard, runs begin in the order in which they are handed over, by any thread.
        let pool = Service::builder().clock(Arc::clone(&self.clock)).workers(workers).shards(1);
        let pool = match self.spawner.take() {
            Some(spawner) => pool.spawn_on(spawner),
            None => pool,
        };
        (!self.handlers.is_empty()).then_some(pool)
    }

    /// Makes the parts of each shard. `workers` is the handle of the [pool](Self::pool).
    pub(super) fn shards(
        &self,
        stores: Vec<Asked>,
        workers: Option<Handle>,
    ) -> Result<Vec<Shard>, StartError> {
        let of = stores.len();
        let counters = Arc::new(Counters::new(self.handlers.keys()));
        let paces = Arc::new(Paces::new(self.handlers.keys()));
        let at_once = self.limits.map(|(_, at_once)| at_once);
        let waiting = workers.map(|its| Arc::new(Waiting::new(its, at_once, Arc::clone(&paces))));
        let (mut shards, mut claims) = (Vec::new(), Vec::new());
        for (shard, (store, lost)) in (0..).zip(stores) {
            let (shared, claim) =
                self.shared(store, ShardNumber { shard, of }, &counters, &paces)?;
            lost.iter().for_each(|lost| shared.reporter.report_failure(lost));
            shards.push(shared);
            claims.push(claim);
        }
        let shard = |(timers, (store, inbox)): (Timers, Claim)| -> Result<Shard, StartError> {
            let claimer = |waiting: &Arc<Waiting>| {
                let wheel = Scheduler::builder().clock(Arc::clone(&self.clock)).build()?;
                Ok(Claimer::new(timers.clone(), Arc::clone(waiting), store, inbox, wheel))
            };
            let claimer = waiting.as_ref().map(claimer).transpose().map_err(StartError::Service)?;
            let committer = Committer::new(Arc::clone(&timers.shared().queue_of_changes));
            Ok(Shard { timers, committer, claimer })
        };
        Timers::of_shards(shards).into_iter().zip(claims).map(shard).collect()
    }

    /// Makes the parts on a single store, with workers that are no threads.
    #[cfg(feature = "sim")]
    pub(crate) fn simulated(
        &mut self,
        store: Box<dyn Store>,
    ) -> Result<(Shard, Option<Scheduler>), StartError> {
        let stores = super::shard::ask_all(vec![store])?;
        let workers = self.pool().map(ServiceBuilder::build).transpose();
        let workers = workers.map_err(StartError::Service)?;
        let mut shards = self.shards(stores, workers.as_ref().map(Scheduler::handle))?;
        Ok((shards.remove(0), workers))
    }

    /// Returns the state that the threads of a shard share, and the parts of its claimer.
    fn shared(
        &self,
        mut store: Box<dyn Store>,
        number: ShardNumber,
        counters: &Arc<Counters>,
        paces: &Arc<Paces>,
    ) -> Result<(Shared, Claim), StartError> {
        let (claimer, inbox) = unbounded();
        let (counters, observer) = (Arc::clone(counters), self.observer.clone());
        let store_name = (number.of > 1).then(|| number.text());
        let reporter = Arc::new(Reporter { counters, observer, store_name });
        let limit = |(most, at_once)| LaneLimit::new(number.part(most), number.part(at_once));
        let flight = Arc::new(Flight {
            leases: Mutex::default(),
            limits: self.limits.map(limit),
            paces: Arc::clone(paces),
            claimer,
            clock: Arc::clone(&self.clock),
            reporter: Arc::clone(&reporter),
        });
        // Without handlers no claimer needs a connection.
        let has_handlers = !self.handlers.is_empty();
        let mut beside = if has_handlers { store.beside()? } else { None };
        if has_handlers {
            beside.as_mut().unwrap_or(&mut store).wake_by(flight.waker(Message::Ask));
        }
        let store: SharedStore = Arc::new(FairMutex::new(store));
        let beside = beside.map(|store| Arc::new(FairMutex::new(store)));
        let claim = (beside.unwrap_or_else(|| Arc::clone(&store)), inbox);
        let part = |whole: u32| u32::try_from(number.part(whole as usize)).unwrap_or(whole);
        let catch_up_rate = self.settings.catch_up_rate.map(part);
        let shared = Shared {
            queue: self.queue.clone(),
            clock: Arc::clone(&self.clock),
            queue_of_changes: Arc::new(Queue::new(Arc::clone(&store), Arc::clone(&reporter))),
            store,
            handlers: self.handlers.clone(),
            settings: Settings { catch_up_rate, ..self.settings },
            flight,
            reporter,
            paused: RwLock::default(),
            gauges: Mutex::default(),
            overdue: Mutex::default(),
            stopping: AtomicBool::new(false),
        };
        Ok((shared, claim))
    }
}
