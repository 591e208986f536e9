//! C06, C48, E10, E12, E14: levels of slots: how far they reach, and where a timer waits in them.

use super::drive::{tick_by_tick, wakeups};
use super::models::kafka::{Port, truncate};
use super::models::rounds::{Rounds, S4};
use crate::{By, Evidence, Experiment, Lab};
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const REACH: Experiment = Experiment {
    name: "hierarchy-span",
    about: "the first delay that k levels of m slots do not take, by Kafka's condition and in \
        kafka-wheel, from every start; (m, k) = (12, 1), (12, 2), (8, 3)",
    run: reach,
};

/// Levels that a delay needs from a start: by the printed condition, `deadline < current +
/// interval`, with `current` cut to the slots of the level.
pub(super) fn levels_needed(slots: Tick, start: Tick, delay: Tick) -> u32 {
    let (mut level, mut tick) = (1, 1);
    while start + delay >= truncate(start, tick) + tick * slots {
        level += 1;
        tick *= slots;
    }
    level
}

/// The first delay that so many levels do not take, from each start within their span.
fn horizons(slots: Tick, levels: u32) -> impl Iterator<Item = (Tick, Tick)> {
    let first = move |start| {
        let (mut taken, mut not) = (0, slots.pow(levels) + 1);
        while not - taken > 1 {
            let middle = taken + (not - taken) / 2;
            let fits = levels_needed(slots, start, middle) <= levels;
            (taken, not) = if fits { (middle, not) } else { (taken, middle) };
        }
        (start, not)
    };
    (0..slots.pow(levels)).map(first)
}

/// The shortest and the longest of them.
fn ends(slots: Tick, levels: u32) -> [Tick; 2] {
    let reach = |(_, not)| not;
    [
        horizons(slots, levels).map(reach).min().unwrap_or(0),
        horizons(slots, levels).map(reach).max().unwrap_or(0),
    ]
}

/// Levels that kafka-wheel makes for a delay from a start.
fn levels_made(slots: Tick, start: Tick, delay: Tick) -> u32 {
    let wheel = KafkaWheel::<u64>::builder().slots(slots as usize).start(start).build();
    let mut wheel = wheel.expect("enough slots");
    wheel.insert(start + delay, 0);
    wheel.levels() as u32
}

fn reach(_: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    e.is(
        "C06.1",
        "A wheel of 12 slots of 1 s covers 12 s, whatever the time.",
        [12, 12],
        ends(12, 1),
    );
    e.is("C06.2", "Two levels of 12 slots cover 144 s, from the best start.", 144, ends(12, 2)[1]);
    e.is("C06.3", "They do from every start.", 144, ends(12, 2)[0]);
    e.is(
        "C48.1",
        "Three levels of 8 slots take delays up to 512 s, from the best start.",
        512,
        ends(8, 3)[1],
    );
    e.is("C48.2", "They do from every start.", 512, ends(8, 3)[0]);
    let beyond = (0..512).filter(|start| levels_needed(8, *start, 500) > 3).count();
    let quote = "A delay of 500 s needs no fourth level, from any start.";
    e.holds("C48.3", quote, beyond == 0, format!("from {beyond} of 512 starts"));
    let agrees = horizons(8, 3)
        .all(|(start, not)| levels_made(8, start, not) > 3 && levels_made(8, start, not - 1) <= 3);
    let quote = "kafka-wheel makes a fourth level where the condition says so.";
    e.by(By::Counts).holds("C48.4", quote, agrees, "from each of 512 starts");
}

pub(super) const EXAMPLES: Experiment = Experiment {
    name: "examples-s4",
    about: "8 slots, tasks of 5 and 50 s; one timer at 350; Varghese and Lauck's figures 9 to 11: \
        by arithmetic, by S4's rule, on every structure",
    run: examples,
};

fn examples(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    let index = |delay: u64| (delay % 8, delay % 8 + 1);
    e.is("E10.1", "8 slots: 5 s goes to number 6, index 5.", (5, 6), index(5));
    e.is(
        "E10.2",
        "50 s goes to number 3, index 2, with 6 rounds.",
        ((2, 3), 6),
        (index(50), (S4.stored)(50, 8)),
    );
    let mut wheel = Rounds::new(S4, 8, 0);
    wheel.add(0, 50, 1);
    let visits: Vec<_> = (1..=50).map(|tick| (tick, wheel.tick())).collect();
    let passed =
        visits.iter().filter(|(_, it)| !it.passed.is_empty()).map(|it| it.0).collect::<Vec<Tick>>();
    let fired =
        visits.iter().filter(|(_, it)| !it.fired.is_empty()).map(|it| it.0).collect::<Vec<Tick>>();
    let quote = "By S4's rule it is passed at 2, 10 .. 42, and fires at 50.";
    e.is("E10.3", quote, (vec![2, 10, 18, 26, 34, 42], vec![50]), (passed, fired));
    e.by(By::Counts);
    let ours = lab.each(2, |timer| {
        timer.insert(5, 0);
        timer.insert(50, 1);
        tick_by_tick(timer, 1, 60)
    });
    e.everywhere("E10.4", "Ours fire the two at 5 and 50.", vec![(5, 0), (50, 1)], &ours);
    let vain = lab.each(1, |timer| {
        timer.insert(350, 0);
        (1..=350).filter(|tick| timer.fired(*tick).is_empty()).count()
    });
    e.everywhere("E12.1", "Tick 1 s, a single task of 350 s: 349 useless ticks.", 349, &vain);
    let mut port = Port::new(1, 20, 0);
    port.add(350, 0);
    let useless = port.drain().iter().filter(|poll| poll.ran.is_empty()).count();
    e.is("E12.2", "A queue of slots makes one useless poll, to move it closer.", 1, useless);
    let mut probe = lab.make("list-wheel");
    probe.fill([350]);
    e.beside("wake-ups of list-wheel for it", wakeups(&mut probe).len());
    paper(lab, e);
}

/// The units of the paper's wheels, the coarsest first, in seconds, and their slots.
const WHEELS: [(Tick, u64); 4] = [(86_400, 100), (3_600, 24), (60, 60), (1, 60)];

/// A moment of the paper's clock, in seconds.
const fn clock(day: Tick, hour: Tick, minute: Tick, second: Tick) -> Tick {
    ((day * 24 + hour) * 60 + minute) * 60 + second
}

/// Unit and slot of each wheel that a timer waits in: the coarsest in which now and deadline
/// differ, until that slot begins.
fn way(mut now: Tick, deadline: Tick) -> Vec<(Tick, u64)> {
    let mut way = Vec::new();
    while let Some((unit, slots)) =
        WHEELS.into_iter().find(|(unit, _)| now / unit != deadline / unit)
    {
        way.push((unit, deadline / unit % slots));
        now = deadline / unit * unit;
    }
    way
}

fn paper(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    // The deadline's low 8 bits are added to the pointer; its high bits are rounds.
    let index = |high: u64| (10 + ((high << 8) | 20)) % 256;
    let quote = "Table 256, pointer 10, low 8 bits 20 give index 30, whatever the high bits.";
    e.is("E14.1", quote, [30; 3], [0, 1, 1_000].map(index));
    let (now, delay) = (clock(11, 10, 24, 30), clock(0, 0, 50, 45));
    let quote = "11 d 10:24:30 plus 50:45 is 11 d 11:15:15.";
    e.is("E14.2", quote, clock(11, 11, 15, 15), now + delay);
    let quote = "It is stored an hour ahead, then at minute 15, then at second 15.";
    e.is("E14.3", quote, vec![(3_600, 11), (60, 15), (1, 15)], way(now, now + delay));
    let slots = WHEELS.iter().map(|(_, slots)| slots).sum::<u64>();
    let quote = "A hierarchy for 100 days has 244 slots instead of 8.64 million.";
    e.is("E14.4", quote, (244, 8_640_000), (slots, clock(100, 0, 0, 0)));
    let fired = lab.each(1, |timer| {
        timer.fired(now);
        timer.insert(now + delay, 0);
        [clock(11, 11, 0, 0), clock(11, 11, 15, 0), clock(11, 11, 15, 14), clock(11, 11, 15, 15)]
            .map(|at| timer.fired(at).len())
    });
    e.by(By::Counts).everywhere(
        "E14.5",
        "Ours fire it at 11:15:15 and not before.",
        [0, 0, 0, 1],
        &fired,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_seconds_need_a_fourth_level_from_most_starts() {
        let beyond = (0..512).filter(|start| levels_needed(8, *start, 500) > 3).count();
        assert_eq!((beyond, levels_needed(8, 0, 511), levels_needed(8, 0, 512)), (416, 3, 4));
    }

    #[test]
    fn the_horizon_is_the_first_delay_that_does_not_fit() {
        for (start, horizon) in horizons(12, 2) {
            let not = (0..200).find(|delay| levels_needed(12, start, *delay) > 2);
            assert_eq!(Some(horizon), not);
        }
    }

    #[test]
    fn a_timer_goes_from_hours_to_minutes_to_seconds() {
        assert_eq!(way(clock(0, 0, 0, 59), clock(0, 0, 1, 0)), [(60, 1)]);
        assert_eq!(way(clock(3, 4, 5, 6), clock(5, 4, 0, 7)), [(86_400, 5), (3_600, 4), (1, 7)]);
        assert_eq!(way(7, 7), []);
    }
}
