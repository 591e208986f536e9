//! The examples of the articles that this project examines, as far as the trait shows them: when a
//! timer fires, and how many calls it takes to get there. The tests of the wheels check the slots
//! and levels.
//!
//! The numbers E1 to E14 are those of the project's inventory of claims. The articles are named by
//! their topic:
//!
//! * *xtimingwheel*: a Go wheel with rounds ("circles"), by Xu Code, on the developer site of
//!   Tencent Cloud, 2023;
//! * *day, week and month wheels*: a tutorial on rounds and layers;
//! * *clock*: a Go timer service on a red-black tree, by alex023;
//! * *Kafka's wheel in Go*: by luozhiyun, www.luozhiyun.com/archives/444;
//! * *Netty and Kafka*: an explanation of both, with the JDK's timers;
//! * the paper: G. Varghese and T. Lauck, SOSP 1987.
//!
//! If an article is right, the test has the result that it prints. If it is wrong, the test has the
//! right result and explains the error.

use crate::{fired, fresh, fresh_at, insert};
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;

/// Advances to each tick from `from` to `to`, as in the articles, whose wheels are driven by a
/// ticker. Returns the values that fire as (tick, value).
fn tick_by_tick<T>(timer: &mut impl Timer<T>, from: u64, to: u64) -> Vec<(u64, T)> {
    (from..=to)
        .flat_map(|tick| fired(timer, tick).into_iter().map(move |(_, value)| (tick, value)))
        .collect()
}

/// Goes from wake-up to wake-up until no timer is live. Returns the number of calls, and the values
/// that fired as (tick, value).
fn by_wakeups<T>(timer: &mut impl Timer<T>) -> (u32, Vec<(u64, T)>) {
    let (mut calls, mut seen) = (0, Vec::new());
    while let Some(tick) = timer.next_wakeup() {
        calls += 1;
        seen.extend(fired(timer, tick).into_iter().map(|(_, value)| (tick, value)));
    }
    (calls, seen)
}

/// E1, *xtimingwheel*: with 12 slots of one second and the pointer at 3, "a 5 s task goes to slot
/// 8". This is right: the task fires at 8.
///
/// # Panics
///
/// If it does not.
pub fn golden_e01_five_seconds_from_pointer_three<B: Backend>() {
    let mut timer = fresh_at::<B, _>(3);
    timer.insert(3 + 5, "5 s");
    assert_eq!(tick_by_tick(&mut timer, 4, 24), [(8, "5 s")]);
}

/// E2, *xtimingwheel*: with 12 slots, "a task after 16 s has circle = 1 and slot = 4". This holds
/// from pointer 0. From pointer 3, as in the article's figure, it is slot 7, because the task is
/// due at 19. The article's code also visits a slot before it moves the pointer, so +16, +15, +12
/// and +24 run a tick late, at ticks 17, 16, 13 and 25. The right ticks are 16, 15, 12 and 24.
///
/// # Panics
///
/// If they do not fire at the right ticks.
pub fn golden_e02_delays_beyond_one_turn<B: Backend>() {
    let mut timer = fresh::<B, _>();
    for delay in [16, 15, 12, 24] {
        timer.insert(delay, delay);
    }
    assert_eq!(tick_by_tick(&mut timer, 1, 48), [(12, 12), (15, 15), (16, 16), (24, 24)]);

    let mut timer = fresh_at::<B, _>(3);
    timer.insert(3 + 16, 16);
    assert_eq!(tick_by_tick(&mut timer, 4, 48), [(19, 16)], "slot 19 mod 12 = 7, not 4");
}

/// E3, *xtimingwheel*: the slot at pointer 3 has four tasks. All four should run when the pointer
/// is there. The article's code removes a list element and then reads its successor, which is nil
/// in Go, so one task runs per turn: four tasks for +5 s run at ticks 6, 18, 30 and 42. It is right
/// that all run at 5, in order.
///
/// # Panics
///
/// If they do not fire at the right ticks.
pub fn golden_e03_four_timers_in_one_slot<B: Backend>() {
    let mut timer = fresh::<B, _>();
    insert(&mut timer, ["a", "b", "c", "d"].map(|name| (3, name)));
    assert_eq!(fired(&mut timer, 2), []);
    assert_eq!(fired(&mut timer, 3), [(3, "a"), (3, "b"), (3, "c"), (3, "d")]);
    insert(&mut timer, ["e", "f", "g", "h"].map(|name| (3 + 5, name)));
    assert_eq!(tick_by_tick(&mut timer, 4, 48), [(8, "e"), (8, "f"), (8, "g"), (8, "h")]);
}

/// E4, *xtimingwheel*: one wheel of 12 slots has a range of 12 s, two levels 12 x 12 = 144 s, the
/// clock 60 x 60 x 24. These ranges are right, minus the part of the current turn that has passed.
/// A timer at or past the end of a range must fire at its deadline like any other.
///
/// # Panics
///
/// If one does not fire at its deadline.
pub fn golden_e04_deadlines_past_the_range_of_the_wheel<B: Backend>() {
    for start in [0, 3, 11, 12, 143] {
        for range in [12, 144, 60, 3_600, 86_400] {
            let mut timer = fresh_at::<B, _>(start);
            let deadlines = [range - 1, range, range + 1].map(|delay| start + delay);
            insert(&mut timer, deadlines.map(|deadline| (deadline, deadline)));
            for deadline in deadlines {
                assert_eq!(fired(&mut timer, deadline - 1), []);
                assert_eq!(fired(&mut timer, deadline), [(deadline, deadline)]);
            }
        }
    }
}

/// E5, *day, week and month wheels*, with one tick an hour: tasks at 3, 4 and 9 o'clock; "every day
/// at 09:00", added at 16:00, first runs 17 hours later; with 168 slots for the week, on Tuesday at
/// 10:00, "next Monday 09:00" is slot 9 and "this Wednesday 09:00" is slot 57. This is right: they
/// are due 143 and 23 hours later.
///
/// # Panics
///
/// If they do not fire at the right ticks.
pub fn golden_e05_daily_and_weekly<B: Backend>() {
    let mut timer = fresh::<B, _>();
    insert(&mut timer, [(9, "C"), (3, "A"), (4, "B")]);
    assert_eq!(tick_by_tick(&mut timer, 1, 12), [(3, "A"), (4, "B"), (9, "C")]);

    // A repeated task is inserted again for its next time.
    let mut timer = fresh_at::<B, _>(16);
    timer.insert(16 + 17, "report");
    let mut hours = Vec::new();
    for hour in 17..=100 {
        while let Some(expired) = timer.pop_expired(hour) {
            hours.push(hour);
            timer.insert(expired.deadline + 24, expired.value);
        }
    }
    assert_eq!(hours, [33, 57, 81], "09:00 of the next three days");

    let now = 24 + 10; // Tuesday 10:00 of a week that starts on Monday at 0:00
    let mut timer = fresh_at::<B, _>(now);
    timer.insert(168 + 9, "Monday");
    timer.insert(57, "Wednesday");
    let after: Vec<_> = tick_by_tick(&mut timer, now + 1, 400)
        .into_iter()
        .map(|(hour, name)| (hour - now, name))
        .collect();
    assert_eq!(after, [(23, "Wednesday"), (143, "Monday")]);
}

/// E6, *day, week and month wheels*: a wheel of 24 hours, on Tuesday 11 September 2018 at 10:00.
/// "Every Tuesday 09:00" comes "in the 7th turn, at the 9th mark", "every Thursday" in the 3rd,
/// "each 12th of the month" in the 2nd. This mixes two ways of counting: from now there are 6, 1
/// and 0 full turns, so the tasks are in the 7th, the 2nd and the 1st turn. The tasks are due 167,
/// 47 and 23 hours later.
///
/// # Panics
///
/// If they do not fire at the right ticks.
pub fn golden_e06_three_timers_at_nine_oclock<B: Backend>() {
    let now = 24 + 10;
    let mut timer = fresh_at::<B, _>(now);
    for (delay, full_turns, name) in [(167, 6, "Tuesday"), (47, 1, "Thursday"), (23, 0, "the 12th")]
    {
        assert_eq!(
            ((now + delay) % 24, delay / 24),
            (9, full_turns),
            "{name}: the mark and the full turns to it"
        );
        timer.insert(now + delay, name);
    }
    let seen = tick_by_tick(&mut timer, now + 1, 400);
    assert_eq!(seen, [(now + 23, "the 12th"), (now + 47, "Thursday"), (now + 167, "Tuesday")]);
}

/// E7, *day, week and month wheels*: "two tasks in a month: 720 moves, 718 of them in vain", and
/// 2,592,000 slots of one second. This is right for a wheel that is driven by a ticker. From
/// wake-up to wake-up it takes one call for each timer, and at most one for each level on the way
/// to it.
///
/// # Panics
///
/// If it takes more.
pub fn golden_e07_two_timers_in_a_month<B: Backend>() {
    for month in [720, 2_592_000] {
        let mut timer = fresh::<B, _>();
        timer.insert(month / 3, "one");
        timer.insert(month, "two");
        let (calls, seen) = by_wakeups(&mut timer);
        assert_eq!(seen, [(month / 3, "one"), (month, "two")]);
        let most = 2 * (1 + B::INFO.max_idle_wakeups);
        assert!(calls <= most, "{calls} calls in a month of {month} ticks, allowed are {most}");
    }
}

/// E8, *clock*: a session of 3 s exists after 2 s, and is gone after 4 s and 6 s. A session of 4 s
/// that is refreshed to 5 s after 2 s exists at 1 to 5 s and ends at 7 s. This is right. The
/// article's first program cannot refresh, and its second does not notice if a refresh loses the
/// race with the expiry. Here `reschedule` returns `false`.
///
/// # Panics
///
/// If a session ends at another time.
pub fn golden_e08_sessions_that_are_refreshed<B: Backend>() {
    let mut timer = fresh::<B, _>();
    let session = timer.insert(3, "alex023");
    let there = [2, 4, 6].map(|second| {
        timer.advance(second, |_| ());
        timer.deadline(session).is_some()
    });
    assert_eq!(there, [true, false, false]);
    assert!(!timer.reschedule(session, 9), "a refresh that comes too late returns false");

    let mut timer = fresh::<B, _>();
    let session = timer.insert(4, "alex023_2");
    let mut ended = Vec::new();
    for second in 1..=10 {
        timer.advance(second, |expired| ended.push((second, expired.value)));
        assert_eq!(timer.deadline(session).is_some(), second < 7, "after {second} s");
        if second == 2 {
            assert!(timer.reschedule(session, second + 5));
        }
    }
    assert_eq!(ended, [(7, "alex023_2")]);
}

/// E9, *Kafka's wheel in Go*: with one tick a second and 10 slots a level, a task of 2 s goes to
/// slot 2. At tick 2, a task of 9 s goes to slot 1, which is due at 11. A task of 15 s goes to the
/// second level, [10, 19], and at 10 it moves down to slot 5. This is right: they fire at ticks 2,
/// 11 and 15. (With a clock in milliseconds the article's code rounds down and fires up to 999 ms
/// early.)
///
/// # Panics
///
/// If they do not fire at the right ticks.
pub fn golden_e09_demoted_to_the_lower_wheel<B: Backend>() {
    let mut timer = fresh::<B, _>();
    timer.insert(2, "2 s");
    timer.insert(15, "15 s");
    assert_eq!(tick_by_tick(&mut timer, 1, 2), [(2, "2 s")]);
    timer.insert(2 + 9, "9 s");
    assert_eq!(tick_by_tick(&mut timer, 3, 40), [(11, "9 s"), (15, "15 s")]);
}

/// E10, *Netty and Kafka*: with 8 slots, a delay of 5 goes to index 5, and a delay of 50 to index
/// 50 mod 8 = 2 with (50 - 1) / 8 = 6 rounds. This is right: the slot is passed at 2, 10, 18, 26,
/// 34 and 42, and the timer fires at 50.
///
/// # Panics
///
/// If they do not fire at the right ticks.
pub fn golden_e10_fifty_ticks_on_eight_slots<B: Backend>() {
    let mut timer = fresh::<B, _>();
    timer.insert(5, "5");
    timer.insert(50, "50");
    assert_eq!(tick_by_tick(&mut timer, 1, 60), [(5, "5"), (50, "50")]);
    // If a delay is a multiple of a turn, the formulas of the articles differ: d / n in one,
    // (d - 1) / n in the other.
    let mut timer = fresh::<B, _>();
    insert(&mut timer, [8, 16, 48, 64].map(|delay| (delay, delay)));
    assert_eq!(tick_by_tick(&mut timer, 1, 70), [(8, 8), (16, 16), (48, 48), (64, 64)]);
}

/// E11, *Netty and Kafka*: three levels of 8 slots have a range of 512 s. By the article, a task of
/// 500 s moves down a level after 436 s, with 64 s left, and again 56 s later, with 8 s left. But a
/// slot is emptied at its start, so the task moves at 448 with 52 s left, and at 496 with 4 s left.
/// And from most phases of the clock 500 s need a fourth level. In any case the task fires after
/// 500 s.
///
/// # Panics
///
/// If it does not, from any phase.
pub fn golden_e11_five_hundred_seconds<B: Backend>() {
    for start in 0..512 {
        let mut timer = fresh_at::<B, _>(start);
        timer.insert(start + 500, "500 s");
        for (passed, expected) in [(436, 0), (448, 0), (492, 0), (496, 0), (499, 0), (500, 1)] {
            assert_eq!(
                fired(&mut timer, start + passed).len(),
                expected,
                "after {passed} s, from {start}"
            );
        }
    }
}

/// E12, *Netty and Kafka*: one task of 350 s on a wheel of one second "makes 349 ticks in vain".
/// This is right for a ticker. From wake-up to wake-up there is one call, and at most one more for
/// each level.
///
/// # Panics
///
/// If it takes more.
pub fn golden_e12_one_call_per_level<B: Backend>() {
    let mut timer = fresh::<B, _>();
    timer.insert(350, "350 s");
    let (calls, seen) = by_wakeups(&mut timer);
    assert_eq!(seen, [(350, "350 s")]);
    assert!(calls <= 1 + B::INFO.max_idle_wakeups, "{calls} calls");
}

/// E13, *Netty and Kafka*: with one slot a second, tasks of 1.2 s and 1.5 s "go to the same slot
/// and run at 1 s", which is early. With ticks of a millisecond they fire at 1,200 and 1,500. With
/// ticks of a second a deadline has to be rounded up, and both fire at 2: a timer may be late by up
/// to a tick, but never early.
///
/// # Panics
///
/// If they do not fire at the right ticks.
pub fn golden_e13_fractions_of_a_tick_are_not_early<B: Backend>() {
    let mut timer = fresh::<B, _>();
    insert(&mut timer, [1_200, 1_500].map(|millisecond| (millisecond, millisecond)));
    assert_eq!(fired(&mut timer, 1_000), [], "at 1 s neither is due");
    assert_eq!(tick_by_tick(&mut timer, 1_001, 2_000), [(1_200, 1_200), (1_500, 1_500)]);

    let mut timer = fresh::<B, _>();
    insert(
        &mut timer,
        [1_200_u64, 1_500].map(|millisecond| (millisecond.div_ceil(1_000), millisecond)),
    );
    assert_eq!(
        tick_by_tick(&mut timer, 1, 4),
        [(2, 1_200), (2, 1_500)],
        "one slot, and not before it ends"
    );
}

/// E14, the paper. Figure 9: with a table of 256 and the pointer at 10, a timer whose low 8 bits
/// are 20 goes to index 30, whatever its high bits are. Figures 10 and 11: with a clock of days,
/// hours, minutes and seconds at 11 d 10:24:30, a timer of 50 min 45 s is due at 11 d 11:15:15. And
/// 100 days take 100 + 24 + 60 + 60 = 244 slots, while one wheel takes 8.64 million. All of this is
/// right.
///
/// # Panics
///
/// If they do not fire at the right ticks.
pub fn golden_e14_varghese_and_lauck<B: Backend>() {
    for rounds in [0, 1, 7, 1_000] {
        let mut timer = fresh_at::<B, _>(10);
        let deadline = 10 + rounds * 256 + 20;
        timer.insert(deadline, rounds);
        assert_eq!((deadline % 256, fired(&mut timer, deadline - 1)), (30, vec![]));
        assert_eq!(fired(&mut timer, deadline), [(deadline, rounds)]);
    }

    let clock = |day: u64, hour: u64, minute: u64, second: u64| {
        ((day * 24 + hour) * 60 + minute) * 60 + second
    };
    let now = clock(11, 10, 24, 30);
    let mut timer = fresh_at::<B, _>(now);
    timer.insert(now + clock(0, 0, 50, 45), "figure 10");
    // The paper moves the timer at the start of its hour and of its minute.
    for early in [clock(11, 11, 0, 0), clock(11, 11, 15, 0), clock(11, 11, 15, 14)] {
        assert_eq!(fired(&mut timer, early), []);
    }
    assert_eq!(fired(&mut timer, clock(11, 11, 15, 15)), [(clock(11, 11, 15, 15), "figure 10")]);

    let mut timer = fresh::<B, _>();
    let hundred_days = clock(100, 0, 0, 0);
    assert_eq!(hundred_days, 8_640_000);
    timer.insert(hundred_days, "100 days");
    assert_eq!(by_wakeups(&mut timer).1, [(hundred_days, "100 days")]);
}
