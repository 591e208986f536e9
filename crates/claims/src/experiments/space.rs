//! C15, C27, C34: the slots that a span needs, and how many of them a hand visits.

use super::drive::wakeups;
use super::wheel_costs::{insert_and_cancel, links_to_find, reschedule};
use crate::count::{CountedTimer, random};
use crate::growth::Growth::Linear;
use crate::scale::powers;
use crate::thresholds::Threshold::Ratio;
use crate::{Criterion, Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use std::collections::BTreeSet;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;
use wheelhouse_single_wheel::SingleWheel;

pub(super) const FLAT: Experiment = Experiment {
    name: "flat-wheel-span",
    about: "single-wheel, and an array with a slot for each tick, two timers: slots needed, and \
        passed by a hand that walks, by a map of bits, by a queue of used slots; spans of 12 to \
        2,592,000 ticks",
    run: flat,
};

/// The articles' spans: the hours of half a day, a day, a week and a month; S3's 10,000 s; the
/// seconds of a month.
const SPANS: [Tick; 6] = [12, 24, 168, MONTH, S3, 2_592_000];
const MONTH: Tick = 720;
const S3: Tick = 10_000;
/// The most slots of our flat wheel, as a power of two.
const WIDEST: u32 = 16;

/// The two timers of a span: at a third of it, and at its last tick.
fn two_deadlines(span: Tick) -> [Tick; 2] {
    [span / 3, span - 1]
}

/// One turn of an array with a slot for each tick. Returns the slots visited by a hand that walks,
/// the empty ones among them, the words of a bitmap, and the entries of a queue.
fn slots_visited(span: Tick) -> [u64; 4] {
    let mut slots = vec![0_u32; span as usize];
    let mut words = vec![0_u64; slots.len().div_ceil(64)];
    let mut queue = BTreeSet::new();
    for deadline in two_deadlines(span).map(|deadline| deadline as usize) {
        slots[deadline] += 1;
        words[deadline / 64] |= 1 << (deadline % 64);
        queue.insert(deadline);
    }
    let empty = slots.iter().filter(|slot| **slot == 0).count();
    [slots.len(), empty, words.len(), queue.len()].map(|count| count as u64)
}

/// The fewest slots of our flat wheel that accepts all these delays, and the slots and words
/// visited from wake-up to wake-up. `None` if even the largest refuses one.
fn single_wheel_slots(setup: &Setup, delays: &[Tick]) -> Option<[u64; 2]> {
    let takes = |slots: &u64| {
        let wheel = SingleWheel::<u64>::builder().slots(*slots as usize).build();
        wheel.is_ok_and(|mut wheel| {
            delays.iter().all(|delay| wheel.insert_within(*delay, 0).is_ok())
        })
    };
    let slots = powers(1, WIDEST).into_iter().find(takes)?;
    let mut counted = setup.build_with_slots("single-wheel", slots);
    counted.fill(delays.iter().copied());
    wakeups(&mut counted);
    Some([slots, counted.steps().of(Work::SlotVisit)])
}

fn flat(setup: &Setup, e: &mut Evidence) {
    let mut rows = Vec::new();
    for (claim, spans) in [("C15", &SPANS[..]), ("C34", &[S3][..])] {
        let seen: Vec<_> = spans
            .iter()
            .map(|span| {
                (*span, slots_visited(*span), single_wheel_slots(setup, &two_deadlines(*span)))
            })
            .collect();
        let fits = seen.iter().all(|(span, _, ours)| ours.is_none_or(|[slots, _]| slots >= *span));
        if claim == "C15" {
            e.holds(
                "C15.1",
                "A flat wheel takes a slot for each tick of its span.",
                fits,
                "at every span",
            );
            let [_, empty, ..] = slots_visited(MONTH);
            let quote = "Of 720 moves a month 718 do nothing, where a hand walks.";
            e.equals("C15.2", quote, 718, empty);
            rows = seen;
        } else {
            let quote = "One flat wheel for 10,000 s needs an array of 10,000.";
            e.holds("C34.1", quote, fits, "no fewer slots take it");
            e.equals("C34.2", "A hand that walks it visits each slot.", S3, slots_visited(S3)[0]);
        }
    }
    let columns = [
        "span, ticks",
        "slots walked",
        "empty",
        "words of bits",
        "queue",
        "slots of single-wheel",
        "visited from wake-up to wake-up",
    ];
    let row = |(span, [walked, empty, words, queue], ours): (Tick, [u64; 4], Option<[u64; 2]>)| {
        let ours =
            |at: usize| ours.map_or("more than 65536".to_owned(), |ours| ours[at].to_string());
        let [span, walked, empty, words, queue] =
            [span, walked, empty, words, queue].map(|count| count.to_string());
        [span, walked, empty, words, queue, ours(0), ours(1)]
    };
    e.table("Two timers in one flat wheel, once round", columns, rows.into_iter().map(row));
}

pub(super) const SPAN: Experiment = Experiment {
    name: "wheel-space-and-cancel",
    about: "slots of four wheels for timers over spans of 2^6 to 2^21 ticks; cancel and change by \
        handle and by a search; red-black-tree and two wheels over spans of 2^12 to 2^31",
    run: span,
};

/// The number of timers in the sweep of spans.
const TIMERS: u64 = 1 << 10;
/// The slots of the wheel with rounds for all spans, as in Netty.
const ROUND: u64 = 512;

fn span(setup: &Setup, e: &mut Evidence) {
    slots(setup, e);
    let (sizes, longest) = (setup.sizes_to(1 << 16), 1 << 15);
    let mut sweep = Sweep::new("Stopping and moving", "steps of one, among n timers");
    for (name, slots) in [
        ("single-wheel", 1 << 16),
        ("round-wheel", 1 << 14),
        ("list-wheel", 256),
        ("kafka-wheel", 20),
    ] {
        let curves = setup.curves(&sizes, |n, seed| {
            let build = || setup.build_with_slots(name, slots);
            [insert_and_cancel(build, n, longest, seed)[1], reschedule(build, n, longest, seed)]
        });
        sweep.add_run(name, ["cancel", "change"], curves);
    }
    let quote = "A cancel by handle costs more, the more timers there are.";
    e.grows("C27.5", quote, sweep.all(&["cancel"]));
    e.grows("C27.6", "So does a change by handle.", sweep.all(&["change"]));
    let quote = "Without a handle a cancel is a search of the slot, O(n).";
    e.class("C27.7", quote, [&links_to_find(setup)], Linear);
    e.sweep(&sweep);
}

/// The slots that each wheel uses for random timers over a span.
fn slots(setup: &Setup, e: &mut Evidence) {
    let spans: Vec<Tick> = [6, 9, 12, 15, 18, 21].map(|bits| 1 << bits).into();
    let (mut flat, mut inexact) = (true, 0);
    let mut sweep =
        Sweep::over("span in ticks", "Slots for a span", "slots in use, timers at random over it");
    let [levels, kafka] = setup.curves(&spans, |span, seed| {
        let mut random = random(seed);
        let delays: Vec<Tick> =
            (0..TIMERS).map(|_| random.random_range(1..span)).chain([span - 1]).collect();
        flat &= single_wheel_slots(setup, &delays).is_none_or(|[slots, _]| slots >= span);
        inexact += off_their_ticks(setup.build_with_slots("round-wheel", ROUND), &delays);
        [slots_in_levels(setup, &delays), slots_in_kafka(&delays)].map(|slots| slots as f64)
    });
    sweep.add("list-wheel, 256 a level", levels).add("kafka-wheel, 20 a level", kafka);
    let quote = "A flat wheel wastes space on wide spans: a slot for each tick.";
    e.holds("C27.1", quote, flat, "no fewer slots than ticks, at every span");
    let quote = "A wheel with rounds needs more slots for a wider span.";
    e.holds("C27.2", quote, inexact > 0, format!("{ROUND} are enough for all of them"));
    for (id, name, quote) in [
        ("C27.3", "list-wheel", "Levels of lists take space in proportion to the span."),
        ("C27.4", "kafka-wheel", "Kafka's levels take space in proportion to the span."),
    ] {
        let grown = sweep.all(&[name]).next().map_or(f64::NAN, |it| it.last() / it.first());
        let wider = spans[spans.len() - 1] / spans[0];
        let number = format!("{grown:.1} times the slots for {wider} times the span");
        e.decide(id, quote, Criterion::Near(vec![(grown, wider as f64)], Ratio), number);
    }
    e.sweep(&sweep);
}

/// The number of timers that do not fire at their ticks.
fn off_their_ticks(mut counted: CountedTimer, delays: &[Tick]) -> usize {
    counted.fill(delays.iter().copied());
    let mut off = delays.len();
    while let Some(tick) = counted.timer.next_wakeup() {
        counted.timer.advance(tick, |expired| off -= usize::from(expired.deadline == tick));
    }
    off
}

/// The slots of the levels in use. There is one level more than the most moves of a timer.
fn slots_in_levels(setup: &Setup, delays: &[Tick]) -> u64 {
    let moves = |delay: &Tick| {
        let mut counted = setup.build_with_slots("list-wheel", 256);
        counted.fill([*delay]);
        wakeups(&mut counted).iter().map(|it| it.moved).sum::<u64>()
    };
    256 * (1 + delays.iter().step_by(16).map(moves).max().unwrap_or(0))
}

fn slots_in_kafka(delays: &[Tick]) -> u64 {
    let mut wheel = KafkaWheel::<u64>::new();
    delays.iter().for_each(|delay| _ = wheel.insert(*delay, 0));
    20 * wheel.levels() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn the_articles_month_needs_1024_slots() {
        let setup = Setup::new(&Scale::REDUCED);
        assert_eq!(slots_visited(720), [720, 718, 12, 2]);
        assert_eq!(single_wheel_slots(&setup, &two_deadlines(720)).map(|it| it[0]), Some(1_024));
        assert_eq!(single_wheel_slots(&setup, &two_deadlines(2_592_000)), None);
    }
}
