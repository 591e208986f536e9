//! Rings: the slots of one turn of a level, and which of them hold timers.

use crate::queue::Slot;
use alloc::vec::Vec;
use wheelhouse_core::SlotCount;
use wheelhouse_core::segments::Segments;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// Words of the map that lie side by side: those of the largest ring do.
const WORDS: usize = SlotCount::MAX / WORD;

/// All rings. Their slots are numbered through; a ring goes by the number of its first slot. Each slot has a bit, so that the next one
/// in use is found without looking into empty ones.
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    slots: Segments<Slot>,
    /// The bit of a slot: it holds a live timer.
    occupied: Segments<u64, WORDS>,
    /// How many slots of each ring are occupied.
    counts: Vec<u32>,
    /// Rings that may be used again; they are empty.
    free: Vec<u32>,
    /// How many slots rings have taken.
    used: usize,
    /// Slots from one ring to the next: a ring of fewer than 64 leaves the rest of its word unused.
    stride: usize,
}

impl Rings {
    pub(crate) fn new(slots: SlotCount) -> Self {
        let stride = slots.get().max(WORD);
        Self {
            slots: Segments::new(),
            occupied: Segments::new(),
            counts: Vec::new(),
            free: Vec::new(),
            used: 0,
            stride,
        }
    }

    /// A ring that is empty.
    pub(crate) fn allocate(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let ring = self.used;
            self.used += self.stride;
            self.slots.grow_to(self.used, || Slot::EMPTY);
            self.occupied.grow_to(self.used / WORD, || 0);
            self.counts.push(0);
            ring as u32
        })
    }

    /// Gives back a ring that is empty.
    pub(crate) fn release(&mut self, ring: u32) {
        debug_assert_eq!(self.count(ring), 0);
        self.free.push(ring);
    }

    /// The number behind that of the last slot.
    pub(crate) fn end(&self) -> u32 {
        self.used as u32
    }

    #[inline]
    pub(crate) fn slot(&mut self, at: u32) -> &mut Slot {
        &mut self.slots[at as usize]
    }

    /// Which count is for a slot.
    #[inline]
    fn number(&self, at: u32) -> usize {
        // The stride is a power of two, which the compiler cannot know: spell the division as a shift.
        at as usize >> self.stride.trailing_zeros()
    }

    /// Says that a slot holds live timers, where it held none.
    #[inline]
    pub(crate) fn occupy(&mut self, at: u32) {
        debug_assert!(!self.is_occupied(at));
        self.occupied[at as usize / WORD] |= 1 << (at as usize % WORD);
        let number = self.number(at);
        self.counts[number] += 1;
    }

    /// Says that it holds none any more.
    #[inline]
    pub(crate) fn vacate(&mut self, at: u32) {
        debug_assert!(self.is_occupied(at));
        self.occupied[at as usize / WORD] &= !(1 << (at as usize % WORD));
        let number = self.number(at);
        self.counts[number] -= 1;
    }

    #[inline]
    pub(crate) fn is_occupied(&self, at: u32) -> bool {
        self.occupied[at as usize / WORD] & (1 << (at as usize % WORD)) != 0
    }

    /// How many slots of a ring are occupied.
    #[inline]
    pub(crate) fn count(&self, ring: u32) -> u32 {
        self.counts[self.number(ring)]
    }

    /// The words of a ring: side by side, since the size of a ring divides that of a segment.
    #[inline]
    fn words(&self, ring: u32) -> &[u64] {
        self.occupied.slice(ring as usize / WORD, self.stride / WORD)
    }

    /// The first occupied slot of a ring.
    #[inline]
    pub(crate) fn first(&self, ring: u32) -> Option<u32> {
        let (at, word) = self.words(ring).iter().enumerate().find(|(_, word)| **word != 0)?;
        Some(ring + (at * WORD) as u32 + word.trailing_zeros())
    }

    /// How many rings are not free.
    #[cfg(test)]
    pub(crate) fn in_use(&self) -> usize {
        self.used / self.stride - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_occupied_slot() -> Result<(), wheelhouse_core::SlotCountError> {
        for slots in [2, 64, 256, SlotCount::MAX] {
            let mut rings = Rings::new(SlotCount::new(slots)?);
            rings.allocate();
            let ring = rings.allocate();
            assert_eq!(rings.first(ring), None);
            let occupied = [ring, ring + slots as u32 - 1];
            occupied.iter().rev().for_each(|&at| rings.occupy(at));
            for at in (ring..ring + slots as u32).filter(|at| occupied.contains(at)) {
                assert_eq!(rings.first(ring), Some(at));
                assert!(rings.count(ring) > 0);
                rings.vacate(at);
            }
            assert_eq!(rings.count(ring), 0);
            rings.release(ring);
            assert_eq!((rings.allocate(), rings.in_use()), (ring, 2));
        }
        Ok(())
    }
}
