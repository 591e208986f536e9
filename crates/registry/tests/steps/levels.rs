//! Models of wheels with several levels. In [`Levels`], the slot of a timer follows from its
//! deadline and the hand, so the model needs no slots.

use super::count::{Key, step, steps};
use super::wheels::Wheel;
use super::{Model, UncountedKey};
use std::collections::{BTreeSet, HashMap, VecDeque};
use wheelhouse_core::Tick;
use wheelhouse_core::meter::Work::{CascadeMove, Link, SlotVisit};

/// Levels of wheels with 256 slots each.
#[derive(Default)]
pub(crate) struct Levels {
    timers: BTreeSet<UncountedKey>,
    hand: Tick,
}

impl Levels {
    /// The slot of a deadline: its level, its first tick and its last.
    fn slot(&self, deadline: Tick) -> (u32, Tick, Tick) {
        let level = ((deadline ^ self.hand) | 1).ilog2() / 8;
        let start = deadline >> (8 * level) << (8 * level);
        (level, start, start + ((1 << (8 * level)) - 1))
    }

    fn timers_in_slot_of(&self, deadline: Tick) -> Vec<UncountedKey> {
        let (_, start, end) = self.slot(deadline);
        self.timers.range((start, 0)..=(end, u64::MAX)).copied().collect()
    }

    /// Counts a search for the next slot: a word of the summary map and, if a slot is occupied, a
    /// word of the map.
    fn count_search_for_next_slot(&self) {
        steps(SlotVisit, if self.timers.is_empty() { 1 } else { 2 });
    }

    fn take(&mut self, timer: UncountedKey) -> u64 {
        steps(Link, 2);
        let is_alone = self.timers_in_slot_of(timer.0) == [timer];
        let is_next = self.timers.first() == Some(&timer);
        self.timers.remove(&timer);
        if is_alone && is_next {
            self.count_search_for_next_slot();
        }
        timer.1
    }
}

impl Wheel for Levels {
    fn hand(&self) -> Tick {
        self.hand
    }

    fn pop_overdue(overdue: &mut BTreeSet<Key>) -> Option<Key> {
        let first = overdue.first().copied()?;
        overdue.remove(&first);
        Some(first)
    }
}

impl Model for Levels {
    fn insert(&mut self, key: Key) {
        step(SlotVisit);
        steps(Link, 4);
        self.timers.insert(key.pair());
    }

    fn remove(&mut self, key: Key) {
        self.take(key.pair());
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        while let Some(first) = self.timers.first().copied() {
            let (level, start, _) = self.slot(first.0);
            let slot = self.timers_in_slot_of(first.0);
            if start > now {
                break;
            } else if level == 0 {
                let number = self.take(first);
                self.hand = first.0;
                return Some(number);
            }
            step(SlotVisit);
            steps(CascadeMove, slot.len() as u64);
            self.hand = start;
            self.count_search_for_next_slot();
        }
        self.hand = now;
        None
    }
}

/// Wheels that are made on demand, and a queue of the slots that hold timers.
pub(crate) struct Kafka {
    slots: u64,
    levels: Vec<Tick>,
    /// The level and the start of the slot of each timer.
    places: HashMap<u64, (usize, Tick)>,
    /// The timers of each slot, in the order of insertion.
    lists: HashMap<(usize, Tick), VecDeque<UncountedKey>>,
    queue: BTreeSet<Key>,
    hand: Tick,
}

impl Kafka {
    pub(crate) fn new(slots: u64) -> Self {
        let (places, lists, queue) = Default::default();
        Self { slots, levels: vec![1], places, lists, queue, hand: 0 }
    }

    /// The key of a slot in the queue. If two slots have the same start, the higher level is first.
    fn queued(&self, (level, start): (usize, Tick)) -> Key {
        Key(start, u64::MAX - level as u64)
    }

    fn level_of(&mut self, deadline: Tick) -> usize {
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(self.levels[level - 1].saturating_mul(self.slots));
            }
            step(SlotVisit);
            let width = self.levels[level];
            if deadline / width - self.hand / width < self.slots {
                return level;
            }
        }
        unreachable!("the highest level reaches all ticks")
    }

    fn slot(&self, level: usize, deadline: Tick) -> (usize, Tick) {
        (level, deadline - deadline % self.levels[level])
    }

    /// The list of the slot that a timer goes to.
    fn list(&mut self, timer: UncountedKey, level: usize) -> &mut VecDeque<UncountedKey> {
        let slot = self.slot(level, timer.0);
        if !self.lists.contains_key(&slot) {
            self.queue.insert(self.queued(slot));
        }
        self.places.insert(timer.1, slot);
        self.lists.entry(slot).or_default()
    }

    /// Removes a timer from its slot. Returns the slot, and `true` if it is empty now.
    fn take(&mut self, timer: UncountedKey) -> ((usize, Tick), bool) {
        steps(Link, 2);
        let slot = self.places.remove(&timer.1).expect("it has a slot");
        let list = self.lists.get_mut(&slot).expect("the slot has a list");
        list.retain(|other| *other != timer);
        let is_empty = list.is_empty();
        if is_empty {
            self.lists.remove(&slot);
        }
        (slot, is_empty)
    }

    fn demote(&mut self, slot: (usize, Tick)) {
        // The last first: each goes to the front, so they come before timers that are below
        // already.
        for timer in self.lists.remove(&slot).into_iter().flatten().rev() {
            step(CascadeMove);
            let lowest = self.level_of(timer.0);
            let is_occupied = |level: &usize| {
                step(SlotVisit);
                self.lists.contains_key(&self.slot(*level, timer.0))
            };
            let level = (lowest + 1..slot.0).rev().find(is_occupied).unwrap_or(lowest);
            self.list(timer, level).push_front(timer);
        }
    }
}

impl Wheel for Kafka {
    fn hand(&self) -> Tick {
        self.hand
    }
}

impl Model for Kafka {
    fn insert(&mut self, key: Key) {
        let level = self.level_of(key.0);
        self.list(key.pair(), level).push_back(key.pair());
        steps(Link, 4);
    }

    fn remove(&mut self, key: Key) {
        let (slot, is_empty) = self.take(key.pair());
        if is_empty {
            self.queue.remove(&self.queued(slot));
        }
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        while let Some(Key(start, level)) = self.queue.first().copied() {
            if start > now {
                break;
            }
            self.hand = start;
            let slot = ((u64::MAX - level) as usize, start);
            if slot.0 == 0 {
                let first = self.lists[&slot].front().copied().expect("it is in the queue");
                if self.take(first).1 {
                    self.queue.pop_first();
                }
                return Some(first.1);
            }
            self.queue.pop_first();
            self.demote(slot);
        }
        self.hand = now;
        None
    }
}
