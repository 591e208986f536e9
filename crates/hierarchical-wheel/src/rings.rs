//! Rings of slots: one for each level that the hand is in, and one for each slot that is split.

use crate::hints::RingHints;
use crate::nodes::Nodes;
use crate::store::Store;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use wheelhouse_core::geometry::Level;
use wheelhouse_core::stack::Stack;

/// The parent of a ring that is current.
pub(crate) const CURRENT: u32 = u32::MAX;

/// The parent of a ring that is in no use.
const FREE: u32 = u32::MAX - 1;

/// A turn of a level. Its sentinels stand one behind the other; behind those of its slots is one
/// more, for the elders of the slot that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// Its first sentinel.
    pub(crate) base: u32,
    pub(crate) level: Level,
    /// The split slot that it belongs to, or [`CURRENT`].
    pub(crate) parent: u32,
    /// A bit for each occupied slot. Of current rings the wheel keeps them.
    pub(crate) words: Vec<u64>,
    pub(crate) hints: RingHints,
}

impl Ring {
    /// Whether it is current or belongs to a slot.
    pub(crate) fn is_in_use(&self) -> bool {
        self.parent != FREE
    }

    /// Whether it belongs to a slot.
    pub(crate) fn is_of_slot(&self) -> bool {
        self.parent < FREE
    }

    /// A slot has its first timer.
    pub(crate) fn occupy(&mut self, digit: u32) {
        self.words[digit as usize / 64] |= 1 << (digit % 64);
    }

    /// A slot has lost its last timer.
    pub(crate) fn vacate(&mut self, digit: u32) {
        self.words[digit as usize / 64] &= !(1 << (digit % 64));
    }

    /// How many slots are occupied.
    pub(crate) fn occupied(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// The occupied slots by their digits, which are no more from then on.
    pub(crate) fn take_occupied(&mut self) -> impl Iterator<Item = u32> {
        self.words.iter_mut().map(core::mem::take).zip(0..).flat_map(bits)
    }
}

/// The bits of a word of slots, by the numbers of the slots.
pub(crate) fn bits((mut word, at): (u64, u32)) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(at * 64 + bit)
    })
}

/// All rings.
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    /// Each in a piece of memory of its own, so that growing moves none.
    #[expect(clippy::vec_box)]
    rings: Vec<Box<Ring>>,
    free: Stack<u32>,
    /// Which was looked at last.
    looked_at: usize,
    /// Slots of a ring.
    slots: u32,
}

impl Rings {
    pub(crate) fn new(slots: u32) -> Self {
        Self { rings: Vec::new(), free: Stack::new(), looked_at: 0, slots }
    }

    /// Slots of a ring. So far behind the first sentinel is that of the elders.
    #[inline(always)]
    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    #[inline(always)]
    pub(crate) fn get(&self, ring: u32) -> &Ring {
        &self.rings[ring as usize]
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, ring: u32) -> &mut Ring {
        &mut self.rings[ring as usize]
    }

    /// The ring that is to be looked at; then it is the next one's turn.
    pub(crate) fn next_to_see(&mut self) -> u32 {
        self.looked_at = (self.looked_at + 1) % self.rings.len();
        self.looked_at as u32
    }

    /// A ring of empty slots: its first sentinel. O(s) for s slots.
    pub(crate) fn allocate<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        level: Level,
        parent: u32,
    ) -> u32 {
        let ring = self.free.pop().unwrap_or_else(|| {
            let ring = self.rings.len() as u32;
            let base = nodes.add_slots(self.slots + 1, ring);
            let words = vec![0; self.slots.div_ceil(64) as usize];
            let hints = RingHints::default();
            self.rings.push(Box::new(Ring { base, level, parent, words, hints }));
            ring
        });
        let it = self.get_mut(ring);
        (it.level, it.parent) = (level, parent);
        it.base
    }

    /// Gives back a ring, all of whose slots are empty.
    pub(crate) fn release(&mut self, ring: u32) {
        self.get_mut(ring).parent = FREE;
        self.free.push(ring);
    }

    #[cfg(test)]
    pub(crate) fn in_use(&self) -> usize {
        self.rings.len() - self.free.len()
    }

    #[cfg(test)]
    pub(crate) fn read_ahead(&self) -> usize {
        self.rings.iter().map(|ring| ring.hints.steps.get()).sum()
    }
}
