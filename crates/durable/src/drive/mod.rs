//! Starts, owns and stops the parts: the store, the committer, the claimer, the workers.

mod builder;
mod shard;

pub use builder::Builder;

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
use shard::{Asked, ShardNumber, ask_all};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wheelhouse_service::internal::{discard, is_in_run};
use wheelhouse_service::{
    AsyncRun, Builder as ServiceBuilder, Clock, Handle, Scheduler, Service, Stop, Stopping,
};

/// Running timers: the owner of the threads. It dereferences to [`Timers`], whose methods schedule
/// jobs. Give other threads a clone of [`timers`](Self::timers). The [crate](crate) has an example.
///
/// Dropping it stops it, as [`stop`](Self::stop) does. With async handlers, use
/// [`stop_async`](Self::stop_async) on a thread that their executor needs: a stop or a drop would
/// wait for runs that cannot continue.
pub struct Durable {
    timers: Timers,
    /// The pool that runs jobs, and does nothing else. So leases are renewed while all of its
    /// threads are in handlers, and while it waits for its runs. Also the jobs that wait for it.
    workers: Option<(Service, Arc<Waiting>)>,
    shards: Vec<Threads>,
}

struct Threads {
    timers: Timers,
    committer: JoinHandle<()>,
    /// Also the channel on which the claimer says that it leases no more jobs.
    claimer: Option<(JoinHandle<()>, Receiver<()>)>,
}

impl Durable {
    /// Checks each store, then starts all threads.
    fn assemble(stores: Vec<Box<dyn Store>>, mut parts: Parts) -> Result<Self, StartError> {
        let stores = ask_all(stores)?;
        let workers = parts.pool().map(ServiceBuilder::start).transpose();
        let workers = workers.map_err(StartError::Service)?;
        let shards = parts.shards(stores, workers.as_ref().map(Service::handle))?;
        let (timers, workers) = (shards[0].timers.clone(), workers.zip(shards[0].waiting()));
        let mut durable = Self { timers, workers, shards: Vec::new() };
        for shard in shards {
            durable.start_shard(shard)?;
        }
        Ok(durable)
    }

    /// Returns the handle with which other threads schedule jobs. It does not keep the timers
    /// running: once they are stopped, its methods return
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub fn timers(&self) -> Timers {
        self.timers.clone()
    }

    /// Stops, and waits for the runs that have begun, however long they take:
    /// [`stop_within`](Self::stop_within) sets a limit. No more jobs are leased, jobs that have not
    /// begun are released, and the ends of runs are committed. Returns when all of this is durable.
    /// Jobs stay in the store.
    ///
    /// If a handler calls it, or drops the `Durable`, it returns at once: another thread waits for
    /// all runs, including that of the handler, and commits their ends.
    pub fn stop(mut self) {
        self.end(None);
    }

    /// Stops, and waits for handlers up to `longest`. Returns how many handlers are still running:
    /// their ends are not committed, so their jobs run again when the leases have run out. Runs
    /// that have begun, but whose handlers no worker has called, are released unless the job was
    /// cancelled. In a handler it returns 0 at once.
    ///
    /// The futures of [async handlers](crate::Handlers::on_async) that are still running are
    /// dropped at their next `.await`.
    pub fn stop_within(mut self, longest: Duration) -> usize {
        self.end(Some(longest))
    }

    /// Like [`stop`](Self::stop), but for async code: it blocks no thread of the caller. The stop
    /// begins with the call, and continues if the future is dropped. It uses a thread while it
    /// waits.
    pub fn stop_async(self) -> Stopping<()> {
        self.begin_stop(None, |_| ())
    }

    /// [`stop_within`](Self::stop_within) for async code, as [`stop_async`](Self::stop_async).
    pub fn stop_within_async(self, longest: Duration) -> Stopping<usize> {
        self.begin_stop(Some(longest), |running| running)
    }

    fn begin_stop<T: Send + 'static>(
        mut self,
        longest: Option<Duration>,
        answer: fn(usize) -> T,
    ) -> Stopping<T> {
        self.begin_end();
        // A handler must not wait for itself: another thread waits for it.
        let inside = self.is_called_inside().then(|| self.end(longest));
        Stopping::begin(move || answer(inside.unwrap_or_else(|| self.end(longest))), discard)
    }

    fn start_shard(&mut self, shard: Shard) -> Result<(), StartError> {
        let Shard { timers, committer, claimer } = shard;
        let thread = |what| thread::Builder::new().name(timers.named(what));
        let committer = thread("wheelhouse-committer").spawn(move || committer.run());
        let (committer, named) =
            (committer.map_err(StartError::Thread)?, thread("wheelhouse-claimer"));
        // From here on `end` ends this thread with all others.
        self.shards.push(Threads { timers, committer, claimer: None });
        let Some((claimer, stopped)) = claimer else { return Ok(()) };
        let claimer = named.spawn(move || claimer.run()).map_err(StartError::Thread)?;
        if let Some(threads) = self.shards.last_mut() {
            threads.claimer = Some((claimer, stopped));
        }
        Ok(())
    }

    /// Carries out [`stop`](Self::stop) or [`stop_within`](Self::stop_within).
    fn end(&mut self, longest: Option<Duration>) -> usize {
        if !self.is_called_inside() {
            return self.end_here(longest);
        }
        // A handler calls this. Another thread waits for its run and commits its end.
        self.begin_end();
        let (workers, shards) = (self.workers.take(), std::mem::take(&mut self.shards));
        let mut rest = Self { timers: self.timers.clone(), workers, shards };
        let stop = move || {
            // If no thread can be started, this is the thread of the handler. It must not wait for
            // its own run: the leases run out.
            rest.end_here(if rest.is_called_inside() { Some(Duration::ZERO) } else { longest })
        };
        drop(Stopping::begin(stop, discard));
        0
    }

    /// Returns `true` if this thread is in a run of these timers.
    fn is_called_inside(&self) -> bool {
        self.workers.as_ref().is_some_and(|(_, waiting)| is_in_run(&waiting.service))
    }

    /// Prevents further runs.
    fn begin_end(&self) {
        for Threads { timers, .. } in &self.shards {
            timers.shared().stopping.store(true, Ordering::SeqCst);
            timers.shared().flight.tell(Message::Stop);
        }
    }

    fn end_here(&mut self, longest: Option<Duration>) -> usize {
        let until = longest.and_then(|longest| Instant::now().checked_add(longest));
        self.begin_end();
        for (_, stopped) in self.shards.iter().filter_map(|threads| threads.claimer.as_ref()) {
            // An error: the claimer has ended by a panic.
            stopped.recv().unwrap_or_default();
        }
        // After a `stop_within`, the drop calls this again, without workers.
        let running = self.workers.take().map_or(0, |(workers, waiting)| {
            waiting.clear();
            // Waits for runs that have begun, since a cancel has returned `Running` for them. A run
            // whose commit fails is released.
            let is_idle = waiting.wait_until_idle(until);
            let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
            let running = (!is_idle).then(|| workers.handle().snapshot().running);
            if !is_idle {
                self.shards.iter().for_each(|its| its.timers.shared().flight.abandon());
            }
            let stopped = workers.stop(rest.map_or(Stop::Wait, Stop::WaitFor));
            running.unwrap_or(stopped.running)
        });
        self.shards.iter().for_each(|its| its.timers.shared().queue_of_changes.close());
        for Threads { timers, committer, claimer } in self.shards.drain(..) {
            committer.join().unwrap_or_default();
            // A caller that commits by itself has it until its changes are durable.
            drop(timers.shared().store.lock());
            timers.shared().flight.tell(Message::Over);
            claimer.into_iter().for_each(|(thread, _)| thread.join().unwrap_or_default());
        }
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
        self.end(None);
    }
}

impl fmt::Debug for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable").field("timers", &self.timers).finish_non_exhaustive()
    }
}

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
    fn pool(&mut self) -> Option<ServiceBuilder> {
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
    fn shards(
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
        let stores = ask_all(vec![store])?;
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
