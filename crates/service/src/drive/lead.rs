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
//! time.

use crate::job::Id;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Parker, Unparker, fence};
use crossbeam_utils::CachePadded;
use std::cell::Cell;
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

/// One thread of a pool. The owner of a scheduler has no pool, and always leads.
pub(crate) struct Member {
    pool: Option<Arc<Pool>>,
    me: usize,
    leads: Cell<bool>,
    /// The word that it has stored for the run that it is in.
    word: Cell<u64>,
    /// The clock is set by hand, so that time is counted apart from it.
    by_hand: bool,
}

/// The role of a thread in its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Lead,
    StandBy,
    Idle,
}

impl Member {
    /// The owner of a scheduler.
    pub(crate) fn alone() -> Self {
        Self { pool: None, me: 0, leads: Cell::new(true), word: Cell::new(NONE), by_hand: false }
    }

    pub(crate) fn new(pool: &Arc<Pool>, me: usize, by_hand: bool) -> Self {
        Self { pool: Some(Arc::clone(pool)), me, by_hand, ..Self::alone() }
    }

    /// The pool, if there is another thread in it.
    fn others(&self) -> Option<&Pool> {
        self.pool.as_deref().filter(|pool| pool.threads.len() > 1)
    }

    pub(crate) fn role(&self) -> Role {
        let Some(pool) = self.others() else { return Role::Lead };
        match self.me as u64 {
            me if me == pool.leader.load(Ordering::SeqCst) => Role::Lead,
            me if me == pool.standby.load(Ordering::SeqCst) => Role::StandBy,
            _ => Role::Idle,
        }
    }

    /// The time in microseconds, of which `now` is what the clock shows.
    fn micros(&self, pool: &Pool, nanos: u64) -> u64 {
        if self.by_hand { pool.real_time() } else { (nanos / 1_000).saturating_sub(pool.origin.1) }
    }

    /// From here on this thread leads.
    pub(crate) fn lead(&self) {
        debug_assert_eq!(self.word.get(), NONE, "it was in no run");
        self.leads.set(true);
    }

    /// Returns `true` if it led when its last run ended: then it leads until the next begins.
    #[inline]
    pub(crate) fn leads(&self) -> bool {
        debug_assert_eq!(self.word.get(), NONE, "asked between two runs");
        self.leads.get()
    }

    /// A run begins. `nanos` is what the clock shows, `late` is the lateness of the run, and
    /// `blocks` is what its plan says.
    #[inline]
    pub(crate) fn begin(&self, nanos: u64, late: Duration, blocks: bool) {
        let Some(pool) = self.others() else { return };
        debug_assert!(self.leads(), "only the leader takes out what is due");
        let at = self.micros(pool, nanos);
        let word = at << THREAD_BITS | (self.me as u64 + 1);
        self.word.set(word);
        pool.run.store(word, Ordering::SeqCst);
        // Loom takes such an access for an acquire or a release, and knows only fences as more.
        if cfg!(wheelhouse_loom) {
            fence(Ordering::SeqCst);
        }
        let mean = pool.mean();
        let is_slow = mean > SLOW || (mean > SLOW_WHEN_BEHIND && late > PATIENCE);
        if (blocks || is_slow) && pool.give_away(word) {
            self.leads.set(false);
        } else if pool.look.load(Ordering::SeqCst) > at + PATIENCE_MICROS {
            pool.wake_standby();
        }
    }

    /// A run has ended that took so long.
    #[inline]
    pub(crate) fn ended(&self, took: Duration) {
        let Some(pool) = &self.pool else { return };
        let word = self.word.replace(NONE);
        if self.leads.get() && word != NONE && !pool.end_run(word) {
            self.leads.set(false);
        }
        // One run that takes very long says little of the next: the thread may have been
        // interrupted.
        let (mean, took_nanos) = (pool.mean.load(Ordering::Relaxed), took.min(LONGEST).as_nanos());
        pool.mean.store(mean - mean / 16 + took_nanos as u64 / 16, Ordering::Relaxed);
        if took > PATIENCE && self.leads.get() && pool.standby.load(Ordering::Relaxed) == NOBODY {
            pool.held_up.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Having lost the lead, it is one of the others again. `nanos` is what the clock shows.
    pub(crate) fn come_back(&self, nanos: u64) {
        debug_assert!(!self.leads(), "a leader stays one");
        let Some(pool) = self.others() else { return };
        let at = self.micros(pool, nanos);
        if pool.come_back(self.me) {
            // Nobody stood by until now: has the leader been in a run for too long?
            let run = pool.run.load(Ordering::Relaxed);
            let is_late = run != NONE && (run >> THREAD_BITS) + PATIENCE_MICROS < at;
            pool.held_up.fetch_add(u64::from(is_late), Ordering::Relaxed);
        }
    }

    /// Waits as the standby, until this thread leads or there is nothing more to do. `due` says
    /// when something is due first, `now` what the clock shows, both in nanoseconds.
    pub(crate) fn stand_by(
        &self,
        parker: &Parker,
        is_done: impl Fn() -> bool,
        due: impl Fn() -> Option<u64>,
        now: impl Fn() -> u64,
    ) {
        let Some(pool) = self.others() else { return };
        loop {
            pool.look.store(AWAKE, Ordering::SeqCst);
            if is_done() || self.role() != Role::StandBy {
                return;
            }
            let at = self.micros(pool, now());
            let run = pool.run.load(Ordering::SeqCst);
            let look = if run != NONE {
                let look = (run >> THREAD_BITS) + pool.patience();
                if look <= at {
                    pool.take_over(run, self.me);
                    continue;
                }
                look
            } else if let Some(due) = due().filter(|_| !self.by_hand) {
                self.micros(pool, due).max(at).saturating_add(PATIENCE_MICROS)
            } else {
                NEVER
            };
            pool.look.store(look, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            // The leader may have begun a run without having read the time of the next look. If it
            // was in a run already, any other begins later, and this look is in time for it.
            if run == NONE && pool.run.load(Ordering::SeqCst) != NONE {
                continue;
            }
            match look {
                NEVER => parker.park(),
                look => parker.park_timeout(Duration::from_micros(look - at)),
            }
        }
    }
}

/// The runs that the threads are in.
impl Member {
    /// A job begins on this thread.
    #[inline]
    pub(crate) fn names_run(&self, id: Id) {
        let Some(pool) = self.others() else { return };
        let (running, (number, place)) = (&pool.running[self.me], id.words());
        running.place.store(place, Ordering::Relaxed);
        running.number.store(number, Ordering::Relaxed);
    }

    /// The run of this thread is over. To be called under the lock of its shard. Returns `true` if
    /// the lead was lost in it, so that the leader may watch it.
    #[inline]
    pub(crate) fn forgets_run(&self) -> bool {
        let Some(pool) = self.others() else { return false };
        pool.running[self.me].number.store(0, Ordering::Relaxed);
        !self.leads()
    }

    /// The thread that led before, if any has.
    pub(crate) fn former_leader(&self) -> Option<usize> {
        let former = self.others()?.former.load(Ordering::Relaxed);
        (former != NOBODY).then_some(former as usize)
    }

    /// The job that a thread runs.
    pub(crate) fn run_of(&self, thread: usize) -> Option<Id> {
        let running = self.others()?.running.get(thread)?;
        let number = running.number.load(Ordering::Relaxed);
        Id::from_words((number, running.place.load(Ordering::Relaxed)))
    }

    pub(crate) fn number(&self) -> usize {
        self.me
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
        let held_up = || members[0].others().map(|pool| pool.held_up.load(Ordering::Relaxed));
        run(&members[0], PATIENCE * 2);
        assert_eq!(held_up(), Some(0));
        members[0].begin(0, Duration::ZERO, true);
        members[1].begin(0, Duration::ZERO, false);
        members[1].ended(PATIENCE * 2);
        assert_eq!(held_up(), Some(1));
        members[1].begin(1_000_000, Duration::ZERO, false);
        members[0].ended(Duration::ZERO);
        members[0].come_back(1_100_000);
        assert_eq!(held_up(), Some(1), "it is not late yet");
    }
}
