//! B1, B2, B16, C08, C10, C11, C53, C55, C67, E1 to E4: S0's wheel with rounds, by the rules of its
//! printed code.

use super::drive::{fired_after, tick_by_tick};
use super::models::rounds::{
    Rounds, Rules, S0, S0_MENDED, S1, S1_FROM_ZERO, S4, WITHOUT_END, ticks_of,
};
use crate::count::{AnyTimer, random};
use crate::shown::shown;
use crate::{By, Evidence, Experiment, Lab, Outcomes};
use rand::RngExt;
use std::collections::VecDeque;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const LAPS: Experiment = Experiment {
    name: "lap-conventions",
    about: "wheels with rounds by the rules of S0, S1 and S4, turned tick by tick: every delay of \
        1 to 10 turns from every slot; 8, 12 and 24 slots",
    run: laps,
};

/// Tasks of every delay of 1 to 10 turns from every slot: how many there are, fire once, fire at
/// their tick; the earliest and the latest offset.
fn offsets(rules: Rules) -> ([usize; 3], i64, i64) {
    let (mut counts, mut earliest, mut latest) = ([0; 3], i64::MAX, i64::MIN);
    for slots in [8, 12, 24] {
        for cursor in 0..slots {
            let mut wheel = Rounds::new(rules, slots, cursor);
            let delays = 1..=10 * slots;
            delays.clone().for_each(|delay| wheel.add(delay, delay, 1));
            // Two turns are waited for those that are late.
            let fired = wheel.run(12 * slots);
            for delay in delays {
                let ticks: Vec<Tick> =
                    fired.iter().filter(|it| it.1 == delay).map(|it| it.0).collect();
                counts[0] += 1;
                counts[1] += usize::from(ticks.len() == 1);
                counts[2] += usize::from(ticks == [delay]);
                for offset in ticks.iter().map(|tick| *tick as i64 - delay as i64) {
                    (earliest, latest) = (earliest.min(offset), latest.max(offset));
                }
            }
        }
    }
    (counts, earliest, latest)
}

fn laps(_: &Lab, e: &mut Evidence) {
    // All tasks of a slot are to fire here: B1 has what the printed loop makes of them.
    let ([tasks, once, _], earliest, latest) = offsets(S0_MENDED);
    e.by(By::Arithmetic);
    e.is("C08.1", "A task runs once, on the visit that finds its circle at 0.", tasks, once);
    let quote = "That is at one distance from its delay, and never early.";
    let number = format!("{earliest:+} to {latest:+} ticks");
    e.holds("C08.2", quote, earliest == latest && earliest >= 0, number.clone());
    let quote = "S0 fires one tick late: a task of 16 s runs at tick 17.";
    let seventeen = ticks_of(S0, 12, 16, 1, 40);
    e.holds("B16.1", quote, seventeen == [17] && (earliest, latest) == (1, 1), number);
    let (_, earliest, latest) = offsets(S4);
    let quote = "Netty's rule, which moves before it visits, fires at the tick.";
    e.is("B16.2", quote, (0, 0), (earliest, latest));
    let quote = "Taking one off first, then running those at 0, is right with laps from 1.";
    let ([tasks, _, exact], ..) = offsets(S1);
    e.is("C55.1", quote, tasks, exact);
    let ([tasks, once, exact], earliest, _) = offsets(S1_FROM_ZERO);
    let quote = "It is right with the d / n that S0 stores.";
    let number =
        format!("{} of {tasks} never fire, others up to {} early", tasks - once, -earliest);
    e.holds("C55.2", quote, exact == tasks, number);
    let differ = |slots: u64| {
        let differs = |delay: &u64| (S0.stored)(*delay, slots) != (S4.stored)(*delay, slots);
        (1..=10 * slots).filter(differs).all(|delay| delay % slots == 0)
    };
    let quote = "S0's d / n and S4's (d - 1) / n differ at whole turns only.";
    e.holds("C55.3", quote, [8, 12, 24].into_iter().all(differ), "8, 12 and 24 slots, ten turns");
    // A slot's width times the slots; the second wheel's slots are a second, as printed, or a turn
    // of the first.
    let quote = "A second wheel of 12 slots of 1 s each makes the range m m t, 144 s.";
    let range = |width: u64| 12 * width;
    e.is("C67.1", quote, 144, range(1));
    e.is("C67.2", "It does if its slots are m t wide, as the next line has it.", 144, range(12));
}

pub(super) const CHANNELS: Experiment = Experiment {
    name: "submit-order",
    about: "S0's select over three channels, unbuffered and buffered: 100,000 messages of four \
        callers and a ticker; those that are overtaken, by channel, caller and in all",
    run: channels,
};

const CALLERS: usize = 4;

/// Messages served after one that was sent later: by one of the same channel, of any, of the same
/// caller. The ticker is the last of the callers, with a channel of its own.
fn overtaken(buffered: bool, seed: u64) -> [u64; 3] {
    let (mut random, mut number, mut served) = (random(seed), 0_u64, 0);
    let mut channels: [VecDeque<(u64, usize)>; 3] = Default::default();
    let (mut of_channel, mut of_caller, mut of_all) = ([0; 3], [0; CALLERS + 1], 0);
    let mut overtaken = [0; 3];
    while served < 100_000 {
        // Each turn sends none, one or two, and serves one, so that the channels are now empty and
        // now full.
        for _ in 0..random.random_range(0..=2) {
            let caller = random.random_range(0..=CALLERS);
            let is_waiting = channels.iter().flatten().any(|(_, other)| *other == caller);
            if is_waiting && (caller == CALLERS || !buffered) {
                continue;
            }
            number += 1;
            let channel = if caller == CALLERS { 2 } else { random.random_range(0..2) };
            channels[channel].push_back((number, caller));
        }
        let ready: Vec<usize> = (0..3).filter(|at| !channels[*at].is_empty()).collect();
        if ready.is_empty() {
            continue;
        }
        let chosen = ready[random.random_range(0..ready.len())];
        let Some((number, caller)) = channels[chosen].pop_front() else { continue };
        served += 1;
        let latest = [&mut of_channel[chosen], &mut of_all, &mut of_caller[caller]];
        for (count, latest) in overtaken.iter_mut().zip(latest) {
            *count += u64::from(number < *latest);
            *latest = number.max(*latest);
        }
    }
    overtaken
}

fn channels(lab: &Lab, e: &mut Evidence) {
    let sum = |buffered| {
        let all = lab.seeds().map(|seed| overtaken(buffered, seed));
        all.fold([0; 3], |sum, of| std::array::from_fn(|at| sum[at] + of[at]))
    };
    let (unbuffered, buffered) = (sum(false), sum(true));
    e.by(By::Arithmetic);
    e.is(
        "C10.1",
        "A channel is first in, first out: none is overtaken within one.",
        0,
        unbuffered[0] + buffered[0],
    );
    let quote = "So one caller's messages keep their order, who waits for each hand-over.";
    e.is("C10.2", quote, 0, unbuffered[2]);
    e.is("C10.3", "They do if the caller does not wait.", 0, buffered[2]);
    let quote = "So the order of all messages is guaranteed, as S0 has three channels.";
    e.is("C10.4", quote, 0, unbuffered[1]);
}

pub(super) const CONDITIONS: Experiment = Experiment {
    name: "printed-conditions",
    about: "intervals, slot counts, keys and delays, good and bad, through the conditions of S0's \
        constructor and AddTask; its number of runs",
    run: conditions,
};

const INTERVAL: &str = "minimum interval need one second";
const SLOTS: &str = "minimum slotNum need greater than zero";
const EMPTY: &str = "key is empty";
const IN_USE: &str = "key of job already exists";

/// The constructor, with an interval in milliseconds: the text of its refusal.
fn constructor(interval: i64, slots: i64) -> Option<&'static str> {
    if interval <= 0 {
        return Some(INTERVAL);
    }
    (slots <= 0).then_some(SLOTS)
}

/// AddTask, with delay and interval in milliseconds: the text of its refusal.
fn add_task(key: &str, delay: i64, interval: i64, in_use: &[&str]) -> Option<&'static str> {
    if key.is_empty() || delay < interval {
        return Some(EMPTY);
    }
    in_use.contains(&key).then_some(IN_USE)
}

fn conditions(_: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    let refused = |interval: &i64| constructor(*interval, 12) == Some(INTERVAL);
    e.is(
        "C11.1",
        "Intervals of 0 and -1 s are refused.",
        2,
        [0, -1_000].iter().filter(|it| refused(it)).count(),
    );
    let quote = format!("All below a second are, as '{INTERVAL}' says: 1, 500, 999 ms.");
    e.is("C11.2", quote, 3, [1, 500, 999].iter().filter(|it| refused(it)).count());
    let slots = [0, -1].map(|slots| constructor(1_000, slots));
    e.holds(
        "C11.3",
        "Slot counts of 0 and -1 are refused, with their text.",
        slots == [Some(SLOTS); 2],
        SLOTS,
    );
    e.holds(
        "C11.4",
        "An empty key is refused, with its text.",
        add_task("", 5_000, 1_000, &[]) == Some(EMPTY),
        EMPTY,
    );
    let early = [0, 1, 999].map(|delay| add_task("b", delay, 1_000, &[]));
    let passed = early.iter().filter(|it| it.is_none()).count();
    e.is("C11.5", "A delay below one interval is refused.", 0, passed);
    let wrong = early.iter().filter(|it| **it == Some(EMPTY)).count();
    let quote = "It is with a text of its own.";
    e.holds("C11.6", quote, wrong == 0, format!("{wrong} of 3 as '{EMPTY}'"));
    let used = ["a", "b"].map(|key| add_task(key, 5_000, 1_000, &["a"]));
    e.holds(
        "C11.7",
        "A key in use is refused, with its text.",
        used == [Some(IN_USE), None],
        IN_USE,
    );
    let runs = |times| ticks_of(S0, 12, 5, times, 12_000).len();
    // The first tick is visited before the hand moves: each firing is a tick after a multiple of
    // the period.
    let every = (12_000 - 1) / 5;
    e.is("C53.1", "-1 repeats without end.", every, runs(WITHOUT_END));
    e.is("C53.2", "1 runs once.", 1, runs(1));
    e.is(
        "C53.3",
        "The number defaults to -1: left out, which is 0 in Go, it repeats.",
        every,
        runs(0),
    );
    e.is("B7.1", "A number of runs of 0 runs the task once.", 1, runs(0));
    e.is("B7.2", "So does -2.", 1, runs(-2));
}

pub(super) const B1: Experiment = Experiment {
    name: "bug-b1",
    about: "timers of one deadline in one slot: S0's code, which asks a removed element for its \
        successor, and every structure",
    run: one_of_a_slot,
};

fn one_of_a_slot(lab: &Lab, e: &mut Evidence) {
    let fired = |rules| {
        let mut wheel = Rounds::new(rules, 12, 0);
        (0..4).for_each(|name| wheel.add(name, 5, 1));
        wheel.run(60).into_iter().map(|(tick, _)| tick).collect::<Vec<_>>()
    };
    e.by(By::Arithmetic);
    let quote = "Only the first due task of a visit fires: four at +5 s fire at 6, 18, 30, 42.";
    e.is("B1.1", quote, vec![6, 18, 30, 42], fired(S0));
    let quote = "With the successor asked for before the removal all fire at 6.";
    e.is("B1.2", quote, vec![6; 4], fired(S0_MENDED));
    e.by(By::Counts);
    for (id, timers) in [("B1.3", 4), ("B1.4", 1_000)] {
        let right: Vec<(Tick, u64)> = (0..timers).map(|value| (5, value)).collect();
        let outcomes: Outcomes<bool> = lab.each(timers, |timer| {
            (0..timers).for_each(|value| _ = timer.insert(5, value));
            tick_by_tick(timer, 1, 60) == right
        });
        e.everywhere(
            id,
            format!("Ours fire all {timers} of a slot at tick 5, in order."),
            true,
            &outcomes,
        );
    }
}

pub(super) const B2: Experiment = Experiment {
    name: "bug-b2",
    about: "periods of one and two turns: S0's code on 12 slots, which puts a task back into the \
        slot that it is scanning, our wheels with 16 slots and 20, and every structure as it comes",
    run: whole_turns,
};

fn whole_turns(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    let quote = "A period of 12 on 12 slots fires at 13, 37, 61: every 24 s.";
    e.is("B2.1", quote, vec![13, 37, 61], ticks_of(S0, 12, 12, WITHOUT_END, 72));
    e.is(
        "B2.2",
        "One of 24 fires every 36 s.",
        vec![25, 61],
        ticks_of(S0, 12, 24, WITHOUT_END, 72),
    );
    let mut mended = Rounds::new(S0_MENDED, 12, 0);
    mended.add(0, 12, WITHOUT_END);
    mended.add(1, 12, 1);
    let beside =
        mended.run(80).into_iter().filter(|it| it.1 == 0).map(|it| it.0).collect::<Vec<_>>();
    let quote = "With the successor saved a neighbour changes it: 13, 25, 49, 73.";
    e.is("B2.3", quote, vec![13, 25, 49, 73], beside);
    e.by(By::Counts);
    let small = ["single-wheel", "hashed-wheel", "round-wheel", "list-wheel", "hierarchical-wheel"];
    let mut of_turns = |id, quote: &str, turns: Tick, neighbours| {
        let mut outcomes: Outcomes<usize> = small
            .map(|name| {
                (name, wrong_firings(&mut lab.slots(name, 16).timer, 16 * turns, neighbours))
            })
            .into();
        let mut kafka = lab.slots("kafka-wheel", 20).timer;
        outcomes.push(("kafka-wheel", wrong_firings(&mut kafka, 20 * turns, neighbours)));
        outcomes.extend(lab.each(4, |timer| wrong_firings(timer, 12 * turns, neighbours)));
        e.everywhere(id, quote, 0, &outcomes);
    };
    of_turns("B2.4", "Ours fire at each period of a turn, alone.", 1, 0);
    of_turns("B2.5", "They do beside three others of the slot.", 1, 3);
    of_turns("B2.6", "They do at each period of two turns, beside three others.", 2, 3);
}

/// Firings of a timer that is put back from within its expiry, in four periods: those missing, or
/// at another tick than a multiple of the period.
fn wrong_firings(timer: &mut AnyTimer, period: Tick, neighbours: u64) -> usize {
    let mut fired = Vec::new();
    (0..=neighbours).for_each(|value| _ = timer.insert(period, value));
    for tick in 1..=4 * period {
        while let Some((deadline, value)) = timer.pop(tick) {
            timer.insert(deadline + period, value);
            fired.extend((value == 0).then_some(tick));
        }
    }
    let right: Vec<Tick> = (1..=4).map(|firing| firing * period).collect();
    right.iter().filter(|tick| !fired.contains(tick)).count()
        + fired.iter().filter(|tick| !right.contains(tick)).count()
}

pub(super) const EXAMPLES: Experiment = Experiment {
    name: "examples-s0",
    about: "12 slots of a second: slots, circles and ticks by S0's formula and code, ticks on \
        every structure; the reach of levels of 12 and 60 slots, in kafka-wheel",
    run: examples,
};

/// Slot and circle on 12 slots of a second.
fn place(pointer: u64, delay: u64) -> (u64, i64) {
    ((pointer + delay) % 12, (S0.stored)(delay, 12))
}

fn examples(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    e.is("E1.1", "The pointer at 3, a task of 5 s goes to slot 8.", (8, 0), place(3, 5));
    let pointers = (0..12).filter(|pointer| place(*pointer, 16).1 == 1).count();
    e.is("E2.1", "A task of 16 s has circle 1, from whichever slot.", 12, pointers);
    e.is("E2.2", "A task of 15 s has circle 1.", 1, place(0, 15).1);
    e.is("E2.3", "16 s has slot 4: from pointer 0.", 4, place(0, 16).0);
    e.is("E2.4", "16 s has slot 4: from pointer 3, which the figure shows.", 4, place(3, 16).0);
    e.is(
        "E2.5",
        "By the code 16, 15, 12 and 24 s fire at ticks 17, 16, 13, 25.",
        vec![17, 16, 13, 25],
        [16, 15, 12, 24].into_iter().flat_map(|delay| ticks_of(S0, 12, delay, 1, 40)).collect(),
    );
    e.by(By::Counts);
    e.everywhere(
        "E1.2",
        "Ours, at 3, fire it after 5 s.",
        vec![5],
        &lab.each(1, |timer| fired_after(timer, 3, &[5])),
    );
    let four = lab.each(4, |timer| {
        (0..4).for_each(|value| _ = timer.insert(3, value));
        tick_by_tick(timer, 1, 48)
    });
    let quote = "Slot 3 holds four tasks: ours serve all at 3, in order.";
    e.everywhere("E3.1", quote, (0..4).map(|value| (3, value)).collect::<Vec<_>>(), &four);
    let reach = |slots| [1, 2].map(|levels| first_beyond(slots, levels));
    e.is("E4.1", "12 slots of 1 s cover 12 s, two levels 144 s, from 0.", [12, 144], reach(12));
    e.is("E4.2", "60 slots cover a minute, two levels an hour.", [60, 3_600], reach(60));
    e.is("E4.3", "With 24 hours above them it is a day.", 86_400, reach(60)[1] * 24);
    e.beside(
        "the four by S0's code, which serves one a visit (B1)",
        shown(&{
            let mut printed = Rounds::new(S0, 12, 0);
            (0..4).for_each(|name| printed.add(name, 3, 1));
            printed.run(48)
        }),
    );
}

/// The first delay from tick 0 for which kafka-wheel makes more than so many levels.
fn first_beyond(slots: usize, levels: usize) -> Tick {
    let needs_more = |delay: &Tick| {
        let mut wheel = KafkaWheel::<u64>::builder().slots(slots).build().expect("enough slots");
        wheel.insert(*delay, 0);
        wheel.levels() > levels
    };
    (0..).find(needs_more).unwrap_or(Tick::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_are_right_fire_all_at_one_offset() {
        for (rules, offset) in [(S0_MENDED, 1), (S1, 0), (S4, 0)] {
            let ([tasks, once, _], earliest, latest) = offsets(rules);
            assert_eq!((once, earliest, latest), (tasks, offset, offset), "{rules:?}");
        }
    }

    #[test]
    fn good_input_passes_and_conditions_are_asked_in_the_printed_order() {
        assert_eq!((constructor(1_000, 12), add_task("a", 1_000, 1_000, &["b"])), (None, None));
        assert_eq!(
            (constructor(0, 0), add_task("a", 0, 1_000, &["a"])),
            (Some(INTERVAL), Some(EMPTY))
        );
    }
}
