//! One wheel of the hierarchy.

use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::lists::Ends;

/// A wheel whose slots have `width` ticks each. It covers as many slots as it has, starting with
/// the slot of the hand.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    width: Tick,
    slots: Vec<Ends>,
}

impl Level {
    /// The lowest wheel, with slots of one tick.
    pub(crate) fn lowest(slots: usize) -> Self {
        Self { width: 1, slots: alloc::vec![Ends::EMPTY; slots] }
    }

    /// The wheel above this one. Its slots are as wide as this whole wheel. If that width
    /// overflows, it is saturated, and the wheel still covers all ticks.
    pub(crate) fn above(&self) -> Self {
        let width = self.width.saturating_mul(self.slots.len() as Tick);
        Self { width, slots: alloc::vec![Ends::EMPTY; self.slots.len()] }
    }

    /// Returns `true` if this wheel has a slot for a deadline, which must not be before the hand.
    pub(crate) fn reaches(&self, deadline: Tick, hand: Tick) -> bool {
        deadline / self.width - hand / self.width < self.slots.len() as Tick
    }

    /// The slot of a deadline that this wheel covers.
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

    /// The first tick, at or after the hand, of the slot that is `slot` slots after that of the
    /// hand. `None` if it is after `Tick::MAX`.
    pub(crate) fn nth(&self, hand: Tick, slot: Tick) -> Option<Tick> {
        Some((hand / self.width).checked_add(slot)?.checked_mul(self.width)?.max(hand))
    }
}
