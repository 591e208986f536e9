//! How far k levels of m slots reach, from each moment at which a timer may come.
//!
//! Kafka's condition, which S4 quotes, is `deadline < current + interval` with `current` cut to the slots of the level. What has passed of the top level's
//! slot is not reached at its other end.

use super::checks::Checks;
use crate::experiment::Experiment;
use crate::experiments::port::truncate;
use crate::{Evidence, Finding, Scale, Table};
use wheelhouse_core::{Tick, Timer};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "hierarchy-span",
    about: "the first delay that k levels of m slots do not take, by Kafka's condition and in kafka-wheel, from every start; (m, k) = (12, 1), (12, 2), (60, 3), (8, 3)",
    run,
};

/// Levels that a delay needs from a start, on levels of so many slots: the condition of the printed code, which starts each level cut to its tick.
fn levels_needed(slots: Tick, start: Tick, delay: Tick) -> u32 {
    let (mut level, mut tick) = (1, 1);
    while start + delay >= truncate(start, tick) + tick * slots {
        level += 1;
        tick *= slots;
    }
    level
}

/// The first delay from a start that so many levels do not take.
fn horizon(slots: Tick, levels: u32, start: Tick) -> Tick {
    let (mut taken, mut not) = (0, slots.pow(levels) + 1);
    while not - taken > 1 {
        let middle = taken + (not - taken) / 2;
        if levels_needed(slots, start, middle) <= levels { taken = middle } else { not = middle }
    }
    not
}

/// What is seen over all starts within the span of k levels.
struct Reach {
    span: Tick,
    shortest: Tick,
    longest: Tick,
}

fn reach(slots: Tick, levels: u32) -> Reach {
    let span = slots.pow(levels);
    let horizons = (0..span).map(|start| horizon(slots, levels, start));
    let (shortest, longest) =
        horizons.fold((Tick::MAX, 0), |(least, most), at| (least.min(at), most.max(at)));
    Reach { span, shortest, longest }
}

/// Wheels of kafka-wheel for a delay from a start.
fn levels_in_kafka_wheel(slots: Tick, start: Tick, delay: Tick) -> u32 {
    let mut wheel =
        KafkaWheel::builder().slots(slots as usize).start(start).build().expect("enough slots");
    wheel.insert(start + delay, ());
    wheel.levels() as u32
}

/// Whether kafka-wheel needs a level more from the horizon on, and not before, from each of these starts.
fn kafka_wheel_agrees(slots: Tick, levels: u32, mut starts: impl Iterator<Item = Tick>) -> bool {
    starts.all(|start| {
        let not = horizon(slots, levels, start);
        levels_in_kafka_wheel(slots, start, not) > levels
            && levels_in_kafka_wheel(slots, start, not - 1) <= levels
    })
}

fn run(_: &Scale) -> Evidence {
    let mut table = Table::new(
        "The first delay that does not fit, over every start within the span",
        ["levels of slots", "m^k", "shortest", "longest", "kafka-wheel agrees"],
    );
    for (slots, levels, step) in [(12, 1, 1), (12, 2, 1), (60, 3, 599), (8, 3, 1)] {
        let Reach { span, shortest, longest } = reach(slots, levels);
        let agrees = kafka_wheel_agrees(slots, levels, (0..span).step_by(step));
        let cells =
            [span.to_string(), shortest.to_string(), longest.to_string(), agrees.to_string()];
        table.row(std::iter::once(format!("{levels} of {slots}")).chain(cells));
    }
    let (c06, first) = span_of_twelve();
    let (c48, second) = eight_by_eight_by_eight();
    Evidence { findings: vec![c06, c48], tables: vec![table, first, second], charts: Vec::new() }
}

fn span_of_twelve() -> (Finding, Table) {
    let mut checks = Checks::new("12 slots, one level and two");
    let (one, two) = (reach(12, 1), reach(12, 2));
    checks.is("delays that one level takes, from the worst start", one.span, one.shortest);
    checks.is("delays that two levels take, from the best start", two.span, two.longest);
    checks.is("delays that two levels take, from the worst start", two.span, two.shortest);
    let figure =
        format!("two levels take delays below {} to {}, by the start", two.shortest, two.longest);
    checks.into_parts("C06", figure)
}

fn eight_by_eight_by_eight() -> (Finding, Table) {
    let mut checks = Checks::new("Three levels of 8 slots");
    let reach = reach(8, 3);
    let beyond = (0..reach.span).filter(|start| levels_needed(8, *start, 500) > 3).count();
    checks.is("delays that three levels take, from the best start", 512, reach.longest);
    checks.is("delays that three levels take, from the worst start", 512, reach.shortest);
    checks.is("starts of 512 from which 500 s need a fourth level", 0, beyond);
    checks.beside(
        "the same in hierarchical-wheel with 8 slots a level, which reaches to the end of a turn",
        ours_beyond().to_string(),
    );
    let figure = format!(
        "500 s need a fourth level from {beyond} of 512 starts; delays below {} always fit",
        reach.shortest
    );
    checks.into_parts("C48", figure)
}

/// Starts of 512 from which 500 s wait above the third level: the first wake-up is then the end of the turn.
fn ours_beyond() -> usize {
    let waits_above = |start: &Tick| {
        let mut wheel = HierarchicalWheel::builder()
            .slots_per_level(8)
            .start(*start)
            .build()
            .expect("8 slots are a power of two");
        wheel.insert(start + 500, ());
        wheel.next_wakeup() == Some(512)
    };
    (0..512).filter(waits_above).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_seconds_need_a_fourth_level_from_most_starts() {
        let beyond = (0..512).filter(|start| levels_needed(8, *start, 500) > 3).count();
        assert_eq!((beyond, ours_beyond()), (416, 500));
        assert_eq!(
            (levels_needed(8, 0, 511), levels_needed(8, 0, 512), levels_needed(8, 63, 449)),
            (3, 4, 4)
        );
    }

    #[test]
    fn the_horizon_is_the_first_delay_that_does_not_fit() {
        for start in 0..144 {
            let not = (0..200).find(|delay| levels_needed(12, start, *delay) > 2);
            assert_eq!(Some(horizon(12, 2, start)), not);
        }
    }
}
