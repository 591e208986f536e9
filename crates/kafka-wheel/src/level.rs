//! One wheel of the hierarchy.

use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::lists::Ends;

/// A wheel of slots of `width` ticks each. Seen from the hand, it reaches over as many slots as it
/// has, the hand's own included.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    width: Tick,
    slots: Vec<Ends>,
}

impl Level {
    /// The wheel whose slots are ticks.
    pub(crate) fn lowest(slots: usize) -> Self {
        Self { width: 1, slots: alloc::vec![Ends::EMPTY; slots] }
    }

    /// The wheel whose slots are as wide as this is in all. Where that is more than there are
    /// ticks, it reaches over them all with the slots below.
    pub(crate) fn above(&self) -> Self {
        let width = self.width.saturating_mul(self.slots.len() as Tick);
        Self { width, slots: alloc::vec![Ends::EMPTY; self.slots.len()] }
    }

    /// Whether a deadline that is not before the hand is in a slot of this wheel: fewer slots ahead
    /// than it has.
    pub(crate) fn reaches(&self, deadline: Tick, hand: Tick) -> bool {
        deadline / self.width - hand / self.width < self.slots.len() as Tick
    }

    /// The slot of a deadline that this wheel reaches.
    pub(crate) fn slot(&mut self, deadline: Tick) -> &mut Ends {
        let count = self.slots.len() as Tick;
        &mut self.slots[(deadline / self.width % count) as usize]
    }

    /// The first tick of the slot of a deadline.
    pub(crate) fn start_of(&self, deadline: Tick) -> Tick {
        deadline - deadline % self.width
    }
}

#[cfg(test)]
impl Level {
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// The first tick of the slot so many slots after that of the hand, but not before the hand, if
    /// there is such a tick.
    pub(crate) fn nth(&self, hand: Tick, slot: Tick) -> Option<Tick> {
        Some((hand / self.width).checked_add(slot)?.checked_mul(self.width)?.max(hand))
    }
}
