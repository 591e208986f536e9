//! The examples of S4: rounds, levels, useless ticks, fractions of a slot.

use crate::count::AnyTimer;
use crate::experiment::Experiment;
use crate::experiments::models::checks::{Checks, shown};
use crate::experiments::models::laps::S4;
use crate::experiments::models::rounding_direction::{Rule, fired};
use crate::experiments::models::structures::{Outcomes, by_wakeups, each, tick_by_tick};
use crate::experiments::port::{Place, Poll, Port};
use crate::{Evidence, Scale};
use wheelhouse_core::{Tick, Timer};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const E10: Experiment = Experiment {
    name: "example-e10",
    about: "8 slots, tasks of 5 and 50 s: index, rounds, visits and firing by S4's rule; firing on every structure",
    run: fifty_on_eight,
};

pub(super) const E11: Experiment = Experiment {
    name: "example-e11",
    about: "three levels of 8 slots, a task of 500 s: levels, slots and demotions in Kafka's wheel; wake-ups of kafka-wheel and hierarchical-wheel",
    run: five_hundred_seconds,
};

pub(super) const E12: Experiment = Experiment {
    name: "example-e12",
    about: "one timer at 350, every structure driven tick by tick and from wake-up to wake-up, S3's wheel by its queue: calls that fire nothing",
    run: useless_ticks,
};

pub(super) const E13: Experiment = Experiment {
    name: "example-e13",
    about: "1.2 s and 1.5 s on slots of a second, rounded down and rounded up",
    run: fractions,
};

fn fifty_on_eight(_: &Scale) -> Evidence {
    let mut checks = Checks::new("8 slots, the pointer at index 0");
    checks.is("index of 5 s and of 50 s", [5, 2], [5_u64, 50].map(|delay| delay % 8));
    checks.is(
        "number of the slot of 5 s and of 50 s",
        [6, 3],
        [5_u64, 50].map(|delay| delay % 8 + 1),
    );
    checks.is("rounds of 50 s", 6, (S4.stored)(50, 8));
    let lives = S4.run(8, 0, [5, 50], 100);
    checks.is("by S4's rule 5 s fires at", vec![5], lives[0].fired.clone());
    checks.is(
        "by S4's rule 50 s is passed at",
        vec![2, 10, 18, 26, 34, 42],
        lives[1].passed.clone(),
    );
    checks.is("by S4's rule 50 s fires at", vec![50], lives[1].fired.clone());
    let ours = each(2, |timer| {
        timer.insert(5, 0);
        timer.insert(50, 1);
        tick_by_tick(timer, 1, 60)
    });
    checks.everywhere("ours: (tick, task)", vec![(5, 0), (50, 1)], &ours);
    checks.evidence(
        "E10",
        format!(
            "50 s is passed {} times and fires at {}",
            lives[1].passed.len(),
            shown(&lives[1].fired)
        ),
    )
}

fn five_hundred_seconds(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Three levels of 8 slots, a task of 500 s");
    let mut port = Port::new(1, 8, 0);
    let first = port.add(500, 0).map_or((0, 0), level_and_slot);
    let spans = port.spans();
    checks.is(
        "seconds a slot, by level",
        vec![1, 8, 64],
        spans.iter().map(|(tick, _)| *tick).collect(),
    );
    checks.is("slots in all", 24, spans.len() * 8);
    checks.is("it starts in level and slot", (3, 7), first);
    let polls = port.drain();
    let moved =
        |poll: &Poll| poll.moved.first().map(|(.., place)| (poll.expiry, level_and_slot(*place)));
    let down: Vec<_> = polls.iter().filter_map(moved).collect();
    checks.is("demotions", 2, down.len());
    checks.is(
        "a slot is demoted when it begins: at, to level and slot",
        vec![(448, (2, 6)), (496, (1, 4))],
        down.clone(),
    );
    checks.is(
        "it fires at",
        500,
        polls.last().filter(|poll| !poll.ran.is_empty()).map_or(0, |poll| poll.expiry),
    );
    let left = |(at, _): &(Tick, _)| (*at, 500 - *at);
    let text = vec![(436, 64), (436 + 56, 8)];
    checks.is(
        "demoted after, with so much left, as the text has it",
        text,
        down.iter().map(left).collect(),
    );
    let reach = (0..512).filter(|start| within_three_levels(*start)).count();
    checks.is("starts of 512 from which a delay of 511 s fits", 512, reach);
    for (name, calls) in ours() {
        checks.beside(format!("wake-ups of {name}, 8 slots a level"), shown(&calls));
    }
    let times: Vec<Tick> = down.iter().map(|(at, _)| *at).collect();
    checks.evidence(
        "E11",
        format!(
            "demoted at {} and not at 436 and 492; 511 s fit from {reach} of 512 starts",
            shown(&times)
        ),
    )
}

fn level_and_slot(place: Place) -> (usize, u64) {
    (place.level, place.slot)
}

/// Whether the longest delay below 512 s stays within three levels.
fn within_three_levels(start: Tick) -> bool {
    Port::new(1, 8, start).add(start + 511, 0).is_some_and(|place| place.level <= 3)
}

/// Wake-ups of ours for the same timer.
fn ours() -> Outcomes<Vec<Tick>> {
    let mut kafka = KafkaWheel::<u64>::builder().slots(8).build().expect("8 slots are not too few");
    let mut hierarchy = HierarchicalWheel::<u64>::builder()
        .slots_per_level(8)
        .build()
        .expect("8 slots are a power of two");
    kafka.insert(500, 0);
    hierarchy.insert(500, 0);
    vec![
        ("kafka-wheel", by_wakeups(&mut kafka).0),
        ("hierarchical-wheel", by_wakeups(&mut hierarchy).0),
    ]
}

fn useless_ticks(_: &Scale) -> Evidence {
    let mut checks = Checks::new("One timer at 350");
    let ticking = each(1, |timer| {
        timer.insert(350, 0);
        (1..=350).filter(|tick| timer.fired(*tick).is_empty()).count()
    });
    checks.everywhere("ticks of 350 that fire nothing", 349, &ticking);
    for (name, calls) in each(1, calls_in_vain) {
        checks.beside(
            format!("{name}, from wake-up to wake-up: calls that fire nothing"),
            calls.to_string(),
        );
    }
    let mut port = Port::new(1, 20, 0);
    port.add(350, 0);
    let demotions = port.drain().iter().filter(|poll| poll.ran.is_empty()).count();
    checks.beside(
        "S3's wheel, 20 slots, by its queue: polls that fire nothing",
        demotions.to_string(),
    );
    let vain = ticking.first().map_or(0, |(_, vain)| *vain);
    checks.evidence(
        "E12",
        format!(
            "{vain} useless ticks; {demotions} useless poll of S3's queue, which moves the timer"
        ),
    )
}

fn calls_in_vain(timer: &mut AnyTimer) -> usize {
    timer.insert(350, 0);
    let (calls, fired) = by_wakeups(timer);
    calls.len() - fired.len()
}

fn fractions(_: &Scale) -> Evidence {
    let mut checks = Checks::new("1.2 s and 1.5 s, a slot a second");
    let seconds =
        |rule| fired(rule, &[1_200, 1_500]).into_iter().map(|(tick, _)| tick).collect::<Vec<_>>();
    let (down, up) = (seconds(Rule::Floor), seconds(Rule::Ceiling));
    let share = [&down, &up].map(|ticks| ticks.len() == 2 && ticks[0] == ticks[1]);
    checks.is("they share a slot, rounded down and rounded up", [true, true], share);
    checks.is("rounded down they run at, in s", vec![1, 1], down.clone());
    checks.is("rounded up they run at, in s", vec![1, 1], up.clone());
    checks.evidence(
        "E13",
        format!("rounded down at {}, early; rounded up at {}", shown(&down), shown(&up)),
    )
}
