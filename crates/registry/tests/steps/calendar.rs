//! A model of Brown's calendar queue: the days of one year, each in order.

use super::count::{Key, step, steps};
use super::{Model, UncountedKey};
use wheelhouse_core::Tick;
use wheelhouse_core::meter::Work::{Comparison, ElementMove, EntryScan, Link, SlotVisit};

/// The fewest days of a year.
const MIN_DAYS: usize = 2;

pub(crate) struct Calendar {
    days: Vec<Vec<UncountedKey>>,
    /// Ticks per day.
    length: Tick,
    first: Option<UncountedKey>,
    len: usize,
}

impl Calendar {
    pub(crate) fn new() -> Self {
        Self { days: vec![Vec::new(); MIN_DAYS], length: 1, first: None, len: 0 }
    }

    fn day(&mut self, deadline: Tick) -> &mut Vec<UncountedKey> {
        let at = (deadline / self.length) as usize % self.days.len();
        &mut self.days[at]
    }

    /// Inserts a timer on its day. Its place is searched from the rear.
    fn insert_on_day(&mut self, timer: UncountedKey) {
        step(SlotVisit);
        let day = self.day(timer.0);
        let at = day.partition_point(|other| *other < timer);
        // Every timer behind it is passed, and the one before it is looked at, too.
        let looked_at = (day.len() - at + usize::from(at > 0)) as u64;
        steps(Link, looked_at + 4);
        steps(Comparison, looked_at);
        day.insert(at, timer);
    }

    /// The first timer, if there is none before the tick `from`: searched day by day through a
    /// year, and then among the first timers of all days.
    fn find_first(&self, from: Tick) -> Option<UncountedKey> {
        let count = self.days.len();
        for date in (from / self.length..).take(count) {
            step(SlotVisit);
            let first = self.days[date as usize % count].first();
            if let Some(first) = first.filter(|first| first.0 / self.length == date) {
                return Some(*first);
            }
        }
        steps(SlotVisit, count as u64);
        self.days.iter().filter_map(|day| day.first()).min().copied()
    }

    /// Makes a calendar with another number of days. The length of a day is three times the mean
    /// distance between the timers of the first quarter, in a sample of 64 or a few more, rounded
    /// down to a power of two.
    fn rebuild(&mut self, days: usize) {
        steps(SlotVisit, self.days.len() as u64);
        let timers = std::mem::replace(&mut self.days, vec![Vec::new(); days]).concat();
        steps(ElementMove, timers.len() as u64);
        let apart = (timers.len() / 64).max(1);
        let mut sample: Vec<Tick> = timers.iter().step_by(apart).map(|timer| timer.0).collect();
        steps(EntryScan, sample.len() as u64);
        sample.sort_unstable_by(|one, other| {
            step(Comparison);
            one.cmp(other)
        });
        let quarter = sample.len() / 4;
        let span = sample.get(quarter).map_or(1, |last| last - sample[0]);
        let length = 3 * (span / (quarter * apart).max(1) as Tick);
        self.length = 1 << length.checked_ilog2().unwrap_or(0);
        timers.into_iter().for_each(|timer| self.insert_on_day(timer));
    }
}

impl Model for Calendar {
    fn insert(&mut self, key: Key) {
        self.insert_on_day(key.pair());
        self.len += 1;
        if let Some(first) = self.first {
            step(Comparison);
            self.first = Some(first.min(key.pair()));
        } else {
            self.first = Some(key.pair());
        }
        if self.len > 2 * self.days.len() {
            self.rebuild(2 * self.days.len());
        }
    }

    fn remove(&mut self, key: Key) {
        steps(Link, 2);
        self.day(key.0).retain(|timer| *timer != key.pair());
        self.len -= 1;
        if self.first == Some(key.pair()) {
            self.first = if self.len == 0 { None } else { self.find_first(key.0) };
        }
        if self.len < self.days.len() / 2 && self.days.len() > MIN_DAYS {
            self.rebuild(self.days.len() / 2);
        }
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        step(Comparison);
        let (deadline, number) = self.first.filter(|first| first.0 <= now)?;
        self.remove(Key(deadline, number));
        Some(number)
    }
}
