//! The lead: one thread of a service has it. This is the pattern of leader and followers (Schmidt,
//! O'Ryan, Kircher and Pyarali, 2000), with a standby.
//!
//! The leader takes out what is due and runs it itself, so that a brief job costs no hand-over. One
//! other thread is the standby. It looks at the leader when that has been in one run for
//! [`PATIENCE`], and takes the lead if the run continues. The slow run ends on its thread, which
//! then comes back. Where runs are slow on average, or a job says that it blocks, the leader gives
//! the lead to the standby before the run.
//!
//! One word, [`Pool::run`], decides who leads. It is [`NONE`] while the leader is in no run, and
//! otherwise says which thread is in a run and since when. The leader writes it when a run begins.
//! When the run ends the leader, and when it takes the lead the standby, make it [`NONE`] again by
//! a compare-and-exchange, of which one succeeds:
//!
//! * A thread writes no word but its own, so a leader that finds its word there still leads. One
//!   that does not has lost the lead, and touches nothing that belongs to the leader.
//! * From [`NONE`] only the leader changes the word. So the lead cannot be lost between two runs:
//!   while the leader takes out what is due, brings a value or wakes a task, says when it wakes up,
//!   and sleeps. That keeps values in order.
//!
//! The standby looks in time, by the same protocol as a wake-up (see `signal`): it stores the time
//! of its next look, then reads the word once more; the leader stores the word, then reads that
//! time. Only the thread that is named as the standby stores it.

mod member;
#[cfg(all(test, not(wheelhouse_loom)))]
mod tests;

pub(crate) use member::{Member, Role};

use crate::sync::{AtomicBool, AtomicU64, Mutex, Parker, Unparker, fence};
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64 as Counter, Ordering};
use std::time::{Duration, Instant};

/// A run may hold up others for this time before the standby takes the lead.
pub(crate) const PATIENCE: Duration = Duration::from_micros(200);

/// The same in microseconds. In a model no time passes: the standby looks whenever it runs.
const PATIENCE_MICROS: u64 = if cfg!(wheelhouse_loom) { 0 } else { PATIENCE.as_micros() as u64 };

/// Where runs take longer than this on average, the lead changes before each: to wake up the
/// standby costs the leader some 5 us.
const SLOW: Duration = Duration::from_micros(30);

/// The same if the leader is behind by more than the patience: then a second thread helps.
const SLOW_WHEN_BEHIND: Duration = Duration::from_micros(20);

/// No run counts for more in the average, so that it takes three in a row to change anything.
const LONGEST: Duration = Duration::from_micros(120);

/// The leader is in no run.
const NONE: u64 = 0;

/// The standby is going to look at the leader before it sleeps.
const AWAKE: u64 = 0;

/// The standby sleeps until it is woken.
const NEVER: u64 = u64::MAX;

/// No thread.
const NOBODY: u64 = u64::MAX;

/// Bits of a word that name the thread.
const THREAD_BITS: u32 = 16;

/// The most threads of a service.
pub(crate) const MOST_THREADS: usize = (1 << THREAD_BITS) - 2;

/// The threads of a service.
pub(crate) struct Pool {
    /// The run of the leader: see the head of this file.
    run: CachePadded<AtomicU64>,
    /// When the standby looks at it, in microseconds.
    look: CachePadded<AtomicU64>,
    /// How long runs take: a moving mean, in nanoseconds.
    mean: AtomicU64,
    /// These three are written under the lock of `roles`.
    leader: AtomicU64,
    standby: AtomicU64,
    /// The leader before, which may still be in the run in which the lead passed on.
    former: AtomicU64,
    roles: Mutex<Roles>,
    threads: Box<[Unparker]>,
    running: Box<[CachePadded<Running>]>,
    /// How often a run held up others for longer than the patience, as no thread was free.
    held_up: Arc<Counter>,
    /// The service has ended: threads that have nothing more to do end.
    over: AtomicBool,
    /// Where the clock is set by hand, time is counted from here; elsewhere, by that clock, from
    /// the moment that it showed then, in microseconds.
    origin: (Instant, u64),
}

/// Threads that do not lead.
struct Roles {
    standby: Option<usize>,
    idle: Vec<usize>,
}

/// The run of a thread, for messages about runs that take long. Written by that thread; a job that
/// ends is taken out under the lock of its shard.
#[derive(Default)]
struct Running {
    /// The two words of the job's [`Id`]; the number is zero if there is none.
    number: AtomicU64,
    place: AtomicU64,
}

impl Pool {
    /// Of as many threads as there are parkers; the first leads. `nanos` is what the clock shows.
    /// `held_up` is a counter of the service.
    pub(crate) fn new(threads: &[Parker], nanos: u64, held_up: &Arc<Counter>) -> Self {
        debug_assert!(threads.len() <= MOST_THREADS, "{} threads", threads.len());
        let standby = (threads.len() > 1).then_some(1);
        Self {
            run: CachePadded::new(AtomicU64::new(NONE)),
            look: CachePadded::new(AtomicU64::new(AWAKE)),
            mean: AtomicU64::new(0),
            leader: AtomicU64::new(0),
            standby: AtomicU64::new(standby.map_or(NOBODY, |standby| standby as u64)),
            former: AtomicU64::new(NOBODY),
            roles: Mutex::new(Roles { standby, idle: (2..threads.len()).rev().collect() }),
            threads: threads.iter().map(|parker| parker.unparker().clone()).collect(),
            running: threads.iter().map(|_| CachePadded::default()).collect(),
            held_up: Arc::clone(held_up),
            over: AtomicBool::new(false),
            origin: (Instant::now(), nanos / 1_000),
        }
    }

    /// Wakes the leader.
    pub(crate) fn wake_leader(&self) {
        let leader = self.leader.load(Ordering::SeqCst) as usize;
        self.threads.get(leader).into_iter().for_each(Unparker::unpark);
    }

    pub(crate) fn wake_all(&self) {
        self.threads.iter().for_each(Unparker::unpark);
    }

    /// The service has ended.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.wake_all();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Microseconds since the pool was made, in real time.
    fn real_time(&self) -> u64 {
        if cfg!(wheelhouse_loom) { 0 } else { self.origin.0.elapsed().as_micros() as u64 }
    }

    /// Ends a run, or takes the lead from the thread that is in it. Returns `true` for the first of
    /// the two.
    fn end_run(&self, run: u64) -> bool {
        self.run.compare_exchange(run, NONE, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Makes the standby the leader, and an idle thread the standby.
    fn promote(&self, roles: &mut Roles) {
        let Some(next) = roles.standby.take() else { return };
        roles.standby = roles.idle.pop();
        self.former.store(self.leader.load(Ordering::Relaxed), Ordering::Relaxed);
        self.leader.store(next as u64, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.name_standby(roles);
        for thread in [Some(next), roles.standby].into_iter().flatten() {
            self.threads[thread].unpark();
        }
    }

    fn name_standby(&self, roles: &Roles) {
        let standby = roles.standby.map_or(NOBODY, |standby| standby as u64);
        self.standby.store(standby, Ordering::SeqCst);
    }

    /// Gives the lead to the standby, from the thread that is in this run. Returns `false` if that
    /// thread keeps it, as no other stands by.
    fn give_away(&self, run: u64) -> bool {
        let mut roles = self.roles.lock();
        let stands_by = roles.standby.is_some();
        // The standby may have taken the lead in this run.
        if stands_by && self.end_run(run) {
            self.promote(&mut roles);
        }
        stands_by
    }

    /// Takes the lead from a leader that is in this run, if it still is, for the standby. All of
    /// that is under the lock, so that a thread that has lost the lead and comes back is no longer
    /// named as the leader.
    fn take_over(&self, run: u64, me: usize) {
        let mut roles = self.roles.lock();
        if roles.standby == Some(me) && self.end_run(run) {
            self.promote(&mut roles);
        }
    }

    /// A thread that has lost the lead is back. Returns `true` if it stands by.
    fn come_back(&self, me: usize) -> bool {
        let mut roles = self.roles.lock();
        debug_assert_ne!(self.leader.load(Ordering::SeqCst), me as u64, "another leads");
        if roles.standby.is_none() {
            roles.standby = Some(me);
            self.name_standby(&roles);
        } else {
            roles.idle.push(me);
        }
        roles.standby == Some(me)
    }

    /// The standby says when it looks at the leader next. Returns `false` if another stands by. The
    /// name is read and the time stored under the lock, so that a thread that is promoted meanwhile
    /// does not overwrite the time of the next standby, which may sleep already.
    fn look_at(&self, micros: u64, me: usize) -> bool {
        let roles = self.roles.lock();
        let stands_by = roles.standby == Some(me);
        if stands_by {
            self.look.store(micros, Ordering::SeqCst);
        }
        stands_by
    }

    /// Wakes the standby to look at the leader, which is in a run.
    #[cold]
    fn wake_standby(&self) {
        if self.look.swap(AWAKE, Ordering::SeqCst) != AWAKE {
            let standby = self.standby.load(Ordering::SeqCst) as usize;
            self.threads.get(standby).into_iter().for_each(Unparker::unpark);
        }
    }

    /// How long runs take on average.
    fn mean(&self) -> Duration {
        Duration::from_nanos(self.mean.load(Ordering::Relaxed))
    }

    /// How long the standby waits for a run. If runs are slow on average, it does not wait.
    fn patience(&self) -> u64 {
        if self.mean() > SLOW { 0 } else { PATIENCE_MICROS }
    }
}
