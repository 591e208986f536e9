//! Reading a list ahead from several places at once.
//!
//! A list is a chain: where its next timer is stands in the one before, and at a million timers
//! each step waits for memory. But nothing waits when sixteen chains are followed side by side. So
//! a slot remembers up to sixteen of the timers that were appended to it, evenly spread. When its
//! turn comes, walkers run from all of them through the list in step, and leave its timers in the
//! caches for the one that does the work.
//!
//! ```text
//! sentinel → a b c d e f g h i j k l m n o p → sentinel
//!            ▲       ▲       ▲       ▲           four walkers, four steps each
//! ```
//!
//! At first every 16th timer is remembered. When there are sixteen of them, every second one is
//! dropped, and every 32nd is remembered from then on. But when the oldest ones have left the slot,
//! because timers leave as others come, those are dropped instead: the timers that are left are
//! mostly those that came last.
//!
//! A hint whose timer was cancelled or has moved to another slot is passed over. A walker may all
//! the same get into another list. That costs a few reads in vain and harms nothing: walkers only
//! read.

use crate::nodes::{Nodes, Slot};
use crate::store::Store;
use alloc::vec::Vec;
use core::hint::black_box;

/// The most hints of a slot.
const HINTS: usize = 16;

/// Timers from a hint to the next, at first. A power of two.
pub(crate) const STRIDE: u8 = 16;

/// The longest way from a hint to the next. So reading ahead, also of a slot to which millions
/// came, takes some thousand reads at most.
const LONGEST_STRIDE: u32 = 512;

/// So many are dropped when the oldest have left.
const OLDEST: usize = 4;

/// Some timers of a slot, evenly spread.
#[derive(Clone, Copy, Debug)]
struct Hints {
    at: [u32; HINTS],
    len: u32,
    /// Timers appended from one of them to the next.
    stride: u32,
    /// Timers appended since the last.
    since: u32,
}

impl Hints {
    const NONE: Self = Self { at: [0; HINTS], len: 0, stride: STRIDE as u32, since: 0 };

    /// To the slot some more timers were appended, the last of them at this place.
    fn record(&mut self, at: u32, is_here: impl Fn(u32) -> bool) {
        self.since += u32::from(STRIDE);
        if self.since < self.stride {
            return;
        }
        self.since = 0;
        if self.len as usize == HINTS {
            self.forget_some(is_here);
        }
        self.at[self.len as usize] = at;
        self.len += 1;
    }

    /// Makes room for hints.
    fn forget_some(&mut self, is_here: impl Fn(u32) -> bool) {
        let are_oldest_here = is_here(self.at[0]) & is_here(self.at[2]);
        if are_oldest_here && self.stride < LONGEST_STRIDE {
            (0..HINTS / 2).for_each(|kept| self.at[kept] = self.at[2 * kept + 1]);
            self.len /= 2;
            self.stride *= 2;
        } else {
            self.at.copy_within(OLDEST.., 0);
            self.len -= OLDEST as u32;
        }
    }
}

/// The hints of the slots of a ring. There are none in a wheel of few timers.
#[derive(Clone, Debug, Default)]
pub(crate) struct RingHints {
    slots: Vec<Hints>,
    /// Steps of all walkers: nothing else can be seen of them.
    #[cfg(test)]
    pub(crate) steps: core::cell::Cell<usize>,
}

impl RingHints {
    /// To a slot, of so many in the ring, some more timers were appended, the last of them at this
    /// place. Whether others are still there, the caller can say.
    pub(crate) fn record(
        &mut self,
        slots: u32,
        digit: u32,
        known: Slot,
        at: u32,
        is_here: impl Fn(u32) -> bool,
    ) {
        if self.slots.is_empty() {
            self.slots.resize(slots as usize, Hints::NONE);
        }
        let hints = &mut self.slots[digit as usize];
        if known.looked_after == 1 {
            // The slot was empty: all hints are of timers that are gone.
            *hints = Hints::NONE;
        }
        hints.record(at, is_here);
    }

    /// Reads the list of a slot, whose timers have the same deadlines but for the lowest `shift`
    /// bits, from the first and from all hints: each up to the next, or nearly.
    #[inline(never)]
    pub(crate) fn read<S: Store>(&self, digit: u32, first: u32, shift: u32, nodes: &Nodes<S>) {
        let Some(hints) = self.slots.get(digit as usize) else { return };
        let slot_of = |at| nodes.deadline_at(at) >> shift;
        let (here, sentinel) = (slot_of(first), nodes.links(first).prev);
        let (mut walkers, mut count) = ([first; HINTS + 2], 1);
        for &at in &hints.at[..hints.len as usize] {
            walkers[count] = at;
            count += usize::from(slot_of(at) == here);
        }
        walkers[count] = sentinel;
        let ends = walkers;
        for _ in 0..hints.stride {
            for (at, end) in walkers.iter_mut().zip(&ends[1..=count]) {
                if at != end {
                    *at = nodes.links(*at).next;
                    #[cfg(test)]
                    self.steps.set(self.steps.get() + 1);
                }
            }
        }
        // Nothing comes of it but what is in the caches now, which the compiler must not know.
        black_box(walkers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hints_of_a_slot_to_which_a_million_came_are_near_its_end() {
        let mut hints = Hints::NONE;
        (0..1_000_000).for_each(|at| hints.record(at, |_| true));
        assert!(hints.stride <= LONGEST_STRIDE && hints.len > 8);
        assert!(hints.at[0] > 950_000, "{hints:?}");
    }
}
