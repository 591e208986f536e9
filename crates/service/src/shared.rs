//! What handles, driver and workers share.

use crate::builder::Settings;
use crate::due::Due;
use crate::keys::{Keys, in_order};
use crate::record::{Phase, Record};
use crate::runs::Runs;
use crate::signal::Signal;
use crate::stats::{Counters, Distributions};
use crate::sync::{AtomicBool, Receiver, Sender, fence, unbounded};
use crate::time::Ticks;
use crate::{ChangeError, Clock, Event, EventKind, Job, JobHandle, Key, Moment, Reason, Snapshot};
use crossbeam_utils::CachePadded;
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// What every producer writes to all the time has lines of the cache to itself, since what lies beside it is fetched anew by each thread
/// after each write of another.
pub(crate) struct Shared {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ticks: Ticks,
    pub(crate) signal: Signal,
    pub(crate) keys: Mutex<Keys>,
    pub(crate) counters: CachePadded<Counters>,
    pub(crate) distributions: Mutex<Distributions>,
    pub(crate) runs: Runs,
    settings: Settings,
    /// Jobs that the driver is to look at.
    intake: Sender<Arc<Record>>,
    /// Nothing more is taken in, and no more runs are handed out.
    closed: AtomicBool,
    /// And nobody takes back what is pending from here on.
    over: AtomicBool,
    room: CachePadded<Room>,
}

/// By how many jobs room is taken.
#[derive(Default)]
struct Room {
    /// Jobs that are not over.
    jobs: AtomicUsize,
    /// Jobs that the driver has not let go of, whether or not they are over.
    held: AtomicUsize,
}

/// So many jobs that are over may wait for the driver even where fewer are allowed.
const LEAST_LEFT_OVER: usize = 1024;

impl Shared {
    /// With the receiving end of the intake.
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        ticks: Ticks,
        settings: Settings,
    ) -> (Arc<Self>, Receiver<Arc<Record>>) {
        let (intake, receiver) = unbounded();
        let shared = Self {
            clock,
            ticks,
            signal: Signal::new(),
            keys: Mutex::default(),
            counters: CachePadded::default(),
            distributions: Mutex::new(Distributions::new()),
            runs: Runs::default(),
            settings,
            intake,
            closed: AtomicBool::new(false),
            over: AtomicBool::new(false),
            room: CachePadded::default(),
        };
        (Arc::new(shared), receiver)
    }

    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// From here on, whoever sends to the intake sees that it is closed, or has sent before: see [`send_new`](Self::send_new).
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// To be called when closed, before jobs are taken back for the last time: from here on, a periodic job that ends a run is over.
    /// Until then it is pending again, to be taken back like one that had no run.
    pub(crate) fn close_for_good(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Makes room for a job. Whoever gets it gives it back with [`retire`](Self::retire) or [`give_up`](Self::give_up).
    pub(crate) fn admit(&self) -> Result<(), Reason> {
        let limit = self.settings.limit;
        if self.is_closed() {
            return Err(Reason::Stopped);
        }
        let more = |jobs| (jobs < limit).then_some(jobs + 1);
        if self.room.jobs.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return Err(Reason::LimitReached(limit));
        }
        // What was cancelled makes room at once, but its record stays until the driver looks: as many of these again, and no more,
        // so that a driver that is held up does not fill the memory.
        let most = limit.saturating_add(limit.max(LEAST_LEFT_OVER));
        if self.room.held.fetch_add(1, Ordering::Relaxed) >= most {
            self.give_up();
            return Err(Reason::LimitReached(limit));
        }
        Ok(())
    }

    /// Jobs that are not over.
    pub(crate) fn jobs(&self) -> usize {
        self.room.jobs.load(Ordering::Relaxed)
    }

    /// Gives back the room of a job that was not scheduled after all.
    pub(crate) fn give_up(&self) {
        self.room.jobs.fetch_sub(1, Ordering::Relaxed);
        self.let_go();
    }

    /// The driver lets go of a job that is over.
    pub(crate) fn let_go(&self) {
        self.room.held.fetch_sub(1, Ordering::Relaxed);
    }

    /// A job is over: to be called once, by who made it so.
    pub(crate) fn retire(&self, record: &Record, phase: Phase) {
        self.room.jobs.fetch_sub(1, Ordering::Relaxed);
        self.free_key(record);
        match phase {
            Phase::Cancelled => self.counters.cancelled.count(),
            Phase::Stopped => self.counters.stopped.count(),
            _ => self.counters.finished.count(),
        };
    }

    /// The key may be used for another job.
    pub(crate) fn free_key(&self, record: &Record) {
        if let Some(key) = record.key() {
            self.keys.lock().remove(key, record);
        }
    }

    /// Hands a new job to the driver. If the service has been stopped by now, and did not give the job back there, it is taken
    /// back here, and the answer is false: one of the two has it, as each takes it under the lock of the job.
    pub(crate) fn send_new(&self, record: &Arc<Record>, look_by: Moment) -> bool {
        let sent = self.send(record, Some(look_by));
        // The fence that this needs is in `send`, between sending and here; its counterpart is in `close`.
        let refused = (!sent || self.is_closed()) && record.take_back_unrun();
        if refused {
            self.retire(record, Phase::Stopped);
        }
        !refused
    }

    /// Tells the driver to look at a job, by a moment if there is one. False if there is no driver any more. One that is
    /// in the intake is not sent a second time, so that there are never more messages than jobs.
    pub(crate) fn send(&self, record: &Arc<Record>, look_by: Option<Moment>) -> bool {
        let sent = record.queue(|| self.intake.send(Arc::clone(record)).is_ok());
        let look_by = look_by.map(|moment| self.ticks.instant(self.ticks.not_before(moment)));
        self.signal.sent(look_by, || self.intake.len());
        sent
    }

    pub(crate) fn job_of_key(&self, key: &str) -> Option<JobHandle> {
        let record = self.keys.lock().get(key).map(Arc::clone)?;
        Some(JobHandle::new(record))
    }

    pub(crate) fn keys_in_order(&self) -> Vec<Key> {
        let keys = self.keys.lock().numbered();
        in_order(keys)
    }

    pub(crate) fn cancel(&self, record: &Arc<Record>) -> Result<Job, ChangeError> {
        self.end_as(Phase::Cancelled, record)
    }

    /// Ends a job, cancelled or finished.
    pub(crate) fn end_as(&self, phase: Phase, record: &Arc<Record>) -> Result<Job, ChangeError> {
        match record.end_as(phase) {
            Ok(taken) => {
                self.retire(record, phase);
                if taken.placed {
                    self.send(record, None);
                }
                Ok(Job::new(record, taken))
            }
            Err(refused) => {
                // A periodic job that is running has its last run.
                self.free_key(record);
                Err(refused)
            }
        }
    }

    /// Moves the next run of a job, because somebody asked for that.
    pub(crate) fn reschedule(
        &self,
        record: &Arc<Record>,
        deadline: Option<Moment>,
    ) -> Result<(), ChangeError> {
        self.move_to(record, deadline.map(Due::at))?;
        self.counters.rescheduled.count();
        Ok(())
    }

    /// Has a job wait for a time of the wall clock with its next run, because its own rule says so.
    pub(crate) fn wait_for_wall(
        &self,
        record: &Arc<Record>,
        time: SystemTime,
    ) -> Result<(), ChangeError> {
        self.move_to(record, Due::at_time(&*self.clock, time))
    }

    fn move_to(&self, record: &Arc<Record>, due: Option<Due>) -> Result<(), ChangeError> {
        let due =
            due.filter(|due| due.deadline <= self.ticks.latest()).ok_or(ChangeError::Overflow)?;
        let look_by = due.look_by(|| self.now());
        if record.reschedule(due, || self.is_closed())? {
            self.send(record, Some(look_by));
        }
        Ok(())
    }

    /// Records a run.
    pub(crate) fn measure(&self, lateness: Duration, took: Duration) {
        let mut distributions = self.distributions.lock();
        distributions.lateness.record(lateness);
        distributions.run_time.record(took);
    }

    /// From when on a run takes long.
    pub(crate) fn slow_after(&self) -> Duration {
        self.settings.slow_after
    }

    /// Tells of runs that go on and take long by now. To be called without a lock, as the observer may do anything, such as stop
    /// the service.
    pub(crate) fn report_slow(&self, slow: Vec<(Arc<Record>, Duration)>) {
        for (record, time) in slow {
            self.counters.slow.count();
            self.report(&JobHandle::new(record), EventKind::StillRunning(time));
        }
    }

    /// Counts what happened, and tells those who want to know.
    pub(crate) fn report(&self, job: &JobHandle, kind: EventKind) {
        match kind {
            EventKind::Panicked(_) => self.counters.panicked.count(),
            EventKind::ChannelFull | EventKind::ChannelClosed => self.counters.undelivered.count(),
            EventKind::Abandoned => self.counters.abandoned.count(),
            // A run of which both is told is counted once, by who tells the first.
            EventKind::StillRunning(_) | EventKind::Slow(_) => 0,
        };
        let event = Event { job: job.clone(), kind };
        #[cfg(feature = "tracing")]
        tracing::warn!(job = %event.job, "{event}");
        if let Some(observer) = &self.settings.observer {
            // A callback that panics must not end the thread that it is told on; there is nobody left to tell.
            guarded(|| observer(&event)).unwrap_or_default();
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        // Copied first: every run wants this lock, and quantiles take a while.
        let distributions = self.distributions.lock().clone();
        let (lateness, run_time) =
            (distributions.lateness.summary(), distributions.run_time.summary());
        let (in_flight, running) = self.runs.count();
        Snapshot {
            counts: self.counters.read(),
            jobs: self.jobs(),
            keys: self.keys.lock().len(),
            in_flight,
            running,
            lateness,
            run_time,
        }
    }
}

/// Drops what the user gave, without a lock. It may panic in that, and neither a thread of the service nor what else is to be
/// done is to end by it.
pub(crate) fn discard<T>(value: T) {
    guarded(|| drop(value)).unwrap_or_default();
}

/// Calls code of the user; what it panicked with, as text.
pub(crate) fn guarded(code: impl FnOnce()) -> Result<(), String> {
    let Err(payload) = catch_unwind(AssertUnwindSafe(code)) else { return Ok(()) };
    let message = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| payload.downcast_ref::<String>().cloned());
    // Dropping what was thrown may throw again, and so on: then it is kept for ever.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    Err(message.unwrap_or_else(|| "(no message)".to_owned()))
}
