//! When Kafka's wheels make another wheel, how wide its slots are, and from where it reaches how far.

use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::experiments::configured;
use crate::experiments::port::Port;
use crate::{Evidence, Finding, Part, Scale, Table};
use rand::RngExt;
use wheelhouse_core::meter::CountingMeter;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "overflow-on-demand",
    about: "kafka-wheel of 20 slots, delays up to 20^6 at random times: levels after each insertion against the number that the deadlines so far need; width \
            and reach of each new level; beside it the printed clock after an idle time",
    run,
};

const SLOTS: Tick = 20;
/// Levels that are made.
const LEVELS: u32 = 6;
/// Insertions of a run, and phases in which each new level is looked at.
const INSERTIONS: u64 = 2_000;
const PHASES: u64 = 200;

fn run(scale: &Scale) -> Evidence {
    let mut demand = Demand::default();
    scale.seeds().for_each(|seed| demand.insert(seed));
    let levels: Vec<_> = (1..LEVELS).map(|level| NewLevel::look(level, scale)).collect();
    Evidence {
        findings: vec![finding(&demand, &levels)],
        tables: vec![demand.table(), level_table(&levels), idle_table()],
        charts: Vec::new(),
    }
}

/// The ticks of a slot of a level, the lowest 0.
fn width(level: u32) -> Tick {
    SLOTS.pow(level)
}

/// The levels that a deadline needs by the rule of the article: of the first wheel whose span, from its clock on, has it. Each clock is rounded down to the wheel's slots.
fn needed(deadline: Tick, now: Tick) -> u32 {
    let reaches = |level: &u32| deadline < now - now % width(*level) + width(*level + 1);
    1 + (0..LEVELS + 2)
        .find(reaches)
        .expect("a delay below 20^6 is in the span of the seventh wheel")
}

/// Levels present against levels needed, after each insertion.
#[derive(Debug, Default)]
struct Demand {
    insertions: u64,
    /// Insertions that made a level.
    made: u64,
    too_many: u64,
    too_few: u64,
}

impl Demand {
    /// Random delays at random times; on average each level for as many of them.
    fn insert(&mut self, seed: u64) {
        let mut random = random(seed);
        for _ in 0..INSERTIONS / 100 {
            let mut probe =
                configured::kafka_wheel(SLOTS as usize, random.random_range(0..1 << 40));
            let mut so_far = 1;
            for _ in 0..100 {
                let now = probe.timer.now() + random.random_range(0..100);
                probe.timer.advance(now, |_| ());
                let longest = width(random.random_range(1..=LEVELS));
                let deadline = now + random.random_range(1..longest);
                let before = probe.timer.levels();
                probe.timer.insert(deadline, 0);
                so_far = needed(deadline, now).max(so_far);
                self.insertions += 1;
                self.made += u64::from(probe.timer.levels() > before);
                self.too_many += u64::from(probe.timer.levels() as u32 > so_far);
                self.too_few += u64::from((probe.timer.levels() as u32) < so_far);
            }
        }
    }

    fn table(&self) -> Table {
        let columns = ["insertions", "made a level", "a level too many", "a level too few"];
        let mut table = Table::new(
            "Levels of kafka-wheel after each insertion, against those that the deadlines so far need",
            columns,
        );
        table.row(
            [self.insertions, self.made, self.too_many, self.too_few]
                .map(|count| count.to_string()),
        );
        table
    }
}

/// A new level in many phases of the clock.
struct NewLevel {
    level: u32,
    looks: u64,
    /// How often its slots were as wide as the level below is in all.
    wide: u64,
    /// How often its last slot was as far from the clock as it has slots.
    reaches: u64,
}

impl NewLevel {
    fn look(level: u32, scale: &Scale) -> Self {
        let mut seen = Self { level, looks: 0, wide: 0, reaches: 0 };
        for seed in scale.seeds() {
            let mut random = random(seed);
            for _ in 0..PHASES {
                let now = random.random_range(0..1 << 40);
                seen.looks += 1;
                // What the level below does not reach from its own clock on, up to the last tick that this one does from its own.
                let first = now - now % width(level - 1) + width(level);
                let end = now - now % width(level) + width(level + 1);
                let deadline = random.random_range(first..end);
                let below_in_all = SLOTS * width(level - 1);
                seen.wide +=
                    u64::from(wake(now, deadline) == Some(deadline - deadline % below_in_all));
                seen.reaches += u64::from(
                    (levels_for(now, end - 1), levels_for(now, end)) == (level + 1, level + 2),
                );
            }
        }
        seen
    }
}

fn started(now: Tick, deadline: Tick) -> Probe<KafkaWheel<u64, CountingMeter>> {
    let mut probe = configured::kafka_wheel(SLOTS as usize, now);
    probe.timer.insert(deadline, 0);
    probe
}

/// The first tick of the slot of a timer that is alone: when its wheel wakes.
fn wake(now: Tick, deadline: Tick) -> Option<Tick> {
    started(now, deadline).timer.next_wakeup()
}

/// The levels that there are with a timer that is alone.
fn levels_for(now: Tick, deadline: Tick) -> u32 {
    started(now, deadline).timer.levels() as u32
}

fn level_table(levels: &[NewLevel]) -> Table {
    let columns = [
        "level",
        "ticks of a slot",
        "phases",
        "slots start at multiples of these",
        "reaches 20 slots from the clock rounded down",
    ];
    let mut table = Table::new(
        "Each new level of kafka-wheel, in random phases of the clock; the lowest is level 0",
        columns,
    );
    for it in levels {
        let counts = [u64::from(it.level), width(it.level), it.looks, it.wide, it.reaches];
        table.row(counts.map(|count| count.to_string()));
    }
    table
}

/// A timer of 5 ticks after an idle time: the printed clock is where it was.
fn idle_table() -> Table {
    let columns = [
        "idle ticks",
        "levels as printed",
        "slots it is in, one after the other",
        "levels of kafka-wheel",
    ];
    let mut table = Table::new(
        "A timer of 5 ticks after an idle time: the printed clock moves only when a slot is polled",
        columns,
    );
    for idle in [0, 20, 400, 8_000, 160_000, 3_600_000] {
        let mut printed = Port::new(1, SLOTS as usize, 0);
        printed.add(idle + 5, 0);
        let levels = printed.levels();
        let slots = printed.drain().len();
        let mut wheel = configured::kafka_wheel(SLOTS as usize, 0);
        wheel.timer.advance(idle, |_| ());
        wheel.timer.insert(idle + 5, 0);
        table.row([
            idle.to_string(),
            levels.to_string(),
            slots.to_string(),
            wheel.timer.levels().to_string(),
        ]);
    }
    table
}

fn finding(demand: &Demand, levels: &[NewLevel]) -> Finding {
    let all =
        |count: fn(&NewLevel) -> u64| levels.iter().all(|it| count(it) == it.looks && it.looks > 0);
    let parts = [
        Part::new(
            "no level is made before a deadline needs it",
            demand.made > 0 && demand.too_many == 0,
        ),
        Part::new("none is missing that one needs", demand.insertions > 0 && demand.too_few == 0),
        Part::new(
            "the slots of a new level are as wide as the level below is in all",
            all(|it| it.wide),
        ),
        Part::new("it starts at the clock, rounded down to its slots", all(|it| it.reaches)),
    ];
    let figure = format!(
        "{} levels too many and {} too few in {} insertions of which {} made a level",
        demand.too_many, demand.too_few, demand.insertions, demand.made
    );
    Finding::new("C35", figure, parts)
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
