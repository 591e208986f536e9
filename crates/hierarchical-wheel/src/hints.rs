//! Reading a list ahead from several places at once.
//!
//! A list is a chain: where its next timer is stands in the one before, and at a million timers each
//! step waits for memory. But nothing waits when sixteen chains are followed side by side. So a slot
//! remembers up to sixteen of the timers that were appended to it, evenly spread. When its turn
//! comes, walkers run from all of them through the list in step, and leave its timers in the caches
//! for the one that does the work.
//!
//! ```text
//! sentinel → a b c d e f g h i j k l m n o p → sentinel
//!            ▲       ▲       ▲       ▲           four walkers, four steps each
//! ```
//!
//! At first every 16th timer is remembered. When there are sixteen of them and the list is longer
//! than they reach, every second one is dropped, and every 32nd is remembered from then on. When the
//! list is not, because timers leave it as others come, the oldest one is dropped instead: the timers
//! that are left are mostly those that came last.
//!
//! A hint may be stale: the timer was cancelled or has moved, and its walker runs through another
//! list. That costs a few reads in vain and harms nothing, because walkers only read.

use crate::nodes::{Nodes, Slot};
use crate::store::Store;
use alloc::vec::Vec;
use core::hint::black_box;

/// The most hints of a slot.
const HINTS: usize = 16;

/// Timers from a hint to the next, at first. A power of two.
pub(crate) const STRIDE: u32 = 16;

/// So many times their stride is what hints reach back if half of the timers leave as others come.
const REACH: u32 = HINTS as u32 / 2;

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
    const NONE: Self = Self { at: [0; HINTS], len: 0, stride: STRIDE, since: 0 };

    /// The slot has `timers`, of which some more were appended, the last of them at this place.
    fn record(&mut self, timers: u32, at: u32) {
        self.since += STRIDE;
        if self.since < self.stride {
            return;
        }
        self.since = 0;
        if self.len as usize == HINTS && self.stride * REACH < timers {
            (0..HINTS / 2).for_each(|kept| self.at[kept] = self.at[2 * kept + 1]);
            self.len /= 2;
            self.stride *= 2;
        } else if self.len as usize == HINTS {
            self.at.copy_within(1.., 0);
            self.len -= 1;
        }
        self.at[self.len as usize] = at;
        self.len += 1;
    }
}

/// The hints of the slots of a ring. There are none while all timers fit the caches.
#[derive(Clone, Debug, Default)]
pub(crate) struct RingHints {
    slots: Vec<Hints>,
}

impl RingHints {
    /// To a slot, of so many in the ring, some more timers were appended, the last of them at this
    /// place.
    pub(crate) fn record(&mut self, slots: u32, digit: u32, known: Slot, at: u32) {
        if self.slots.is_empty() {
            self.slots.resize(slots as usize, Hints::NONE);
        }
        let hints = &mut self.slots[digit as usize];
        if known.looked_after == 1 {
            // The slot was empty: all hints are of timers that are gone.
            *hints = Hints::NONE;
        }
        hints.record(known.len(), at);
    }

    /// Reads a list of `len` timers from the first and from all hints of its slot: at most some twice
    /// as many steps in all.
    #[inline(never)]
    pub(crate) fn read<S: Store>(&self, digit: u32, first: u32, len: u32, nodes: &Nodes<S>) {
        let Some(hints) = self.slots.get(digit as usize) else { return };
        let mut walkers = [first; HINTS + 1];
        walkers[1..].copy_from_slice(&hints.at);
        let walkers = &mut walkers[..=hints.len as usize];
        for _ in 0..hints.stride.min(len / REACH + STRIDE) {
            walkers.iter_mut().for_each(|at| *at = nodes.links(*at).next);
        }
        // Nothing comes of it but what is in the caches now, which the compiler must not know.
        black_box(walkers);
    }
}
