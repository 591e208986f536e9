//! Lists the jobs of a shard.

use super::state::{Body, Other, ShardState};
use super::work::ShardWork;
use crate::job::{Id, Info};
use std::sync::Arc;

/// The most entries that are visited under one lock.
const PORTION: u32 = 256;

/// A job, and the part that its handles share.
pub(crate) type Listed = (Id, Option<Arc<Info>>);

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// The jobs among the next entries from `from` on, and the entry to continue with. Futures are
    /// not listed.
    pub(crate) fn list(&self, from: u32) -> (Vec<Listed>, Option<u32>) {
        let upto = from.saturating_add(PORTION);
        let mut found = Vec::new();
        for index in from..upto.min(self.slots.end()) {
            let Some(slot) = self.slots.get(index) else { continue };
            let id = Id::new(slot.number, index, self.shard());
            match &slot.body {
                Body::Plain(work) if !work.is_awaited() => found.push((id, None)),
                Body::Other(Other::Gone | Other::InSlab(..)) => found.push((id, None)),
                Body::Other(Other::Full { job, .. }) => {
                    found.push((id, Some(Arc::clone(&self.job_states[*job].info))));
                }
                _ => {}
            }
        }
        (found, (upto < self.slots.end()).then_some(upto))
    }
}
