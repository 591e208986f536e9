//! The timer facility over the levels.

use crate::builder::Builder;
use crate::heights::Heights;
use crate::levels::Levels;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A skip list of timers. See the [crate's page](crate) for what it is and what it costs.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see [`TimerId`].
#[derive(Clone, Debug)]
pub struct SkipList<T, M = NoMeter> {
    arena: Arena<T>,
    levels: Levels,
    heights: Heights,
    now: Tick,
    meter: M,
}

impl<T> SkipList<T> {
    /// An empty list, its clock at 0.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Chooses the first tick, the capacity, the seed or a meter.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }
}

impl<T> Default for SkipList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, M: Meter> SkipList<T, M> {
    pub(crate) fn with_parts(start: Tick, capacity: usize, seed: u64, meter: M) -> Self {
        Self {
            arena: Arena::with_capacity(capacity),
            levels: Levels::with_capacity(capacity),
            heights: Heights::new(seed),
            now: start,
            meter,
        }
    }

    /// What counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }
}

impl<T, M: Meter> Timer<T> for SkipList<T, M> {
    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn len(&self) -> usize {
        self.arena.len()
    }

    /// O(log n) expected, O(1) behind the last timer; O(n) when an array grows.
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
        let value = self.arena.remove(id)?;
        self.levels.unlink(id.index(), &self.meter);
        Some(value)
    }

    /// O(log n) expected, O(1) behind the last timer.
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
        self.levels.first().map(|(deadline, _)| deadline)
    }

    /// O(1) expected, O(log n) at worst.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        let (deadline, index) = self.levels.first().filter(|(deadline, _)| *deadline <= self.now)?;
        self.levels.unlink(index, &self.meter);
        let (id, value) = self.arena.remove_at(index)?;
        Some(Expired { id, deadline, value })
    }

    /// O(1) expected for each timer that fires, O(1) if none does.
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        let mut fired = 0;
        while let Some(expired) = self.pop_expired(now) {
            fired += 1;
            on_expiry(expired);
        }
        fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// A small generator, so that the unit tests need no crate.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    #[test]
    fn stays_whole_under_random_operations() {
        for seed in [1, 7] {
            let mut list = SkipList::<u64>::builder().seed(seed).build();
            let mut ids = Vec::new();
            let mut state = seed;
            for step in 0..10_000 {
                let deadline = list.now() + random(&mut state) % 2_000;
                match random(&mut state) % 8 {
                    0..4 => ids.push(list.insert(deadline, step)),
                    4 if !ids.is_empty() => {
                        let id = ids.swap_remove(random(&mut state) as usize % ids.len());
                        list.cancel(id);
                    }
                    5 if !ids.is_empty() => {
                        let id = ids[random(&mut state) as usize % ids.len()];
                        assert_eq!(list.reschedule(id, deadline), list.deadline(id).is_some());
                    }
                    _ => {
                        list.advance(deadline.min(list.now() + 20), |_| ());
                    }
                }
                if step % 50 == 0 {
                    assert_eq!(list.levels.check(), list.len());
                }
            }
        }
    }

    #[test]
    fn a_timer_behind_all_others_is_appended_without_a_search() {
        let meter = wheelhouse_core::meter::CountingMeter::default();
        let mut list = SkipList::builder().meter(meter).build();
        for deadline in 0..10_000 {
            list.insert(deadline / 3, ());
        }
        assert_eq!(list.meter().count(Work::Comparison), 10_000);
        assert_eq!(list.levels.check(), 10_000);
    }
}
