//! The kinds that are paused.

use crate::store::{Key, Kind, Kinds, PAUSE, Store, StoreError};
use std::collections::BTreeSet;

/// The paused kinds, as a store returns them. The empty kind means all kinds.
#[derive(Default)]
pub(crate) struct Paused(BTreeSet<Kind>);

impl Paused {
    /// Reads which of these kinds are paused, by one lookup for each kind and one for the pause of
    /// all kinds.
    pub(crate) fn read<'a>(
        store: &mut dyn Store,
        kinds: impl Iterator<Item = &'a Kind>,
    ) -> Result<Self, StoreError> {
        let mut paused = Self::default();
        for kind in kinds.map(|kind| &**kind).chain([""]) {
            // A kind that is too long for such a key cannot be paused.
            let Ok(key) = Key::new(format!("{PAUSE}{kind}")) else { continue };
            if store.find(&key)?.is_some_and(|row| row.paused().is_some()) {
                paused.0.insert(kind.into());
            }
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
