use super::*;
use alloc::vec::Vec;
use wheelhouse_core::WheelError;

impl<T, M: Meter> HierarchicalWheel<T, M> {
    /// What the comments promise, checked by walking everything.
    pub(crate) fn check(&mut self) {
        let owed = self.wheel.owed();
        let len = self.len();
        with!(&mut self.nodes, nodes => self.wheel.check(nodes));
        assert_eq!((self.len(), self.wheel.owed()), (len, 0), "{owed} were owed");
    }

    fn rings_in_use(&self) -> usize {
        self.wheel.rings_in_use()
    }

    fn is_large(&self) -> bool {
        matches!(self.nodes, Either::Large(_))
    }
}

/// A small generator, so that the unit tests need no crate.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Random operations, of which one in some is a small step of the clock: beside an ordered map.
fn play(slots: usize, steps: u64, span: u32) -> Result<(), WheelError> {
    let mut wheel = HierarchicalWheel::<u64>::builder().slots_per_level(slots).build()?;
    let mut expected = alloc::collections::BTreeMap::new();
    let (mut keys, mut ids, mut state) = (Vec::new(), Vec::new(), slots as u64);
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
                    let first = expected.pop_first();
                    assert_eq!(
                        first.map(|((deadline, _), at)| (deadline, at as u64)),
                        Some((expired.deadline, expired.value))
                    );
                });
                assert!(
                    expected.first_key_value().is_none_or(|((deadline, _), _)| *deadline > now)
                );
            }
        }
        assert_eq!(wheel.len(), expected.len());
        if step % 97 == 0 {
            wheel = wheel.clone();
            wheel.check();
        }
    }
    Ok(())
}

#[test]
fn stays_whole_and_in_order_under_random_operations() -> Result<(), WheelError> {
    for slots in [2, 8, 64] {
        play(slots, 6_000, 14)?;
    }
    // So dense that slots split while they are moved into.
    play(8, 30_000, 10)?;
    play(4, 30_000, 12)
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
        assert_eq!(wheel.next_wakeup(), Some(1 << 40), "nor for one that has moved");
    }
    assert_eq!(wheel.deadline(keep), Some(1 << 40));
    wheel.check();
}

#[test]
fn after_idling_a_short_timer_starts_at_the_lowest_level() {
    // A clock that moves only with expiries puts such a timer far up and cascades it all the way
    // down.
    let mut wheel = HierarchicalWheel::new();
    wheel.advance(3_600_000, |_| ());
    wheel.insert(3_600_005, ());
    assert_eq!(wheel.next_wakeup(), Some(3_600_005));
    // So it does after a call that moved timers closer, and fired none.
    let mut wheel = HierarchicalWheel::new();
    [70_000, 70_001].into_iter().for_each(|deadline| _ = wheel.insert(deadline, ()));
    assert_eq!(wheel.advance(65_836, |_| ()), 0);
    wheel.insert(65_839, ());
    assert_eq!(wheel.next_wakeup(), Some(65_839));
}

#[test]
fn a_lone_timer_fires_from_where_it_stands() -> Result<(), WheelError> {
    use wheelhouse_core::meter::{CountingMeter, Work};
    let mut wheel = HierarchicalWheel::builder().meter(CountingMeter::default()).build()?;
    (1..=100_u64).for_each(|n| _ = wheel.insert(n * 70_000, n));
    let mut fired = Vec::new();
    wheel.advance(u64::MAX, |expired| fired.push(expired.value));
    assert!(fired.into_iter().eq(1..=100));
    assert_eq!(wheel.meter().count(Work::CascadeMove), 0);
    // So does one that is due at the first tick of its slot, in a call for that very tick.
    let mut wheel = HierarchicalWheel::builder().meter(CountingMeter::default()).build()?;
    for n in 1..=100 {
        wheel.insert(n << 16, n);
        assert_eq!(wheel.next_wakeup(), Some(n << 16));
        assert_eq!(wheel.advance(n << 16, |expired| assert_eq!(expired.value, n)), 1);
    }
    assert_eq!(wheel.meter().count(Work::CascadeMove), 0);
    Ok(())
}

#[test]
fn the_default_meter_takes_no_room() {
    #[allow(dead_code)]
    struct Doubled([HierarchicalWheel<u64>; 2]);
    assert_eq!(size_of::<Doubled>(), 2 * size_of::<HierarchicalWheel<u64>>());
    assert_eq!(size_of::<NoMeter>(), 0);
}

type Wheel8 = HierarchicalWheel<u32>;

/// A wheel of 8 slots a level, which splits at 256 timers.
fn small() -> Result<Wheel8, WheelError> {
    Wheel8::builder().slots_per_level(8).build()
}

#[test]
fn a_large_slot_is_split_and_one_without_timers_joined() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let unsplit = wheel.rings_in_use();
    let ids: Vec<_> = (0..4_000).map(|n| wheel.insert(4_096 + u64::from(n) % 512, n)).collect();
    wheel.check();
    assert!(wheel.is_large() && wheel.rings_in_use() > unsplit + 8);
    for id in &ids[1..] {
        assert!(wheel.cancel(*id).is_some());
    }
    wheel.check();
    assert_eq!(wheel.rings_in_use(), unsplit + 1, "the last one is an elder of a slot");
    assert!(wheel.cancel(ids[0]).is_some());
    wheel.check();
    assert_eq!(wheel.rings_in_use(), unsplit);
    Ok(())
}

/// A slot that timers only pass through has many arrivals and few timers.
#[test]
fn a_slot_with_few_timers_is_not_split_however_many_came() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let unsplit = wheel.rings_in_use();
    let mut ids: alloc::collections::VecDeque<_> =
        (0..10).map(|n| wheel.insert(4_200, n)).collect();
    for n in 10..10_000 {
        ids.push_back(wheel.insert(4_200, n));
        let first = ids.pop_front().and_then(|id| wheel.cancel(id));
        assert_eq!(first, Some(n - 10));
        (n % 61 == 0).then(|| wheel.check());
    }
    wheel.check();
    assert_eq!(wheel.rings_in_use(), unsplit);
    Ok(())
}

/// A slot is emptied again and again: by timers that fire alone, that cascade, or for which it was
/// split. It is not split for the next one.
#[test]
fn a_slot_that_was_emptied_knows_of_no_timers() -> Result<(), WheelError> {
    for crowd in [1, 200, 300] {
        let mut wheel = small()?;
        let unsplit = wheel.rings_in_use();
        for turn in (64..64 * 600).step_by(64) {
            wheel.advance(turn, |_| ());
            (0..crowd).for_each(|n| _ = wheel.insert(turn + 20, n));
            assert_eq!(wheel.rings_in_use(), unsplit + usize::from(crowd == 300), "at {turn}");
            assert_eq!(wheel.advance(turn + 63, |_| ()), crowd as usize);
        }
        wheel.insert(64 * 600 + 20, 0);
        assert_eq!(wheel.rings_in_use(), unsplit, "one timer, after {crowd} at a time");
        wheel.check();
    }
    Ok(())
}

/// A ring is given back where few of its lists have timers, not only where there are few timers.
#[test]
fn a_ring_whose_lists_are_in_use_stays() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let unsplit = wheel.rings_in_use();
    let ids: Vec<_> = (0..280).map(|n| wheel.insert(4_096 + n % 8 * 512, 0)).collect();
    ids[..256].iter().for_each(|id| _ = wheel.cancel(*id));
    for block in 2..20 {
        let others: Vec<_> = (0..280).map(|n| wheel.insert(block * 4_096 + n, 0)).collect();
        others.iter().for_each(|id| _ = wheel.cancel(*id));
    }
    wheel.check();
    assert_eq!(
        (wheel.rings_in_use(), wheel.len()),
        (unsplit + 1, 24),
        "three in each of eight lists"
    );
    Ok(())
}

/// Walkers read all of a list once before it cascades, and once before its timers fire one by one.
#[test]
fn a_list_of_many_is_read_ahead_once_on_each_level() {
    let mut wheel = HierarchicalWheel::new();
    (0..20).for_each(|n| _ = wheel.insert(300, n));
    wheel.advance(300, |_| ());
    assert_eq!(wheel.wheel.read_ahead(), 0, "of few timers, that would be as many reads again");
    (0..500).for_each(|n| _ = wheel.insert(70_000, n));
    for (to, fire, lists) in [(65_536, 0, 1), (69_888, 0, 2), (70_000, 500, 3)] {
        assert_eq!(wheel.advance(to, |_| ()), fire);
        assert_eq!(wheel.wheel.read_ahead(), 500 * lists);
    }
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

/// What is owed waits for others to come, but not for ever.
#[test]
fn compacting_pays_what_is_owed() {
    let mut wheel = HierarchicalWheel::new();
    let ids: Vec<_> = (0..20).map(|n| wheel.insert(70_000 + n, n)).collect();
    wheel.insert(1, 0);
    assert!(wheel.is_large());
    ids.iter().for_each(|id| _ = wheel.cancel(*id));
    assert_eq!((wheel.wheel.owed(), wheel.len()), (20, 1));
    wheel.compact();
    assert_eq!((wheel.wheel.owed(), wheel.len()), (0, 1));
}

/// Elders, and the others that came later, are one list again: elders first.
#[test]
fn timers_of_one_deadline_keep_their_order_through_splits_and_joins() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let unsplit = wheel.rings_in_use();
    let crowd = |wheel: &mut Wheel8, block: u64| -> Vec<_> {
        (0..280).map(|n| wheel.insert(block * 4_096 + n % 300, 1_000_000)).collect()
    };
    (0..7).for_each(|n| _ = wheel.insert(4_200, n));
    let others = crowd(&mut wheel, 1);
    assert_eq!(wheel.rings_in_use(), unsplit + 1, "the first seven are elders");
    (7..14).for_each(|n| _ = wheel.insert(4_200, n));
    others.iter().for_each(|id| _ = wheel.cancel(*id));
    assert_eq!(wheel.rings_in_use(), unsplit + 1, "nobody has looked");
    for block in 2..20 {
        let others = crowd(&mut wheel, block);
        others.iter().for_each(|id| _ = wheel.cancel(*id));
    }
    wheel.check();
    assert_eq!(wheel.rings_in_use(), unsplit, "those who took a ring did");
    (14..60).for_each(|n| _ = wheel.insert(4_200, n));
    let mut fired = Vec::new();
    wheel.advance(4_200, |expired| fired.push(expired.value));
    assert!(fired.iter().copied().eq(0..60), "{fired:?}");
    Ok(())
}

/// A million timers of one deadline are elders on every level on the way there.
#[test]
fn elders_of_all_levels_fire_in_order() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let unsplit = wheel.rings_in_use();
    let far = 8_u64.pow(6) + 5;
    (0..2_000).for_each(|n| _ = wheel.insert(far, n));
    wheel.check();
    let mut fired = Vec::new();
    while let Some(tick) = wheel.next_wakeup() {
        wheel.advance(tick, |expired| fired.push(expired.value));
        wheel.check();
    }
    assert!(fired.into_iter().eq(0..2_000));
    assert_eq!(wheel.rings_in_use(), unsplit, "the rings that were current before are given back");
    Ok(())
}

#[test]
fn rings_do_not_pile_up() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let unsplit = wheel.rings_in_use();
    for block in 1..500_u64 {
        let ids: Vec<_> = (0..300).map(|n| wheel.insert(block * 4_096 + u64::from(n), n)).collect();
        ids[1..].iter().for_each(|id| _ = wheel.cancel(*id));
    }
    wheel.check();
    assert_eq!(wheel.len(), 499);
    // A ring of eight slots, of which a fourth or fewer have timers, is given back.
    assert!(wheel.rings_in_use() <= unsplit + 499 / 3, "{} rings", wheel.rings_in_use());
    Ok(())
}

/// A crowd of one far deadline has a ring in a ring in a ring; all but the last timer are
/// cancelled.
#[test]
fn rings_in_rings_do_not_pile_up() -> Result<(), WheelError> {
    let mut wheel = small()?;
    let unsplit = wheel.rings_in_use();
    let mut most = 0;
    for round in 1..=300 {
        let deadline = round * 8_u64.pow(6) + 5;
        let ids: Vec<_> = (0..1_500).map(|n| wheel.insert(deadline, n)).collect();
        most = most.max(wheel.rings_in_use());
        ids[..1_499].iter().for_each(|id| _ = wheel.cancel(*id));
    }
    wheel.check();
    assert_eq!(wheel.len(), 300);
    assert!(most <= unsplit + 300 / 2, "{most} rings");
    Ok(())
}

/// Room that was asked for is there, slots or not.
#[test]
fn a_capacity_is_for_timers() -> Result<(), WheelError> {
    for capacity in [20, 100, 5_000] {
        let mut wheel = Wheel8::builder().slots_per_level(2).capacity(capacity).build()?;
        let is_large = wheel.is_large();
        (0..capacity as u32).for_each(|n| _ = wheel.insert(n.into(), n));
        assert_eq!(wheel.is_large(), is_large, "{capacity} timers");
    }
    Ok(())
}

#[test]
fn a_moving_timer_may_be_cancelled_moved_again_and_overtaken_by_none() {
    let mut wheel = HierarchicalWheel::new();
    let many: Vec<_> = (0..400).map(|_| wheel.insert(1 << 30, 'x')).collect();
    assert!(wheel.is_large());
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
    assert_eq!((wheel.cancel(many[7]), wheel.cancel(many[7])), (Some('x'), None));
    assert_eq!(wheel.len(), 400 + 4 - 1 + 1);
    wheel.check();
    let mut fired = Vec::new();
    wheel.advance(8_000, |expired| fired.push((expired.deadline, expired.value)));
    let order = [(1, '0'), (3, 'e'), (7_000, 'd'), (7_000, 'a'), (7_001, 'c')];
    assert_eq!(fired, order);
}

/// Those checks of the contract that have thousands of timers once more, with few enough nodes in
/// a flat array that timers are owed and read ahead.
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
        contract_03_order_by_deadline_then_insertion,
        contract_05_stale_handles_are_harmless,
        contract_08_memory_follows_the_live_timers,
        contract_09_a_panic_loses_nothing_else,
        contract_11_bounded_work,
        property_any_sequence,
        property_many_ties,
        differential_long_run,
    }
}

/// Of a slot of many timers of one tick that are cancelled in any order, the places serve the next.
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
