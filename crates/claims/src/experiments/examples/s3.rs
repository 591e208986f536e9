//! The example of S3: two levels of ten slots of a second.

use crate::experiment::Experiment;
use crate::experiments::models::checks::Checks;
use crate::experiments::models::structures::by_wakeups;
use crate::experiments::port::{Place, Port};
use crate::{Evidence, Scale};
use wheelhouse_core::Tick;
use wheelhouse_core::Timer;
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const E9: Experiment = Experiment {
    name: "example-e9",
    about: "10 slots of 1 s, tasks of 2, 9 and 15 s: slots, levels and demotions in S3's wheel, wake-ups and firings in kafka-wheel",
    run: two_levels,
};

fn two_levels(_: &Scale) -> Evidence {
    let mut checks = Checks::new("10 slots, tick 1 s");
    let mut port = Port::new(1, 10, 0);
    checks.is("+2 goes to level and slot", (1, 2), level_and_slot(port.add(2, 0)));
    port.drain();
    checks.is("at 2, +9 goes to level and slot", (1, 1), level_and_slot(port.add(11, 1)));
    checks.is("the expiry of that slot", 11, port.next_expiry().unwrap_or(0));

    let mut port = Port::new(1, 10, 0);
    checks.is("+15 goes to level and slot", (2, 1), level_and_slot(port.add(15, 0)));
    checks.is(
        "spans of the levels",
        vec![10, 100],
        port.spans().into_iter().map(|(_, span)| span).collect(),
    );
    let polls = port.drain();
    let down: Vec<_> = polls
        .iter()
        .flat_map(|poll| {
            poll.moved.iter().map(move |(.., place)| (poll.expiry, level_and_slot(Some(*place))))
        })
        .collect();
    checks.is("it is demoted at, to level and slot", vec![(10, (1, 5))], down);
    let ran: Vec<Tick> =
        polls.iter().filter(|poll| !poll.ran.is_empty()).map(|poll| poll.expiry).collect();
    checks.is("it fires at", vec![15], ran);
    checks.is(
        "slots offered, and times it is put into a slot",
        (2, 2),
        (port.offers(), 1 + polls.iter().map(|poll| poll.moved.len()).sum::<usize>()),
    );
    checks.is(
        "deadlines of slots 0 and 1 of the second level",
        [(0, 9), (10, 19)],
        [0, 1].map(deadlines_of),
    );

    let (calls, fired) = ours(&[2, 15]);
    checks.is("ours: wake-ups of kafka-wheel, 10 slots, for +2 and +15", vec![2, 10, 15], calls);
    checks.is("ours: they fire at", vec![2, 15], fired);
    checks.evidence(
        "E9",
        format!("+15 in level 2 slot 1, demoted at 10, fires at 15, {} offers", port.offers()),
    )
}

/// Level 0 if the timer is run at once.
fn level_and_slot(place: Option<Place>) -> (usize, u64) {
    place.map_or((0, 0), |place| (place.level, place.slot))
}

/// The first and the last deadline of a slot of the second level, counted from the begin of its turn: of the turn that begins at 100, all of whose deadlines are
/// beyond the lowest level of a wheel that is at 80.
fn deadlines_of(slot: u64) -> (Tick, Tick) {
    let in_slot = |deadline: &Tick| {
        let place = Port::new(1, 10, 80).add(100 + deadline, 0);
        level_and_slot(place) == (2, slot)
    };
    let deadlines: Vec<Tick> = (0..80).filter(in_slot).collect();
    (deadlines.first().copied().unwrap_or(0), deadlines.last().copied().unwrap_or(0))
}

/// Wake-ups of kafka-wheel with ten slots a level, and the ticks of firing.
fn ours(deadlines: &[Tick]) -> (Vec<Tick>, Vec<Tick>) {
    let mut wheel =
        KafkaWheel::<u64>::builder().slots(10).build().expect("10 slots are not too few");
    for deadline in deadlines {
        wheel.insert(*deadline, 0);
    }
    let (calls, fired) = by_wakeups(&mut wheel);
    (calls, fired.into_iter().map(|(tick, _)| tick).collect())
}
