//! Which slot of a hierarchy of wheels a deadline belongs to.
//!
//! A deadline is read as digits of [`SlotCount::bits`] bits each. Seen from the wheel's hand, all
//! that matters is the highest digit in which the two differ. Its position is the level, and its
//! value in the deadline is the slot. All digits above it are the same, so a slot never holds
//! timers of different turns, and no turn has to be counted.
//!
//! ```text
//!             level 3   level 2   level 1   level 0
//! hand           0         7         2         5
//! deadline       0         7         4         1     differs first at level 1: slot 4 of level 1
//! ```
//!
//! Two facts follow, on which every cascading wheel stands. Seen from the hand, all timers of a
//! lower level are due before all of a higher one. And when the hand enters a slot, its timers
//! differ from the hand only in lower digits: they all go down at least one level.

use crate::{SlotCount, Tick};

/// A level of wheels, by its digit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// How many bits are to the right of its digit: a slot of it is `1 << shift` ticks wide.
    pub shift: u32,
    /// Its number, the lowest 0, times the slots of a level.
    pub first: u32,
}

/// How a deadline is read. Each method is O(1).
///
/// ```
/// use wheelhouse_core::{SlotCount, geometry::Geometry};
///
/// let geometry = Geometry::new(SlotCount::new(8)?);
/// let level = geometry.level_of(0o7241, 0o7105);
/// assert_eq!((level.shift, level.first, geometry.digit_of(0o7241, level)), (6, 16, 2));
/// assert_eq!(geometry.start_of(level, 2, 0o7105), 0o7200);
/// # Ok::<(), wheelhouse_core::SlotCountError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Geometry {
    /// The lowest bits, as many as a digit has.
    mask: u32,
    bits: u32,
    /// The level of the digit that bit i of a deadline is in: a table, because a division by the
    /// number of bits costs more than a load.
    level_of_bit: [Level; 64],
}

impl Geometry {
    /// The geometry of wheels with so many slots.
    pub fn new(slots: SlotCount) -> Self {
        let bits = slots.bits();
        let level_of_bit = core::array::from_fn(|bit| {
            let number = bit as u32 / bits;
            Level { shift: number * bits, first: number << bits }
        });
        Self { mask: (1 << bits) - 1, bits, level_of_bit }
    }

    /// The slots of a level.
    #[inline]
    pub fn slots(&self) -> u32 {
        self.mask + 1
    }

    /// How many levels it takes to cover all of `u64`.
    #[inline]
    pub fn levels(&self) -> u32 {
        u64::BITS.div_ceil(self.bits)
    }

    /// The level of a number, the lowest 0.
    #[inline]
    pub fn level(&self, number: u32) -> Level {
        Level { shift: number * self.bits, first: number << self.bits }
    }

    /// The level of a slot, all being numbered through: `level.first + digit`.
    #[inline(always)]
    pub fn level_of_slot(&self, slot: u32) -> Level {
        let first = slot & !self.mask;
        Level { shift: (slot >> self.bits) * self.bits, first }
    }

    /// The level below.
    #[inline]
    pub fn below(&self, level: Level) -> Level {
        Level { shift: level.shift - self.bits, first: level.first - self.slots() }
    }

    /// The level of a deadline that is not before the hand.
    #[inline(always)]
    pub fn level_of(&self, deadline: Tick, hand: Tick) -> Level {
        // The lowest bit set makes "no difference" a difference in the lowest digit.
        self.level_of_bit[((deadline ^ hand) | 1).ilog2() as usize]
    }

    /// The digit of a deadline at a level: its slot there.
    #[inline(always)]
    pub fn digit_of(&self, deadline: Tick, level: Level) -> u32 {
        (deadline >> level.shift) as u32 & self.mask
    }

    /// The first tick of a slot in the turn of a level that the hand is in.
    #[inline(always)]
    pub fn start_of(&self, level: Level, digit: u32, hand: Tick) -> Tick {
        // The digits above, in two shifts: above the highest level there are none, and a shift by
        // all bits at once does not exist.
        (hand >> level.shift >> self.bits << self.bits | Tick::from(digit)) << level.shift
    }
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
            assert_eq!((geometry.slots() as usize, geometry.levels()), (slots, levels));
            let level = geometry.level_of(u64::MAX, 0);
            assert_eq!(level, geometry.level(levels - 1));
            let digit = geometry.digit_of(u64::MAX, level);
            assert!(digit < slots as u32 && geometry.start_of(level, digit, 0) > u64::MAX / 2);
        }
    }

    #[test]
    fn the_level_is_that_of_the_highest_digit_that_differs() {
        let geometry = geometry(8);
        let place = |deadline, hand| {
            let level = geometry.level_of(deadline, hand);
            (level.shift, level.first, geometry.digit_of(deadline, level))
        };
        assert_eq!(place(0o7241, 0o7245), (0, 0, 1));
        assert_eq!(place(0o7245, 0o7245), (0, 0, 5));
        assert_eq!(place(0o7251, 0o7245), (3, 8, 5));
        assert_eq!(place(0o10000, 0o7245), (12, 32, 1));
        assert_eq!(geometry.below(geometry.level(4)), geometry.level(3));
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
                    assert!(start <= deadline && start >= hand, "{slots}: {deadline} from {hand}");
                    assert!(level.shift > 0 || start == deadline, "level 0 is exact");
                }
            }
        }
    }
}
