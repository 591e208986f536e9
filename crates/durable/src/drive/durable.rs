//! The owner of the threads.

use super::away::ask_all;
use super::parts::{Parts, Shard};
use crate::claim::Waiting;
use crate::error::StartError;
use crate::lease::Message;
use crate::store::Store;
use crate::timers::Timers;
use crossbeam_channel::Receiver;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wheelhouse_service::internal::{discard, is_in_run};
use wheelhouse_service::{Builder as ServiceBuilder, Service, Stop, Stopping};

/// Running timers: the owner of the threads. It dereferences to [`Timers`], whose methods schedule
/// jobs. Give other threads a clone of [`timers`](Self::timers). The [crate](crate) has an example.
///
/// Dropping it stops it, as [`stop`](Self::stop) does. With async handlers, do not drop or stop it
/// on a thread that their executor needs: it would wait for runs that cannot continue. Use
/// [`stop_async`](Self::stop_async).
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
    pub(super) fn assemble(
        stores: Vec<Box<dyn Store>>,
        mut parts: Parts,
    ) -> Result<Self, StartError> {
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
    /// Jobs stay in the store. Dropping a `Durable` does the same. In async code, use
    /// [`stop_async`](Self::stop_async).
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
    /// dropped at their next `.await`. In async code, use
    /// [`stop_within_async`](Self::stop_within_async).
    pub fn stop_within(mut self, longest: Duration) -> usize {
        self.end(Some(longest))
    }

    /// Like [`stop`](Self::stop), but for async code: it blocks no thread of the caller. The stop
    /// begins with the call, and continues if the future is dropped. It uses a thread while it
    /// waits.
    pub fn stop_async(self) -> Stopping<()> {
        self.begin_stop(None, |_| ())
    }

    /// Like [`stop_within`](Self::stop_within), but for async code, as
    /// [`stop_async`](Self::stop_async).
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

    /// Stops, and waits for handlers up to `longest`, or without a limit. Returns how many are
    /// still running.
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
