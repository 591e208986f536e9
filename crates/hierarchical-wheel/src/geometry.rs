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

/// The levels of a wheel and their slots. Slots are numbered through: level by level, the lowest first.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    bits: u32,
    /// The level that bit i of a deadline belongs to: a table, because a division by `bits` costs more than a load.
    level_of_bit: [u8; 64],
}

impl Geometry {
    pub(crate) fn new(slots: SlotCount) -> Self {
        let bits = slots.bits();
        let level_of_bit = core::array::from_fn(|bit| (bit as u32 / bits) as u8);
        Self { bits, level_of_bit }
    }

    /// As many levels as 64 bits have digits.
    pub(crate) fn levels(&self) -> usize {
        64_usize.div_ceil(self.bits as usize)
    }

    pub(crate) fn slots_per_level(&self) -> usize {
        1 << self.bits
    }

    /// The slot of a deadline that is not before the hand.
    #[inline]
    pub(crate) fn slot_of(&self, deadline: Tick, hand: Tick) -> usize {
        // The lowest bit set makes "no difference" a difference in the lowest digit.
        let highest_difference = 63 - ((deadline ^ hand) | 1).leading_zeros();
        let level = u32::from(self.level_of_bit[highest_difference as usize]);
        let digit = (deadline >> (level * self.bits)) as usize & (self.slots_per_level() - 1);
        ((level as usize) << self.bits) | digit
    }

    /// The first tick of the slot's turn now ahead of, or at, the hand.
    #[inline]
    pub(crate) fn start_of(&self, slot: usize, hand: Tick) -> Tick {
        let shift = self.level_of(slot) as u32 * self.bits;
        let digit = (slot & (self.slots_per_level() - 1)) as Tick;
        let above = low_bits(shift + self.bits);
        (hand & !above) | (digit << shift)
    }

    #[inline]
    pub(crate) fn level_of(&self, slot: usize) -> usize {
        slot >> self.bits
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
            assert_eq!(geometry.levels(), levels);
            let last = geometry.slot_of(u64::MAX, 0);
            assert_eq!(geometry.level_of(last), levels - 1);
            assert!(last < levels * slots && geometry.start_of(last, 0) > u64::MAX / 2);
        }
    }

    #[test]
    fn the_slot_is_the_highest_digit_that_differs() {
        let geometry = geometry(8);
        assert_eq!(geometry.slot_of(0o7241, 0o7245), 1);
        assert_eq!(geometry.slot_of(0o7245, 0o7245), 5);
        assert_eq!(geometry.slot_of(0o7251, 0o7245), 8 + 5);
        assert_eq!(geometry.slot_of(0o10000, 0o7245), 4 * 8 + 1);
    }

    #[test]
    fn a_slot_starts_at_or_before_its_deadlines_and_after_the_hand() {
        for slots in [2, 8, 64, 256, 4096] {
            let geometry = geometry(slots);
            for hand in [0, 1, 77, 4095, 1 << 33, u64::MAX - 5000, u64::MAX] {
                for distance in (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit]) {
                    let Some(deadline) = u64::checked_add(hand, distance) else { continue };
                    let slot = geometry.slot_of(deadline, hand);
                    let start = geometry.start_of(slot, hand);
                    assert!(start <= deadline && start >= hand, "{slots} slots: {start} for {deadline} from {hand}");
                    assert!(geometry.level_of(slot) > 0 || start == deadline, "level 0 is exact");
                }
            }
        }
    }
}
