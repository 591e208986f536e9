//! The examples for one wheel with rounds in the articles that this project examines, and in
//! Varghese and Lauck's paper. This wheel does not read a slot while its timers have rounds to go,
//! and the meter shows it: slots are visited only at the ticks at which a timer fires. Examples
//! with 12 or 24 slots are scaled to powers of two.

use wheelhouse_core::meter::{CountingMeter, Work};
use wheelhouse_round_wheel::{RoundWheel, Timer};

/// The slots of a wheel, its first tick, and deadlines in the order of insertion.
const EXAMPLES: [(usize, u64, &[u64]); 17] = [
    // E1, *xtimingwheel*: with the pointer at 3, a 5 s task goes to slot 8 and runs in this turn.
    (16, 3, &[8]),
    // E2: a delay of more than a turn is "circle = 1". With 16 slots, +20 is slot 4 from pointer 0,
    // as in the article's text, and slot 7 from pointer 3, as in its figure. Its code runs both a
    // tick late.
    (16, 0, &[20]),
    (16, 3, &[23]),
    // E2: delays of one turn and of two. The article's code runs them at 17 and 33.
    (16, 0, &[16, 32]),
    // E3: one visit fires the whole slot. The article's code fires one timer per turn, because it
    // reads the successor of a list element after removing the element.
    (16, 0, &[3, 3, 3, 3]),
    // E6, *day, week and month wheels*: three tasks at the ninth mark of a day, due in this turn,
    // in the next and in the sixth. Here a day has 32 hours.
    (32, 34, &[201, 73, 41]),
    // E7: "two tasks in 720 hours: 718 of 720 moves in vain".
    (1_024, 0, &[200, 720]),
    // E10, *Netty and Kafka*: with 8 slots, 50 goes to index 2 with (50 - 1) / 8 = 6 rounds.
    (8, 0, &[5, 50]),
    // E10: the articles' d / n and (d - 1) / n differ if d is a multiple of n.
    (8, 0, &[64, 49, 48, 47, 9, 8, 7, 1]),
    // E12: one task of 350 s, "349 ticks in vain".
    (2, 0, &[350]),
    (8, 0, &[350]),
    (64, 0, &[350]),
    (512, 0, &[350]),
    // E14, the paper's figure 9: with 256 slots and the pointer at 10, a timer whose low 8 bits are
    // 20 goes to index 30, and its high bits are the number of turns to wait.
    (256, 10, &[30]),
    (256, 10, &[256 + 30]),
    (256, 10, &[5 * 256 + 30]),
    (256, 10, &[256 + 30, 30, 5 * 256 + 30]),
];

type Counted = RoundWheel<u64, CountingMeter>;

/// A wheel with the timers of an example.
fn wheel(slots: usize, start: u64, deadlines: &[u64]) -> Counted {
    let builder = RoundWheel::builder().slots(slots).start(start);
    let mut wheel = builder.meter(CountingMeter::default()).build().unwrap();
    deadlines.iter().for_each(|deadline| _ = wheel.insert(*deadline, *deadline));
    wheel
}

#[test]
fn slots_are_visited_only_when_a_timer_fires() {
    for (slots, start, deadlines) in EXAMPLES {
        let mut wheel = wheel(slots, start, deadlines);
        let (mut visits, mut fired) = (Vec::new(), Vec::new());
        for tick in start + 1..=2_000 {
            wheel.meter().reset();
            wheel.advance(tick, |expired| fired.push((tick, expired.value)));
            visits.extend((wheel.meter().count(Work::SlotVisit) > 0).then_some(tick));
        }
        let mut expected = deadlines.to_vec();
        expected.sort_unstable();
        assert!(fired.into_iter().eq(expected.iter().map(|tick| (*tick, *tick))), "{deadlines:?}");
        expected.dedup();
        assert_eq!(visits, expected, "{slots} slots from {start}");
    }
}

/// From wake-up to wake-up there is one call for each deadline, with any number of slots.
#[test]
fn each_wakeup_fires_a_timer() {
    for (slots, start, deadlines) in EXAMPLES {
        let mut wheel = wheel(slots, start, deadlines);
        while let Some(tick) = wheel.next_wakeup() {
            assert!(wheel.advance(tick, |_| ()) > 0, "{deadlines:?} on {slots} slots, at {tick}");
        }
        assert!(wheel.is_empty());
    }
}
