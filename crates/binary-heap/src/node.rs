//! What the heap compares and moves.

use wheelhouse_core::Tick;

/// A timer in the heap: 24 bytes, and no pointer to follow for a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) deadline: Tick,
    /// The number of the insertion or reschedule. 2^64 of them do not come round.
    pub(crate) order: u64,
    /// The timer's place in the arena.
    pub(crate) index: u32,
}

impl Node {
    /// What nodes are ordered by.
    #[inline]
    pub(crate) fn key(&self) -> (Tick, u64) {
        (self.deadline, self.order)
    }

    #[inline]
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
}
