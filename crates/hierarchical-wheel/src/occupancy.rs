//! Which slots hold live timers: a bit each, so that the next one is found without looking into empty ones.

use alloc::vec;
use alloc::vec::Vec;

/// One bit a slot and one bit a level.
///
/// Seen from the hand, all occupied slots of a level lie ahead in the same turn, and all of a lower level before all of a
/// higher one. So the earliest is the first bit of the first level that has any.
#[derive(Clone, Debug)]
pub(crate) struct Occupancy {
    words: Vec<u64>,
    words_per_level: usize,
    slots_per_level: usize,
    /// Bit i: level i has an occupied slot. Sixty-four levels (of two slots) are the most there can be.
    levels: u64,
}

impl Occupancy {
    pub(crate) fn new(levels: usize, slots_per_level: usize) -> Self {
        let words_per_level = slots_per_level.div_ceil(64);
        Self { words: vec![0; levels * words_per_level], words_per_level, slots_per_level, levels: 0 }
    }

    #[inline]
    fn split(&self, slot: usize) -> (usize, usize, u64) {
        // The number of slots is a power of two, which the compiler cannot know: spell the division as a shift.
        let level = slot >> self.slots_per_level.trailing_zeros();
        let digit = slot & (self.slots_per_level - 1);
        (level, level * self.words_per_level + digit / 64, 1 << (digit % 64))
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: usize) {
        let (level, word, bit) = self.split(slot);
        self.words[word] |= bit;
        self.levels |= 1 << level;
    }

    #[inline]
    pub(crate) fn clear(&mut self, slot: usize) {
        let (level, word, bit) = self.split(slot);
        self.words[word] &= !bit;
        let first = level * self.words_per_level;
        if self.words[first..first + self.words_per_level].iter().all(|word| *word == 0) {
            self.levels &= !(1 << level);
        }
    }

    /// The earliest occupied slot.
    #[inline]
    pub(crate) fn first(&self) -> Option<usize> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        let first = level * self.words_per_level;
        let words = &self.words[first..first + self.words_per_level];
        let (at, word) = words.iter().enumerate().find(|(_, word)| **word != 0)?;
        Some(level * self.slots_per_level + at * 64 + word.trailing_zeros() as usize)
    }

    /// All occupied slots, the earliest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(move |(at, &word)| {
            let (level, within) = (at / self.words_per_level, at % self.words_per_level);
            let base = level * self.slots_per_level + within * 64;
            core::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|rest| *rest != 0)
                .map(move |rest| base + rest.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_slot_of_the_lowest_level() {
        for slots_per_level in [2, 64, 256] {
            let mut occupancy = Occupancy::new(8, slots_per_level);
            assert_eq!(occupancy.first(), None);
            let slots = [1, slots_per_level + 1, 3 * slots_per_level, 8 * slots_per_level - 1];
            slots.iter().rev().for_each(|&slot| occupancy.set(slot));
            assert_eq!(occupancy.iter().collect::<Vec<_>>(), slots);
            for slot in slots {
                assert_eq!(occupancy.first(), Some(slot));
                occupancy.clear(slot);
            }
            assert_eq!(occupancy.first(), None);
        }
    }
}
