//! Chooses the store of a key, and checks that each store is opened as the shard that it is.
//!
//! A program with another number or order of stores than earlier programs would look up keys in
//! wrong stores: it would find no job to cancel, and schedule a second one under the same key. So
//! each store keeps a row with its shard number and the number of shards. A store that is opened as
//! another shard is refused.

use crate::error::StartError;
use crate::store::{Change, Key, Put, SHARD, SHARD_KEY, Store, StoreError, Timestamp, When};

/// The number of a shard, from 0, and the number of shards.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) shard: usize,
    pub(super) of: usize,
}

/// Returns the shard of a key. It must never change, on any machine: stored jobs would not be
/// found.
pub(super) fn shard_of(key: &[u8], of: usize) -> usize {
    // FNV-1a (Fowler, Noll, Vo), 64 bits. Its low bits depend only on the low bits of the bytes, so
    // the finalizer of MurmurHash3 (Appleby) mixes it.
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let mix = |hash: u64, factor| (hash ^ (hash >> 33)).wrapping_mul(factor);
    let hash = key.iter().copied().fold(0xcbf2_9ce4_8422_2325, add);
    let hash = mix(mix(hash, 0xff51_afd7_ed55_8ccd), 0xc4ce_b9fe_1a85_ec53);
    usize::try_from((hash ^ (hash >> 33)) % of as u64).unwrap_or_default()
}

impl Place {
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

    /// Returns `true` if a shard has more rows than that of its shard number, or a dead letter.
    pub(super) fn has_jobs(self, store: &mut dyn Store) -> Result<bool, StartError> {
        Ok(count(store)? > 1)
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
        if self.of == 1 {
            return Ok(());
        }
        if said(store)?.is_none() {
            // If another program was first, its row stays.
            store.commit(&[Change::Put(self.row())])?;
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

    fn row(self) -> Put {
        Put {
            key: key(),
            kind: SHARD.into(),
            payload: self.text().into_bytes(),
            policy: String::new(),
            when: When::At(Timestamp::MAX),
            replace: false,
        }
    }
}

/// Reads the shard number of a store.
fn said(store: &mut dyn Store) -> Result<Option<String>, StartError> {
    Ok(store.find(&key())?.and_then(|row| row.shard()))
}

/// Counts rows, up to two, and dead letters, up to one.
fn count(store: &mut dyn Store) -> Result<usize, StoreError> {
    Ok(store.scan(None, 2)?.len() + store.dead(None, 1)?.len())
}

fn key() -> Key {
    Key::new(SHARD_KEY).expect("it is not too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned: stored jobs are found by these numbers.
    #[test]
    fn keys_stay_in_their_shards() {
        let of_five = ["", "a", "order-17", "order-18"].map(|key| shard_of(key.as_bytes(), 5));
        assert_eq!(of_five, [2, 0, 1, 0]);
    }

    #[test]
    fn keys_are_spread() {
        let shapes: [fn(u32) -> String; 3] =
            [|n| format!("order-{n}"), |n| format!("{n}/{n}"), |n| format!("{:08x}", n * 256)];
        for of in 2..10 {
            for shape in shapes {
                let mut counts = vec![0; of];
                (0..1_000 * of as u32).for_each(|n| counts[shard_of(shape(n).as_bytes(), of)] += 1);
                assert!(counts.iter().all(|its| (850..1_150).contains(its)), "{of}: {counts:?}");
            }
        }
    }

    #[test]
    fn what_is_divided_is_neither_more_nor_less() {
        let parts = |whole, of| (0..of).map(|shard| Place { shard, of }.part(whole)).collect();
        let three: [Vec<usize>; 3] = [parts(256, 3), parts(3, 3), parts(1, 3)];
        assert_eq!(three, [vec![86, 85, 85], vec![1; 3], vec![1; 3]]);
    }
}
