//! A model of a hierarchy of wheels that shows what is in its slots: what the wheels themselves do not tell.
//!
//! It keeps the deadlines of each slot, empties the slot that starts first, fires what was in one of the lowest level and puts all else where it belongs as
//! seen from then. Which level that is differs between wheels, see [`Rule`]. The experiments run it beside the wheel that it is a model of, and decide
//! nothing on it unless both fired and moved as many timers at each tick.

use super::ours::Wakeup;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use wheelhouse_core::Tick;

/// Which level a deadline belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// That of the highest digit in which it differs from the clock: hierarchical-wheel.
    Digits,
    /// The lowest that has fewer slots from the clock to it than it has in all: Kafka's, and kafka-wheel.
    Reach,
}

/// The model.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    rule: Rule,
    slots: Tick,
    now: Tick,
    /// The deadlines in each slot that holds any, by its first tick and its level: of those of one tick the highest first.
    waiting: BTreeMap<(Tick, Reverse<usize>), Vec<Tick>>,
}

/// A slot that was emptied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Emptied {
    /// Its first tick, at which it was emptied.
    pub(super) start: Tick,
    /// Its level, the lowest 0.
    pub(super) level: usize,
    /// What was in it.
    pub(super) deadlines: Vec<Tick>,
}

impl Emptied {
    /// How many of its timers are not due.
    pub(super) fn not_due(&self) -> usize {
        self.deadlines.iter().filter(|deadline| **deadline > self.start).count()
    }

    /// How many deadlines there are among its timers.
    pub(super) fn distinct(&self) -> usize {
        let mut deadlines = self.deadlines.clone();
        deadlines.sort_unstable();
        deadlines.dedup();
        deadlines.len()
    }
}

impl Hierarchy {
    /// No timers, so many slots a level, the clock at 0.
    pub(super) fn new(rule: Rule, slots: Tick) -> Self {
        Self { rule, slots, now: 0, waiting: BTreeMap::new() }
    }

    /// The ticks of a slot of a level, which are those of all slots of the level below.
    pub(super) fn width(&self, level: usize) -> Tick {
        self.slots.saturating_pow(level as u32)
    }

    fn reaches(&self, level: usize, deadline: Tick) -> bool {
        let slot = |tick: Tick, level| tick / self.width(level);
        match self.rule {
            Rule::Digits => slot(deadline, level + 1) == slot(self.now, level + 1),
            Rule::Reach => slot(deadline, level) - slot(self.now, level) < self.slots,
        }
    }

    /// The level of a deadline that is not before the clock.
    pub(super) fn level_of(&self, deadline: Tick) -> usize {
        let mut level = 0;
        while !self.reaches(level, deadline) {
            level += 1;
        }
        level
    }

    /// Starts a timer.
    pub(super) fn insert(&mut self, deadline: Tick) {
        let level = self.level_of(deadline);
        let start = deadline - deadline % self.width(level);
        self.waiting.entry((start, Reverse(level))).or_default().push(deadline);
    }

    /// The first tick of the slot that is emptied next.
    pub(super) fn next(&self) -> Option<Tick> {
        self.waiting.first_key_value().map(|((start, _), _)| *start)
    }

    /// Moves the clock to the next slot and empties it: its timers fire, if it is one of the lowest level, or go to lower levels.
    pub(super) fn empty_next(&mut self) -> Option<Emptied> {
        let ((start, Reverse(level)), deadlines) = self.waiting.pop_first()?;
        self.now = start;
        if level > 0 {
            deadlines.iter().for_each(|deadline| self.insert(*deadline));
        }
        Some(Emptied { start, level, deadlines })
    }

    /// Empties slot after slot until no timer is left; tells `seen` of each.
    pub(super) fn wakeups(&mut self, mut seen: impl FnMut(&Emptied)) -> Vec<Wakeup> {
        let mut wakeups: Vec<Wakeup> = Vec::new();
        while let Some(emptied) = self.empty_next() {
            if wakeups.last().is_none_or(|last| last.tick != emptied.start) {
                wakeups.push(Wakeup { tick: emptied.start, ..Wakeup::default() });
            }
            let count = emptied.deadlines.len() as u64;
            if let Some(wakeup) = wakeups.last_mut() {
                *(if emptied.level == 0 { &mut wakeup.fired } else { &mut wakeup.moved }) += count;
            }
            seen(&emptied);
        }
        wakeups
    }

    /// The level and deadline of each timer.
    pub(super) fn timers(&self) -> impl Iterator<Item = (usize, Tick)> {
        self.waiting
            .iter()
            .flat_map(|((_, Reverse(level)), slot)| slot.iter().map(|deadline| (*level, *deadline)))
    }

    /// The tick of the clock.
    pub(super) fn now(&self) -> Tick {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::super::ours;
    use super::*;
    use crate::count::random;
    use crate::experiments::configured;
    use rand::RngExt;

    #[test]
    fn does_as_the_wheels_do() {
        let mut random = random(1);
        let deadlines: Vec<Tick> =
            (0..2_000).map(|_| 1 + random.random_range(0..200_000)).collect();
        let model = |rule, slots| {
            let mut model = Hierarchy::new(rule, slots);
            deadlines.iter().for_each(|deadline| model.insert(*deadline));
            model.wakeups(|_| ())
        };
        let mut wheel = configured::list_wheel(64, 0);
        wheel.fill(deadlines.iter().copied());
        assert_eq!(ours::wakeups(&mut wheel, |_, _| ()), model(Rule::Digits, 64));
        let mut wheel = configured::kafka_wheel(20, 0);
        wheel.fill(deadlines.iter().copied());
        assert_eq!(ours::wakeups(&mut wheel, |_, _| ()), model(Rule::Reach, 20));
    }

    /// The article's own example: 500 s in three levels of eight slots of a second.
    #[test]
    fn demotes_at_the_ticks_of_the_example() {
        let mut model = Hierarchy::new(Rule::Digits, 8);
        model.insert(500);
        let mut path = Vec::new();
        model.wakeups(|slot| path.push((slot.start, slot.level, slot.not_due())));
        assert_eq!(path, [(448, 2, 1), (496, 1, 1), (500, 0, 0)]);
    }

    #[test]
    fn an_upper_slot_mixes_deadlines() {
        let mut model = Hierarchy::new(Rule::Reach, 10);
        [12, 15, 15].into_iter().for_each(|deadline| model.insert(deadline));
        assert_eq!(model.timers().collect::<Vec<_>>(), [(1, 12), (1, 15), (1, 15)]);
        let slot = model.empty_next().unwrap();
        assert_eq!((slot.start, slot.level, slot.distinct(), slot.not_due()), (10, 1, 2, 3));
        assert_eq!((model.now(), model.next()), (10, Some(12)));
    }
}
