//! C48: levels of slots: how far they reach, and when a timer is demoted.

use super::models::kafka::{KafkaModel, Poll, truncate};
use crate::{Evidence, EvidenceKind, Experiment, Setup};
use wheelhouse_core::Tick;

pub(super) const REACH: Experiment = Experiment {
    name: "hierarchy-span",
    about: "three levels of 8 slots: the longest delay that they take from every start, by Kafka's \
        condition; the demotions of a timer of 500 s",
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

fn reach(_: &Setup, e: &mut Evidence) {
    e.decide_by(EvidenceKind::Arithmetic);
    let reaches: Vec<Tick> = (0..512).map(|start| longest_delay(8, 3, start)).collect();
    let quote = "Three levels of 8 slots take delays up to 512 s, from the best start.";
    e.equals("C48.1", quote, 512, reaches.into_iter().max().unwrap_or(0));
    let beyond = (0..512).filter(|start| levels_needed(8, *start, 500) > 3).count();
    let quote = "A delay of 500 s is put into the third level, whatever the time.";
    e.holds("C48.3", quote, beyond == 0, format!("not from {beyond} of 512 starts"));
    let quote = "It is demoted after 436 s with 64 left, then after 56 s with 8 left.";
    e.equals("C48.5", quote, vec![(436, 64), (492, 8)], demotions(0));
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

#[cfg(test)]
mod tests {
    use super::*;

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
