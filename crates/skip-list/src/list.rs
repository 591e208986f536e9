//! The timer facility on the levels.

use crate::heights::Heights;
use crate::levels::Levels;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A skip list of timers. The [crate documentation](crate) describes the structure and its costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see [`TimerId`].
#[derive(Clone)]
pub struct SkipList<T, M = NoMeter> {
    arena: Arena<T>,
    levels: Levels,
    heights: Heights,
    now: Tick,
    meter: M,
}

impl<T, M: Meter> SkipList<T, M> {
    pub(crate) fn with_parts(start: Tick, capacity: usize, meter: M) -> Self {
        let (arena, levels) = (Arena::with_capacity(capacity), Levels::with_capacity(capacity));
        Self { arena, levels, heights: Heights::DEFAULT, now: start, meter }
    }

    /// Sets the seed of the heights of timers inserted from now on; 1 by default. It affects the
    /// cost of searches, but not the order in which timers fire. If other parties choose which
    /// timers are cancelled, use a seed that they cannot guess.
    ///
    /// ```
    /// use wheelhouse_skip_list::SkipList;
    ///
    /// let list = SkipList::<&str>::new().with_seed(42);
    /// ```
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.heights = Heights::new(seed);
        self
    }

    /// The meter that counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }
}

/// [`advance`](Timer::advance) is O(1) expected for each timer that fires, and O(1) if none does.
impl<T, M: Meter> Timer<T> for SkipList<T, M> {
    wheelhouse_core::now_and_len!(arena);

    /// O(log n) expected, or O(1) behind the last timer; O(n) when an array grows.
    #[inline]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = self.arena.insert(value);
        let height = self.heights.draw();
        self.levels.link(id.index(), deadline, height, &self.meter);
        id
    }

    /// O(1) expected, O(log n) at worst.
    #[inline]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let ((), value) = self.arena.remove(id)?;
        self.levels.unlink(id.index(), &self.meter);
        Some(value)
    }

    /// O(log n) expected, or O(1) behind the last timer.
    #[inline]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        if self.arena.get(id).is_none() {
            return false;
        }
        self.levels.unlink(id.index(), &self.meter);
        let height = self.heights.draw();
        self.levels.link(id.index(), deadline, height, &self.meter);
        true
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.arena.get(id)?;
        Some(self.levels.deadline_of(id.index()))
    }

    /// O(1). Exact.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        self.levels.earliest()
    }

    /// O(1) expected, O(log n) at worst.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        let first = self.levels.due(self.now)?;
        self.levels.unlink(first.at, &self.meter);
        debug_assert!(self.arena.at(first.at).is_some(), "a timer in the list is live");
        let (id, value) = self.arena.remove_at(first.at)?;
        Some(Expired { id, deadline: first.deadline, value })
    }
}

#[cfg(test)]
mod tests;
