//! A bitmap of the occupied slots of all levels, which finds the first one in O(1).
//!
//! The slots of all levels are numbered consecutively, the lowest level first. Seen from the hand,
//! every timer of a lower level is due before every timer of a higher level, and within a level the
//! slots are ordered by digit. So in a small wheel the earliest occupied slot has the lowest
//! number: it is the lowest bit of the map.
//!
//! ```text
//! summary   0 0 1 0 1 ...          a bit for each word that is not zero
//!               │   ╰──────────╮
//! words     0 0 0100100..0  0  10..0      a bit for each slot
//! ```
//!
//! Linux has such a map for its timer wheel, and a summary word above the words in its bitmaps of
//! priorities. Van Emde Boas trees extend the idea to any depth.

use alloc::vec;
use alloc::vec::Vec;
use wheelhouse_core::meter::{Meter, Work};

const WORD: u32 = u64::BITS;

/// A set of slot numbers.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
    /// Bit i is set if word i is not zero.
    summary: Vec<u64>,
}

impl Bitmap {
    /// An empty set for numbers below `slots`.
    pub(crate) fn new(slots: u32) -> Self {
        let words = slots.div_ceil(WORD);
        Self { words: vec![0; words as usize], summary: vec![0; words.div_ceil(WORD) as usize] }
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, slot: u32) {
        let word = slot / WORD;
        self.words[word as usize] |= 1 << (slot % WORD);
        self.summary[(word / WORD) as usize] |= 1 << (word % WORD);
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, slot: u32) {
        let at = slot / WORD;
        let word = &mut self.words[at as usize];
        *word &= !(1 << (slot % WORD));
        if *word == 0 {
            self.summary[(at / WORD) as usize] &= !(1 << (at % WORD));
        }
        debug_assert!(self.is_summary_right(at));
    }

    /// Returns `true` if the summary has the bit of a word exactly if the word is not zero.
    fn is_summary_right(&self, word: u32) -> bool {
        let bit = self.summary[(word / WORD) as usize] >> (word % WORD) & 1;
        (bit == 1) == (self.words[word as usize] != 0)
    }

    #[inline]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.words[(slot / WORD) as usize] >> (slot % WORD) & 1 == 1
    }

    /// The lowest number in the set. O(s / 4,096) for s slots: up to 4,096 slots it reads two
    /// words.
    #[inline(always)]
    pub(crate) fn first(&self, meter: &impl Meter) -> Option<u32> {
        for (at, summary) in self.summary.iter().enumerate() {
            meter.tally(Work::SlotVisit, 1);
            if *summary != 0 {
                meter.tally(Work::SlotVisit, 1);
                let word = at as u32 * WORD + summary.trailing_zeros();
                debug_assert!(self.is_summary_right(word));
                return Some(word * WORD + self.words[word as usize].trailing_zeros());
            }
        }
        None
    }

    /// The lowest number in the set that is at least `from`. The cost is that of
    /// [`first`](Self::first) plus one word.
    #[inline]
    pub(crate) fn first_from(&self, from: u32, meter: &impl Meter) -> Option<u32> {
        let at = from / WORD;
        let rest = self.words[at as usize] & (u64::MAX << (from % WORD));
        meter.tally(Work::SlotVisit, 1);
        if rest != 0 {
            return Some(at * WORD + rest.trailing_zeros());
        }
        let (word, mut mask) = ((at + 1) / WORD, u64::MAX << ((at + 1) % WORD));
        for summary in word..self.summary.len() as u32 {
            let rest = self.summary[summary as usize] & mask;
            meter.tally(Work::SlotVisit, 1);
            if rest != 0 {
                let word = summary * WORD + rest.trailing_zeros();
                debug_assert!(self.is_summary_right(word));
                meter.tally(Work::SlotVisit, 1);
                return Some(word * WORD + self.words[word as usize].trailing_zeros());
            }
            mask = u64::MAX;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use wheelhouse_conformance::Random;
    use wheelhouse_core::meter::NoMeter;

    #[test]
    fn first_is_the_lowest_number_after_any_operations() {
        for slots in [2, 64, 2_048, 1 << 18] {
            let (mut bitmap, mut expected) = (Bitmap::new(slots), BTreeSet::new());
            let mut random = Random::new(1);
            for _ in 0..4_000 {
                let slot = random.below(slots.into()) as u32;
                if random.one_in(2) {
                    bitmap.insert(slot);
                    expected.insert(slot);
                } else {
                    let first = expected.first().filter(|_| random.one_in(2));
                    let gone = first.copied().unwrap_or(slot);
                    bitmap.remove(gone);
                    expected.remove(&gone);
                }
                assert_eq!(bitmap.first(&NoMeter), expected.first().copied());
            }
        }
    }
}
