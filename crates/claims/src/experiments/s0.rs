//! B1, B2, B16, C08, C10, C55: S0's wheel with rounds, by the rules of its printed code.

use super::drive::advance_by_ticks;
use super::models::rounds::{FOREVER, RoundsModel, Rules, S0, S0_FIXED, S1, ticks_of};
use crate::count::{AnyTimer, random};
use crate::{Evidence, EvidenceKind, Experiment, ResultsByStructure, Setup};
use rand::RngExt;
use std::collections::VecDeque;
use wheelhouse_core::{Tick, Timer};

pub(super) const LAPS: Experiment = Experiment {
    name: "lap-conventions",
    about: "wheels with rounds by the rules of S0, S1 and S4, turned tick by tick: every delay of \
        1 to 10 turns from every slot; 8, 12 and 24 slots",
    run: laps,
};

/// Runs a task of every delay of 1 to 10 turns from every slot. Returns the number of all tasks, of
/// those that fire once, and of those that fire at their tick; then the least and the greatest
/// offset.
fn offsets(rules: Rules) -> ([usize; 3], i64, i64) {
    let (mut counts, mut earliest, mut latest) = ([0; 3], i64::MAX, i64::MIN);
    for slots in [8, 12, 24] {
        for cursor in 0..slots {
            let mut wheel = RoundsModel::new(rules, slots, cursor);
            let delays = 1..=10 * slots;
            delays.clone().for_each(|delay| wheel.add(delay, delay, 1));
            // Two more turns, for tasks that are late.
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

fn laps(_: &Setup, e: &mut Evidence) {
    // All tasks of a slot are to fire here. B1 tests the printed loop, which fires only the first.
    let ([tasks, once, _], earliest, latest) = offsets(S0_FIXED);
    e.decide_by(EvidenceKind::Arithmetic);
    e.equals("C08.1", "A task runs once, on the visit that finds its circle at 0.", tasks, once);
    let quote = "That is at one distance from its delay, and never early.";
    let number = format!("{earliest:+} to {latest:+} ticks");
    e.holds("C08.2", quote, earliest == latest && earliest >= 0, number.clone());
    let quote = "S0 fires one tick late: a task of 16 s runs at tick 17.";
    let seventeen = ticks_of(S0, 12, 16, 1, 40);
    e.holds("B16.1", quote, seventeen == [17] && (earliest, latest) == (1, 1), number);
    let quote = "Taking one off first, then running those at 0, is right with laps from 1.";
    let ([tasks, _, exact], ..) = offsets(S1);
    e.equals("C55.1", quote, tasks, exact);
}

pub(super) const CHANNELS: Experiment = Experiment {
    name: "submit-order",
    about: "S0's select over three channels, unbuffered and buffered: 100,000 messages of four \
        callers and a ticker; those that are overtaken, by channel, caller and in all",
    run: channels,
};

const CALLERS: usize = 4;

/// Counts the messages that are served after one that was sent later: one of the same channel, of
/// any channel, of the same caller. The ticker is the last caller and has its own channel.
fn overtaken(buffered: bool, seed: u64) -> [u64; 3] {
    let (mut random, mut number, mut served) = (random(seed), 0_u64, 0);
    let mut channels: [VecDeque<(u64, usize)>; 3] = Default::default();
    let (mut of_channel, mut of_caller, mut of_all) = ([0; 3], [0; CALLERS + 1], 0);
    let mut overtaken = [0; 3];
    while served < 100_000 {
        // Each turn sends up to two messages and serves one, so that the channels fill and empty.
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

fn channels(setup: &Setup, e: &mut Evidence) {
    let sum = |buffered| {
        let all = setup.seeds().map(|seed| overtaken(buffered, seed));
        all.fold([0; 3], |sum, of| std::array::from_fn(|at| sum[at] + of[at]))
    };
    let (unbuffered, buffered) = (sum(false), sum(true));
    e.decide_by(EvidenceKind::Arithmetic);
    e.equals(
        "C10.1",
        "A channel is first in, first out: none is overtaken within one.",
        0,
        unbuffered[0] + buffered[0],
    );
    let quote = "The order of all messages is guaranteed, in S0's three channels.";
    e.equals("C10.4", quote, 0, unbuffered[1]);
}

pub(super) const B1: Experiment = Experiment {
    name: "bug-b1",
    about: "timers of one deadline in one slot: S0's code, which asks a removed element for its \
        successor, and every structure",
    run: one_deadline_in_one_slot,
};

fn one_deadline_in_one_slot(setup: &Setup, e: &mut Evidence) {
    let fired = |rules| {
        let mut wheel = RoundsModel::new(rules, 12, 0);
        (0..4).for_each(|name| wheel.add(name, 5, 1));
        wheel.run(60).into_iter().map(|(tick, _)| tick).collect::<Vec<_>>()
    };
    e.decide_by(EvidenceKind::Arithmetic);
    let quote = "Only the first due task of a visit fires: four at +5 s fire at 6, 18, 30, 42.";
    e.equals("B1.1", quote, vec![6, 18, 30, 42], fired(S0));
    let quote = "With the successor asked for before the removal all fire at 6.";
    e.equals("B1.2", quote, vec![6; 4], fired(S0_FIXED));
    e.decide_by(EvidenceKind::Counts);
    for (id, timers) in [("B1.3", 4), ("B1.4", 1_000)] {
        let right: Vec<(Tick, u64)> = (0..timers).map(|value| (5, value)).collect();
        let outcomes: ResultsByStructure<bool> = setup.on_each_structure(timers, |timer| {
            (0..timers).for_each(|value| _ = timer.insert(5, value));
            advance_by_ticks(timer, 1, 60) == right
        });
        e.equals_everywhere(
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
    run: periods_of_whole_turns,
};

fn periods_of_whole_turns(setup: &Setup, e: &mut Evidence) {
    e.decide_by(EvidenceKind::Arithmetic);
    let quote = "A period of 12 on 12 slots fires at 13, 37, 61: every 24 s.";
    e.equals("B2.1", quote, vec![13, 37, 61], ticks_of(S0, 12, 12, FOREVER, 72));
    e.equals(
        "B2.2",
        "One of 24 fires every 36 s.",
        vec![25, 61],
        ticks_of(S0, 12, 24, FOREVER, 72),
    );
    let mut fixed = RoundsModel::new(S0_FIXED, 12, 0);
    fixed.add(0, 12, FOREVER);
    fixed.add(1, 12, 1);
    let ticks = fixed.run(80).into_iter().filter(|it| it.1 == 0).map(|it| it.0).collect::<Vec<_>>();
    let quote = "With the successor saved a neighbour changes it: 13, 25, 49, 73.";
    e.equals("B2.3", quote, vec![13, 25, 49, 73], ticks);
    e.decide_by(EvidenceKind::Counts);
    let small = ["single-wheel", "hashed-wheel", "round-wheel", "list-wheel", "hierarchical-wheel"];
    let mut of_turns = |id, quote: &str, turns: Tick, neighbours| {
        let with_16_slots = |name| {
            let mut timer = setup.build_with_slots(name, 16).timer;
            (name, wrong_firings(&mut timer, 16 * turns, neighbours))
        };
        let mut outcomes: ResultsByStructure<usize> = small.map(with_16_slots).into();
        let mut kafka = setup.build_with_slots("kafka-wheel", 20).timer;
        outcomes.push(("kafka-wheel", wrong_firings(&mut kafka, 20 * turns, neighbours)));
        outcomes.extend(
            setup.on_each_structure(4, |timer| wrong_firings(timer, 12 * turns, neighbours)),
        );
        e.equals_everywhere(id, quote, 0, &outcomes);
    };
    of_turns("B2.4", "Ours fire at each period of a turn, alone.", 1, 0);
    of_turns("B2.5", "They do beside three others of the slot.", 1, 3);
    of_turns("B2.6", "They do at each period of two turns, beside three others.", 2, 3);
}

/// Runs a timer for four periods; it is inserted again when it expires. Returns how many firings
/// are missing or at a tick that is not a multiple of the period.
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

#[cfg(test)]
mod tests {
    use super::super::models::rounds::S4;
    use super::*;

    #[test]
    fn correct_rules_fire_all_tasks_at_one_offset() {
        for (rules, offset) in [(S0_FIXED, 1), (S1, 0), (S4, 0)] {
            let ([tasks, once, _], earliest, latest) = offsets(rules);
            assert_eq!((once, earliest, latest), (tasks, offset, offset), "{rules:?}");
        }
    }
}
