//! Kafka's wheel as S3 ports it to Go, by the rules of the printed code.
//!
//! A level of tick t with s slots has a current time that is a multiple of t. `add` compares a
//! deadline e with it:
//!
//! * e is below `current + t`: the timer is run at once.
//! * e is below `current + t·s`: the timer is put into slot `e / t`, whose expiry is `e / t · t`,
//!   rounded *down*. If that changes the slot's expiry, the slot is offered to the delay queue.
//! * otherwise the timer is added to the level above, which is created if needed.
//!
//! A poll takes the first slot of the queue whose expiry has come, sets the current times *to that
//! expiry*, and adds the slot's timers again. There is one thread, so nothing here depends on a
//! race.
//!
//! This model was written from those rules. kafka-wheel differs in two: a slot whose timers were
//! all cancelled leaves its queue at once, and its clock moves with each advance, whether or not a
//! slot was polled.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use wheelhouse_core::Tick;

/// The wheels and their queue.
#[derive(Debug)]
pub(crate) struct KafkaModel {
    pub(crate) levels: Vec<Level>,
    /// Slots by expiry. With equal expiry the highest level is first.
    queue: BTreeMap<(Tick, Reverse<usize>), Place>,
    /// How often slots were offered.
    pub(crate) offers: u64,
    /// Names of timers that a poll must skip.
    cancelled: HashSet<u64>,
    /// The largest number of slots in the queue at any time.
    pub(crate) longest_queue: usize,
}

#[derive(Debug)]
pub(crate) struct Level {
    tick: Tick,
    pub(crate) current: Tick,
    slots: Vec<Slot>,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    expiry: Option<Tick>,
    /// (deadline, name) of each timer.
    timers: Vec<(Tick, u64)>,
}

/// Where a timer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The level; the lowest is 1.
    pub(crate) level: usize,
    pub(crate) slot: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Poll {
    /// The expiry of the slot, and its place.
    pub(crate) expiry: Tick,
    pub(crate) from: Place,
    /// (deadline, name) of the timers that ran.
    pub(crate) ran: Vec<(Tick, u64)>,
    /// (deadline, name) of the timers that were moved, and their new places.
    pub(crate) moved: Vec<(Tick, u64, Place)>,
}

impl Level {
    fn new(tick: Tick, size: usize, current: Tick) -> Self {
        Self { tick, current: truncate(current, tick), slots: vec![Slot::default(); size] }
    }

    fn interval(&self) -> Tick {
        self.tick.saturating_mul(self.slots.len() as Tick)
    }
}

impl KafkaModel {
    /// An empty wheel of one level, created at time 0.
    pub(crate) fn new(tick: Tick, size: usize) -> Self {
        Self {
            levels: vec![Level::new(tick, size, 0)],
            queue: BTreeMap::new(),
            offers: 0,
            cancelled: HashSet::new(),
            longest_queue: 0,
        }
    }

    /// Adds a timer. Returns `None` if the timer is to run at once.
    pub(crate) fn add(&mut self, deadline: Tick, name: u64) -> Option<Place> {
        let mut number = 0;
        loop {
            let level = &mut self.levels[number];
            if deadline < level.current.saturating_add(level.tick) {
                return None;
            }
            if deadline < level.current.saturating_add(level.interval()) {
                return Some(self.put(number, deadline, name));
            }
            number += 1;
            if number == self.levels.len() {
                let below = &self.levels[number - 1];
                self.levels.push(Level::new(below.interval(), below.slots.len(), below.current));
            }
        }
    }

    fn put(&mut self, number: usize, deadline: Tick, name: u64) -> Place {
        let level = &mut self.levels[number];
        let virtual_id = deadline / level.tick;
        let expiry = virtual_id * level.tick;
        let slot = virtual_id % level.slots.len() as u64;
        let place = Place { level: number + 1, slot };
        let slot = &mut level.slots[slot as usize];
        slot.timers.push((deadline, name));
        if slot.expiry.replace(expiry) != Some(expiry) {
            self.queue.insert((expiry, Reverse(place.level)), place);
            self.longest_queue = self.longest_queue.max(self.queue.len());
            self.offers += 1;
        }
        place
    }

    /// Cancels a timer. Its slot stays in the queue.
    pub(crate) fn cancel(&mut self, name: u64) {
        self.cancelled.insert(name);
    }

    /// Takes the first slot at its expiry, as a service that is never late does: moves the current
    /// times, and runs or moves the slot's timers.
    pub(crate) fn poll_next(&mut self) -> Option<Poll> {
        let ((expiry, _), from) = self.queue.pop_first()?;
        self.advance(expiry);
        let slot = &mut self.levels[from.level - 1].slots[from.slot as usize];
        slot.expiry = None;
        let timers = std::mem::take(&mut slot.timers);
        let mut poll = Poll { expiry, from, ran: Vec::new(), moved: Vec::new() };
        for (deadline, name) in timers {
            if self.cancelled.remove(&name) {
                continue;
            }
            match self.add(deadline, name) {
                None => poll.ran.push((deadline, name)),
                Some(place) => poll.moved.push((deadline, name, place)),
            }
        }
        Some(poll)
    }

    /// Polls each slot at its expiry until none is left.
    pub(crate) fn drain(&mut self) -> Vec<Poll> {
        std::iter::from_fn(|| self.poll_next()).collect()
    }

    fn advance(&mut self, mut to: Tick) {
        for level in &mut self.levels {
            if to < level.current.saturating_add(level.tick) {
                break;
            }
            to = truncate(to, level.tick);
            level.current = to;
        }
    }

    /// The expiry of the first slot of the queue.
    #[cfg(test)]
    fn next_expiry(&self) -> Option<Tick> {
        self.queue.first_key_value().map(|((expiry, _), _)| *expiry)
    }
}

/// Rounds a time down to a multiple of a tick.
fn truncate(time: Tick, tick: Tick) -> Tick {
    time - time % tick
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::random;
    use crate::{Scale, Setup};
    use rand::RngExt;
    use wheelhouse_core::Timer;
    use wheelhouse_core::meter::Work;

    /// Without cancellations, kafka-wheel runs and moves the same timers at the same ticks.
    #[test]
    fn behaves_as_kafka_wheel_without_cancellations() {
        for size in [8, 20, 64] {
            let (mut model, mut wheel) = (
                KafkaModel::new(1, size),
                Setup::new(&Scale::REDUCED).build_with_slots("kafka-wheel", size as u64),
            );
            let mut random = random(size as u64);
            for name in 0..1_000 {
                let deadline = 1 + random.random_range(0..100_000);
                model.add(deadline, name);
                wheel.insert(deadline, 0);
            }
            while let Some(tick) = model.next_expiry() {
                assert_eq!(wheel.next_wakeup(), Some(tick));
                let (mut ran, mut taken_down) = (0, 0);
                while model.next_expiry() == Some(tick) {
                    let Some(poll) = model.poll_next() else { break };
                    ran += poll.ran.len();
                    taken_down +=
                        if poll.from.level > 1 { poll.ran.len() + poll.moved.len() } else { 0 };
                }
                let before = wheel.steps();
                assert_eq!(wheel.advance_to(tick).len(), ran);
                assert_eq!(wheel.steps().since(&before).of(Work::CascadeMove), taken_down as u64);
            }
            assert!(wheel.is_empty());
        }
    }
}
