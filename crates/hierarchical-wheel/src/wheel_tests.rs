use super::*;
use alloc::vec::Vec;
use wheelhouse_core::WheelError;

impl<T: Clone, M: Meter> HierarchicalWheel<T, M> {
    /// What the comments promise, checked by walking everything.
    pub(crate) fn check(&mut self) {
        self.levels.settle(&mut self.entries, &self.meter);
        let live = self.levels.check(&self.entries) as usize;
        assert!(live <= self.len());
        assert!(live == self.len() || !self.overdue.is_empty());
    }
}

/// A small generator, so that the unit tests need no crate.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn stays_whole_under_random_operations() {
    for slots in [2, 8, 64] {
        let mut wheel = HierarchicalWheel::<u64>::builder().slots_per_level(slots).build().unwrap();
        let mut ids = Vec::new();
        let mut state = slots as u64;
        for step in 0..3_000 {
            let deadline = wheel.now() + random(&mut state) % (1 << (random(&mut state) % 14));
            match random(&mut state) % 8 {
                0..5 => ids.push(wheel.insert(deadline, step)),
                5 if !ids.is_empty() => {
                    let id = ids.swap_remove(random(&mut state) as usize % ids.len());
                    wheel.cancel(id);
                }
                6 if !ids.is_empty() => {
                    wheel.reschedule(ids[random(&mut state) as usize % ids.len()], deadline);
                }
                _ => {
                    wheel.advance(wheel.now() + random(&mut state) % 40, |_| ());
                }
            }
            if step % 50 == 0 {
                wheel.check();
            }
        }
    }
}

/// Chunks that were left before the slot was too long to be tidied up at once must not be forgotten.
#[test]
fn a_crowded_slot_has_few_holes_whenever_its_timers_leave() {
    let mut wheel = HierarchicalWheel::new();
    let mut ids: Vec<_> = (0..24_576).map(|n| wheel.insert(250, n)).collect();
    let late = ids.split_off(19_648);
    ids.into_iter().for_each(|id| _ = wheel.cancel(id));
    let more: Vec<_> = (0..64).map(|n| wheel.insert(250, n)).collect();
    for (n, id) in late.iter().chain(&more[..32]).enumerate() {
        // Of two chunks of 32, five and four are left.
        if n % 64 % 32 >= 5 - n % 64 / 32 {
            wheel.cancel(*id);
        }
    }
    wheel.check();
}

#[test]
fn cancelling_the_last_timer_of_a_slot_empties_it() {
    let mut wheel = HierarchicalWheel::new();
    let keep = wheel.insert(1 << 40, ());
    for round in 0..1_000 {
        let id = wheel.insert(300 + round, ());
        wheel.cancel(id);
        assert_eq!(wheel.next_wakeup(), Some(1 << 40), "no wake-up for a cancelled timer");
    }
    assert_eq!(wheel.deadline(keep), Some(1 << 40));
    wheel.check();
}

#[test]
fn after_idling_a_short_timer_starts_at_the_lowest_level() {
    // A clock that moves only with expiries puts such a timer far up and cascades it all the way down.
    let mut wheel = HierarchicalWheel::new();
    wheel.advance(3_600_000, |_| ());
    wheel.insert(3_600_005, ());
    assert_eq!(wheel.next_wakeup(), Some(3_600_005));
}

#[test]
fn the_default_meter_takes_no_room() {
    #[allow(dead_code)]
    struct Doubled([HierarchicalWheel<u64>; 2]);
    assert_eq!(size_of::<Doubled>(), 2 * size_of::<HierarchicalWheel<u64>>());
    assert_eq!(size_of::<NoMeter>(), 0);
}

type Wheel = HierarchicalWheel<u32>;

/// A wheel of 8 slots a level, which splits at 128 timers.
fn small() -> Result<Wheel, WheelError> {
    Wheel::builder().slots_per_level(8).build()
}

#[test]
fn a_large_slot_is_split_and_a_small_one_joined() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let unsplit = wheel.levels.rings_in_use();
    let ids: Vec<_> = (0..2_000).map(|n| wheel.insert(4_096 + u64::from(n) % 512, n)).collect();
    wheel.check();
    assert!(wheel.levels.rings_in_use() > unsplit + 8);
    for id in &ids[7..] {
        wheel.cancel(*id);
    }
    wheel.check();
    assert_eq!(wheel.levels.rings_in_use(), unsplit, "seven timers need no rings");
    let mut fired = Vec::new();
    wheel.advance(10_000, |expired| fired.push(expired.value));
    assert_eq!(fired, [0, 1, 2, 3, 4, 5, 6]);
    Ok(())
}

#[test]
fn timers_of_one_deadline_keep_their_order_through_splits_and_joins() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let other: Vec<_> = (0..500_u32).map(|n| wheel.insert(4_096 + u64::from(n) % 300, 1_000_000)).collect();
    (0..20).for_each(|n| _ = wheel.insert(4_200, n));
    other.iter().for_each(|id| _ = wheel.cancel(*id));
    (20..200).for_each(|n| _ = wheel.insert(4_200, n));
    wheel.check();
    let mut fired = Vec::new();
    wheel.advance(4_200, |expired| fired.push(expired.value));
    assert!(fired.into_iter().eq(0..200));
    Ok(())
}

#[test]
fn rings_do_not_pile_up() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let unsplit = wheel.levels.rings_in_use();
    for block in 1..500_u64 {
        let ids: Vec<_> = (0..300).map(|n| wheel.insert(block * 4_096 + u64::from(n), n)).collect();
        ids[1..].iter().for_each(|id| _ = wheel.cancel(*id));
    }
    wheel.check();
    assert_eq!(wheel.len(), 499);
    // A ring has at least eight timers, an eighth of that many rings has at least eight rings.
    assert!(wheel.levels.rings_in_use() <= unsplit + 499 / 8 + 499 / 64);
    Ok(())
}

#[test]
fn a_moving_timer_may_be_cancelled_moved_again_and_overtaken_by_none() {
    let mut wheel = HierarchicalWheel::new();
    wheel.insert(1, '0');
    let ids = ['a', 'b', 'c', 'd'].map(|name| wheel.insert(5_000, name));
    for id in ids {
        assert!(wheel.reschedule(id, 7_000));
    }
    assert_eq!(wheel.cancel(ids[1]), Some('b'));
    assert!(wheel.reschedule(ids[0], 7_000), "moved again: behind the others");
    let e = wheel.insert(7_000, 'e'); // may take the place of b
    assert!(wheel.reschedule(ids[2], 7_001));
    assert!(wheel.reschedule(e, 3));
    assert_eq!((wheel.deadline(e), wheel.next_wakeup()), (Some(3), Some(1)));
    wheel.check();
    let mut fired = Vec::new();
    wheel.advance(8_000, |expired| fired.push((expired.deadline, expired.value)));
    assert_eq!(fired, [(1, '0'), (3, 'e'), (7_000, 'd'), (7_000, 'a'), (7_001, 'c')]);
}

/// The contract once more, with timers that are moved together. The test of this name in `tests` has few timers, which are moved at once.
mod moved_together {
    wheelhouse_conformance::suite!(crate::Definition);
}

/// Of a slot of many timers of one tick that are cancelled in any order, what is left moves together while some that are gone have still to be accounted for: their
/// chunks are free by then, and once were freed again.
#[test]
fn a_crowd_that_was_cancelled_in_any_order_leaves_room_for_the_next() {
    const CROWD: u64 = 1 << 15;
    const TICK: Tick = 1 << 20;
    for seed in 1..=3 {
        let (mut wheel, mut state) = (HierarchicalWheel::new(), seed);
        let mut ids: Vec<_> = (0..CROWD).map(|n| wheel.insert(TICK, n)).collect();
        while !ids.is_empty() {
            let any = random(&mut state) as usize % ids.len();
            assert!(wheel.cancel(ids.swap_remove(any)).is_some());
        }
        (0..CROWD).for_each(|n| _ = wheel.insert(TICK, n));
        let mut next = 0;
        wheel.advance(TICK, |expired| {
            assert_eq!(expired.value, next);
            next += 1;
        });
        assert_eq!((next, wheel.len()), (CROWD, 0));
    }
}
