use super::*;

impl<T, M: Meter> HierarchicalWheel<T, M> {
    /// What the comments promise, checked by walking everything.
    fn check(&self) {
        let mut stale = 0;
        for (at, slot) in self.slots.iter().enumerate() {
            stale += slot.stale();
            let (mut copy, mut pool, mut live) = (*slot, self.pool.clone(), 0);
            while let Some(reference) = pool.pop(&mut copy) {
                assert_eq!(self.geometry.slot_of(reference.deadline, self.hand), at, "in the slot its deadline names");
                live += u32::from(reference.is_current(&self.arena));
            }
            assert_eq!((live, slot.live > 0), (slot.live, self.occupancy.iter().any(|occupied| occupied == at)));
        }
        assert_eq!(stale, self.stale);
        assert!(stale <= self.arena.len() + STALE_SLACK);
        assert_eq!(self.next.map(|next| next.slot), self.occupancy.first());
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
                0..4 => ids.push(wheel.insert(deadline, step)),
                4 if !ids.is_empty() => {
                    let id = ids.swap_remove(random(&mut state) as usize % ids.len());
                    wheel.cancel(id);
                }
                5 if !ids.is_empty() => {
                    wheel.reschedule(ids[random(&mut state) as usize % ids.len()], deadline);
                }
                _ => {
                    wheel.advance(deadline, |_| ());
                }
            }
            if step % 50 == 0 {
                wheel.check();
            }
        }
    }
}

#[test]
fn cancelling_the_last_timer_of_a_slot_empties_it() {
    let mut wheel = HierarchicalWheel::new();
    let keep = wheel.insert(1 << 40, ());
    for round in 0..1_000 {
        let id = wheel.insert(300 + round, ());
        wheel.cancel(id);
        assert_eq!(wheel.next_wakeup(), Some(1 << 40), "no wake-up for a cancelled timer");
        assert_eq!(wheel.stale, 0);
    }
    assert_eq!(wheel.deadline(keep), Some(1 << 40));
    wheel.check();
}

#[test]
fn stale_references_never_outnumber_the_live_timers() {
    let mut wheel = HierarchicalWheel::new();
    let ids: Vec<_> = (0..1_000).map(|_| wheel.insert(1 << 30, ())).collect();
    for turn in 0..20_000 {
        wheel.reschedule(ids[turn % ids.len()], (1 << 30) + 1);
        assert!(wheel.stale <= 1_000 + STALE_SLACK);
    }
    wheel.check();
}

#[test]
fn a_timer_whose_stamps_are_used_up_goes_on() {
    let mut wheel = HierarchicalWheel::new();
    let id = wheel.insert(1_000, 'a');
    wheel.insert(5_000, 'b');
    wheel.arena.set_stamp_for_test(id.index(), u32::MAX - 3);
    for turn in 0..10 {
        assert!(wheel.reschedule(id, 2_000 + turn));
        wheel.check();
    }
    let mut fired = Vec::new();
    wheel.advance(10_000, |expired| fired.push((expired.deadline, expired.value)));
    assert_eq!(fired, [(2_009, 'a'), (5_000, 'b')]);
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
