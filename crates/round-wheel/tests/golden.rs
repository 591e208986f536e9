//! The examples for one wheel with rounds in the articles that this project examines, and in
//! Varghese and Lauck's paper. `passes` computes how often the hand passes a timer's slot. This
//! wheel does not read a slot while its timers have rounds to go, and the meter shows it: slots are
//! visited only at the ticks at which a timer fires. Examples with 12 or 24 slots are scaled to
//! powers of two.

use wheelhouse_core::meter::{CountingMeter, Work};
use wheelhouse_round_wheel::{RoundWheel, Timer};

type Counted = RoundWheel<&'static str, CountingMeter>;

fn wheel(slots: usize, start: u64) -> Counted {
    RoundWheel::builder().slots(slots).start(start).meter(CountingMeter::default()).build().unwrap()
}

/// The ticks at which a hand that visits one slot per tick reaches the slot of a deadline. The
/// timer fires at the last of them.
fn passes(slots: u64, now: u64, deadline: u64) -> Vec<u64> {
    (now + 1..=deadline).filter(|tick| tick % slots == deadline % slots).collect()
}

/// Advances tick by tick. Returns the ticks at which slots were read, and the timers that fired,
/// each with its tick.
fn tick_by_tick(wheel: &mut Counted, to: u64) -> (Vec<u64>, Vec<(u64, &'static str)>) {
    let (mut visits, mut fired) = (Vec::new(), Vec::new());
    for tick in wheel.now() + 1..=to {
        wheel.meter().reset();
        wheel.advance(tick, |expired| fired.push((tick, expired.value)));
        if wheel.meter().count(Work::SlotVisit) > 0 {
            visits.push(tick);
        }
    }
    (visits, fired)
}

/// E1, *xtimingwheel*: with the pointer at 3, a 5 s task goes to slot 8 and runs in this turn. As
/// printed, but with 16 slots.
#[test]
fn e1_slot_eight_in_this_turn() {
    let mut wheel = wheel(16, 3);
    wheel.insert(3 + 5, "5 s");
    assert_eq!(tick_by_tick(&mut wheel, 40), (vec![8], vec![(8, "5 s")]));
}

/// E2, *xtimingwheel*: with a delay of more than a turn, "circle = 1": the slot is passed once, and
/// the task runs in the next turn. With 16 slots, +20 is slot 4 and circle 1 from pointer 0, as in
/// the article's text. From pointer 3, as in its figure, the same delay is slot 7. The article's
/// code runs both a tick late.
#[test]
fn e2_passed_once_and_fired_in_the_next_turn() {
    let mut from_zero = wheel(16, 0);
    from_zero.insert(20, "circle 1");
    assert_eq!(passes(16, 0, 20), [4, 20]);
    assert_eq!(tick_by_tick(&mut from_zero, 60), (vec![20], vec![(20, "circle 1")]));
    let mut from_three = wheel(16, 3);
    from_three.insert(3 + 20, "circle 1");
    assert_eq!(passes(16, 3, 23), [7, 23]);
    assert_eq!(tick_by_tick(&mut from_three, 60), (vec![23], vec![(23, "circle 1")]));
}

/// E2, edge case: a delay of exactly one turn or two turns. With 12 slots, the article's code
/// computes circles 1 and 2 for +12 and +24, and runs the tasks at 13 and 25. The slot is the one
/// that the hand has just left, so it is passed 0 times and once.
#[test]
fn e2_delays_of_whole_turns() {
    let mut wheel = wheel(16, 0);
    wheel.insert(16, "one turn");
    wheel.insert(32, "two turns");
    assert_eq!(
        tick_by_tick(&mut wheel, 60),
        (vec![16, 32], vec![(16, "one turn"), (32, "two turns")])
    );
}

/// E3, *xtimingwheel*: four tasks in slot 3. One visit runs all four. The article's code runs one
/// per turn, because it reads the successor of a list element after removing the element.
#[test]
fn e3_one_visit_fires_the_whole_slot() {
    let mut wheel = wheel(16, 0);
    for name in ["a", "b", "c", "d"] {
        wheel.insert(3, name);
    }
    assert_eq!(
        tick_by_tick(&mut wheel, 60),
        (vec![3], vec![(3, "a"), (3, "b"), (3, "c"), (3, "d")])
    );
}

/// E6, *day, week and month wheels*: three tasks at the ninth mark of the day, due in this turn, in
/// the next and in the sixth from now. Here a day has 32 hours, and it is hour 2 of the second day:
/// +7, +39 and +167 are all mark 9, and the mark is passed (167 - 1) / 32 = 5 times before the last
/// task is due.
#[test]
fn e6_three_timers_at_one_mark() {
    let now = 32 + 2;
    let mut wheel = wheel(32, now);
    for (delay, name) in [(167, "in a week"), (39, "tomorrow"), (7, "today")] {
        wheel.insert(now + delay, name);
    }
    let marks = passes(32, now, now + 167);
    assert_eq!(marks, [41, 73, 105, 137, 169, 201]);
    assert!(marks.iter().all(|hour| hour % 32 == 9));
    let fired = vec![(41, "today"), (73, "tomorrow"), (201, "in a week")];
    assert_eq!(tick_by_tick(&mut wheel, 300), (vec![41, 73, 201], fired));
}

/// E7, *day, week and month wheels*: "two tasks in 720 hours: 718 of 720 moves in vain". The hand
/// skips empty slots: two slots are visited, and a program that goes from wake-up to wake-up makes
/// two calls.
#[test]
fn e7_two_visits_in_a_month() {
    let month = |wheel: &mut Counted| {
        wheel.insert(200, "one");
        wheel.insert(720, "two");
    };
    let mut ticking = wheel(1_024, 0);
    month(&mut ticking);
    assert_eq!(tick_by_tick(&mut ticking, 720), (vec![200, 720], vec![(200, "one"), (720, "two")]));
    let mut waking = wheel(1_024, 0);
    month(&mut waking);
    assert_eq!(waking.next_wakeup(), Some(200));
    assert_eq!(waking.advance(200, |_| ()), 1);
    assert_eq!(waking.next_wakeup(), Some(720));
    assert_eq!(waking.advance(720, |_| ()), 1);
    assert_eq!(waking.next_wakeup(), None);
}

/// E10, *Netty and Kafka*: with 8 slots, 5 goes to index 5, and 50 to index 2 with (50 - 1) / 8 = 6
/// rounds. As printed, the hand passes it six times, at 2, 10, 18, 26, 34 and 42.
#[test]
fn e10_six_rounds_of_eight_slots() {
    let mut wheel = wheel(8, 0);
    wheel.insert(5, "5");
    wheel.insert(50, "50");
    assert_eq!((passes(8, 0, 5), passes(8, 0, 50)), (vec![5], vec![2, 10, 18, 26, 34, 42, 50]));
    assert_eq!(tick_by_tick(&mut wheel, 60), (vec![5, 50], vec![(5, "5"), (50, "50")]));
}

/// E10, off-by-one of rounds: the articles' d / n and (d - 1) / n differ if d is a multiple of n.
/// The number of passes before the timer fires is (d - 1) / n: the hand reaches the slot d / n
/// times, and the timer fires at the last.
#[test]
fn e10_how_often_a_slot_is_passed() {
    for delay in [1, 7, 8, 9, 47, 48, 49, 64] {
        let mut wheel = wheel(8, 0);
        wheel.insert(delay, "");
        assert_eq!(passes(8, 0, delay).len() as u64 - 1, (delay - 1) / 8, "delay {delay}");
        assert_eq!(tick_by_tick(&mut wheel, 80), (vec![delay], vec![(delay, "")]), "delay {delay}");
    }
}

/// E12, *Netty and Kafka*: one task of 350 s, "349 ticks in vain". From wake-up to wake-up it is
/// one call, with any number of slots.
#[test]
fn e12_one_call_for_350_ticks() {
    for slots in [2, 8, 64, 512] {
        let mut wheel = wheel(slots, 0);
        wheel.insert(350, "350 s");
        assert_eq!(wheel.next_wakeup(), Some(350), "{slots} slots");
        assert_eq!(wheel.advance(350, |_| ()), 1, "{slots} slots");
    }
}

/// E14, Varghese and Lauck's figure 9: with 256 slots and the pointer at 10, a timer whose low 8
/// bits are 20 goes to index 30, and its high bits are the number of turns to wait. As printed.
#[test]
fn e14_low_bits_choose_the_slot_and_high_bits_the_rounds() {
    for rounds in [0, 1, 5] {
        let mut wheel = wheel(256, 10);
        let deadline = 10 + (rounds << 8 | 20);
        wheel.insert(deadline, "figure 9");
        let passed: Vec<_> = (0..=rounds).map(|round| 30 + 256 * round).collect();
        assert_eq!(passes(256, 10, deadline), passed);
        assert_eq!(tick_by_tick(&mut wheel, 2_000), (vec![deadline], vec![(deadline, "figure 9")]));
    }
}
