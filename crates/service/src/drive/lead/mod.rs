//! The lead: one thread of a service has it. This is the pattern of leader and followers (Schmidt,
//! O'Ryan, Kircher and Pyarali, 2000), with a standby.
//!
//! The leader takes out due jobs and runs them itself, so a brief job costs no hand-over. One other
//! thread is the standby. If the leader has been in one run for [`PATIENCE`], the standby takes the
//! lead. The slow run ends on its own thread, which then returns to the pool. If runs are slow on
//! average, or a job is declared as blocking, the leader gives the lead to the standby before the
//! run.
//!
//! One word, [`Pool::run`], decides who leads. It is [`NONE`] while the leader is in no run.
//! Otherwise it contains the thread that is in a run, and when the run began. The leader writes it
//! when a run begins. Then two threads may reset it to [`NONE`] by a compare-and-exchange: the
//! leader when the run ends, and the standby when it takes the lead. Exactly one succeeds:
//!
//! * A thread only stores words with its own number, or [`NONE`]. So a leader that finds its word
//!   unchanged still leads. Otherwise it has lost the lead, and touches nothing that belongs to the
//!   leader.
//! * Only the leader changes the word from [`NONE`]. So the lead cannot be lost between two runs,
//!   which is while the leader takes out due jobs, sends a value, wakes a task, stores its wake-up
//!   time, and sleeps. That keeps values in order.
//!
//! The standby checks in time, by the same protocol as a wake-up (see `signal`): it stores the time
//! of its next check, then reads the word once more. The leader stores the word, then reads that
//! time. Only the thread that is named as the standby stores it.

mod member;

pub(crate) use member::{Member, Role};

use crate::error::MOST_THREADS;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Parker, Unparker, fence};
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64 as Counter, Ordering};
use std::time::{Duration, Instant};

/// How long a run may delay others before the standby takes the lead.
pub(crate) const PATIENCE: Duration = Duration::from_micros(200);

/// The same in microseconds. In a model no time passes: the standby takes over whenever it runs.
const PATIENCE_MICROS: u64 = if cfg!(wheelhouse_loom) { 0 } else { PATIENCE.as_micros() as u64 };

/// If runs take longer than this on average, the lead changes before each: waking the standby costs
/// the leader some 5 us.
const SLOW: Duration = Duration::from_micros(30);

/// The same if the leader is late by more than the patience: then a second thread helps.
const SLOW_WHEN_BEHIND: Duration = Duration::from_micros(20);

/// The most that one run counts in the average, so that it takes three slow runs in a row to change
/// anything.
const LONGEST: Duration = Duration::from_micros(120);

/// The leader is in no run.
const NONE: u64 = 0;

/// The standby will check the leader before it sleeps.
const AWAKE: u64 = 0;

/// The standby sleeps until it is woken.
const NEVER: u64 = u64::MAX;

const NOBODY: u64 = u64::MAX;

/// The bits of a word that contain the number of the thread.
const THREAD_BITS: u32 = 16;

// Zero is none of these numbers: see `Member::begin`.
const _: () = assert!(MOST_THREADS < 1 << THREAD_BITS);

pub(crate) struct Pool {
    /// The run of the leader: see the head of this file.
    run: CachePadded<AtomicU64>,
    /// When the standby checks it next, in microseconds.
    next_check: CachePadded<AtomicU64>,
    /// How long runs take: a moving average, in nanoseconds.
    mean: AtomicU64,
    /// These three are written under the lock of `idle`.
    leader: AtomicU64,
    standby: AtomicU64,
    /// The former leader, which may still be in the run in which it lost the lead.
    former: AtomicU64,
    /// The threads that neither lead nor stand by, nor are in a run in which they lost the lead.
    idle: Mutex<Vec<u64>>,
    threads: Box<[Unparker]>,
    running: Box<[CachePadded<Running>]>,
    /// How often a run delayed others for longer than the patience, since no thread was free.
    delayed_others: Arc<Counter>,
    /// The service has ended: threads without further work end.
    over: AtomicBool,
    /// The origin of time in the pool: an instant, for clocks that are set by hand, and for other
    /// clocks what the clock showed then, in microseconds.
    origin: (Instant, u64),
}

/// The run of a thread, for reports of slow runs. Written by that thread. A job that ends is
/// removed under the lock of its shard.
#[derive(Default)]
struct Running {
    /// The two words of the job's [`Id`]; the number is zero if there is none.
    number: AtomicU64,
    location: AtomicU64,
}

impl Pool {
    /// A pool with a thread for each parker. The first leads. `nanos` is what the clock shows.
    /// `delayed_others` is a counter of the service.
    pub(crate) fn new(threads: &[Parker], nanos: u64, delayed_others: &Arc<Counter>) -> Self {
        debug_assert!(threads.len() <= MOST_THREADS, "{} threads", threads.len());
        let count = threads.len() as u64;
        Self {
            run: CachePadded::new(AtomicU64::new(NONE)),
            next_check: CachePadded::new(AtomicU64::new(AWAKE)),
            mean: AtomicU64::new(0),
            leader: AtomicU64::new(0),
            standby: AtomicU64::new(if count > 1 { 1 } else { NOBODY }),
            former: AtomicU64::new(NOBODY),
            idle: Mutex::new((2..count).rev().collect()),
            threads: threads.iter().map(|parker| parker.unparker().clone()).collect(),
            running: threads.iter().map(|_| CachePadded::default()).collect(),
            delayed_others: Arc::clone(delayed_others),
            over: AtomicBool::new(false),
            origin: (Instant::now(), nanos / 1_000),
        }
    }

    pub(crate) fn wake_leader(&self) {
        let leader = self.leader.load(Ordering::SeqCst);
        debug_assert_ne!(leader, NOBODY, "a pool always has a leader");
        self.unpark(leader);
    }

    /// Wakes a thread. Does nothing for [`NOBODY`].
    fn unpark(&self, thread: u64) {
        self.threads.get(thread as usize).into_iter().for_each(Unparker::unpark);
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

    /// Ends a run, or takes the lead from the thread that is in it. Returns `true` to the first of
    /// the two callers.
    fn end_run(&self, run: u64) -> bool {
        self.run.compare_exchange(run, NONE, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Makes the standby the leader, and an idle thread the standby.
    fn promote(&self, idle: &mut Vec<u64>) {
        let [former, next] = [&self.leader, &self.standby].map(|its| its.load(Ordering::Relaxed));
        debug_assert!(next != NOBODY && next != former, "thread {next} cannot take the lead");
        let standby = idle.pop().unwrap_or(NOBODY);
        self.former.store(former, Ordering::Relaxed);
        self.leader.store(next, Ordering::SeqCst);
        // Pairs with the fence in `Signal::wake`: if the new leader announces its sleep after a
        // wake-up, the waker reads its name here.
        fence(Ordering::SeqCst);
        debug_assert!(
            standby != next && !idle.contains(&next),
            "thread {next} leads, and has another role too"
        );
        self.standby.store(standby, Ordering::SeqCst);
        [next, standby].into_iter().for_each(|thread| self.unpark(thread));
    }

    /// Passes the lead from the thread that is in this run to the standby: the leader gives it
    /// away, or the standby takes it, whichever comes first. Does nothing if there is no standby. A
    /// thread that becomes the standby after this finds the run. All of that is done under the
    /// lock. So when a thread that has lost the lead comes back, it is not named as the leader.
    fn pass_lead(&self, run: u64) {
        let mut idle = self.idle.lock();
        if self.standby.load(Ordering::Relaxed) != NOBODY && self.end_run(run) {
            self.promote(&mut idle);
        }
    }

    /// A thread that has lost the lead is back. Returns `true` if it becomes the standby.
    fn come_back(&self, me: u64) -> bool {
        let mut idle = self.idle.lock();
        let standby = self.standby.load(Ordering::Relaxed);
        debug_assert_ne!(self.leader.load(Ordering::SeqCst), me, "another leads");
        debug_assert!(standby != me && !idle.contains(&me), "thread {me} comes back once");
        if standby == NOBODY {
            self.standby.store(me, Ordering::SeqCst);
        } else {
            idle.push(me);
        }
        standby == NOBODY
    }

    /// The standby stores when it checks the leader next. Returns `false` if another thread is the
    /// standby. The name is read and the time stored under the lock: otherwise a thread that is
    /// promoted in between could overwrite the time of the next standby, which may sleep already.
    fn set_next_check(&self, micros: u64, me: u64) -> bool {
        let _idle = self.idle.lock();
        let stands_by = self.standby.load(Ordering::Relaxed) == me;
        if stands_by {
            self.next_check.store(micros, Ordering::SeqCst);
        }
        stands_by
    }

    /// Wakes the standby to check the leader, which is in a run.
    #[cold]
    fn wake_standby(&self) {
        if self.next_check.swap(AWAKE, Ordering::SeqCst) != AWAKE {
            self.unpark(self.standby.load(Ordering::SeqCst));
        }
    }

    fn mean(&self) -> Duration {
        Duration::from_nanos(self.mean.load(Ordering::Relaxed))
    }

    /// How long the standby waits for a run. It does not wait if runs are slow on average.
    fn patience(&self) -> u64 {
        if self.mean() > SLOW { 0 } else { PATIENCE_MICROS }
    }
}

#[cfg(all(test, not(wheelhouse_loom)))]
mod tests {
    use super::*;

    /// The members of a pool, of which the first leads.
    fn members(threads: usize) -> Vec<Member> {
        let parkers: Vec<Parker> = (0..threads).map(|_| Parker::new()).collect();
        let pool = Arc::new(Pool::new(&parkers, 0, &Arc::default()));
        (0..threads).map(|me| Member::new(&pool, me, false)).collect()
    }

    fn roles(members: &[Member]) -> Vec<Role> {
        members.iter().map(Member::role).collect()
    }

    fn run(member: &Member, took: Duration) {
        member.begin(0, Duration::ZERO, false);
        member.ended(took);
    }

    #[test]
    fn the_lead_changes_before_a_run_that_blocks_while_a_thread_stands_by() {
        let members = members(3);
        assert_eq!(roles(&members), [Role::Lead, Role::StandBy, Role::Idle]);
        members[0].begin(0, Duration::ZERO, true);
        assert_eq!(roles(&members), [Role::Idle, Role::Lead, Role::StandBy]);
        members[1].begin(0, Duration::ZERO, true);
        assert_eq!(roles(&members), [Role::Idle, Role::Idle, Role::Lead]);
        members[2].begin(0, Duration::ZERO, true);
        members[2].ended(Duration::ZERO);
        assert!(members[2].leads(), "no thread stands by");
        members[0].ended(Duration::ZERO);
        members[0].come_back(0);
        assert_eq!(roles(&members), [Role::StandBy, Role::Idle, Role::Lead]);
    }

    #[test]
    fn the_lead_changes_where_runs_are_slow_on_average_and_not_for_one_that_is() {
        let members = members(2);
        run(&members[0], Duration::from_secs(1));
        (0..1_000).for_each(|_| run(&members[0], Duration::from_nanos(200)));
        assert!(members[0].leads());
        let slow = (0..10).take_while(|_| members[0].leads());
        let slow = slow.inspect(|_| run(&members[0], Duration::from_millis(1))).count();
        assert!((3..8).contains(&slow), "after {slow} slow runs");
        assert_eq!(roles(&members)[1], Role::Lead);
    }

    #[test]
    fn a_run_that_holds_up_others_is_counted_if_no_thread_stands_by() {
        let members = members(2);
        let delayed_others =
            || members[0].others().map(|pool| pool.delayed_others.load(Ordering::Relaxed));
        run(&members[0], PATIENCE * 2);
        assert_eq!(delayed_others(), Some(0));
        members[0].begin(0, Duration::ZERO, true);
        members[1].begin(0, Duration::ZERO, false);
        members[1].ended(PATIENCE * 2);
        assert_eq!(delayed_others(), Some(1));
        members[1].begin(1_000_000, Duration::ZERO, false);
        members[0].ended(Duration::ZERO);
        members[0].come_back(1_100_000);
        assert_eq!(delayed_others(), Some(1), "it is not late yet");
    }

    /// A thread that was the standby until now may still be about to store the time of its check.
    /// The next standby, which may sleep already, would not be woken in time.
    #[test]
    fn only_the_standby_stores_when_it_checks_next() {
        let members = members(3);
        members[0].begin(0, Duration::ZERO, true);
        assert_eq!(roles(&members), [Role::Idle, Role::Lead, Role::StandBy]);
        let pool = members[0].others().unwrap();
        assert!(pool.set_next_check(NEVER, 2));
        assert!(!pool.set_next_check(5, 1));
        assert_eq!(pool.next_check.load(Ordering::Relaxed), NEVER);
    }
}
