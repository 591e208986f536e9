//! A bitmap of the slots of a wheel that have timers. With it, a wheel finds the next such slot
//! without reading empty slots.

use crate::SlotCount;
use crate::meter::{Meter, Work};
use alloc::vec;
use alloc::vec::Vec;

const WORD: usize = u64::BITS as usize;

/// One bit for each slot of a wheel.
///
/// ```
/// use wheelhouse_core::{SlotCount, meter::NoMeter, occupied::SlotBitmap};
///
/// let mut occupied = SlotBitmap::new(SlotCount::new(256)?);
/// occupied.set(7);
/// assert_eq!(occupied.next(5, 256, &NoMeter), Some(2));
/// assert_eq!(occupied.next(8, 256, &NoMeter), Some(255));
/// assert_eq!(occupied.next(8, 10, &NoMeter), None);
/// # Ok::<(), wheelhouse_core::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SlotBitmap {
    words: Vec<u64>,
    slots: usize,
}

impl SlotBitmap {
    /// A bitmap in which no slot is occupied.
    pub fn new(slots: SlotCount) -> Self {
        Self { words: vec![0; slots.get().div_ceil(WORD)], slots: slots.get() }
    }

    /// Marks a slot as occupied.
    #[inline]
    pub fn set(&mut self, at: usize) {
        debug_assert!(at < self.slots);
        self.words[at / WORD] |= 1 << (at % WORD);
    }

    /// Marks a slot as empty.
    #[inline]
    pub fn clear(&mut self, at: usize) {
        debug_assert!(at < self.slots);
        self.words[at / WORD] &= !(1 << (at % WORD));
    }

    /// The distance from `from` to the first occupied slot, 0 if `from` is occupied. Searches
    /// `count` slots and wraps at the end of the wheel. O(count / 64): each word that is read
    /// counts as a visit.
    #[inline]
    pub fn next(&self, from: usize, count: usize, meter: &impl Meter) -> Option<usize> {
        debug_assert!(from < self.slots && count <= self.slots, "{from}, {count}");
        let mut passed = 0;
        while passed < count {
            meter.tally(Work::SlotVisit, 1);
            // The number of slots is a power of two, so the mask wraps at the end of the wheel.
            let at = (from + passed) & (self.slots - 1);
            // The shift drops the slots before `at`.
            let word = self.words[at / WORD] >> (at % WORD);
            if word != 0 {
                passed += word.trailing_zeros() as usize;
                // The word may have slots beyond the `count` that are searched.
                return (passed < count).then_some(passed);
            }
            // Continue with the next word. A wheel of fewer than 64 slots wraps to its only word.
            passed += WORD.min(self.slots) - at % WORD;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::{CountingMeter, NoMeter};

    #[test]
    fn finds_the_next_occupied_slot_round_the_wheel() -> Result<(), crate::ConfigError> {
        for count in [2, 8, 64, 256] {
            let mut occupied = SlotBitmap::new(SlotCount::new(count)?);
            assert_eq!(occupied.next(1, count, &NoMeter), None);
            for only in 0..count {
                occupied.set(only);
                for from in 0..count {
                    let distance = (only + count - from) % count;
                    assert_eq!(occupied.next(from, count, &NoMeter), Some(distance));
                    assert_eq!(occupied.next(from, distance, &NoMeter), None);
                }
                occupied.clear(only);
            }
            occupied.set(0);
            occupied.set(count - 1);
            assert_eq!(occupied.next(count - 1, count, &NoMeter), Some(0));
        }
        Ok(())
    }
    #[test]
    fn each_word_that_is_read_counts() -> Result<(), crate::ConfigError> {
        let mut occupied = SlotBitmap::new(SlotCount::new(256)?);
        occupied.set(200);
        for (from, count, words) in [(200, 256, 1), (190, 256, 2), (201, 256, 5), (0, 64, 1)] {
            let meter = CountingMeter::default();
            occupied.next(from, count, &meter);
            assert_eq!(meter.total(), words, "from {from}, {count} slots");
        }
        Ok(())
    }
}
