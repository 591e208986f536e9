//! A model of the articles' wheel with rounds: each timer has a round count, and each visit of its
//! slot decrements it.
//!
//! Our round wheel stores deadlines and skips slots in which no timer is due, so it is a different
//! structure; this model represents the articles' wheel. It counts what their doubly linked lists
//! take: one step to visit a slot, one to read an entry, four to link an entry and two to unlink
//! it.

use super::batch_timer::BatchTimer;
use std::num::NonZeroU32;
use wheelhouse_core::lists::{LINKS_IN, LINKS_OUT};
use wheelhouse_core::{Tick, TimerId};

/// Netty's default number of slots.
const SLOTS: Tick = 512;

#[derive(Debug)]
pub(super) struct RoundsCostModel {
    /// The entries of each slot: the number of the timer, and its remaining rounds.
    slots: Vec<Vec<(usize, u64)>>,
    /// The slot and the index of each timer.
    places: Vec<(usize, usize)>,
    hand: Tick,
    live: usize,
    steps: u64,
}

impl RoundsCostModel {
    pub(super) fn new() -> Self {
        let slots = (0..SLOTS).map(|_| Vec::new()).collect();
        Self { slots, places: Vec::new(), hand: 0, live: 0, steps: 0 }
    }

    pub(super) fn boxed() -> Box<dyn BatchTimer> {
        Box::new(Self::new())
    }

    fn add(&mut self, deadline: Tick) -> TimerId {
        let delay = deadline.saturating_sub(self.hand).max(1);
        let (slot, rounds) = (((self.hand + delay) % SLOTS) as usize, (delay - 1) / SLOTS);
        let number = self.places.len();
        self.places.push((slot, self.slots[slot].len()));
        self.slots[slot].push((number, rounds));
        self.live += 1;
        self.steps += 1 + LINKS_IN;
        TimerId::from_parts(number as u32, NonZeroU32::MIN)
    }

    /// Removes an entry from its slot. The last entry of the slot takes its index.
    fn take(&mut self, slot: usize, index: usize) {
        self.slots[slot].swap_remove(index);
        if let Some((moved, _)) = self.slots[slot].get(index) {
            self.places[*moved].1 = index;
        }
        self.live -= 1;
        self.steps += LINKS_OUT;
    }

    /// Advances by a tick and returns how many timers fired.
    fn tick(&mut self) -> usize {
        self.hand += 1;
        self.steps += 1;
        let (slot, mut index, live) = ((self.hand % SLOTS) as usize, 0, self.live);
        while let Some((_, rounds)) = self.slots[slot].get_mut(index) {
            self.steps += 1;
            if *rounds == 0 {
                self.take(slot, index);
            } else {
                *rounds -= 1;
                index += 1;
            }
        }
        live - self.live
    }
}

impl BatchTimer for RoundsCostModel {
    fn insert(&mut self, deadlines: &[Tick]) -> Vec<TimerId> {
        deadlines.iter().map(|deadline| self.add(*deadline)).collect()
    }

    fn cancel(&mut self, ids: &[TimerId]) {
        for id in ids {
            let (slot, index) = self.places[id.index() as usize];
            self.take(slot, index);
        }
    }

    fn ticks(&mut self, count: Tick) -> usize {
        (0..count).map(|_| self.tick()).sum()
    }

    fn fire(&mut self) -> (usize, Tick) {
        let (before, start) = (self.live, self.hand);
        while self.live > 0 {
            self.tick();
        }
        (before, self.hand - start)
    }

    fn steps(&self) -> u64 {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::experiments::models::rounds::{RoundsModel, S4};
    use super::*;

    /// The model fires when the model of the article's rules does, and visits as many timers.
    #[test]
    fn it_fires_and_visits_as_the_model_of_the_articles() {
        let (mut wheel, mut model) = (RoundsCostModel::new(), RoundsModel::new(S4, SLOTS, 0));
        let delays: Vec<Tick> = (1..2_000).map(|at| 1 + at * 37 % 5_000).collect();
        wheel.insert(&delays);
        delays.iter().enumerate().for_each(|(at, delay)| model.add(at as u64, *delay, 1));
        for _ in 0..5_001 {
            let (visit, before) = (model.tick(), wheel.steps);
            assert_eq!(wheel.tick(), visit.fired.len());
            let out = LINKS_OUT * visit.fired.len() as u64;
            assert_eq!(wheel.steps - before, 1 + visit.visited() + out);
        }
        assert_eq!(wheel.live, 0);
    }
}
