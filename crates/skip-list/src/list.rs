//! The list of all timers, and the levels above it.

use crate::heights::Heights;
use crate::level::{Level, Link, NONE, Node};
use crate::towers::{Path, Towers};
use alloc::vec::Vec;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A skip list of timers. The [crate documentation](crate) describes the structure and its costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see [`TimerId`].
#[derive(Clone)]
pub struct SkipList<T, M = NoMeter> {
    arena: Arena<T>,
    /// The nodes of level 0, by the timer's index in the arena. `other` is the timer's tower,
    /// [`NONE`] if it has none.
    nodes: Vec<Node>,
    base: Level,
    towers: Towers,
    heights: Heights,
    now: Tick,
    pub(crate) meter: M,
}

impl<T, M: Meter> SkipList<T, M> {
    pub(crate) fn with_parts(start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            arena: Arena::with_capacity(capacity),
            nodes: Vec::with_capacity(capacity),
            base: Level::EMPTY,
            // A quarter of all timers are on level 1, a quarter of those on level 2, and so on:
            // together a third.
            towers: Towers::with_capacity(capacity / 3),
            heights: Heights::DEFAULT,
            now: start,
            meter,
        }
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

    /// Inserts a timer on a random number of levels, behind all timers that are due at or before
    /// its deadline.
    #[inline]
    fn link(&mut self, index: u32, deadline: Tick) {
        let height = self.heights.draw();
        if index as usize >= self.nodes.len() {
            self.nodes.resize(index as usize + 1, Node::UNUSED);
        }
        let (behind, path) = self.search(deadline);
        let link = Link { deadline, at: index };
        let tower = match height {
            1 => NONE,
            _ => self.towers.build(&path, height - 1, link, &self.meter),
        };
        self.base.put_in(&mut self.nodes, behind, link, tower, &self.meter);
    }

    /// The last timer due at or before `deadline`, and the search path to it.
    #[inline]
    fn search(&self, deadline: Tick) -> (u32, Path) {
        let last = self.base.last();
        self.meter.tally(Work::Comparison, 1);
        if last == NONE || self.base.deadline_of(&self.nodes, last) <= deadline {
            return (last, self.towers.ends());
        }
        let (from, path) = self.towers.search(deadline, &self.meter);
        (self.base.search(&self.nodes, from, deadline, &self.meter), path)
    }

    #[inline]
    fn unlink(&mut self, index: u32) {
        self.base.take_out(&mut self.nodes, index, &self.meter);
        let tower = self.nodes[index as usize].other;
        if tower != NONE {
            self.towers.pull_down(tower, index, &self.meter);
        }
    }
}

/// [`advance`](Timer::advance) is O(1) expected for each timer that fires, and O(1) if none does.
impl<T, M: Meter> Timer<T> for SkipList<T, M> {
    wheelhouse_core::now_and_len!(arena);

    /// O(log n) expected, or O(1) behind the last timer; O(n) when an array grows.
    #[inline]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = self.arena.insert(value);
        self.link(id.index(), deadline);
        id
    }

    /// O(1) expected, O(log n) at worst.
    #[inline]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let ((), value) = self.arena.remove(id)?;
        self.unlink(id.index());
        Some(value)
    }

    /// O(log n) expected, or O(1) behind the last timer.
    #[inline]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        if self.arena.get(id).is_none() {
            return false;
        }
        self.unlink(id.index());
        self.link(id.index(), deadline);
        true
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.arena.get(id)?;
        Some(self.base.deadline_of(&self.nodes, id.index()))
    }

    /// O(1). Exact.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        Some(self.base.first()).filter(|first| first.at != NONE).map(|first| first.deadline)
    }

    /// O(1) expected, O(log n) at worst.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        let first = Some(self.base.first()).filter(|first| first.reaches(self.now))?;
        self.unlink(first.at);
        debug_assert!(self.arena.at(first.at).is_some(), "a timer in the list is live");
        let (id, value) = self.arena.remove_at(first.at)?;
        Some(Expired { id, deadline: first.deadline, value })
    }
}

#[cfg(test)]
mod tests;
