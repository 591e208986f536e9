//! Bounds the most expensive single call and the memory that cancelled timers leave behind.
//! Measures operation counts and memory, never time.

mod memory;

use wheelhouse_core::meter::{CountingMeter, Work};
use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Tick, Timer};
use wheelhouse_workload::{Op, Player, Workload};

type Wheel = HierarchicalWheel<u64, CountingMeter>;

/// The most timers that one call moves to a lower level, unless a slot is crowded.
const MOVES: u64 = 500;

/// The timers of a slot of level 1 move within this many ticks, so a slot with k timers moves k /
/// 768 of them per call.
const TICKS: u64 = 768;

/// With this many timers the wheel becomes large, which moves each of them once.
const SMALL: u64 = 1 << 15;

/// Steps in addition to the moves: a search for the next slot on each level.
const BESIDE: u64 = 64;

/// The number of timers in each workload.
const N: u32 = if cfg!(debug_assertions) { 200_000 } else { 1_000_000 };

fn counting() -> Wheel {
    counting_from(0)
}

fn counting_from(start: Tick) -> Wheel {
    let builder = HierarchicalWheel::builder().start(start).meter(CountingMeter::default());
    builder.build().expect("the default number of slots")
}

/// Plays one call and returns how many timers it moved. Checks that its other steps are bounded by
/// the number of timers that move or fire.
fn moved_by(player: &mut Player<Wheel>, op: Op, name: &str) -> u64 {
    let fired = player.fired();
    player.timer().meter().reset();
    player.apply(op);
    let fired = player.fired() - fired;
    let meter = player.timer().meter();
    let (moved, all) = (meter.count(Work::CascadeMove), meter.total());
    let most = 8 * (fired + moved) + if moved == SMALL { 4 * SMALL } else { BESIDE };
    assert!(all <= most, "{name}: {op:?} takes {all} steps, while {fired} fire and {moved} move");
    moved
}

/// Plays a workload call by call. Where the workload advances to a tick, the clock goes from
/// wake-up to wake-up. Returns the most timers that a call moved.
fn most_moved(workload: &Workload, n: u32) -> u64 {
    let mut player = Player::new(counting(), workload.labels(n));
    let (mut most, mut was_small) = (0, true);
    let mut play = |player: &mut Player<Wheel>, op: Op| {
        let moved = moved_by(player, op, workload.name);
        if !(moved == SMALL && core::mem::take(&mut was_small)) {
            most = most.max(moved);
        }
    };
    for op in workload.phases(n, 1).flat_map(|phase| phase.ops) {
        match op {
            Op::Ticks { count, to } => {
                for left in (0..Tick::from(count)).rev() {
                    play(&mut player, Op::Advance { to: to - left });
                }
            }
            Op::Advance { to } => {
                while let Some(wakeup) = player.timer().next_wakeup().filter(|it| *it < to) {
                    play(&mut player, Op::Advance { to: wakeup });
                }
                play(&mut player, op);
            }
            Op::Wake => {
                let fired = player.fired();
                while let Some(to) = player.timer().next_wakeup() {
                    play(&mut player, Op::Advance { to });
                    if player.fired() > fired {
                        break;
                    }
                }
            }
            _ => play(&mut player, op),
        }
    }
    most
}

fn no_call_moves_more<'a>(workloads: impl IntoIterator<Item = &'a Workload>, n: u32) {
    for workload in workloads {
        let most = most_moved(workload, n);
        println!("{}, n = {n}: at most {most} timers moved by a call", workload.name);
        // In these workloads all timers may be due within a few slots.
        let is_crowd = ["delay-queue-burst", "same-deadline"].contains(&workload.name);
        let crowd = if is_crowd { u64::from(n) / TICKS } else { 0 };
        assert!(most <= MOVES + crowd, "{}: {most} timers moved by a call", workload.name);
    }
}

#[test]
fn no_call_moves_more_than_some_hundred_timers() {
    for n in [100_000, N] {
        no_call_moves_more(wheelhouse_workload::workloads(), n);
    }
}

#[test]
#[ignore = "ten million timers: a minute in a release build, in which .ci/run plays it"]
fn no_call_moves_more_at_ten_million() {
    let find = |name| wheelhouse_workload::find_workload(name).expect("it is a workload");
    no_call_moves_more(["uniform", "cascade-storm"].map(find), 10_000_000);
}

/// Advances tick by tick until a tick, and checks that timers fire in the order of their values.
/// Returns the most timers that one call moved, and the number of timers that fired.
fn tick_until(wheel: &mut Wheel, end: Tick) -> (u64, u64) {
    let (mut most, mut last, mut fired) = (0, None, 0);
    for tick in wheel.now() + 1..=end {
        wheel.meter().reset();
        fired += wheel.advance(tick, |expired| {
            assert!(last < Some(expired.value));
            last = Some(expired.value);
        });
        most = most.max(wheel.meter().count(Work::CascadeMove));
    }
    (most, fired as u64)
}

/// Many timers with one deadline far away, on the way there tick by tick.
#[test]
fn a_crowd_of_one_deadline_moves_a_few_at_a_time() {
    // The slot of 200,000 timers opens three quarters of its width early, which is just enough.
    let crowds = [(200_000, 70_000)].into_iter();
    let all = [70_000, 1 << 20, (1 << 20) + 1, 3_333_333].map(|far| (N, far));
    for (n, far) in crowds.chain(all) {
        let mut wheel = counting();
        (0..u64::from(n)).for_each(|n| _ = wheel.insert(far, n));
        let (most, fired) = tick_until(&mut wheel, far);
        println!("{n} timers, deadline {far}: at most {most} timers moved by a call");
        assert_eq!(fired, n.into());
        let crowd = if n > 200_000 { u64::from(n) / TICKS } else { 0 };
        assert!(most <= MOVES + crowd, "{most} timers moved by a call");
    }
}

/// When all older timers of an open slot have moved, a program that sleeps is next woken when a
/// timer is due.
#[test]
fn a_drained_slot_causes_no_wakeup_before_its_timers_are_due() {
    const DUE: Tick = 70_000;
    let mut wheel = counting();
    (0..40_000).for_each(|n| _ = wheel.insert(DUE, n));
    let (_, _, wakeups) = sleep_until(&mut wheel, DUE);
    assert_eq!(wheel.len(), 40_000, "no timer is due");
    // One when the slot opens, and one for each 128 timers.
    assert!((300..=315).contains(&wakeups), "{wakeups} wake-ups");
    assert_eq!(wheel.next_wakeup(), Some(DUE));
}

/// Timers are inserted and fire all the time, removed one by one, as a service does. At least one
/// timer fires at each tick.
#[test]
fn a_program_that_takes_out_one_timer_at_a_time_moves_a_few_at_a_time() {
    let (n, last) = (u64::from(N), 20_000);
    let mut wheel = counting();
    (0..n).for_each(|n| _ = wheel.insert(1 + n * 7_919 % last, n));
    let mut most = 0;
    for tick in 1..=3 * last {
        loop {
            wheel.meter().reset();
            let expired = wheel.pop_expired(tick);
            most = most.max(wheel.meter().count(Work::CascadeMove));
            let Some(expired) = expired else { break };
            wheel.insert(expired.deadline + last, expired.value);
        }
    }
    println!("at most {most} timers moved by a call");
    assert!(most <= MOVES, "{most} timers moved by a call");
}

/// Advances from wake-up to wake-up until a tick. Returns the most timers that one call moved, the
/// number of all moves, and the number of wake-ups at which nothing fired.
fn sleep_until(wheel: &mut Wheel, end: Tick) -> (u64, u64, u64) {
    let (mut most, mut moved, mut vain) = (0, 0, 0);
    while let Some(wakeup) = wheel.next_wakeup().filter(|wakeup| *wakeup < end) {
        wheel.meter().reset();
        vain += u64::from(wheel.advance(wakeup, |_| ()) == 0);
        let moves = wheel.meter().count(Work::CascadeMove);
        (most, moved) = (most.max(moves), moved + moves);
    }
    (most, moved, vain)
}

/// A program that sleeps is woken early enough that the timers of a slot move a few at a time.
#[test]
fn a_program_that_sleeps_moves_a_few_at_a_time() {
    for (far, width) in [(70_000, 60_000), (1 << 21, 1 << 20), (1 << 30, 1 << 19), (1 << 40, 1)] {
        let mut wheel = counting();
        // Makes the wheel large before any slot near the hand is occupied.
        (0..=SMALL).for_each(|n| _ = wheel.insert(1 << 50, n));
        (0..u64::from(N)).for_each(|n| _ = wheel.insert(far + n * 7_919 % width, n));
        let (most, moved, vain) = sleep_until(&mut wheel, Tick::MAX);
        println!("from {far} on: at most {most} timers moved by a call, {vain} calls in vain");
        let crowded = u64::from(N) / width.div_ceil(1_024);
        assert!(most <= crowded / TICKS + MOVES, "{most} timers moved by a call");
        assert!(vain <= 7 * (2 + width / 1_024) + moved / 100, "{vain} wake-ups in vain");
    }
}

/// A call that skips ticks moves no more timers than calls at all wake-ups up to its tick would
/// have moved: those of the slots that it passes.
#[test]
fn a_jump_moves_no_more_timers_than_the_calls_that_it_skips() {
    const LAST: Tick = 1 << 22;
    let [mut jumping, mut waking] = [counting(), counting()];
    for wheel in [&mut jumping, &mut waking] {
        (0..u64::from(N)).for_each(|n| _ = wheel.insert(1 + n * 7_919 % LAST, n));
    }
    let mut to = 0;
    for ticks in [5, 600, 2_000, 70_000, 1 << 20, 300_000, 2 << 20, LAST] {
        to += ticks;
        let (_, moves, _) = sleep_until(&mut waking, to + 1);
        waking.meter().reset();
        waking.advance(to, |_| ());
        let most = moves + waking.meter().count(Work::CascadeMove);
        jumping.meter().reset();
        let fired = jumping.advance(to, |_| ()) as u64;
        let (moved, all) = (jumping.meter().count(Work::CascadeMove), jumping.meter().total());
        println!("a jump of {ticks} ticks: {moved} timers moved, {most} by calls at all wake-ups");
        assert!(moved <= most, "{moved} timers moved, {most} by calls at all wake-ups");
        assert!(all <= 8 * (fired + moved) + BESIDE, "{all} steps, {fired} fire, {moved} move");
        assert_eq!(jumping.len(), waking.len());
    }
    assert!(jumping.is_empty());
}

/// A timer never moves if it is cancelled before half of the slot before its own is over.
#[test]
fn a_timer_that_is_cancelled_before_its_slot_opens_never_moves() {
    const SLOT: Tick = 40 << 10;
    let mut wheel = counting();
    let ids: Vec<_> = (0..=SMALL).map(|n| wheel.insert(SLOT + n % 1_024, n)).collect();
    wheel.meter().reset();
    (1..SLOT - 512).for_each(|tick| _ = wheel.advance(tick, |_| panic!("it is not due")));
    assert!(ids.iter().all(|id| wheel.cancel(*id).is_some()));
    assert_eq!(wheel.meter().count(Work::CascadeMove), 0);
}

/// A program that advances into the last quarter of the time for which a slot is open is not woken
/// once for each timer of the slot.
#[test]
fn a_jump_to_shortly_before_a_slot_causes_few_wakeups() {
    for level in 1..=3 {
        let width: Tick = 1 << (10 * level);
        let mut wheel = counting();
        (0..u64::from(N)).for_each(|n| _ = wheel.insert(2 * width + n * 7_919 % width, n));
        wheel.advance(2 * width - width / 8, |_| panic!("it is not due"));
        let (_, moved, vain) = sleep_until(&mut wheel, 2 * width);
        println!("level {level}: {moved} timers moved, {vain} wake-ups in vain");
        assert!(vain <= 8 + moved / 100, "{vain} wake-ups in vain for {moved} timers");
    }
}

/// Slots of four levels are crowded at once, and a call moves no more timers than for one.
#[test]
fn crowded_slots_of_several_levels_do_not_add_up() {
    const START: Tick = (1 << 40) - 1;
    let mut wheel = counting_from(START);
    for level in 1..=4 {
        let width = 1 << (10 * level);
        (0..50_000).for_each(|n| _ = wheel.insert(START + 1 + width + n * 7_919 % width, n));
    }
    let (most, _, _) = sleep_until(&mut wheel, START + (1 << 21));
    println!("four levels: at most {most} timers moved by a call");
    assert!(most <= MOVES, "{most} timers moved by a call");
}

/// After a jump into the last slot of a level, no older timers are left that cause wake-ups.
#[test]
fn the_last_slot_of_a_level_causes_few_wakeups() {
    const WIDTH: Tick = 1 << 20;
    let mut wheel = counting_from(Tick::MAX - 4 * WIDTH);
    (0..2 * SMALL).for_each(|n| _ = wheel.insert(Tick::MAX - n * 7_919 % (WIDTH / 2), n));
    // The last slot of level 2 is open, and some of its timers have moved.
    wheel.advance(Tick::MAX - 3 * WIDTH / 2, |_| panic!("it is not due"));
    wheel.advance(Tick::MAX - WIDTH + 2, |_| panic!("it is not due"));
    let (_, moved, vain) = sleep_until(&mut wheel, Tick::MAX - WIDTH / 2);
    println!("last slot: {moved} timers moved, {vain} wake-ups in vain");
    assert!(vain <= 8 + moved / 100, "{vain} wake-ups in vain for {moved} timers");
}

/// A program cancels exactly the timers that slots remember.
#[test]
fn a_crowd_that_no_slot_remembers_is_spread_too() {
    const FAR: Tick = 3 << 20;
    let mut wheel = counting();
    let ids: Vec<_> = (0..u64::from(N)).map(|n| wheel.insert(FAR, n)).collect();
    let remembered = ids.iter().filter(|id| id.index() % 32 == 0);
    assert!(remembered.map(|id| wheel.cancel(*id)).all(|value| value.is_some()));
    let (most, _) = tick_until(&mut wheel, FAR);
    println!("not remembered: at most {most} timers moved by a call");
    assert!(most <= u64::from(N) / 50 + MOVES, "{most} timers moved by a call");
}

/// Sessions that are postponed ten times move no more often than sessions that are not postponed.
#[test]
fn a_postponed_timer_costs_nothing_until_its_slot_is_due() {
    const TTL: Tick = 30_000;
    for sessions in [10_000, u64::from(N)] {
        let mut wheel = counting();
        let ids: Vec<_> = (0..sessions).map(|n| wheel.insert(TTL + n % 100, n)).collect();
        wheel.meter().reset();
        for tick in 1..=10 {
            wheel.advance(1_000 * tick, |_| panic!("it is not due"));
            ids.iter().for_each(|id| assert!(wheel.postpone(*id, wheel.now() + TTL)));
        }
        let before = wheel.meter().total();
        assert!(before <= 10 * BESIDE, "{before} steps for {} calls", 10 * sessions);
        let mut fired = 0;
        for tick in 10_000..=10_000 + TTL {
            fired += wheel.advance(tick, |_| ()) as u64;
        }
        let moved = wheel.meter().count(Work::CascadeMove);
        println!("{sessions} sessions: {moved} timers moved");
        assert_eq!((fired, wheel.now()), (sessions, 10_000 + TTL));
        assert!(moved <= 2 * sessions, "{moved} timers moved");
    }
}

/// A call touches few timers, however many are in a slot of level 0, all due at one tick.
#[test]
fn a_slot_of_any_size_adds_no_work_to_a_call() {
    let mut wheel = counting();
    let crowd: Vec<_> = (0..N.into()).map(|n| wheel.insert(250, n)).collect();
    let other = wheel.insert(251, 0);
    for (n, id) in crowd.iter().enumerate() {
        wheel.meter().reset();
        assert!(if n % 2 == 0 { wheel.cancel(*id).is_some() } else { wheel.reschedule(*id, 255) });
        assert!(wheel.reschedule(other, 251 + n as Tick % 4));
        assert!(wheel.meter().total() <= BESIDE);
    }
}
