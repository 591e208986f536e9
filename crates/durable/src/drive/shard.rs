//! Checks that each store is opened as the shard that it is.
//!
//! A program with another number or order of stores than earlier programs would look up keys in
//! wrong stores: it would find no job to cancel, and schedule a second one under the same key. So
//! each store keeps a row with its shard number and the number of shards. A store that is opened as
//! another shard is refused.

use crate::error::StartError;
use crate::store::{Change, Key, Put, SHARD, SHARD_KEY, Store, StoreError};

/// The number of a shard, from 0, and the number of shards.
#[derive(Clone, Copy)]
pub(super) struct ShardNumber {
    pub(super) shard: usize,
    pub(super) of: usize,
}

impl ShardNumber {
    /// Refuses a store that is a different shard, or that has jobs and is no shard. Changes
    /// nothing. Returns `true` if the store is empty and will become a shard.
    pub(super) fn check(self, store: &mut dyn Store) -> Result<bool, StartError> {
        match said(store)? {
            None if self.of == 1 => Ok(false),
            None if count(store)? == 0 => Ok(true),
            // Another program has marked it since.
            None if said(store)?.is_some() => Ok(false),
            None => Err(StartError::Shard(format!(
                "a store that has jobs or dead letters cannot become {}: their keys may belong to \
                 other shards; use empty stores or new queues, and let these jobs finish",
                self.text()
            ))),
            Some(found) => self.compare(&found).map(|()| false),
        }
    }

    /// Returns the error for a store that is empty while other shards have jobs.
    pub(super) fn lost(self) -> StoreError {
        let why = format!(
            "{} is empty, and other shards have jobs: its data were lost, or it is a different \
             store than before. It is used as a new store from now on; if it had jobs, stop and \
             restore it",
            self.text()
        );
        StoreError::Unavailable(why.into())
    }

    /// Writes the shard number to a store that has none.
    pub(super) fn mark(self, store: &mut dyn Store) -> Result<(), StartError> {
        if said(store)?.is_none() {
            // If another program was first, its row stays.
            let row = Put::reserved(key(), SHARD, self.text().into_bytes());
            store.commit(&[Change::Put(row)])?;
        }
        self.compare(&said(store)?.unwrap_or_else(|| "a store with a job of that key".to_owned()))
    }

    fn compare(self, found: &str) -> Result<(), StartError> {
        if found == self.text() {
            return Ok(());
        }
        Err(StartError::Shard(format!(
            "a store that is {found} was opened as {}: start with all the stores that it belongs \
             to, in the same order in every program",
            self.text()
        )))
    }

    /// The text of the shard number in messages and in the store.
    pub(super) fn text(self) -> String {
        match self.of {
            1 => "a store by itself".to_owned(),
            of => format!("shard {} of {of}", self.shard + 1),
        }
    }

    /// Returns the part of this shard if `whole` is divided among all shards: at least 1.
    pub(super) fn part(self, whole: usize) -> usize {
        let rest = usize::from(self.shard < whole % self.of);
        (whole / self.of + rest).max(1)
    }
}

fn said(store: &mut dyn Store) -> Result<Option<String>, StartError> {
    Ok(store.find(&key())?.and_then(|row| row.shard()))
}

/// Counts rows, up to two, and dead letters, up to one. A shard has a row with its number.
pub(super) fn count(store: &mut dyn Store) -> Result<usize, StoreError> {
    Ok(store.scan(None, 2)?.len() + store.dead(None, 1)?.len())
}

fn key() -> Key {
    Key::new(SHARD_KEY).expect("it is not too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_divided_is_neither_more_nor_less() {
        let parts =
            |whole, of| (0..of).map(|shard| ShardNumber { shard, of }.part(whole)).collect();
        let three: [Vec<usize>; 3] = [parts(256, 3), parts(3, 3), parts(1, 3)];
        assert_eq!(three, [vec![86, 85, 85], vec![1; 3], vec![1; 3]]);
    }
}
