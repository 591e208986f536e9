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
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;
use wheelhouse_core::Tick;

/// The time to which a poll sets the current time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockRule {
    /// The expiry of the slot, as in the printed code.
    SlotExpiry,
    /// The time of the poll, as S4 describes it.
    TimeOfPoll,
}

/// The wheels and their queue.
#[derive(Debug)]
pub(crate) struct KafkaModel {
    levels: Vec<Level>,
    /// Slots by expiry. With equal expiry the highest level is first.
    queue: BTreeMap<(Tick, Reverse<usize>), Place>,
    /// How often each slot was offered in each lap. Level and expiry identify both.
    offers: HashMap<(usize, Tick), u64>,
    /// Names of timers that a poll must skip.
    cancelled: HashSet<u64>,
    longest_queue: usize,
}

#[derive(Debug)]
struct Level {
    tick: Tick,
    current: Tick,
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
    /// The index of the slot.
    pub(crate) slot: u64,
}

/// The result of a poll.
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
    fn new(tick: Tick, size: usize, start: Tick) -> Self {
        Self { tick, current: truncate(start, tick), slots: vec![Slot::default(); size] }
    }

    fn interval(&self) -> Tick {
        self.tick.saturating_mul(self.slots.len() as Tick)
    }
}

impl KafkaModel {
    /// An empty wheel of one level, created at time `start`.
    pub(crate) fn new(tick: Tick, size: usize, start: Tick) -> Self {
        Self {
            levels: vec![Level::new(tick, size, start)],
            queue: BTreeMap::new(),
            offers: HashMap::new(),
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
            *self.offers.entry((place.level, expiry)).or_default() += 1;
        }
        place
    }

    /// Cancels a timer. Its slot stays in the queue.
    pub(crate) fn cancel(&mut self, name: u64) {
        self.cancelled.insert(name);
    }

    /// Takes the first slot whose expiry has come, moves the current times, and runs or moves the
    /// slot's timers.
    pub(crate) fn poll(&mut self, now: Tick, rule: ClockRule) -> Option<Poll> {
        let first = self.queue.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((expiry, _), from) = first.remove_entry();
        self.advance(if rule == ClockRule::SlotExpiry { expiry } else { now });
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

    /// Polls the next slot at its expiry, as a service that is never late does.
    pub(crate) fn poll_next(&mut self) -> Option<Poll> {
        self.poll(Tick::MAX, ClockRule::SlotExpiry)
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

    /// The current time of the lowest level.
    pub(crate) fn current(&self) -> Tick {
        self.levels[0].current
    }

    /// The expiry of the first slot of the queue.
    pub(crate) fn next_expiry(&self) -> Option<Tick> {
        self.queue.first_key_value().map(|((expiry, _), _)| *expiry)
    }

    /// How often slots were offered to the queue.
    pub(crate) fn offers(&self) -> u64 {
        self.offers.values().sum()
    }

    /// The largest number of slots in the queue at any time.
    pub(crate) fn longest_queue(&self) -> usize {
        self.longest_queue
    }

    /// The level and the deadline of each timer.
    pub(crate) fn timers(&self) -> impl Iterator<Item = (usize, Tick)> {
        let of_level = |(at, level): (usize, &Level)| {
            let timers = level.slots.iter().flat_map(|slot| &slot.timers);
            timers.map(|(deadline, _)| (at + 1, *deadline)).collect::<Vec<_>>()
        };
        self.levels.iter().enumerate().flat_map(of_level)
    }

    /// The number of levels.
    pub(crate) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The tick and the span of each level.
    pub(crate) fn spans(&self) -> Vec<(Tick, Tick)> {
        self.levels.iter().map(|level| (level.tick, level.interval())).collect()
    }
}

/// Rounds a time down to a multiple of a tick.
pub(crate) fn truncate(time: Tick, tick: Tick) -> Tick {
    time - time % tick
}

/// The tick in milliseconds that the constructor makes from a duration. `None` if the constructor
/// panics with "tick must be greater than or equal to 1ms".
pub(crate) fn tick_of(duration: Duration) -> Option<Tick> {
    let milliseconds = u64::try_from(duration.as_millis()).ok()?;
    (milliseconds > 0).then_some(milliseconds)
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
                KafkaModel::new(1, size, 0),
                Setup::new(&Scale::REDUCED).build_with_slots("kafka-wheel", size as u64),
            );
            let mut random = random(size as u64);
            for name in 0..1_000 {
                let deadline = 1 + random.random_range(0..100_000);
                model.add(deadline, name);
                wheel.timer.insert(deadline, 0);
            }
            while let Some(tick) = model.next_expiry() {
                assert_eq!(wheel.timer.next_wakeup(), Some(tick));
                let (mut ran, mut taken_down) = (0, 0);
                while let Some(poll) = model.poll(tick, ClockRule::SlotExpiry) {
                    ran += poll.ran.len();
                    taken_down +=
                        if poll.from.level > 1 { poll.ran.len() + poll.moved.len() } else { 0 };
                }
                let before = wheel.steps();
                assert_eq!(wheel.advance_to(tick).len(), ran);
                assert_eq!(wheel.steps().since(&before).of(Work::CascadeMove), taken_down as u64);
            }
            assert!(wheel.timer.is_empty());
        }
    }

    #[test]
    fn a_slot_without_timers_is_polled_too() {
        let mut model = KafkaModel::new(1, 10, 0);
        let from = model.add(5, 0).expect("it is not due");
        model.cancel(0);
        assert_eq!(model.poll_next(), Some(Poll { expiry: 5, from, ran: vec![], moved: vec![] }));
    }

    #[test]
    fn the_example_of_the_article() {
        let mut model = KafkaModel::new(1, 10, 0);
        assert_eq!(model.add(2, 0), Some(Place { level: 1, slot: 2 }));
        assert_eq!(model.add(15, 1), Some(Place { level: 2, slot: 1 }));
        assert_eq!(model.spans(), [(1, 10), (10, 100)]);
        let polls: Vec<_> =
            model.drain().into_iter().map(|poll| (poll.expiry, poll.ran, poll.moved)).collect();
        let down = (15, 1, Place { level: 1, slot: 5 });
        assert_eq!(
            polls,
            [(2, vec![(2, 0)], vec![]), (10, vec![], vec![down]), (15, vec![(15, 1)], vec![])]
        );
        assert_eq!(model.offers(), 3);
    }

    #[test]
    fn after_an_idle_hour_five_milliseconds_take_four_offers() {
        let mut model = KafkaModel::new(1, 20, 0);
        let mut levels = vec![model.add(3_600_005, 0).map(|place| place.level)];
        levels.extend(
            model.drain().iter().map(|poll| poll.moved.first().map(|(.., place)| place.level)),
        );
        assert_eq!(levels, [Some(6), Some(5), Some(4), Some(1), None]);
        assert_eq!(model.offers(), 4);
    }

    #[test]
    fn a_timer_due_within_the_tick_runs_at_once() {
        let mut model = KafkaModel::new(1_000, 10, 7_400);
        assert_eq!((model.current(), model.add(7_999, 0)), (7_000, None));
        assert_eq!(model.add(8_000, 0), Some(Place { level: 1, slot: 8 }));
        assert_eq!((model.next_expiry(), model.offers()), (Some(8_000), 1));
    }

    #[test]
    fn ticks_are_truncated_to_milliseconds() {
        let ticks = [999, 1_000, 1_500, 3_000]
            .map(|microseconds| tick_of(Duration::from_micros(microseconds)));
        assert_eq!(ticks, [None, Some(1), Some(1), Some(3)]);
    }
}
