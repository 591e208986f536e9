//! Which slots of a wheel hold timers: a bit each, so that the next one is found without looking
//! into empty slots.

use crate::SlotCount;
use alloc::vec;
use alloc::vec::Vec;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// A bit for each slot of a wheel.
///
/// ```
/// use wheelhouse_core::{SlotCount, occupied::Occupied};
///
/// let mut occupied = Occupied::new(SlotCount::new(256)?);
/// occupied.set(7);
/// assert_eq!((occupied.next(5, 256), occupied.next(8, 256)), (Some(2), Some(255)));
/// assert_eq!(occupied.next(8, 10), None);
/// # Ok::<(), wheelhouse_core::SlotCountError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Occupied {
    words: Vec<u64>,
    slots: usize,
}

impl Occupied {
    /// No slot is occupied.
    pub fn new(slots: SlotCount) -> Self {
        Self { words: vec![0; slots.get().div_ceil(WORD)], slots: slots.get() }
    }

    /// A slot holds a timer.
    #[inline]
    pub fn set(&mut self, at: usize) {
        self.words[at / WORD] |= 1 << (at % WORD);
    }

    /// A slot holds none any more.
    #[inline]
    pub fn clear(&mut self, at: usize) {
        self.words[at / WORD] &= !(1 << (at % WORD));
    }

    /// How many words a search reads that passes so many slots, for the meter.
    #[inline]
    pub fn words(passed: usize) -> u64 {
        (passed / WORD) as u64 + 1
    }

    /// How far after `from` the first occupied slot is, `from` itself included, round the wheel and
    /// within `count` slots. O(count / 64).
    #[inline]
    pub fn next(&self, from: usize, count: usize) -> Option<usize> {
        let mut passed = 0;
        while passed < count {
            let at = (from + passed) & (self.slots - 1);
            let word = self.words[at / WORD] >> (at % WORD);
            if word != 0 {
                passed += word.trailing_zeros() as usize;
                return (passed < count).then_some(passed);
            }
            // On to the next word, or, in a wheel of fewer slots than a word has bits, once round.
            passed += WORD.min(self.slots) - at % WORD;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_occupied_slot_round_the_wheel() -> Result<(), crate::SlotCountError> {
        for count in [2, 8, 64, 256] {
            let mut occupied = Occupied::new(SlotCount::new(count)?);
            assert_eq!(occupied.next(1, count), None);
            for only in 0..count {
                occupied.set(only);
                for from in 0..count {
                    let distance = (only + count - from) % count;
                    assert_eq!(occupied.next(from, count), Some(distance));
                    assert_eq!(occupied.next(from, distance), None);
                }
                occupied.clear(only);
            }
            occupied.set(0);
            occupied.set(count - 1);
            assert_eq!(occupied.next(count - 1, count), Some(0));
        }
        Ok(())
    }
}
