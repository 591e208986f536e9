//! The kinds that are paused.

use crate::store::{ClaimLimit, Key, Kind, Kinds, PAUSE, Store, StoreError};
use std::collections::BTreeSet;
use std::time::Duration;

/// The paused kinds, as a store returns them. The empty kind means all kinds.
#[derive(Default)]
pub(crate) struct Paused(BTreeSet<Kind>);

impl Paused {
    /// The kinds of the rows that pause one of these kinds, or all kinds.
    pub(crate) fn rows<'a>(kinds: impl Iterator<Item = &'a Kind>) -> Kinds {
        Kinds::new(kinds.map(|kind| format!("{PAUSE}{kind}")).chain([PAUSE.to_owned()]))
    }

    /// Reads the kinds that are paused. A claim of 0 jobs shows by one call whether any of `rows`
    /// is there. Only then each is looked up, by its key, which is the same as its kind.
    pub(crate) fn read(store: &mut dyn Store, rows: &Kinds) -> Result<Self, StoreError> {
        let mut paused = Self::default();
        let (_, next) = store.claim(rows, ClaimLimit::jobs(0), Duration::from_secs(1))?;
        for name in rows.iter().filter(|_| next.visible_at.is_some()) {
            // A kind that is too long for such a key cannot be paused.
            let Ok(key) = Key::new(name.as_bytes()) else { continue };
            let row = store.find(&key)?;
            paused.0.extend(row.iter().filter_map(|row| row.paused()).map(Kind::from));
        }
        Ok(paused)
    }

    pub(crate) fn has(&self, kind: &str) -> bool {
        self.0.contains(kind) || self.0.contains("")
    }

    /// Returns the kinds that are not paused.
    pub(crate) fn rest(&self, kinds: &Kinds) -> Kinds {
        match self.0.is_empty() {
            true => kinds.clone(),
            false => Kinds::new(kinds.iter().filter(|kind| !self.has(kind)).cloned()),
        }
    }
}
