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
//! If an article is right, the example has the result that it prints. If it is wrong, the example
//! has the right result and explains the error.

use crate::contract::Watched;
use crate::latest;
use wheelhouse_core::backend::Backend;

/// A time of the paper's clock, in seconds.
const fn clock(day: u64, hour: u64, minute: u64, second: u64) -> u64 {
    ((day * 24 + hour) * 60 + minute) * 60 + second
}

/// The clock at the start, and deadlines in the order of insertion.
const EXAMPLES: [(u64, &[u64]); 19] = [
    // E1, *xtimingwheel*: with 12 slots of one second and the pointer at 3, "a 5 s task goes to
    // slot 8". This is right.
    (3, &[8]),
    // E2: with 12 slots, "a task after 16 s has circle = 1 and slot = 4". This holds from pointer
    // 0. From pointer 3, as in the article's figure, it is slot 7. The article's code also visits a
    // slot before it moves the pointer, so +16, +15, +12 and +24 run a tick late.
    (0, &[16, 15, 12, 24]),
    (3, &[3 + 16]),
    // E3: all four tasks of a slot should run when the pointer is there. The article's code removes
    // a list element and then reads its successor, which is nil in Go, so one task runs per turn.
    (0, &[3, 3, 3, 3]),
    (3, &[8, 8, 8, 8]),
    // E5, *day, week and month wheels*, with one tick an hour: tasks at 3, 4 and 9 o'clock; "every
    // day at 09:00", added at 16:00, first runs 17 hours later. With 168 slots for the week, on
    // Tuesday at 10:00, "next Monday 09:00" is slot 9 and "this Wednesday 09:00" is slot 57. This
    // is right.
    (0, &[9, 3, 4]),
    (16, &[16 + 17]),
    (24 + 10, &[168 + 9, 57]),
    // E6: a wheel of 24 hours, on Tuesday 11 September 2018 at 10:00. "Every Tuesday 09:00" comes
    // "in the 7th turn, at the 9th mark", "every Thursday" in the 3rd, "each 12th of the month" in
    // the 2nd. This mixes two ways of counting: from now there are 6, 1 and 0 full turns.
    (34, &[34 + 167, 34 + 47, 34 + 23]),
    // E7: "two tasks in a month: 720 moves, 718 of them in vain", and 2,592,000 slots of one
    // second. This is right for a wheel that is driven by a ticker. From wake-up to wake-up it
    // takes one call for each timer, and at most one for each level on the way to it.
    (0, &[240, 720]),
    (0, &[864_000, 2_592_000]),
    // E9, *Kafka's wheel in Go*: with 10 slots a level, a task of 2 s goes to slot 2. At tick 2, a
    // task of 9 s goes to slot 1, which is due at 11. A task of 15 s goes to the second level, and
    // at 10 it moves down to slot 5. This is right. With a clock in milliseconds the article's code
    // rounds down and fires up to 999 ms early.
    (0, &[2, 15]),
    (2, &[2 + 9, 15]),
    // E10, *Netty and Kafka*: with 8 slots, a delay of 50 goes to index 50 mod 8 = 2 with (50 - 1)
    // / 8 = 6 rounds. This is right. If a delay is a multiple of a turn, the formulas of the
    // articles differ: d / n in one, (d - 1) / n in the other.
    (0, &[5, 50]),
    (0, &[8, 16, 48, 64]),
    // E12: one task of 350 s on a wheel of one second "makes 349 ticks in vain". This is right for
    // a ticker. From wake-up to wake-up there is one call, and at most one more for each level.
    (0, &[350]),
    // E13: with one slot a second, tasks of 1.2 s and 1.5 s "go to the same slot and run at 1 s",
    // which is early. With ticks of a millisecond they fire at 1,200 and 1,500. With ticks of a
    // second a deadline has to be rounded up, and both fire at 2.
    (1_000, &[1_200, 1_500, 2_000, 2_000]),
    // E14, the paper. Figures 10 and 11: with a clock of days, hours, minutes and seconds at 11 d
    // 10:24:30, a timer of 50 min 45 s is due at 11 d 11:15:15. And 100 days take 100 + 24 + 60 +
    // 60 = 244 slots, while one wheel takes 8.64 million. All of this is right.
    (clock(11, 10, 24, 30), &[clock(11, 11, 15, 15)]),
    (0, &[clock(100, 0, 0, 0)]),
];

/// The examples of the articles.
pub fn golden_examples<B: Backend>() {
    for (start, deadlines) in EXAMPLES {
        play::<B>(start, deadlines);
    }
    // E4, *xtimingwheel*: one wheel of 12 slots has a range of 12 s, two levels 12 x 12 = 144 s,
    // the clock 60 x 60 x 24. These ranges are right, minus the part of the current turn that has
    // passed. A timer at or past the end of a range fires at its deadline like any other.
    for start in [0, 3, 11, 12, 143] {
        for range in [12, 144, 60, 3_600, 86_400] {
            play::<B>(start, &[range - 1, range, range + 1].map(|delay| start + delay));
        }
    }
    // E11, *Netty and Kafka*: three levels of 8 slots have a range of 512 s. By the article, a task
    // of 500 s moves down a level after 436 s, and again 56 s later. But a slot is emptied at its
    // start, so the task moves at 448 and at 496. From most phases of the clock 500 s need a fourth
    // level.
    (0..512).for_each(|start| play::<B>(start, &[start + 500]));
    // E14, figure 9: with a table of 256 and the pointer at 10, a timer whose low 8 bits are 20
    // goes to index 30, whatever its high bits are.
    for rounds in [0, 1, 7, 1_000] {
        play::<B>(10, &[10 + rounds * 256 + 20]);
    }
    sessions_that_are_refreshed::<B>();
}

/// Fires the timers of an example from wake-up to wake-up and, if they are near, tick by tick.
fn play<B: Backend>(start: u64, deadlines: &[u64]) {
    let filled = || Watched::<B>::with(start, deadlines.iter().copied());
    let mut waking = filled();
    while !waking.is_empty() {
        waking.wake();
    }
    let is_near = deadlines.iter().all(|deadline| deadline - start < 400);
    let mut ticking = filled();
    while is_near && !ticking.is_empty() {
        ticking.advance(ticking.now + 1);
    }
}

/// E8, *clock*: a session of 3 s exists after 2 s, and is gone after 4 s and 6 s. A session of 4 s
/// that is refreshed to 5 s after 2 s exists at 1 to 5 s and ends at 7 s. This is right. The
/// article's first program cannot refresh, and its second does not notice if a refresh loses the
/// race with the expiry. Here `reschedule` returns `false`.
fn sessions_that_are_refreshed<B: Backend>() {
    let mut watched = Watched::<B>::new(0);
    let session = watched.insert(3);
    watched.advance(2);
    watched.advance(latest::<B>(0, 3));
    assert!(!watched.reschedule(session, 9), "a refresh that comes too late returns false");

    let mut watched = Watched::<B>::new(0);
    let session = watched.insert(4);
    watched.advance(2);
    assert!(watched.reschedule(session, 2 + 5), "a refresh in time");
    assert!((3..7).all(|second| watched.advance(second).is_empty()), "it exists until 7 s");
    assert_eq!(watched.advance(latest::<B>(2, 7)), [session], "it ends at 7 s");
}
