//! C35: wheels that Kafka makes on demand, and the clock that stands still while it is idle.

use super::models::kafka::Port;
use crate::count::random;
use crate::{Evidence, Experiment, Lab};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const OVERFLOW: Experiment = Experiment {
    name: "overflow-on-demand",
    about: "kafka-wheel of 20 slots, delays up to 20^6 at random times: levels after each \
        insertion against the number that the deadlines so far need; width and reach of each new \
        level",
    run: overflow,
};

const SLOTS: Tick = 20;
const LEVELS: u32 = 6;

/// The ticks of a slot of a level, the lowest 0.
fn width(level: u32) -> Tick {
    SLOTS.pow(level)
}

/// The levels that a deadline needs by the rule of the article: of the first wheel whose span, from
/// its clock on, has it. Each clock is rounded down to the wheel's slots.
fn needed(deadline: Tick, now: Tick) -> u32 {
    let reaches = |level: &u32| deadline < now - now % width(*level) + width(*level + 1);
    1 + (0..LEVELS + 2).find(reaches).unwrap_or(LEVELS + 2)
}

fn started(now: Tick, deadline: Option<Tick>) -> KafkaWheel<u64> {
    let wheel = KafkaWheel::builder().slots(SLOTS as usize).start(now).build();
    let mut wheel = wheel.expect("20 slots are not too few");
    deadline.into_iter().for_each(|deadline| _ = wheel.insert(deadline, 0));
    wheel
}

fn overflow(lab: &Lab, e: &mut Evidence) {
    let [mut insertions, mut made, mut too_many, mut too_few] = [0_u64; 4];
    let [mut looks, mut wide, mut reaches] = [0_u64; 3];
    for seed in lab.seeds() {
        let mut random = random(seed);
        for _ in 0..20 {
            let (mut wheel, mut so_far) = (started(random.random_range(0..1 << 40), None), 1);
            for _ in 0..100 {
                let now = wheel.now() + random.random_range(0..100);
                wheel.advance(now, |_| ());
                let longest = width(random.random_range(1..=LEVELS));
                let (deadline, before) = (now + random.random_range(1..longest), wheel.levels());
                wheel.insert(deadline, 0);
                so_far = needed(deadline, now).max(so_far);
                insertions += 1;
                made += u64::from(wheel.levels() > before);
                too_many += u64::from(wheel.levels() as u32 > so_far);
                too_few += u64::from((wheel.levels() as u32) < so_far);
            }
        }
        for (level, _) in (1..LEVELS).flat_map(|level| (0..200).map(move |look| (level, look))) {
            let now = random.random_range(0..1 << 40);
            // What the level below does not reach from its own clock on, up to the last tick that
            // this one does.
            let first = now - now % width(level - 1) + width(level);
            let end = now - now % width(level) + width(level + 1);
            let deadline = random.random_range(first..end);
            let wake = started(now, Some(deadline)).next_wakeup();
            let levels =
                [end - 1, end].map(|deadline| started(now, Some(deadline)).levels() as u32);
            looks += 1;
            wide += u64::from(wake == Some(deadline - deadline % width(level)));
            reaches += u64::from(levels == [level + 1, level + 2]);
        }
    }
    let quote = "Overflow wheels are made on demand: none before a deadline needs it.";
    e.holds("C35.1", quote, made > 0 && too_many == 0, format!("{too_many} too many of {made}"));
    let quote = "None is missing that a deadline needs.";
    e.holds("C35.2", quote, too_few == 0, format!("{too_few} too few in {insertions} insertions"));
    let quote = "The tick of a new wheel is the span of the lower one.";
    e.is("C35.3", quote, looks, wide);
    let quote = "It starts at the lower one's current time, cut to its tick.";
    e.is("C35.4", quote, looks, reaches);
    idle(e);
}

/// A timer of 5 ticks after an idle time: the printed clock is where it was.
fn idle(e: &mut Evidence) {
    let row = |idle: Tick| {
        let mut printed = Port::new(1, SLOTS as usize, 0);
        printed.add(idle + 5, 0);
        let mut ours = started(0, None);
        ours.advance(idle, |_| ());
        ours.insert(idle + 5, 0);
        let (levels, slots) = (printed.levels() as u64, printed.drain().len() as u64);
        [idle, levels, slots, ours.levels() as u64].map(|count| count.to_string())
    };
    let rows = [0, 20, 400, 8_000, 160_000, 3_600_000].map(row);
    let columns =
        ["idle ticks", "levels as printed", "slots, one after the other", "levels of kafka-wheel"];
    e.table("A timer of 5 ticks after an idle time", columns, rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_needs_the_levels_of_the_article() {
        assert_eq!([19, 20, 399, 400, 8_000].map(|deadline| needed(deadline, 0)), [1, 2, 2, 3, 4]);
        // From 15, a wheel of 20 ticks reaches 34, and the next, its clock at 0, reaches 399.
        assert_eq!([34, 35, 399, 400].map(|deadline| needed(deadline, 15)), [1, 2, 2, 3]);
    }
}
