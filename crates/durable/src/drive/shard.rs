//! Which of several stores a key belongs to, and that each is opened as the shard that it is.
//!
//! A program that counts other shards than those before it would look for a key in the wrong store:
//! it would find no job to cancel, and schedule a second one under the same key. So each store
//! keeps a row that says which shard of how many it is, and is refused where that does not fit.

use crate::error::StartError;
use crate::store::{Change, Key, Put, Store, StoreError, Timestamp, When};

/// The key of the row that says which shard a store is, and its kind: it is never due.
const KEY: &str = "wheelhouse-shard";
const KIND: &str = "wheelhouse-shard/1";

/// A shard, of how many.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) shard: usize,
    pub(super) of: usize,
}

/// The shard of a key: the same for ever and on every machine, as jobs lie where it says.
pub(super) fn shard_of(key: &[u8], of: usize) -> usize {
    // FNV-1a (Fowler, Noll, Vo), 64 bits.
    let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = key.iter().copied().fold(0xcbf2_9ce4_8422_2325, mix);
    usize::try_from(hash % of as u64).unwrap_or_default()
}

impl Place {
    /// Refuses a store that is another shard; an empty one becomes this shard.
    pub(super) fn take(self, store: &mut dyn Store) -> Result<(), StartError> {
        let mut found = said(store)?;
        if self.of > 1 && found.is_none() {
            let mut rows = 0;
            store.scan(None, 1, &mut |_| rows += 1)?;
            if rows > 0 && said(store)?.is_none() {
                return Err(StartError::Shard(format!(
                    "a store that has jobs cannot become {}: their keys may belong to others; \
                     take empty stores, or queues with new names, and let these jobs run out",
                    self.text()
                )));
            }
            // Where another program is first, its row stays.
            store.commit(&[Change::Put(self.row()?)])?;
            found = said(store)?;
        }
        let wanted = (self.of > 1).then(|| self.text());
        if found == wanted {
            return Ok(());
        }
        let text = |said: Option<String>| said.unwrap_or_else(|| "a store by itself".to_owned());
        Err(StartError::Shard(format!(
            "a store that is {} was opened as {}: start with all the stores that it belongs to, in \
             the same order in every program",
            text(found),
            text(wanted)
        )))
    }

    fn text(self) -> String {
        format!("shard {} of {}", self.shard + 1, self.of)
    }

    fn row(self) -> Result<Put, StartError> {
        Ok(Put {
            key: key()?,
            kind: KIND.into(),
            payload: self.text().into_bytes(),
            policy: String::new(),
            when: When::At(Timestamp::MAX),
            replace: false,
        })
    }
}

/// What a store says that it is.
fn said(store: &mut dyn Store) -> Result<Option<String>, StartError> {
    let row = store.find(&key()?)?;
    Ok(row.map(|row| String::from_utf8_lossy(&row.payload).into_owned()))
}

fn key() -> Result<Key, StoreError> {
    Key::new(KEY).map_err(|error| StoreError::Refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned: jobs lie in stores by this.
    #[test]
    fn keys_stay_in_their_shards_and_are_spread() {
        let of_five = ["", "a", "order-17", "order-18"].map(|key| shard_of(key.as_bytes(), 5));
        assert_eq!(of_five, [2, 1, 3, 3]);
        let mut counts = [0; 7];
        (0..7_000).for_each(|n| counts[shard_of(format!("order-{n}").as_bytes(), 7)] += 1);
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }
}
