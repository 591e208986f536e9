//! One thread of the pool.

use super::{
    LONGEST, NEVER, NOBODY, NONE, PATIENCE, PATIENCE_MICROS, Pool, SLOW, SLOW_WHEN_BEHIND,
    THREAD_BITS,
};
use crate::job::Id;
use crate::sync::{Parker, fence};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// One thread of a pool. The owner of a scheduler has no pool, and always leads.
pub(crate) struct Member {
    pool: Option<Arc<Pool>>,
    me: usize,
    leads: Cell<bool>,
    /// The word that it has stored for its current run.
    word: Cell<u64>,
    /// The clock is set by hand, so the pool measures real time instead.
    by_hand: bool,
}

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
    pub(super) fn others(&self) -> Option<&Pool> {
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

    /// Converts the time of the clock to microseconds since the origin of the pool. With a clock
    /// that is set by hand, returns the real time since then.
    fn micros(&self, pool: &Pool, nanos: u64) -> u64 {
        if self.by_hand { pool.real_time() } else { (nanos / 1_000).saturating_sub(pool.origin.1) }
    }

    pub(crate) fn lead(&self) {
        debug_assert_eq!(self.word.get(), NONE, "it was in no run");
        debug_assert!(self.is_leader_in_no_run(), "another thread leads");
        self.leads.set(true);
    }

    fn is_leader_in_no_run(&self) -> bool {
        self.others().is_none_or(|pool| {
            let leader = pool.leader.load(Ordering::Relaxed);
            leader == self.me as u64 && pool.run.load(Ordering::Relaxed) == NONE
        })
    }

    /// Returns `true` if this thread led when its last run ended. Then it leads until its next run
    /// begins.
    #[inline]
    pub(crate) fn leads(&self) -> bool {
        debug_assert_eq!(self.word.get(), NONE, "asked between two runs");
        self.leads.get()
    }

    /// A run begins. `nanos` is what the clock shows, `lateness` is that of the run, and
    /// `blocks` is what its plan declares.
    #[inline]
    pub(crate) fn begin(&self, nanos: u64, lateness: Duration, blocks: bool) {
        let Some(pool) = self.others() else { return };
        debug_assert!(self.leads(), "only the leader takes out what is due");
        debug_assert!(self.is_leader_in_no_run(), "the pool has another leader, or a run of it");
        let at = self.micros(pool, nanos);
        // Plus one, so that no word is `NONE`.
        let word = at << THREAD_BITS | (self.me as u64 + 1);
        self.word.set(word);
        pool.run.store(word, Ordering::SeqCst);
        // Loom treats a `SeqCst` access as acquire and release only, so the model needs a fence.
        if cfg!(wheelhouse_loom) {
            fence(Ordering::SeqCst);
        }
        let mean = pool.mean();
        let is_slow = mean > SLOW || (mean > SLOW_WHEN_BEHIND && lateness > PATIENCE);
        if blocks || is_slow {
            // This thread finds that it has lost the lead when the run ends.
            pool.pass_lead(word);
        } else if pool.next_check.load(Ordering::SeqCst) > at + PATIENCE_MICROS {
            pool.wake_standby();
        }
    }

    #[inline]
    pub(crate) fn ended(&self, took: Duration) {
        let Some(pool) = &self.pool else { return };
        debug_assert!(self.word.get() != NONE || self.others().is_none(), "a run ends once");
        self.end_word(pool);
        // The time of one very slow run says little about the next: the thread may have been
        // preempted.
        let (mean, took_nanos) = (pool.mean.load(Ordering::Relaxed), took.min(LONGEST).as_nanos());
        pool.mean.store(mean - mean / 16 + took_nanos as u64 / 16, Ordering::Relaxed);
        if took > PATIENCE && self.leads.get() && pool.standby.load(Ordering::Relaxed) == NOBODY {
            pool.delayed_others.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Calls an observer, or drops a value of the user, as in a run: it may stop the service and
    /// wait for other jobs, so another thread must be able to take the lead. `nanos` is what the
    /// clock shows.
    pub(crate) fn as_in_a_run(&self, nanos: u64, call: impl FnOnce()) {
        if self.word.get() != NONE || !self.leads.get() {
            return call();
        }
        self.begin(nanos, Duration::ZERO, false);
        call();
        self.pool.as_deref().into_iter().for_each(|pool| self.end_word(pool));
    }

    /// The current run is over. It has lost the lead in it if the word has changed.
    #[inline]
    fn end_word(&self, pool: &Pool) {
        let word = self.word.replace(NONE);
        if self.leads.get() && word != NONE && !pool.end_run(word) {
            self.leads.set(false);
        }
    }

    /// Returns to the pool after losing the lead. `nanos` is what the clock shows.
    pub(crate) fn come_back(&self, nanos: u64) {
        debug_assert!(!self.leads(), "a leader stays one");
        let Some(pool) = self.others() else { return };
        let at = self.micros(pool, nanos);
        if pool.come_back(self.me as u64) {
            // There was no standby until now. Count the leader's run if it is already too long.
            let run = pool.run.load(Ordering::Relaxed);
            let is_late = run != NONE && (run >> THREAD_BITS) + PATIENCE_MICROS < at;
            pool.delayed_others.fetch_add(u64::from(is_late), Ordering::Relaxed);
        }
    }

    /// Waits as the standby, until this thread leads or there is nothing more to do. `due` returns
    /// when something is due first, `now` what the clock shows, both in nanoseconds.
    pub(crate) fn stand_by(
        &self,
        parker: &Parker,
        is_done: impl Fn() -> bool,
        due: impl Fn() -> Option<u64>,
        now: impl Fn() -> u64,
    ) {
        let Some(pool) = self.others() else { return };
        while !is_done() && self.role() == Role::StandBy {
            let at = self.micros(pool, now());
            let run = pool.run.load(Ordering::SeqCst);
            let next_check = if run != NONE {
                let next_check = (run >> THREAD_BITS) + pool.patience();
                if next_check <= at {
                    pool.pass_lead(run);
                    continue;
                }
                next_check
            } else if let Some(due) = due().filter(|_| !self.by_hand) {
                self.micros(pool, due).max(at).saturating_add(PATIENCE_MICROS)
            } else {
                NEVER
            };
            if !pool.set_next_check(next_check, self.me as u64) {
                return;
            }
            fence(Ordering::SeqCst);
            // The leader may have begun a run before it could read the time of this check. Then
            // check again. If it was in a run already, its next run begins later, and this check is
            // in time for that.
            if run == NONE && pool.run.load(Ordering::SeqCst) != NONE {
                continue;
            }
            match next_check {
                NEVER => parker.park(),
                next_check => parker.park_timeout(Duration::from_micros(next_check - at)),
            }
        }
    }

    #[inline]
    pub(crate) fn set_run(&self, id: Id) {
        let Some(pool) = self.others() else { return };
        let (running, (number, location)) = (&pool.running[self.me], id.words());
        running.location.store(location, Ordering::Relaxed);
        running.number.store(number, Ordering::Relaxed);
    }

    /// The run of this thread is over. To be called under the lock of its shard. Returns `true` if
    /// the lead was lost in it: then the leader may watch it.
    #[inline]
    pub(crate) fn clear_run(&self) -> bool {
        let Some(pool) = self.others() else { return false };
        pool.running[self.me].number.store(0, Ordering::Relaxed);
        !self.leads()
    }

    pub(crate) fn former_leader(&self) -> Option<usize> {
        let former = self.others()?.former.load(Ordering::Relaxed);
        (former != NOBODY).then_some(former as usize)
    }

    pub(crate) fn run_of(&self, thread: usize) -> Option<Id> {
        let running = &self.others()?.running[thread];
        let number = running.number.load(Ordering::Relaxed);
        Id::from_words((number, running.location.load(Ordering::Relaxed)))
    }
}
