//! B10, C48: levels of slots: how far they reach, when a timer is demoted, and the printed clock,
//! which stops while a wheel is idle.

use super::drive::advance_by_wakeups;
use super::models::kafka::{KafkaModel, Poll, truncate};
use crate::{Evidence, EvidenceKind, Experiment, Setup};
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const REACH: Experiment = Experiment {
    name: "hierarchy-span",
    about: "three levels of 8 slots: the longest delay that they take from every start, by Kafka's \
        condition and in kafka-wheel; the demotions of a timer of 500 s",
    run: reach,
};

/// The number of levels that a delay needs from a start. The printed condition is
/// `deadline < current + interval`, with `current` rounded down to the slots of the level.
fn levels_needed(slots: Tick, start: Tick, delay: Tick) -> u32 {
    let (mut level, mut tick) = (1, 1);
    while start + delay >= truncate(start, tick) + tick * slots {
        level += 1;
        tick *= slots;
    }
    level
}

/// The longest delay that fits into a number of levels from a start.
fn longest_delay(slots: Tick, levels: u32, start: Tick) -> Tick {
    let fits = |delay: &Tick| levels_needed(slots, start, *delay) <= levels;
    (0..=slots.pow(levels)).rev().find(fits).unwrap_or(0)
}

/// The number of levels that kafka-wheel creates for a delay from a start.
fn levels_made(slots: Tick, start: Tick, delay: Tick) -> u32 {
    let wheel = KafkaWheel::<u64>::builder().slots(slots as usize).start(start).build();
    let mut wheel = wheel.expect("enough slots");
    wheel.insert(start + delay, 0);
    wheel.levels() as u32
}

fn reach(_: &Setup, e: &mut Evidence) {
    e.decide_by(EvidenceKind::Arithmetic);
    let reaches: Vec<Tick> = (0..512).map(|start| longest_delay(8, 3, start)).collect();
    let (least, most) = (reaches.iter().min().copied(), reaches.iter().max().copied());
    let quote = "Three levels of 8 slots take delays up to 512 s, from the best start.";
    e.equals("C48.1", quote, 512, most.unwrap_or(0));
    let beyond = (0..512).filter(|start| levels_needed(8, *start, 500) > 3).count();
    let quote = "A delay of 500 s is put into the third level, whatever the time.";
    e.holds("C48.3", quote, beyond == 0, format!("not from {beyond} of 512 starts"));
    let from_0: Vec<_> = demotions(0).iter().map(|(passed, left)| (*passed, *left)).collect();
    let quote = "It is demoted after 436 s with 64 left, then after 56 s with 8 left.";
    e.equals("C48.5", quote, vec![(436, 64), (492, 8)], from_0);
    let pair = |it: &Vec<(Tick, Tick)>| it.windows(2).any(|it| (it[0].1, it[1].1) == (64, 8));
    let quote = "These two distances occur from no start.";
    e.equals("C48.6", quote, 0, (0..512).map(demotions).filter(pair).count());
    let agrees = (0..512).zip(&reaches).all(|(start, longest)| {
        [0, 1].map(|more| levels_made(8, start, longest + more) > 3) == [false, true]
    });
    let quote = "kafka-wheel makes a fourth level where the condition asks for it.";
    e.decide_by(EvidenceKind::Counts).holds("C48.4", quote, agrees, "from each of 512 starts");
    e.note("the longest delay that always fits", least.unwrap_or(0));
}

/// The demotions of a timer of 500 s on levels of 8 slots: (time passed, time left).
fn demotions(start: Tick) -> Vec<(Tick, Tick)> {
    let mut model = KafkaModel::new(1, 8, start);
    model.add(start + 500, 0);
    let of_poll = |poll: &Poll| {
        let (deadline, ..) = poll.moved.first()?;
        Some((poll.expiry - start, deadline - poll.expiry))
    };
    model.drain().iter().filter_map(of_poll).collect()
}

pub(super) const IDLE: Experiment = Experiment {
    name: "idle-clock",
    about: "S3's wheel, a tick of 1 ms and 20 slots: a timer of 5 ms after idle times, and every \
        structure",
    run: idle,
};

fn idle(setup: &Setup, e: &mut Evidence) {
    let levels_and_offers = |idle: Tick| {
        let mut model = KafkaModel::new(1, 20, 0);
        let first = model.add(idle + 5, 0).map_or(0, |place| place.level);
        let polls = model.drain();
        let moves = polls.iter().flat_map(|poll| &poll.moved).map(|(.., place)| place.level);
        (std::iter::once(first).chain(moves).collect::<Vec<_>>(), model.offers())
    };
    e.decide_by(EvidenceKind::Arithmetic);
    let quote = "After an idle hour a timer of +5 ms cascades 6, 5, 4, 1 with 4 offers.";
    e.equals("B10.1", quote, (vec![6, 5, 4, 1], 4), levels_and_offers(3_600_000));
    let levels = [20, 400, 8_000, 160_000].map(|idle| levels_and_offers(idle).0[0]);
    e.equals("B10.2", "After 20 ms to 160 s it goes to levels 2 to 5.", [2, 3, 4, 5], levels);
    let ours = |idle: Tick| {
        setup.on_each_structure(1, |timer| {
            timer.advance_to(idle);
            timer.insert(idle + 5, 0);
            let (calls, fired) = advance_by_wakeups(timer);
            (calls.len(), fired[0].0 - idle)
        })
    };
    let quote = "Ours wake once for it, at its tick, however long they were idle.";
    let all: Vec<_> = [20, 400, 8_000, 160_000, 3_600_000].into_iter().flat_map(ours).collect();
    e.decide_by(EvidenceKind::Counts).equals_everywhere("B10.3", quote, (1, 5), &all);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_seconds_need_a_fourth_level_from_most_starts() {
        let beyond = (0..512).filter(|start| levels_needed(8, *start, 500) > 3).count();
        assert_eq!((beyond, levels_needed(8, 0, 511), levels_needed(8, 0, 512)), (416, 3, 4));
    }

    /// The reach is the longest delay that is accepted, not the first one that is refused.
    #[test]
    fn a_wheel_of_m_slots_takes_a_delay_of_m_less_one() {
        assert_eq!(
            [longest_delay(12, 1, 0), longest_delay(12, 2, 0), longest_delay(8, 3, 0)],
            [11, 143, 511]
        );
        assert_eq!(longest_delay(12, 2, 11), 132, "the phase within the top slot is lost");
    }
}
