use super::*;
use crate::{HierarchicalWheel, ListWheel};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use wheelhouse_core::Timer;
use wheelhouse_core::WheelError;

/// A small random number generator, so that the unit tests need no crate for it.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Plays random operations and compares the results with an ordered map. One operation in nine
/// advances the clock.
fn play<const OPENS: bool>(mut wheel: Wheel<u64, NoMeter, OPENS>, steps: u64, span: u32) {
    let mut expected = BTreeMap::new();
    let (mut keys, mut ids, mut state) = (Vec::new(), Vec::new(), steps);
    for step in 0..steps {
        let deadline = wheel.now() + random(&mut state) % (1 << (random(&mut state) as u32 % span));
        match random(&mut state) % 9 {
            0..5 => {
                ids.push(wheel.insert(deadline, ids.len() as u64));
                keys.push((deadline, step));
                expected.insert((deadline, step), keys.len() - 1);
            }
            kind @ 5..8 if !ids.is_empty() => {
                let at = random(&mut state) as usize % ids.len();
                let was_live = expected.remove(&keys[at]).is_some();
                if kind == 5 {
                    assert_eq!(wheel.cancel(ids[at]), was_live.then_some(at as u64));
                } else if wheel.reschedule(ids[at], deadline) {
                    assert!(was_live);
                    keys[at] = (deadline, step);
                    expected.insert(keys[at], at);
                }
            }
            _ => {
                let now = wheel.now() + random(&mut state) % 40;
                wheel.advance(now, |expired| {
                    let ((deadline, _), at) = expected.pop_first().expect("a timer is live");
                    assert_eq!((expired.deadline, expired.value), (deadline, at as u64));
                });
                assert!(expected.keys().next().is_none_or(|(deadline, _)| *deadline > now));
            }
        }
        assert_eq!(wheel.len(), expected.len());
        if step % 97 == 0 {
            wheel = wheel.clone();
            wheel.check();
        }
    }
}

#[test]
fn invariants_and_order_hold_under_random_operations() -> Result<(), WheelError> {
    for (slots, steps, span) in
        [(2, 6_000, 14), (8, 20_000, 10), (64, 20_000, 20), (256, 6_000, 60)]
    {
        play(HierarchicalWheel::builder().slots_per_level(slots).build()?, steps, span);
        play(ListWheel::builder().slots_per_level(slots).build()?, steps, span);
    }
    Ok(())
}

#[test]
fn cancelling_or_moving_the_last_timer_of_a_slot_empties_it() {
    let mut wheel = HierarchicalWheel::new();
    let keep = wheel.insert(1 << 40, ());
    for round in 0..1_000 {
        let id = wheel.insert(300 + round, ());
        wheel.cancel(id);
        assert_eq!(wheel.next_wakeup(), Some(1 << 40), "no wake-up for a cancelled timer");
        let id = wheel.insert(300 + round, ());
        wheel.reschedule(id, (1 << 40) + 1);
        assert_eq!(wheel.next_wakeup(), Some(1 << 40), "no wake-up for a timer that has moved");
        wheel.cancel(id);
    }
    assert_eq!(wheel.deadline(keep), Some(1 << 40));
    wheel.check();
}

#[test]
fn after_idling_a_short_timer_starts_at_the_lowest_level() {
    // If the hand moved only when timers fire, such a timer would go to a high level, and cascade
    // all the way down.
    let mut wheel = HierarchicalWheel::new();
    wheel.advance(3_600_000, |_| ());
    wheel.insert(3_600_005, ());
    assert_eq!(wheel.next_wakeup(), Some(3_600_005));
    // The same after a call that moved timers down and fired none.
    let mut wheel = HierarchicalWheel::new();
    [70_000, 70_001].into_iter().for_each(|deadline| _ = wheel.insert(deadline, ()));
    assert_eq!(wheel.advance(65_836, |_| ()), 0);
    wheel.insert(65_839, ());
    assert_eq!(wheel.next_wakeup(), Some(65_839));
}

#[test]
fn an_overdue_timer_that_was_moved_is_one_like_others() -> Result<(), WheelError> {
    for slots in [8, 256] {
        let mut wheel = HierarchicalWheel::builder().slots_per_level(slots).start(100).build()?;
        let (id, other) = (wheel.insert(5, 'a'), wheel.insert(7, 'b'));
        assert!(wheel.reschedule(id, 500) && wheel.reschedule(other, 500));
        assert_eq!(wheel.cancel(id), Some('a'));
        wheel.check();
        assert!(wheel.reschedule(other, 6) && wheel.reschedule(other, 900));
        assert_eq!((wheel.cancel(other), wheel.next_wakeup()), (Some('b'), None));
        wheel.check();
    }
    Ok(())
}

/// Timers with one deadline that are inserted before its slot opens, while the slot is open, and
/// when the hand is in it.
#[test]
fn timers_of_one_deadline_keep_their_order_while_slots_open() {
    for ahead in [1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 5_000] {
        let mut wheel = HierarchicalWheel::new();
        (0..200).for_each(|n| _ = wheel.insert(1 << 40 | n, u64::MAX));
        assert!(wheel.large.is_on());
        let deadline = 10_000;
        let mut number = 0;
        for tick in deadline - ahead..=deadline {
            for _ in 0..3 {
                wheel.insert(deadline, number);
                number += 1;
            }
            let mut next = 0;
            let fired = wheel.advance(tick, |expired| {
                assert_eq!(expired.value, next);
                next += 1;
            });
            assert_eq!(fired as u64, if tick == deadline { number } else { 0 }, "at {tick}");
            wheel.check();
        }
    }
}

/// Slots open across the end of a level's block, and there is no slot to open after the last one of
/// all.
#[test]
fn slots_open_up_to_the_end_of_time() {
    for start in [0, 1 << 40, u64::MAX - 700] {
        let mut wheel = HierarchicalWheel::builder().start(start).build().expect("the default");
        let ids: Vec<_> = (0..700).map(|n| wheel.insert(start + n, n)).collect();
        assert!(wheel.large.is_on());
        wheel.insert(u64::MAX, 700);
        let mut next = 0;
        while let Some(tick) = wheel.next_wakeup() {
            wheel.advance(tick, |expired| {
                assert_eq!((expired.deadline, expired.value), (start + next, next));
                next += 1;
                if next == 700 {
                    next = u64::MAX - start;
                }
            });
            wheel.check();
            if next >= 700 {
                break;
            }
        }
        assert_eq!((wheel.now(), wheel.cancel(ids[0])), (start + 699, None));
        assert_eq!(wheel.advance(u64::MAX, |expired| assert_eq!(expired.value, 700)), 1);
    }
}

/// The slots of a level are added with its first timer, so a new wheel takes little memory.
#[test]
fn a_new_wheel_takes_less_than_20_kilobytes() {
    let seen = allocation_counter::measure(|| {
        let mut wheel = HierarchicalWheel::new();
        (0..200).for_each(|n| _ = wheel.insert(n * 300, n));
    });
    let own = size_of::<HierarchicalWheel<u64>>() as u64;
    // A second level, 200 timers, and twice the array while it grows.
    assert!(seen.bytes_max + own <= 50 << 10, "{} bytes with 200 timers", seen.bytes_max);
    let new = allocation_counter::measure(|| _ = HierarchicalWheel::<u64>::new());
    assert!(new.bytes_max + own <= 20 << 10, "{} bytes at the start", new.bytes_max);
}

/// With a capacity, all memory is allocated at the start, as a microcontroller needs it.
#[test]
fn within_its_capacity_a_small_wheel_allocates_nothing() -> Result<(), WheelError> {
    let mut wheel = HierarchicalWheel::builder().slots_per_level(16).capacity(50).build()?;
    let seen = allocation_counter::measure(|| {
        for round in 0..100 {
            (0..50).for_each(|n| _ = wheel.insert(wheel.now() + (1 << (n + 3)), round));
            while let Some(tick) = wheel.next_wakeup() {
                wheel.advance(tick, |_| ());
            }
        }
    });
    assert_eq!(seen.bytes_total, 0);
    Ok(())
}

#[test]
fn the_default_meter_takes_no_room() {
    assert_eq!(size_of::<NoMeter>(), 0);
}

/// The checks of the contract again. In unit tests a wheel becomes large with few timers, so these
/// checks cover both layouts.
mod large {
    use crate::Definition;
    use wheelhouse_conformance as suite;

    macro_rules! checks {
        ($($name:ident,)+) => {
            $(
                #[test]
                fn $name() {
                    suite::$name::<Definition>();
                }
            )+
        };
    }

    checks! {
        contract_01_exactly_once,
        contract_02_never_early_never_late,
        contract_03_order_by_deadline_then_insertion,
        contract_03_postponed_timers_fire_on_time,
        contract_05_stale_handles_are_harmless,
        contract_09_a_panic_loses_nothing_else,
        property_any_sequence,
        property_many_ties,
        differential_long_run,
    }
}

/// Postponed timers stay in lists, and move to the slots of their deadlines.
#[test]
fn postponed_timers_stay_in_lists() {
    for (many, seed) in [(40, 1), (400, 2), (400, 3)] {
        let (mut wheel, mut state) = (HierarchicalWheel::new(), seed);
        let mut ids: Vec<_> = (0..many).map(|n| wheel.insert(n % 97, n)).collect();
        assert_eq!(wheel.large.is_on(), many > 64);
        for _ in 0..5_000 {
            let (n, far) = (random(&mut state) as usize % ids.len(), random(&mut state) % 3_000);
            if wheel.postpone(ids[n], wheel.now() + far) {
                wheel.check_postponed();
            } else {
                ids[n] = wheel.insert(wheel.now() + far, n as u64);
            }
            let now = wheel.now() + random(&mut state) % 64 / 60 * (1 + far / 8);
            wheel.advance(now, |expired| assert!(expired.deadline <= now));
            wheel.check_postponed();
        }
    }
}

/// All sequences of up to four calls, on a wheel whose slots open before the hand reaches them.
#[test]
fn every_short_sequence_is_right_in_a_large_wheel() {
    for start in [0, (1 << 9) - 3, Tick::MAX - 21] {
        let make = || {
            let builder = HierarchicalWheel::<u8>::builder().start(start);
            let mut wheel = builder.build().expect("the default is valid");
            wheel.become_large();
            wheel
        };
        let played = wheelhouse_conformance::exhaustive(make, 4);
        assert!(played > 100_000, "{played} sequences");
    }
}

/// Many timers with one deadline are cancelled in random order. Timers inserted after that reuse
/// their places.
#[test]
fn a_crowd_that_was_cancelled_in_any_order_leaves_room_for_the_next() {
    const CROWD: u64 = 1 << 12;
    const TICK: Tick = 1 << 20;
    for seed in 1..=3 {
        let (mut wheel, mut state) = (HierarchicalWheel::new(), seed);
        let mut ids: Vec<_> = (0..CROWD).map(|n| wheel.insert(TICK, n)).collect();
        while !ids.is_empty() {
            let any = random(&mut state) as usize % ids.len();
            assert!(wheel.cancel(ids.swap_remove(any)).is_some());
        }
        wheel.check();
        (0..CROWD).for_each(|n| _ = wheel.insert(TICK, n));
        let mut next = 0;
        wheel.advance(TICK, |expired| {
            assert_eq!(expired.value, next);
            next += 1;
        });
        assert_eq!((next, wheel.len()), (CROWD, 0));
    }
}

/// While a slot of the level above moves down, a postponed timer adds a block. The next slot of
/// that block must not open before the other timers of the upper slot have moved.
#[test]
fn a_block_that_is_made_while_a_slot_moves_down_loses_no_timer() -> Result<(), WheelError> {
    let mut wheel = HierarchicalWheel::builder().start(5 << 6).build()?;
    wheel.become_large();
    // Adds one block of level 1.
    let first = wheel.insert(344, 'a');
    wheel.cancel(first);
    wheel.insert(457, 'b');
    let postponed = wheel.insert(449, 'c');
    assert!(wheel.postpone(postponed, 536));
    assert_eq!(wheel.advance(448, |_| ()), 0);
    wheel.check_postponed();
    let mut fired = Vec::new();
    wheel.advance(536, |expired| fired.push((expired.deadline, expired.value)));
    assert_eq!(fired, [(457, 'b'), (536, 'c')]);
    Ok(())
}

/// Short random sequences on new wheels, with postponing and with calls that skip whole slots. Each
/// timer must fire at its tick.
#[test]
fn postponed_timers_fire_at_their_ticks_after_jumps() {
    // Seed 660,543 once lost a timer.
    for seed in 640_001..=680_000 {
        let mut state = seed;
        let bits = random(&mut state) % 12;
        let start = (random(&mut state) % (1 << bits)) << (random(&mut state) % 4 * 3);
        let mut wheel = HierarchicalWheel::builder().start(start).build().expect("it is valid");
        wheel.become_large();
        let mut live: Vec<(TimerId, Tick)> = Vec::new();
        let advance = |wheel: &mut HierarchicalWheel<()>, live: &mut Vec<_>, to| {
            wheel.advance(to, |expired| {
                let at = live.iter().position(|it| *it == (expired.id, expired.deadline));
                live.swap_remove(at.unwrap_or_else(|| panic!("seed {seed}: {expired:?}")));
            });
            let late = live.iter().filter(|(_, deadline)| *deadline <= to).count();
            assert_eq!((late, wheel.len()), (0, live.len()), "seed {seed} at {to}");
            wheel.check_postponed();
        };
        for _ in 0..random(&mut state) % 12 + 3 {
            // Often shortly after the first tick of a slot.
            let (bits, low) = (random(&mut state) % 11, random(&mut state) % 9);
            let now = wheel.now();
            let far = now + random(&mut state) % (1 << bits);
            let tick = ((far >> low) << low) + random(&mut state) % 10;
            match (random(&mut state) % 5, random(&mut state) as usize % 4) {
                (0 | 1, _) => live.push((wheel.insert(tick, ()), tick)),
                (2, at) if at < live.len() => {
                    if wheel.postpone(live[at].0, tick) {
                        live[at].1 = tick;
                    }
                }
                (3, at) if at < live.len() => _ = wheel.cancel(live.swap_remove(at).0),
                _ => advance(&mut wheel, &mut live, tick.max(now)),
            }
        }
        advance(&mut wheel, &mut live, start + (1 << 14));
    }
}
