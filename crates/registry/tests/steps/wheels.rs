//! Models of wheels with one level, and of Linux's wheel, whose timers never change their level.

use super::count::{Key, next_occupied, step, steps};
use super::{Model, UncountedKey};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use wheelhouse_core::Tick;
use wheelhouse_core::meter::Work::{CascadeMove, Comparison, Link, SlotVisit};

/// A wheel with one tick per slot. A timer beyond its range waits in the list of its turn. The
/// turns are in an ordered map.
pub(crate) struct Single {
    slots: u64,
    near: BTreeSet<UncountedKey>,
    far: HashMap<Tick, Vec<UncountedKey>>,
    turns: BTreeSet<Key>,
    overdue: BTreeSet<Key>,
    hand: Tick,
    /// Nothing has to be done before this tick.
    next: Tick,
    now: Tick,
}

impl Single {
    pub(crate) fn new(slots: u64) -> Self {
        let (near, far, turns, overdue) = Default::default();
        Self { slots, near, far, turns, overdue, hand: 0, next: Tick::MAX, now: 0 }
    }

    fn next_slot(&self) -> Option<Tick> {
        let is_occupied = |at| {
            let tick = self.hand + (at + self.slots - self.hand % self.slots) % self.slots;
            self.near.range((tick, 0)..).next().is_some_and(|first| first.0 == tick)
        };
        let from = self.hand % self.slots;
        next_occupied(self.slots, from, self.slots, is_occupied).map(|passed| self.hand + passed)
    }

    /// Moves the timers of the first turn into the slots.
    fn open_first_turn(&mut self) {
        let Some(Key(turn, _)) = self.turns.pop_first() else { return };
        self.hand = turn;
        for timer in self.far.remove(&turn).into_iter().flatten() {
            step(CascadeMove);
            self.near.insert(timer);
        }
    }
}

impl Model for Single {
    fn insert(&mut self, key: Key) {
        if key.0 < self.hand {
            self.overdue.insert(key);
            return;
        }
        steps(Link, 4);
        if key.0 - self.hand < self.slots {
            step(SlotVisit);
            self.near.insert(key.pair());
            self.next = self.next.min(key.0);
        } else {
            let turn = key.0 / self.slots * self.slots;
            self.turns.insert(Key(turn, 0));
            self.far.entry(turn).or_default().push(key.pair());
            self.next = self.next.min(turn);
        }
    }

    fn remove(&mut self, key: Key) {
        if key.0 < self.hand {
            self.overdue.remove(&key);
            return;
        }
        steps(Link, 2);
        if self.near.remove(&key.pair()) {
            return;
        }
        let turn = key.0 / self.slots * self.slots;
        let list = self.far.get_mut(&turn).expect("its turn has a list");
        let at = list.iter().position(|it| *it == key.pair()).expect("it is in it");
        let is_between = at > 0 && at + 1 < list.len();
        list.remove(at);
        if list.is_empty() {
            self.turns.remove(&Key(turn, 0));
            self.far.remove(&turn);
        } else if !is_between {
            // The ends of the list change, so it has to be found.
            assert!(self.turns.contains(&Key(turn, 0)));
        }
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        step(Comparison);
        self.now = self.now.max(now);
        if let Some(first) = self.overdue.pop_first() {
            return Some(first.1);
        }
        while self.next <= self.now {
            let (slot, turn) = (self.next_slot(), self.turns.first().map(|turn| turn.0));
            let is_slot = slot.is_some_and(|slot| turn.is_none_or(|turn| slot < turn));
            self.next = if is_slot { slot } else { turn }.unwrap_or(Tick::MAX);
            if self.next > self.now {
                break;
            } else if is_slot {
                self.hand = self.next;
                steps(Link, 2);
                return self.near.pop_first().map(|first| first.1);
            }
            self.open_first_turn();
        }
        self.hand = self.now;
        None
    }

    fn next_wakeup(&mut self) {
        if self.overdue.is_empty() {
            self.next_slot();
        }
    }
}

/// A wheel of sorted slots.
pub(crate) struct Hashed {
    slots: Vec<Vec<UncountedKey>>,
    overdue: BTreeSet<Key>,
    hand: Tick,
    /// Nothing is due before this tick.
    earliest: Tick,
    now: Tick,
}

impl Hashed {
    pub(crate) fn new(slots: usize) -> Self {
        let (slots, overdue) = (vec![Vec::new(); slots], BTreeSet::new());
        Self { slots, overdue, hand: 0, earliest: Tick::MAX, now: 0 }
    }

    fn slot(&mut self, deadline: Tick) -> &mut Vec<UncountedKey> {
        let at = deadline as usize % self.slots.len();
        &mut self.slots[at]
    }

    /// The earliest timer. The search stops at the first slot whose tick is not before the best
    /// timer so far: all timers in later slots are later.
    fn find(&self) -> Option<UncountedKey> {
        let count = self.slots.len() as u64;
        let (mut best, mut distance) = (None, 0);
        let at = |distance| (self.hand + distance) % count;
        let is_occupied = |at: u64| !self.slots[at as usize].is_empty();
        while let Some(passed) = next_occupied(count, at(distance), count - distance, is_occupied) {
            distance += passed;
            step(SlotVisit);
            let first = self.slots[at(distance) as usize][0];
            best = Some(best.map_or(first, |best: UncountedKey| best.min(first)));
            if best.is_some_and(|best| best.0 <= self.hand + distance) {
                break;
            }
            distance += 1;
        }
        best
    }
}

impl Model for Hashed {
    fn insert(&mut self, key: Key) {
        if key.0 < self.hand {
            self.overdue.insert(key);
            return;
        }
        step(SlotVisit);
        self.earliest = self.earliest.min(key.0);
        let slot = self.slot(key.0);
        let is_before = |other: &UncountedKey| {
            step(Comparison);
            other.0 <= key.0
        };
        let mut at = slot.len();
        if !slot.last().is_some_and(is_before) {
            at = slot.iter().position(|other| !is_before(other)).unwrap_or(at);
            steps(Link, at as u64);
        }
        slot.insert(at, key.pair());
        steps(Link, 4);
    }

    fn remove(&mut self, key: Key) {
        if key.0 < self.hand {
            self.overdue.remove(&key);
            return;
        }
        steps(Link, 2);
        self.slot(key.0).retain(|it| *it != key.pair());
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        step(Comparison);
        self.now = self.now.max(now);
        if let Some(first) = self.overdue.pop_first() {
            return Some(first.1);
        }
        if self.earliest <= self.now {
            let first = self.find();
            self.earliest = first.map_or(Tick::MAX, |first| first.0);
            if let Some(first) = first.filter(|first| first.0 <= self.now) {
                self.hand = first.0;
                steps(Link, 2);
                return Some(self.slot(first.0).remove(0).1);
            }
        }
        self.hand = self.now;
        None
    }
}

/// Levels between which no timer moves. A slot ends at a tick, and all its timers fire then.
#[derive(Default)]
pub(crate) struct Linux {
    levels: u32,
    slots: BTreeMap<(Tick, u32), Vec<UncountedKey>>,
    places: HashMap<u64, (Tick, u32)>,
    due: VecDeque<u64>,
    now: Tick,
}

impl Linux {
    /// The slot that ends next. Reads a word of each level.
    fn next_end(&self) -> Option<(Tick, u32)> {
        steps(SlotVisit, self.levels.into());
        self.slots.first_key_value().map(|(slot, _)| *slot)
    }
}

impl Model for Linux {
    fn insert(&mut self, key: Key) {
        steps(Link, 4);
        if key.0 <= self.now {
            self.due.push_back(key.1);
            return;
        }
        step(SlotVisit);
        let level = ((key.0 - self.now) / 63).checked_ilog2().map_or(0, |bits| bits / 3 + 1);
        self.levels = self.levels.max(level + 1);
        let slot = (key.0.next_multiple_of(1 << (3 * level)), level);
        self.slots.entry(slot).or_default().push(key.pair());
        self.places.insert(key.1, slot);
    }

    fn remove(&mut self, key: Key) {
        steps(Link, 2);
        self.due.retain(|number| *number != key.1);
        let Some(slot) = self.places.remove(&key.1) else { return };
        if let Some(list) = self.slots.get_mut(&slot) {
            list.retain(|timer| *timer != key.pair());
            if list.is_empty() {
                self.slots.remove(&slot);
            }
        }
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        step(Comparison);
        if now > self.now {
            while let Some(slot) = self.next_end().filter(|slot| slot.0 <= now) {
                steps(Link, 2);
                let list = self.slots.remove(&slot).unwrap_or_default();
                self.due.extend(list.into_iter().map(|timer| timer.1));
            }
            self.now = now;
        }
        let first = self.due.pop_front()?;
        steps(Link, 2);
        Some(first)
    }

    fn next_wakeup(&mut self) {
        if self.due.is_empty() {
            self.next_end();
        }
    }
}
