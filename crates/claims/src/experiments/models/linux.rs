//! Linux's own arithmetic: the slot that a timer gets, and with it the tick at which it fires.
//!
//! This is our account of `calc_index` and `calc_wheel_index` in `kernel/time/timer.c`
//! (torvalds/linux 0010b838), at more than 100 ticks a second. Level n has 64 slots of 8^n ticks
//! and takes distances from 63·8^(n-1) on, counted from the wheel's clock, which is the present
//! tick or the next. The deadline is cut to whole slots and *one is added*, in level 0 too:
//! `(expires >> 3 n) + 1`. For the present tick has begun already, and whoever counts whole ticks
//! from it would fire early.
//!
//! ```text
//!  level 1, slots of 8 ticks          deadline at        fires at
//!     │       │       │       │        16, a slot's end    24: a whole slot late
//!     8      16      24      32        17 .. 23            24: 7 ticks to 1 late
//! ```
//!
//! So a timer is late by a tick at least and a slot at most. linux-wheel has whole ticks and leaves
//! a deadline at the end of a slot where it is: there it is a tick less than a slot, and nothing in
//! level 0.

use wheelhouse_core::Tick;

/// Slots of a level.
const SLOTS: Tick = 64;

/// The levels that Linux has; what lies beyond the last is cut down to it.
pub(crate) const LEVELS: std::ops::RangeInclusive<u32> = 0..=8;

/// Ticks of a slot.
pub(crate) const fn width(level: u32) -> Tick {
    1 << (3 * level)
}

/// The shortest distance that a level takes; 0 for the finest.
pub(crate) const fn shortest(level: u32) -> Tick {
    if level == 0 { 0 } else { (SLOTS - 1) * width(level - 1) }
}

/// The level of a distance.
pub(crate) fn level(distance: Tick) -> u32 {
    LEVELS.rev().find(|level| shortest(*level) <= distance).unwrap_or(0)
}

/// The tick at which a timer fires that is started at a tick for a deadline.
pub(crate) fn fires(now: Tick, deadline: Tick) -> Tick {
    let width = width(level(deadline.saturating_sub(now)));
    (deadline / width + 1) * width
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::random;
    use rand::RngExt;

    /// What the constants of the source come to.
    #[test]
    fn levels_begin_at_63_slots_of_the_level_below() {
        assert_eq!([1, 2, 5, 8].map(shortest), [63, 504, 258_048, 132_120_576]);
        assert_eq!([62, 63, 503, 504, 540_000].map(level), [0, 1, 1, 2, 5]);
    }

    /// The hand of a level is at a slot whenever a slot ends. The first time that it is at the
    /// timer's must be the tick of firing, or 64 slots were too few.
    #[test]
    fn the_hand_meets_the_slot_at_that_tick_first() {
        let mut random = random(1);
        for level in LEVELS {
            let (width, shortest) = (width(level), shortest(level).max(1));
            for delay in [shortest, shortest + 1, 63 * width - 1] {
                for _ in 0..100 {
                    let now = random.random_range(0..1 << 40);
                    let fires = fires(now, now + delay);
                    let mut hand = (now / width + 1..).map(|turn| turn * width);
                    let met = hand.find(|tick| tick / width % SLOTS == fires / width % SLOTS);
                    assert_eq!(met, Some(fires), "level {level}, {delay} from {now}");
                }
            }
        }
    }

    #[test]
    fn a_timer_is_late_by_a_tick_at_least_and_a_slot_at_most() {
        assert_eq!([1, 2, 62].map(|delay| fires(7, 7 + delay)), [9, 10, 70]);
        assert_eq!((fires(1, 64), fires(0, 71)), (72, 72));
    }
}
