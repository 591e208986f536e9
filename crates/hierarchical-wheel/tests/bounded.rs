//! The worst single call, and what cancelled timers leave behind: by operation counts and by
//! memory, never by time.

use std::collections::VecDeque;
use wheelhouse_core::meter::{CountingMeter, Work};
use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Tick, Timer, TimerId};
use wheelhouse_workload::{Op, Player, Workload};

type Wheel = HierarchicalWheel<u64, CountingMeter>;

/// Slots above level 0 are split when this many timers came.
const LIMIT: u64 = 8_192;

/// By this many a slot may be larger: it is looked after once in sixteen timers.
const MORE: u64 = 16;

/// Levels that can cascade in one call.
const LEVELS: u64 = 7;

/// The most timers that one call moves where few share a deadline: those of a slot, and what came
/// to two slots above it before these were split.
const MOVES: u64 = 3 * (LIMIT + MORE);

/// The most that it moves of a crowd of one deadline: a slot that splits on every level keeps as
/// many elders on each, and those of upper levels join those below.
const MOVES_OF_A_CROWD: u64 = LEVELS * (LIMIT + MORE);

/// Steps beside the moves: 32 timers are unlinked or moved, each may be the last of a ring, and one
/// or two slots are split, which looks at the timers there and at two rings.
const SETTLED: u64 = 32 * (2 + 4 + 4 + LEVELS) + 2 * (LIMIT / 8 + 2 * LEVELS * (4 + LIMIT / 8));

/// Timers in each workload.
const N: u32 = if cfg!(debug_assertions) { 200_000 } else { 1_000_000 };

fn counting() -> Wheel {
    HierarchicalWheel::builder()
        .meter(CountingMeter::default())
        .build()
        .expect("the default number of slots")
}

/// Plays one call, and says how many timers it moved. What it does besides is bounded by those, and
/// by those that fire: two links and a search for the next slot each.
fn moved_by(player: &mut Player<Wheel>, op: Op, name: &str) -> u64 {
    let fired = player.fired();
    player.timer().meter().reset();
    player.apply(op);
    let fired = player.fired() - fired;
    let meter = player.timer().meter();
    let (moved, all) = (meter.count(Work::CascadeMove), meter.total());
    let most = 8 * (fired + moved) + SETTLED;
    assert!(all <= most, "{name}: {op:?} takes {all} steps, while {fired} fire and {moved} move");
    moved
}

/// Plays a workload call by call, the clock tick by tick where the workload has it so. Returns the
/// most timers that a call moved.
fn most_moved(workload: &Workload, n: u32) -> u64 {
    let mut player = Player::new(counting(), workload.labels(n));
    let mut most = 0;
    for op in workload.phases(n, 1).flat_map(|phase| phase.ops) {
        match op {
            Op::Ticks { count, to } => {
                for left in (0..Tick::from(count)).rev() {
                    most = most.max(moved_by(
                        &mut player,
                        Op::Advance { to: to - left },
                        workload.name,
                    ));
                }
            }
            // A jump passes many slots, and moves what is in them.
            Op::Advance { to } if to > player.timer().now() + 1 => {
                _ = moved_by(&mut player, op, workload.name)
            }
            _ => most = most.max(moved_by(&mut player, op, workload.name)),
        }
    }
    most
}

fn no_call_moves_more<'a>(workloads: impl IntoIterator<Item = &'a Workload>, n: u32) {
    for workload in workloads {
        let most = most_moved(workload, n);
        println!("{}, n = {n}: at most {most} timers moved by a call", workload.name);
        // Thousands of it are due at one tick.
        let is_crowd = workload.name == "cascade-storm";
        let allowed = if is_crowd { MOVES_OF_A_CROWD } else { MOVES };
        assert!(most <= allowed, "{}: {most} timers moved by a call", workload.name);
    }
}

#[test]
fn no_call_moves_more_than_some_thousand_timers() {
    no_call_moves_more(wheelhouse_workload::workloads(), N);
}

#[test]
#[ignore = "ten million timers: a minute in a release build, in which .ci/run plays it"]
fn no_call_moves_more_at_ten_million() {
    no_call_moves_more(wheelhouse_workload::find_workload("uniform"), 10_000_000);
}

/// However many timers are in a slot of level 0, all due at one tick, a call touches a few of them.
#[test]
fn a_slot_of_any_size_costs_a_call_no_more() {
    let mut wheel = counting();
    let crowd: Vec<_> = (0..N.into()).map(|n| wheel.insert(250, n)).collect();
    let other = wheel.insert(251, 0);
    for (n, id) in crowd.iter().enumerate() {
        wheel.meter().reset();
        assert!(if n % 2 == 0 { wheel.cancel(*id).is_some() } else { wheel.reschedule(*id, 255) });
        assert!(wheel.reschedule(other, 251 + n as Tick % 4));
        assert!(wheel.meter().total() <= SETTLED);
    }
}

/// The worst there is: all timers of one far deadline. On each level as many stay elders as a slot
/// has when it is split, and each cascade moves those of all levels above.
#[test]
fn a_crowd_of_one_far_deadline_moves_as_elders() {
    let mut wheel = counting();
    let far = (1 << 40) + 0x77_7777;
    (0..u64::from(N)).for_each(|n| _ = wheel.insert(far, n));
    let (mut most, mut next) = (0, 0);
    while let Some(tick) = wheel.next_wakeup() {
        wheel.meter().reset();
        wheel.advance(tick, |expired| {
            assert_eq!(expired.value, next);
            next += 1;
        });
        most = most.max(wheel.meter().count(Work::CascadeMove));
    }
    println!("at most {most} timers moved by a call");
    assert_eq!(next, N.into());
    assert!((LIMIT..=MOVES_OF_A_CROWD).contains(&most), "{most} timers moved by a call");
}

/// Starts `rate` timers a tick for five minutes, a tick being a millisecond: each is due in 30
/// seconds, and all but one in a hundred are cancelled some ticks later. Returns the most timers
/// that were live.
fn network_timeouts(rate: u64) -> usize {
    const MINUTES: Tick = 5 * 60_000;
    let (mut wheel, mut open, mut most) = (counting(), VecDeque::<(Tick, TimerId)>::new(), 0);
    let mut fired = 0;
    for now in 1..=MINUTES {
        fired += wheel.advance(now, |_| ()) as u64;
        for n in 0..rate {
            let id = wheel.insert(now + 30_000, n);
            if (now * rate + n) % 100 > 0 {
                open.push_back((now + 1 + n % 5, id));
            }
        }
        while let Some((_, id)) = open.front().copied().filter(|(end, _)| *end <= now) {
            open.pop_front();
            assert!(wheel.cancel(id).is_some());
        }
        most = most.max(wheel.len());
    }
    let left = rate * 30_000 / 100;
    assert!(
        fired.abs_diff(rate * (MINUTES - 30_000) / 100) <= rate,
        "{fired} fired, one in a hundred should"
    );
    assert!((wheel.len() as u64).abs_diff(left) <= 8 * rate);
    // Every timer costs its insertion, its cancellation, and its part of tidying up, whatever is
    // live.
    let steps = wheel.meter().total() as f64 / (rate * MINUTES) as f64;
    println!("{} timers, at most {most} live: {steps:.1} steps a timer", rate * MINUTES);
    assert!(steps <= 12.0, "{steps} steps a timer");
    most
}

/// What three hundred million timers leave behind, of which a third of a million are live.
fn network_timeouts_leave_little_behind(rate: u64) {
    let mut most = 0;
    let seen = allocation_counter::measure(|| most = network_timeouts(rate));
    // The queue of this test takes 16 bytes for each of the timers of five ticks, twice while it
    // grows; a wheel of a few levels 64 KiB. An array that doubles has three times the room for a
    // moment, as long as it is one array.
    let bytes = if most < 1 << 17 { 3 * 32 } else { 60 };
    let allowed = bytes * most as u64 + 32 * 2 * 8 * rate + (1 << 20);
    println!(
        "at most {} bytes, {:.1} for each live timer",
        seen.bytes_max,
        seen.bytes_max as f64 / most as f64
    );
    assert!(seen.bytes_max <= allowed, "{} bytes with at most {most} live timers", seen.bytes_max);
}

#[test]
fn five_minutes_of_network_timeouts() {
    network_timeouts_leave_little_behind(if cfg!(debug_assertions) { 20 } else { 100 });
}

#[test]
#[ignore = "three hundred million timers: half a minute in a release build, in which .ci/run plays \
            it, and far more in a debug build"]
fn five_minutes_of_a_million_network_timeouts_a_second() {
    network_timeouts_leave_little_behind(1_000);
}

#[test]
fn a_storm_of_cancellations_leaves_nothing_behind() {
    let seen = allocation_counter::measure(|| {
        let mut wheel = counting();
        let keep = wheel.insert(1 << 50, 0);
        let full = allocation_counter::measure(|| {
            for round in 0..20 {
                let ids: Vec<_> = (0..u64::from(N))
                    .map(|n| wheel.insert((30 << 20) + n * 97 + round, n))
                    .collect();
                wheel.meter().reset();
                ids.iter().for_each(|id| assert!(wheel.cancel(*id).is_some()));
                assert!(wheel.meter().total() <= 8 * u64::from(N));
            }
        });
        assert!(
            full.bytes_max <= 60 * u64::from(N) + (2 << 20),
            "{} bytes, of which 8 a timer are of the test",
            full.bytes_max
        );
        assert_eq!((wheel.len(), wheel.next_wakeup().is_some()), (1, true));
        assert!(wheel.cancel(keep).is_some());
    });
    assert_eq!(seen.bytes_current, 0);
}

/// Inserts a timer, and says what that took.
fn insert(wheel: &mut Wheel, deadline: Tick) -> (TimerId, u64) {
    wheel.meter().reset();
    let id = wheel.insert(deadline, 0);
    (id, wheel.meter().total())
}

/// A slot that is split is counted, and so are two rings: each up to an eighth of the limit,
/// however many timers there are.
#[test]
fn an_insertion_counts_an_eighth_of_what_is_there() {
    let mut most = 0;
    let mut wheel = counting();
    // Half of those that came to each slot have left, so that it is counted when it is full.
    for slot in 1..=8 {
        for n in 0..LIMIT + MORE {
            let (id, steps) = insert(&mut wheel, (slot << 16) + n);
            most = most.max(steps);
            (n % 2 == 0).then(|| wheel.cancel(id));
        }
    }
    // Crowds of one deadline: their rings have few lists, and in these thousands of timers.
    for crowd in 1..=8 {
        for _ in 0..2 * LIMIT {
            most = most.max(insert(&mut wheel, (crowd << 24) + 5 * 65_536).1);
        }
    }
    println!("at most {most} steps for an insertion");
    assert!((LIMIT / 8..=3 * LIMIT / 8 + 64).contains(&most), "{most} steps for an insertion");
}

/// Inserts so many timers all over a million ticks, which splits no slot.
fn spread(wheel: &mut Wheel, count: u64) {
    (0..count).for_each(|n| _ = wheel.insert(1 + n * 7_919 % (1 << 22), n));
}

/// Beside nodes: hints of the rings of a few levels, and tables.
const BESIDE: u64 = 1 << 18;

#[test]
fn what_has_room_allocates_nothing() {
    for capacity in [20_000, 150_000] {
        let mut wheel = HierarchicalWheel::builder()
            .meter(CountingMeter::default())
            .capacity(capacity as usize)
            .build()
            .expect("there is as much memory");
        let seen = allocation_counter::measure(|| spread(&mut wheel, capacity));
        // A wheel of few has no hints.
        let allowed = if capacity == 20_000 { 0 } else { BESIDE };
        assert!(seen.bytes_total <= allowed, "{capacity} timers: {} bytes", seen.bytes_total);
    }
}

/// From the first segment on, timers take what they need, and neither they nor others are copied.
#[test]
fn a_wheel_of_many_grows_by_what_it_needs() {
    const STEP: u64 = 130_000;
    let mut wheel = counting();
    let first = allocation_counter::measure(|| spread(&mut wheel, STEP));
    let then = allocation_counter::measure(|| spread(&mut wheel, STEP));
    let allowed = 32 * STEP + 2 * BESIDE;
    assert!(first.bytes_current as u64 <= allowed, "{} bytes", first.bytes_current);
    assert!(then.bytes_max <= allowed, "{} bytes", then.bytes_max);
}
