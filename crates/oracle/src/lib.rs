#![doc = include_str!("../README.md")]

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use wheelhouse_core::backend::{Backend, Costs, Info};
use wheelhouse_core::meter::Meter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A timer facility: a map ordered by (deadline, insertion). All operations are O(log n).
#[derive(Clone, Debug)]
pub struct Oracle<T> {
    timers: BTreeMap<(Tick, u64), (TimerId, T)>,
    keys: HashMap<TimerId, (Tick, u64)>,
    now: Tick,
    insertions: u64,
    ids: u64,
}

impl<T> Default for Oracle<T> {
    fn default() -> Self {
        Self { timers: BTreeMap::new(), keys: HashMap::new(), now: 0, insertions: 0, ids: 0 }
    }
}

impl<T> Oracle<T> {
    /// An empty oracle with its clock at 0.
    pub fn new() -> Self {
        Self::default()
    }

    fn insert_with_id(&mut self, id: TimerId, deadline: Tick, value: T) {
        let key = (deadline, self.insertions);
        self.insertions += 1;
        self.timers.insert(key, (id, value));
        self.keys.insert(id, key);
    }
}

impl<T> Timer<T> for Oracle<T> {
    fn now(&self) -> Tick {
        self.now
    }

    fn len(&self) -> usize {
        self.timers.len()
    }

    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let generation = NonZeroU32::MIN.saturating_add((self.ids >> 32) as u32);
        let id = TimerId::from_parts(self.ids as u32, generation); // no handle is reused
        self.ids += 1;
        self.insert_with_id(id, deadline, value);
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let key = self.keys.remove(&id)?;
        self.timers.remove(&key).map(|(_, value)| value)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let Some(value) = self.cancel(id) else { return false };
        self.insert_with_id(id, deadline, value);
        true
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.keys.get(&id).map(|(deadline, _)| *deadline)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        self.timers.first_key_value().map(|((deadline, _), _)| *deadline)
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        let entry = self.timers.first_entry().filter(|entry| entry.key().0 <= self.now)?;
        let ((deadline, _), (id, value)) = entry.remove_entry();
        self.keys.remove(&id);
        Some(Expired { id, deadline, value })
    }
}

/// The oracle as a backend, so that the conformance suite can test it and benchmarks can include
/// it. It does not count its work.
#[derive(Clone, Copy, Debug)]
pub struct OracleDefinition;

const _: () = OracleDefinition::INFO.assert_complete();

impl Backend for OracleDefinition {
    const INFO: Info = Info {
        name: "oracle",
        structure: "ordered map (B-tree) and hash map",
        source: "the contract, written down",
        costs: Costs {
            insert: "O(log n)",
            cancel: "O(log n)",
            reschedule: "O(log n)",
            fire: "O(log n)",
        },
        ..Info::EXACT
    };

    type Timer<T, M: Meter> = Oracle<T>;

    fn build<T, M: Meter + Default>() -> Oracle<T> {
        Oracle::new()
    }

    fn meter<T, M: Meter>(_: &Oracle<T>) -> Option<&M> {
        None
    }
}
