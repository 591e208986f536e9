//! The model of a wheel with one level, and of the overdue timers of all wheels.

use super::count::{Key, next_occupied, step, steps};
use super::{Model, UncountedKey};
use std::collections::{BTreeSet, HashMap};
use wheelhouse_core::Tick;
use wheelhouse_core::meter::Work::{CascadeMove, Link, SlotVisit};

/// A wheel without its overdue timers.
pub(crate) trait Wheel: Model {
    /// The tick before which timers are overdue.
    fn hand(&self) -> Tick;

    fn pop_overdue(overdue: &mut BTreeSet<Key>) -> Option<Key> {
        overdue.pop_first()
    }
}

/// A wheel, and its overdue timers in an ordered set.
pub(crate) struct WithOverdue<W> {
    wheel: W,
    overdue: BTreeSet<Key>,
}

impl<W: Wheel> WithOverdue<W> {
    pub(crate) fn of(wheel: W) -> Self {
        Self { wheel, overdue: BTreeSet::new() }
    }
}

impl<W: Wheel> Model for WithOverdue<W> {
    fn insert(&mut self, key: Key) {
        if key.0 < self.wheel.hand() {
            self.overdue.insert(key);
        } else {
            self.wheel.insert(key);
        }
    }

    fn remove(&mut self, key: Key) {
        if key.0 < self.wheel.hand() {
            self.overdue.remove(&key);
        } else {
            self.wheel.remove(key);
        }
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        let overdue = W::pop_overdue(&mut self.overdue).map(|first| first.1);
        overdue.or_else(|| self.wheel.pop(now))
    }

    fn next_wakeup(&mut self) {
        if self.overdue.is_empty() {
            self.wheel.next_wakeup();
        }
    }
}

/// A wheel with one tick per slot. A timer beyond its range waits in the list of its turn. The
/// turns are in an ordered map.
pub(crate) struct Single {
    slots: u64,
    near: BTreeSet<UncountedKey>,
    far: HashMap<Tick, Vec<UncountedKey>>,
    turns: BTreeSet<Key>,
    hand: Tick,
    /// Nothing has to be done before this tick.
    next: Tick,
}

impl Single {
    pub(crate) fn new(slots: u64) -> Self {
        let (near, far, turns) = Default::default();
        Self { slots, near, far, turns, hand: 0, next: Tick::MAX }
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

impl Wheel for Single {
    fn hand(&self) -> Tick {
        self.hand
    }
}

impl Model for Single {
    fn insert(&mut self, key: Key) {
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
        while self.next <= now {
            let (slot, turn) = (self.next_slot(), self.turns.first().map(|turn| turn.0));
            let is_slot = slot.is_some_and(|slot| turn.is_none_or(|turn| slot < turn));
            self.next = if is_slot { slot } else { turn }.unwrap_or(Tick::MAX);
            if self.next > now {
                break;
            } else if is_slot {
                self.hand = self.next;
                steps(Link, 2);
                return self.near.pop_first().map(|first| first.1);
            }
            self.open_first_turn();
        }
        self.hand = now;
        None
    }

    fn next_wakeup(&mut self) {
        self.next_slot();
    }
}
