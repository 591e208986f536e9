//! A sorted, doubly linked list.

use wheelhouse_core::Tick;
use wheelhouse_core::lists::{Ends, LINKS_IN, LINKS_OUT, Lists};
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::ordered::{Key, Queue};
use wheelhouse_core::segments::Segments;

/// Timers linked in order of their keys. An insertion passes the timers before the new one, or
/// those behind it. A removal links the neighbours.
///
/// Searches begin at the earliest timer. They pass two thirds of the timers with uniform delays,
/// half of them with exponential delays. With `REAR`, they begin at the latest timer, and pass no
/// timer if all delays are equal.
#[derive(Clone, Debug)]
pub struct List<const REAR: bool = false> {
    lists: Lists,
    ends: Ends,
    /// The key of the timer at each place.
    keys: Segments<Key>,
}

impl<const REAR: bool> List<REAR> {
    /// The last timer before a key.
    fn search(&self, key: Key, meter: &impl Meter) -> Option<u32> {
        let is_less = |place: u32| {
            meter.tally(Work::Comparison, 1);
            self.keys[place as usize] < key
        };
        let passed = |places| {
            meter.tally(Work::Link, places);
        };
        if REAR {
            let mut from_rear =
                core::iter::successors(self.ends.last(), |place| self.lists.before(*place));
            from_rear.find(|place| {
                let is_found = is_less(*place);
                passed(u64::from(!is_found));
                is_found
            })
        } else {
            let smaller = self
                .lists
                .iter(&self.ends)
                .take_while(|place| is_less(*place))
                .inspect(|_| passed(1));
            smaller.last()
        }
    }
}

impl<const REAR: bool, M: Meter> Queue<M> for List<REAR> {
    const EMPTY: Self = Self { lists: Lists::new(), ends: Ends::EMPTY, keys: Segments::new() };

    fn insert(&mut self, key: Key, place: u32, meter: &M) {
        if place as usize >= self.keys.len() {
            self.keys.grow_to(place as usize + 1, || key);
        }
        self.keys[place as usize] = key;
        let before = self.search(key, meter);
        meter.tally(Work::Link, LINKS_IN);
        self.lists.insert_behind(&mut self.ends, before, place);
    }

    fn remove(&mut self, _: Key, place: u32, meter: &M) {
        meter.tally(Work::Link, LINKS_OUT);
        self.lists.remove(&mut self.ends, place);
    }

    fn first(&self) -> Option<Tick> {
        self.ends.first().map(|place| self.keys[place as usize].deadline)
    }

    fn pop(&mut self, meter: &M) -> Option<u32> {
        meter.tally(Work::Link, LINKS_OUT);
        self.lists.pop_front(&mut self.ends)
    }
}
