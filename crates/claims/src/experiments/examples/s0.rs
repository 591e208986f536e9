//! The examples of S0: slots and circles of a wheel of 12.

use crate::count::AnyTimer;
use crate::experiment::Experiment;
use crate::experiments::models::checks::{Checks, shown};
use crate::experiments::models::circles::{CircleWheel, Successor, slot_and_circle};
use crate::experiments::models::structures::{each, tick_by_tick};
use crate::{Evidence, Scale};
use std::time::Duration;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const E1: Experiment = Experiment {
    name: "example-e1",
    about: "12 slots, the pointer at 3, a task of 5 s: its slot by S0's formula, its tick on every structure",
    run: five_seconds,
};

pub(super) const E2: Experiment = Experiment {
    name: "example-e2",
    about: "12 slots, tasks of 16, 15, 12 and 24 s: slots, circles and ticks by S0's formula and code, ticks on every structure",
    run: beyond_a_turn,
};

pub(super) const E3: Experiment = Experiment {
    name: "example-e3",
    about: "four tasks in slot 3 of 12, on every structure and in S0's code",
    run: four_in_a_slot,
};

pub(super) const E4: Experiment = Experiment {
    name: "example-e4",
    about: "the reach of one and two levels of 12 slots and of 60, in kafka-wheel from 0; the clock",
    run: reach,
};

/// Slot and circle on 12 slots of a second.
fn place(pointer: u64, delay: u64) -> (u64, u64) {
    let place = slot_and_circle(pointer, 12, Duration::from_secs(delay), Duration::from_secs(1));
    place.expect("an interval of a second is not cut to 0")
}

/// The ticks at which timers of these delays fire after a tick, in order of firing.
fn fired_from(timer: &mut AnyTimer, start: Tick, delays: &[Tick]) -> Vec<Tick> {
    timer.fired(start);
    for delay in delays {
        timer.insert(start + delay, *delay);
    }
    tick_by_tick(timer, start + 1, start + 60).into_iter().map(|(tick, _)| tick).collect()
}

fn five_seconds(_: &Scale) -> Evidence {
    let mut checks = Checks::new("12 slots, the pointer at 3, +5 s");
    let (slot, circle) = place(3, 5);
    checks.is("slot", 8, slot);
    checks.is("circle", 0, circle);
    let outcomes = each(1, |timer| fired_from(timer, 3, &[5]));
    checks.everywhere("the timer fires at", vec![8], &outcomes);
    checks.evidence("E1", format!("slot {slot}, circle {circle}"))
}

fn beyond_a_turn(_: &Scale) -> Evidence {
    let mut checks = Checks::new("12 slots");
    checks.is(
        "pointers of 12 from which 16 s has circle 1",
        12,
        (0..12).filter(|pointer| place(*pointer, 16).1 == 1).count(),
    );
    checks.is("15 s has circle", 1, place(0, 15).1);
    let (zero, three) = (place(0, 16).0, place(3, 16).0);
    checks.is("slot of 16 s from pointer 0", 4, zero);
    checks.is("slot of 16 s from the figure's pointer 3", 4, three);
    for delay in [16, 15, 12, 24] {
        let mut wheel = CircleWheel::new(12, Successor::AfterRemoval);
        wheel.add(delay, Duration::from_secs(delay), 1);
        let ticks: Vec<_> = wheel.run(40).into_iter().map(|(tick, _)| tick).collect();
        let found =
            format!("slot and circle {}, fires at tick {}", shown(&place(0, delay)), shown(&ticks));
        checks.beside(format!("S0's code, +{delay} s from pointer 0"), found);
    }
    let ours = each(4, |timer| fired_from(timer, 0, &[16, 15, 12, 24]));
    let right = ours.iter().filter(|(_, ticks)| *ticks == [12, 15, 16, 24]).count();
    checks
        .beside("ours fire at 12, 15, 16 and 24", format!("{right} of {} structures", ours.len()));
    checks
        .evidence("E2", format!("16 s is slot {zero} from pointer 0, slot {three} from pointer 3"))
}

fn four_in_a_slot(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Four tasks in slot 3 of 12");
    let outcomes = each(4, |timer| {
        (0..4).for_each(|value| _ = timer.insert(3, value));
        tick_by_tick(timer, 1, 48)
    });
    let right: Vec<(Tick, u64)> = (0..4).map(|value| (3, value)).collect();
    checks.everywhere("(tick, task) of the four", right, &outcomes);
    let mut printed = CircleWheel::new(12, Successor::AfterRemoval);
    (0..4).for_each(|name| printed.add(name, Duration::from_secs(3), 1));
    checks.beside("S0's code serves the slot (see B1) at ticks", shown(&printed.run(48)));
    checks.evidence("E3", format!("all four at tick 3 on {} structures", outcomes.len()))
}

fn reach(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Reach from tick 0, in ticks");
    let found = |slots| [1, 2].map(|levels| first_beyond(slots, levels));
    checks.is("one level of 12 slots, and two", [12, 144], found(12));
    checks.is("one level of 60 slots, and two: seconds, and minutes", [60, 3_600], found(60));
    let day = found(60)[1] * 24;
    checks.is("with 24 hours above them", 86_400, day);
    checks.evidence(
        "E4",
        format!(
            "12 slots reach {}, 60 slots {}, with hours {day}",
            shown(&found(12)),
            shown(&found(60))
        ),
    )
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
