//! A timer structure that is simple enough to be obviously right: a map ordered by (deadline,
//! insertion).

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The map, and counts of its calls.
#[derive(Default)]
pub(crate) struct Map {
    timers: BTreeMap<(Tick, u64), (TimerId, u64)>,
    keys: HashMap<TimerId, (Tick, u64)>,
    now: Tick,
    started: u64,
    /// Cancellations of a live timer.
    pub(crate) cancelled: u64,
    /// Reschedules of a live timer.
    pub(crate) moved: u64,
    /// The most timers that were live at a time.
    pub(crate) peak: usize,
}

impl Map {
    fn put(&mut self, id: TimerId, deadline: Tick, value: u64) {
        self.started += 1;
        self.timers.insert((deadline, self.started), (id, value));
        self.keys.insert(id, (deadline, self.started));
        self.peak = self.peak.max(self.timers.len());
    }

    fn take(&mut self, id: TimerId) -> Option<u64> {
        let key = self.keys.remove(&id)?;
        self.timers.remove(&key).map(|(_, value)| value)
    }
}

impl Timer<u64> for Map {
    fn now(&self) -> Tick {
        self.now
    }

    fn len(&self) -> usize {
        self.timers.len()
    }

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        let turn = NonZeroU32::MIN.saturating_add((value >> 32) as u32);
        let id = TimerId::from_parts(value as u32, turn); // the player numbers its values
        self.put(id, deadline, value);
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        let value = self.take(id)?;
        self.cancelled += 1;
        Some(value)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let Some(value) = self.take(id) else { return false };
        self.moved += 1;
        self.put(id, deadline, value);
        true
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.keys.get(&id).map(|(deadline, _)| *deadline)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        self.timers.first_key_value().map(|((deadline, _), _)| *deadline)
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>> {
        self.now = self.now.max(now);
        let entry = self.timers.first_entry().filter(|entry| entry.key().0 <= self.now)?;
        let ((deadline, _), (id, value)) = entry.remove_entry();
        self.keys.remove(&id);
        Some(Expired { id, deadline, value })
    }

    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<u64>)) -> usize {
        let mut fired = 0;
        while let Some(expired) = self.pop_expired(now) {
            fired += 1;
            on_expiry(expired);
        }
        fired
    }
}
