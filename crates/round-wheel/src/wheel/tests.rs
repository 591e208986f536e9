use super::*;
use crate::slots::link_to;
use alloc::vec::Vec;
use wheelhouse_conformance::{Random, check_random_operations};
use wheelhouse_core::meter::CountingMeter;

impl<T, M: Meter> RoundWheel<T, M> {
    fn check(&mut self) {
        for at in 0..self.slots.count() {
            let slot = self.slots.get(at);
            let live: Vec<_> =
                slot.timers.iter().enumerate().filter(|(_, timer)| timer.is_live()).collect();
            assert_eq!(
                (live.len(), !live.is_empty()),
                (slot.live(), self.slots.occupied(at, 1).next().is_some())
            );
            let earliest = live.iter().map(|(_, timer)| timer.deadline).min();
            assert_eq!(slot.exact_earliest(&NoMeter), earliest.unwrap_or(Tick::MAX));
            assert!(
                earliest.is_none_or(
                    |earliest| self.next <= earliest && self.slots.bound(at) <= earliest
                )
            );
            assert!(live.is_empty() && slot.timers.is_empty() || !slot.is_sparse());
            for (position, timer) in live {
                assert_eq!(self.slots.of(timer.deadline), at);
                assert!(timer.deadline > self.now && timer.deadline >= slot.earliest);
                let entry =
                    self.timers.at_mut(timer.index).map(|(link, entry)| (*link, entry.deadline));
                assert_eq!(entry, Some((link_to(position), timer.deadline)));
            }
        }
    }
}

#[test]
fn invariants_hold_under_random_operations() {
    for slots in [2, 8, 128] {
        let mut wheel = RoundWheel::builder().slots(slots).build().unwrap();
        check_random_operations(&mut wheel, slots as u64, 11, RoundWheel::check);
    }
}

/// Few timers with deadlines over many turns: each costs reads of the blocks, not of the slots of
/// all other timers.
#[test]
fn a_jump_over_many_turns_looks_at_blocks_not_at_slots() {
    let mut wheel =
        RoundWheel::builder().slots(16_384).meter(CountingMeter::default()).build().unwrap();
    let mut random = Random::new(1);
    (0..1_000).for_each(|n| _ = wheel.insert(random.below(1 << 39), n));
    wheel.meter().reset();
    let mut fired = 0;
    while let Some(tick) = wheel.next_wakeup() {
        fired += wheel.advance(tick, |_| ());
    }
    assert_eq!(fired, 1_000);
    // 256 blocks, at most the 64 slots of one block, and the timers that fire.
    assert!(wheel.meter().total() < 1_000 * (256 + 64 + 16), "{}", wheel.meter().total());
}

#[test]
fn holes_never_outnumber_the_live_timers() {
    let mut wheel = RoundWheel::new();
    let ids: Vec<_> = (0..1_000).map(|_| wheel.insert(1 << 30, ())).collect();
    for turn in 0..20_000 {
        wheel.reschedule(ids[turn % ids.len()], (1 << 30) + (turn as u64 % 3));
        if turn % 100 == 0 {
            wheel.check();
        }
    }
}
