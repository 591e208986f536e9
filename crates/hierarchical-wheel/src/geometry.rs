//! Which slot a deadline belongs to.
//!
//! A deadline is read as digits, each of [`SlotCount::bits`] bits. Seen from the wheel's hand, all that matters is the
//! highest digit in which the two differ: it says the level, and its value in the deadline says the slot. All digits above
//! it are the same, so a slot never holds timers of different turns, and no turn has to be counted.
//!
//! ```text
//!             level 3   level 2   level 1   level 0
//! hand           0         7         2         5
//! deadline       0         7         4         1     differs first at level 1: slot 4 of level 1
//! ```

use wheelhouse_core::{SlotCount, Tick};

/// The digits of a deadline. A level goes by the *shift* of its digit: how many bits are to its right.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    bits: u32,
    /// The lowest `bits` bits.
    mask: u32,
    /// The shift of the digit that bit i of a deadline is in: a table, because a division by `bits` costs more than a load.
    shift_of_bit: [u8; 64],
}

impl Geometry {
    pub(crate) fn new(slots: SlotCount) -> Self {
        let bits = slots.bits();
        Self { bits, mask: (1 << bits) - 1, shift_of_bit: core::array::from_fn(|bit| (bit as u32 / bits * bits) as u8) }
    }

    /// The levels, the lowest first: as many as 64 bits have digits.
    pub(crate) fn levels(&self) -> impl Iterator<Item = u32> + use<> {
        (0..u64::BITS).step_by(self.bits as usize)
    }

    /// Slots of a level.
    #[cfg(test)]
    pub(crate) fn slots(&self) -> u32 {
        self.mask + 1
    }

    /// The level below.
    #[inline]
    pub(crate) fn below(&self, level: u32) -> u32 {
        level - self.bits
    }

    /// The level of a deadline that is not before the hand.
    #[inline]
    pub(crate) fn level_of(&self, deadline: Tick, hand: Tick) -> u32 {
        // The lowest bit set makes "no difference" a difference in the lowest digit.
        let highest_difference = 63 - ((deadline ^ hand) | 1).leading_zeros();
        u32::from(self.shift_of_bit[highest_difference as usize])
    }

    /// The slot of a deadline in a turn of a level: its digit.
    #[inline]
    pub(crate) fn digit_of(&self, deadline: Tick, level: u32) -> u32 {
        (deadline >> level) as u32 & self.mask
    }

    /// The first tick of a slot in the turn of a level that the hand is in.
    #[inline]
    pub(crate) fn start_of(&self, level: u32, digit: u32, hand: Tick) -> Tick {
        (hand & !low_bits(level + self.bits)) | (Tick::from(digit) << level)
    }
}

/// A mask of the lowest `count` bits.
#[inline]
const fn low_bits(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(slots: usize) -> Geometry {
        Geometry::new(SlotCount::new(slots).unwrap())
    }

    #[test]
    fn the_levels_cover_all_of_u64() {
        for (slots, levels) in [(2, 64), (8, 22), (64, 11), (256, 8), (65_536, 4)] {
            let geometry = geometry(slots);
            assert_eq!(geometry.levels().count(), levels);
            let level = geometry.level_of(u64::MAX, 0);
            assert_eq!(geometry.levels().last(), Some(level));
            let digit = geometry.digit_of(u64::MAX, level);
            assert!(digit < slots as u32 && geometry.start_of(level, digit, 0) > u64::MAX / 2);
        }
    }

    #[test]
    fn the_level_is_that_of_the_highest_digit_that_differs() {
        let geometry = geometry(8);
        let place = |deadline, hand| {
            let level = geometry.level_of(deadline, hand);
            (level, geometry.digit_of(deadline, level))
        };
        assert_eq!(place(0o7241, 0o7245), (0, 1));
        assert_eq!(place(0o7245, 0o7245), (0, 5));
        assert_eq!(place(0o7251, 0o7245), (3, 5));
        assert_eq!(place(0o10000, 0o7245), (12, 1));
    }

    #[test]
    fn a_slot_starts_at_or_before_its_deadlines_and_after_the_hand() {
        for slots in [2, 8, 64, 256, 4096] {
            let geometry = geometry(slots);
            for hand in [0, 1, 77, 4095, 1 << 33, u64::MAX - 5000, u64::MAX] {
                for distance in (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit]) {
                    let Some(deadline) = u64::checked_add(hand, distance) else { continue };
                    let level = geometry.level_of(deadline, hand);
                    let start = geometry.start_of(level, geometry.digit_of(deadline, level), hand);
                    assert!(start <= deadline && start >= hand, "{slots} slots: {start} for {deadline} from {hand}");
                    assert!(level > 0 || start == deadline, "level 0 is exact");
                }
            }
        }
    }
}
