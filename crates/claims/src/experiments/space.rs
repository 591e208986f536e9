//! C15, C27, C34: the slots that a span needs, and how many of them a hand visits.

use super::drive::wakeups;
use super::wheel_costs::{insert_and_cancel, reschedule};
use crate::count::random;
use crate::scale::powers;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use wheelhouse_core::Tick;
use wheelhouse_single_wheel::SingleWheel;

pub(super) const FLAT: Experiment = Experiment {
    name: "flat-wheel-span",
    about: "single-wheel, a timer of 9,999 ticks: slots needed; a hand that walks an array with a \
        slot for each hour of a month, with two timers",
    run: flat,
};

/// The hours of a month, in S1, and the seconds of S3's wheel.
const MONTH: Tick = 720;
const SECONDS: Tick = 10_000;

/// Returns `true` if our flat wheel with this number of slots accepts this delay.
fn takes(slots: u64, delay: Tick) -> bool {
    let wheel = SingleWheel::<u64>::builder().slots(slots as usize).build();
    wheel.is_ok_and(|mut wheel| wheel.insert_within(delay, 0).is_ok())
}

fn flat(_: &Setup, e: &mut Evidence) {
    let mut slots = vec![false; MONTH as usize];
    (slots[MONTH as usize / 3], slots[MONTH as usize - 1]) = (true, true);
    let quote = "Of 720 moves a month 718 do nothing, where a hand walks.";
    e.equals("C15.2", quote, 718, slots.iter().filter(|is_used| !**is_used).count());
    let fewest = powers(1, 16).into_iter().find(|slots| takes(*slots, SECONDS - 1));
    let quote = "One flat wheel for 10,000 s needs an array of 10,000.";
    let number = format!("{} slots, a power of two", fewest.unwrap_or(0));
    e.holds("C34.1", quote, fewest.is_some_and(|slots| slots >= SECONDS), number);
}

pub(super) const SPAN: Experiment = Experiment {
    name: "wheel-space-and-cancel",
    about: "slots of list-wheel for timers over spans of 2^6 to 2^21 ticks; cancel and change by \
        handle in four wheels",
    run: span,
};

/// The number of timers in the sweep of spans.
const TIMERS: u64 = 1 << 10;

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
    e.sweep(sweep);
}

/// The slots in use for random timers over a span.
fn slots(setup: &Setup, e: &mut Evidence) {
    let spans: Vec<Tick> = [6, 9, 12, 15, 18, 21].map(|bits| 1 << bits).into();
    let mut sweep =
        Sweep::over("span in ticks", "Slots for a span", "slots in use, timers at random over it");
    let levels = setup.curve(&spans, |span, seed| {
        let mut random = random(seed);
        let delays: Vec<Tick> =
            (0..TIMERS).map(|_| random.random_range(1..span)).chain([span - 1]).collect();
        slots_in_levels(setup, &delays) as f64
    });
    let quote = "Levels of lists take space in proportion to the span.";
    let (grown, wider) = (levels.last() / levels.first(), spans[spans.len() - 1] / spans[0]);
    let number = format!("{grown:.1} times the slots for {wider} times the span");
    e.holds("C27.3", quote, grown >= wider as f64, number);
    sweep.add("list-wheel, 256 a level", levels);
    e.sweep(sweep);
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
