//! The calendar: the days of one year, each a sorted list of the timers that are due on that day,
//! in this year or a later one.

use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::lists::{Ends, LINKS_IN, LINKS_OUT, Lists};
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::ordered::{Key, Queue};
use wheelhouse_core::segments::Segments;

/// The place of no timer.
const NONE: u32 = u32::MAX;

/// The fewest days of a year.
const LEAST: usize = 2;

/// The size of the sample from which the distance between timers is estimated.
const SAMPLE: usize = 64;

/// A calendar of timers. The number of ticks in a day and the number of days in a year are powers
/// of two.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// The timers of each day, in order of their keys. Empty until the first timer is inserted.
    days: Vec<Ends>,
    lists: Lists,
    /// The key of the timer at each place.
    keys: Segments<Key>,
    /// A day is 2 to the power of this many ticks.
    shift: u32,
    len: usize,
    /// The place of the timer with the least key.
    first: u32,
}

impl Calendar {
    fn key_at(&self, place: u32) -> Key {
        self.keys[place as usize]
    }

    /// The date of a deadline: its day, counted from tick 0.
    fn date_of(&self, deadline: Tick) -> Tick {
        deadline >> self.shift
    }

    /// The day of a deadline within its year.
    fn day_of(&self, deadline: Tick) -> usize {
        self.date_of(deadline) as usize & (self.days.len() - 1)
    }

    fn insert_sorted(&mut self, key: Key, place: u32, meter: &impl Meter) {
        let day = self.day_of(key.deadline);
        meter.tally(Work::SlotVisit, 1);
        let from_rear =
            core::iter::successors(self.days[day].last(), |place| self.lists.before(*place));
        let mut from_rear = from_rear.inspect(|_| {
            meter.tally(Work::Link, 1);
            meter.tally(Work::Comparison, 1);
        });
        let before = from_rear.find(|other| self.key_at(*other) < key);
        meter.tally(Work::Link, LINKS_IN);
        self.lists.insert_behind(&mut self.days[day], before, place);
    }

    /// The place of the timer with the least key, if no timer is before `date`. It is the first
    /// timer of the first day whose first timer is due in the year that starts at `date`. If there
    /// is no such day, it is the minimum of the first timers of all days.
    fn find_first(&self, date: Tick, meter: &impl Meter) -> u32 {
        let count = self.days.len() as Tick;
        for passed in 0..count {
            meter.tally(Work::SlotVisit, 1);
            let Some(today) = date.checked_add(passed) else { break };
            let first = self.days[(today & (count - 1)) as usize].first();
            if let Some(place) =
                first.filter(|place| self.date_of(self.key_at(*place).deadline) == today)
            {
                return place;
            }
        }
        meter.tally(Work::SlotVisit, count);
        let firsts = self.days.iter().filter_map(Ends::first);
        let first = firsts.min_by_key(|place| self.key_at(*place));
        debug_assert!(first.is_some(), "a search is made only if there is a timer");
        first.unwrap_or(NONE)
    }

    /// Rebuilds the calendar with `days` days. A day gets three times the average distance between
    /// the timers of the near future, rounded down to a power of two of ticks. All timers move:
    /// O(n).
    #[inline(never)]
    fn rebuild(&mut self, days: usize, meter: &impl Meter) {
        let old = core::mem::take(&mut self.days);
        let mut places = Vec::with_capacity(self.len);
        meter.tally(Work::SlotVisit, old.len() as u64);
        old.iter().for_each(|day| places.extend(self.lists.iter(day)));
        meter.tally(Work::ElementMove, places.len() as u64);
        self.shift = self.length_of_day(&places, meter).checked_ilog2().unwrap_or(0);
        self.days = alloc::vec![Ends::EMPTY; days];
        for place in places {
            self.insert_sorted(self.key_at(place), place, meter);
        }
    }

    /// Three times the average distance between the timers of the first quarter, estimated from a
    /// sample.
    fn length_of_day(&self, places: &[u32], meter: &impl Meter) -> Tick {
        let step = (places.len() / SAMPLE).max(1);
        let mut sample: Vec<Tick> =
            places.iter().step_by(step).map(|place| self.key_at(*place).deadline).collect();
        meter.tally(Work::EntryScan, sample.len() as u64);
        sample.sort_unstable_by(|one, other| {
            meter.tally(Work::Comparison, 1);
            one.cmp(other)
        });
        let quarter = sample.len() / 4;
        let (Some(first), Some(last)) = (sample.first(), sample.get(quarter)) else { return 1 };
        ((last - first) / (quarter * step).max(1) as Tick).saturating_mul(3)
    }
}

impl<M: Meter> Queue<M> for Calendar {
    const EMPTY: Self = Self {
        days: Vec::new(),
        lists: Lists::new(),
        keys: Segments::new(),
        shift: 0,
        len: 0,
        first: NONE,
    };

    fn insert(&mut self, key: Key, place: u32, meter: &M) {
        if place as usize >= self.keys.len() {
            self.keys.grow_to(place as usize + 1, || key);
        }
        self.keys[place as usize] = key;
        if self.days.is_empty() {
            self.days = alloc::vec![Ends::EMPTY; LEAST];
        }
        self.insert_sorted(key, place, meter);
        self.len += 1;
        meter.tally(Work::Comparison, u64::from(self.first != NONE));
        if self.first == NONE || key < self.key_at(self.first) {
            self.first = place;
        }
        if self.len > 2 * self.days.len() {
            self.rebuild(2 * self.days.len(), meter);
        }
    }

    fn remove(&mut self, key: Key, place: u32, meter: &M) {
        meter.tally(Work::Link, LINKS_OUT);
        debug_assert_eq!(self.key_at(place), key, "the timer has this key");
        let day = self.day_of(key.deadline);
        self.lists.remove(&mut self.days[day], place);
        self.len -= 1;
        if self.first == place {
            self.first = if self.len == 0 {
                NONE
            } else {
                self.find_first(self.date_of(key.deadline), meter)
            };
        }
        if self.len < self.days.len() / 2 && self.days.len() > LEAST {
            self.rebuild(self.days.len() / 2, meter);
        }
    }

    fn first(&self) -> Option<Tick> {
        (self.first != NONE).then(|| self.key_at(self.first).deadline)
    }

    fn pop(&mut self, meter: &M) -> Option<u32> {
        let first = self.first;
        if first == NONE {
            return None;
        }
        self.remove(self.key_at(first), first, meter);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use wheelhouse_conformance::Random;
    use wheelhouse_core::meter::{CountingMeter, NoMeter};

    const EMPTY: Calendar = <Calendar as Queue<NoMeter>>::EMPTY;

    impl Calendar {
        fn check(&self) {
            let mut len = 0;
            for (at, day) in self.days.iter().enumerate() {
                let keys: Vec<Key> = self.lists.iter(day).map(|place| self.key_at(place)).collect();
                assert!(keys.is_sorted() && keys.iter().all(|key| self.day_of(key.deadline) == at));
                len += keys.len();
            }
            assert_eq!(len, self.len);
            assert!(
                len <= 2 * self.days.len()
                    && (self.days.len() <= LEAST || len >= self.days.len() / 2)
            );
        }
    }

    #[test]
    fn is_an_ordered_map_under_random_operations() {
        for spread in [1, 50, 1 << 20, u64::MAX] {
            let (mut calendar, mut expected) = (EMPTY, BTreeMap::new());
            let mut random = Random::new(spread);
            let mut keys = [None; 500];
            for order in 0..20_000 {
                // The calendar grows and shrinks in turn.
                let place = random.index(if order / 2_000 % 2 == 0 { 500 } else { 30 });
                if let Some(key) = keys[place].take() {
                    calendar.remove(key, place as u32, &NoMeter);
                    assert_eq!(expected.remove(&key), Some(place as u32));
                } else {
                    let key = Key { deadline: random.below(spread), order };
                    calendar.insert(key, place as u32, &NoMeter);
                    expected.insert(key, place as u32);
                    keys[place] = Some(key);
                }
                if order % 5 == 0 {
                    let popped = calendar.pop(&NoMeter);
                    assert_eq!(popped, expected.pop_first().map(|(_, place)| place));
                    popped.inspect(|place| keys[*place as usize] = None);
                }
                assert_eq!(
                    Queue::<NoMeter>::first(&calendar),
                    expected.first_key_value().map(|(key, _)| key.deadline)
                );
                if order % 50 == 0 {
                    calendar.check();
                }
            }
        }
    }

    /// Brown's result: the work of removing the first timer and inserting another does not depend
    /// on the number of timers.
    #[test]
    fn a_hold_takes_as_many_steps_at_any_size() {
        let steps = [1 << 10, 1 << 16].map(|n| {
            let (mut calendar, meter) = (EMPTY, CountingMeter::default());
            let (mut order, mut random) = (0, Random::new(1));
            let mut key = |now: Tick| {
                order += 1;
                Key { deadline: now + random.below(1 << 20), order }
            };
            (0..n).for_each(|place| calendar.insert(key(0), place, &NoMeter));
            let hold = |calendar: &mut Calendar, key: Key, meter: &CountingMeter| {
                let place = calendar.pop(meter).unwrap();
                calendar.insert(key, place, meter);
            };
            for _ in 0..2 * n {
                let now = Queue::<NoMeter>::first(&calendar).unwrap();
                hold(&mut calendar, key(now), &meter);
            }
            meter.total() as f64 / f64::from(2 * n)
        });
        assert!(steps[0] < 16.0 && (steps[0] - steps[1]).abs() < 2.0, "{steps:?}");
    }
}
