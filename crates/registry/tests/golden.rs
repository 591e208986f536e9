//! The worked examples on hierarchies of wheels, from the articles that this project examines and
//! from Varghese and Lauck's paper. The level of a timer cannot be seen from outside, but its way
//! down can: each wake-up before the deadline is the tick at which the timer moves to a lower
//! level. Examples with 10 or 60 slots are scaled to powers of two.

use wheelhouse_core::Timer;
use wheelhouse_hierarchical_wheel::{HierarchicalWheel, ListWheel};

/// A tick on wheels of 64 slots.
const fn clock(day: u64, hour: u64, minute: u64, second: u64) -> u64 {
    ((day * 64 + hour) * 64 + minute) * 64 + second
}

/// The slots of each level, the first tick, a deadline, and the ticks of all wake-ups.
const EXAMPLES: [(usize, u64, u64, &[u64]); 15] = [
    // E9, *Kafka's wheel in Go* (luozhiyun): 10 slots of 1 s. A 2 s task is in slot 2. A 15 s task
    // is in [10, 19] of the second wheel, and at 10 it goes down to slot 5. On 8 slots, 15 is in
    // [8, 15], and goes down at 8.
    (8, 0, 2, &[2]),
    (8, 0, 15, &[8, 15]),
    // E9, the other half: at 2, a task of 9 s "uses slot 1 again", without a second wheel, since a
    // wheel reaches one turn from where its hand is. Here a wheel reaches only to the end of its
    // turn, since no slot holds two turns.
    (8, 2, 2 + 5, &[7]),
    (8, 2, 2 + 7, &[8, 9]),
    // E9: the spans of the levels, 10 s and 100 s as printed, 8 and 64 here. Among the delays are
    // the last that takes no step down, one that takes one, and one that takes two.
    (8, 0, 7, &[7]),
    (8, 0, 63, &[56, 63]),
    (8, 0, 64, &[64]),
    (8, 0, 79, &[64, 72, 79]),
    // E11, *Netty and Kafka*: 8 x 8 x 8, a task of 500 s. The article moves it down "after 436 s"
    // and "another 56 s later". But a slot is emptied when it begins: at 7 * 64 = 448, with 52 s
    // left, and at 448 + 6 * 8 = 496, with 4 s left.
    (8, 0, 500, &[448, 496, 500]),
    // E11: "three levels handle delays up to 512 s" only if the clock is at the beginning of a
    // turn. From 12 on, 500 s end after the turn, and a fourth level is needed.
    (8, 11, 11 + 500, &[448, 504, 511]),
    (8, 12, 12 + 500, &[512]),
    // E12: a 350 s task costs 349 ticks in vain on a wheel that ticks. Here it costs one call for
    // each level passed: 350 is 536 in octal.
    (8, 0, 350, &[0o500, 0o530, 0o536]),
    (256, 0, 350, &[256, 350]),
    // E14, the paper's figures 10 and 11: at 11 d 10:24:30 a timer of 50 min 45 s waits in the slot
    // of its hour, then in that of its minute, then in that of its second. On wheels of 64 slots,
    // 24:30 + 50:45 carries twice.
    (
        64,
        clock(11, 10, 24, 30),
        clock(11, 11, 11, 11),
        &[clock(11, 11, 0, 0), clock(11, 11, 11, 0), clock(11, 11, 11, 11)],
    ),
    // E14: 100 days of seconds take the paper 244 slots instead of 8.64 million. Four levels of 64
    // slots, 256 in all, reach 194 days.
    (64, 0, 8_640_000, &[8_388_608, 8_638_464, 8_640_000]),
];

/// The ticks of all wake-ups until the timer has fired, which must be at the last.
fn wakeups(mut wheel: impl Timer<()>, deadline: u64) -> Vec<u64> {
    wheel.insert(deadline, ());
    let mut ticks = Vec::new();
    while let Some(tick) = wheel.next_wakeup() {
        ticks.push(tick);
        assert_eq!(wheel.advance(tick, |_| ()), usize::from(tick == deadline), "at {tick}");
    }
    ticks
}

#[test]
fn a_timer_moves_down_when_its_slot_begins() {
    for (slots, start, deadline, expected) in EXAMPLES {
        let wheel = HierarchicalWheel::builder().slots_per_level(slots).start(start).build();
        assert_eq!(wakeups(wheel.unwrap(), deadline), expected, "from {start} to {deadline}");
        let lists = ListWheel::builder().slots_per_level(slots).start(start).build();
        assert_eq!(wakeups(lists.unwrap(), deadline), expected, "list wheel, to {deadline}");
    }
}
