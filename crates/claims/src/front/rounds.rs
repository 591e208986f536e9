//! The articles' wheel with rounds: each timer holds a count, and each visit takes one off.
//!
//! Our round wheel stores deadlines and skips slots in which nothing is due, so it is another
//! structure; the articles' claims are held to this one. It counts what their doubly linked lists
//! take: a slot looked into, an entry read, four links to put one in and two to take it out.

use super::subject::Subject;
use std::num::NonZeroU32;
use wheelhouse_core::lists::{LINKS_IN, LINKS_OUT};
use wheelhouse_core::{Tick, TimerId};

/// Netty's default.
const SLOTS: Tick = 512;

#[derive(Debug)]
pub(super) struct CountedDown {
    /// Number of the timer, and rounds to go.
    slots: Vec<Vec<(usize, u64)>>,
    /// Slot and index of each timer.
    places: Vec<(usize, usize)>,
    hand: Tick,
    live: usize,
    steps: u64,
}

impl CountedDown {
    pub(super) fn new() -> Self {
        let slots = (0..SLOTS).map(|_| Vec::new()).collect();
        Self { slots, places: Vec::new(), hand: 0, live: 0, steps: 0 }
    }

    pub(super) fn boxed() -> Box<dyn Subject> {
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

    /// Takes an entry out of its slot; the last one fills its place.
    fn take(&mut self, slot: usize, index: usize) {
        self.slots[slot].swap_remove(index);
        if let Some((moved, _)) = self.slots[slot].get(index) {
            self.places[*moved].1 = index;
        }
        self.live -= 1;
        self.steps += LINKS_OUT;
    }

    /// A tick: how many timers fired.
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

impl Subject for CountedDown {
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
    use super::super::super::experiments::models::rounds::{Rounds, S4};
    use super::*;

    /// It fires when the model of the article's rules does, and meets as many timers.
    #[test]
    fn it_does_as_the_model_of_the_articles() {
        let (mut wheel, mut model) = (CountedDown::new(), Rounds::new(S4, SLOTS, 0));
        let delays: Vec<Tick> = (1..2_000).map(|at| 1 + at * 37 % 5_000).collect();
        wheel.insert(&delays);
        delays.iter().enumerate().for_each(|(at, delay)| model.add(at as u64, *delay, 1));
        for _ in 0..5_001 {
            let (visit, before) = (model.tick(), wheel.steps);
            assert_eq!(wheel.tick(), visit.fired.len());
            let out = LINKS_OUT * visit.fired.len() as u64;
            assert_eq!(wheel.steps - before, 1 + visit.met() + out);
        }
        assert_eq!(wheel.live, 0);
    }

    #[test]
    fn a_timer_that_is_stopped_does_not_fire() {
        let mut wheel = CountedDown::new();
        let ids = wheel.insert(&[700, 700, 700, 5]);
        wheel.cancel(&ids[..1]);
        assert_eq!((wheel.ticks(699), wheel.fire()), (1, (2, 1)));
    }
}
