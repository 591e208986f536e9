//! The index of jobs by key.

use crate::job::{Id, Key};
use crate::sync::{Mutex, MutexGuard, assert_holds_no_shard};
use crossbeam_utils::CachePadded;
use hashbrown::HashTable;
use smol_str::SmolStr;
use std::hash::{BuildHasher, RandomState};

/// The number of parts, each with a lock, so that threads do not wait for one another. A power of
/// two.
const PARTS: usize = 16;

/// A key of up to 23 bytes is stored in the table itself, so comparing it touches no other memory.
type Table = HashTable<(SmolStr, Id)>;

/// Jobs by key.
///
/// Lock order: a part, then a shard. A thread with the lock of a shard never takes that of a part.
#[derive(Default)]
pub(crate) struct Keys {
    /// Seeded, since an attacker may choose the keys.
    hasher: RandomState,
    parts: [CachePadded<Mutex<Table>>; PARTS],
}

pub(crate) struct Part<'a> {
    keys: &'a Keys,
    hash: u64,
    table: MutexGuard<'a, Table>,
}

impl Keys {
    pub(crate) fn part(&self, key: &str) -> Part<'_> {
        let hash = self.hasher.hash_one(key);
        // Bits from the middle: the table uses the lowest for positions and the highest for tags.
        let table = lock(&self.parts[(hash >> 32) as usize % PARTS]);
        Part { keys: self, hash, table }
    }

    pub(crate) fn get(&self, key: &str) -> Option<Id> {
        self.part(key).get(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| lock(part).len()).sum()
    }

    pub(super) fn shrink(&self) {
        let hash = |(its, _): &(SmolStr, Id)| self.hasher.hash_one(its.as_str());
        self.parts.iter().for_each(|part| lock(part).shrink_to_fit(hash));
    }

    /// Removes the key of a job, unless another job has it by now.
    pub(crate) fn remove(&self, key: &str, id: Id) {
        let mut part = self.part(key);
        if let Ok(entry) =
            part.table.find_entry(part.hash, |(its, holder)| its == key && *holder == id)
        {
            entry.remove();
        }
    }
}

fn lock(part: &Mutex<Table>) -> MutexGuard<'_, Table> {
    assert_holds_no_shard();
    part.lock()
}

impl Part<'_> {
    pub(crate) fn get(&self, key: &str) -> Option<Id> {
        self.table.find(self.hash, |(its, _)| its == key).map(|(_, id)| *id)
    }

    /// Gives the key to a job, and returns the job that had it.
    pub(crate) fn insert(mut self, key: Key, id: Id) -> Option<Id> {
        let hasher = &self.keys.hasher;
        let hash = |(its, _): &(SmolStr, Id)| hasher.hash_one(its.as_str());
        let entry = self.table.entry(self.hash, |(its, _)| *its == *key, hash);
        match entry {
            hashbrown::hash_table::Entry::Occupied(mut entry) => {
                Some(std::mem::replace(&mut entry.get_mut().1, id))
            }
            hashbrown::hash_table::Entry::Vacant(entry) => {
                entry.insert((SmolStr::from(key), id));
                None
            }
        }
    }
}
