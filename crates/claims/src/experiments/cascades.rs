//! C17, C18, C60, C62, C65: the price of a hierarchy's small space: timers move from level to
//! level.

use super::drive::{advance_by_wakeups, wakeups};
use super::models::kafka::KafkaModel;
use crate::count::{CountedTimer, random};
use crate::growth::Growth::Linear;
use crate::phrase::phrase;
use crate::thresholds::Threshold::Much;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use std::collections::BTreeSet;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

const WHEELS: [&str; 2] = ["list-wheel", "kafka-wheel"];

pub(super) const CASCADES: Experiment = Experiment {
    name: "cascade-counts",
    about: "list-wheel and kafka-wheel of 2 to 6 levels of 8 slots: moves of a timer, entries read \
        in vain, slots against the span; n timers in one slot of the third level: the most moves \
        in one call; what an advance leaves above",
    run: cascades,
};

/// Slots of a level, timers of a run, and timers that are started alone, to count levels.
const SLOTS: u64 = 8;
const TIMERS: u64 = 4_096;
const ALONE: u64 = 256;

fn cascades(setup: &Setup, e: &mut Evidence) {
    let [mut dense, mut vain, mut beyond, mut moved] = [0_u64; 4];
    let mut rows = Vec::new();
    for levels in 2..=6_u32 {
        let span = SLOTS.pow(levels);
        for name in WHEELS {
            let (mut all, mut most) = ([0_u64; 3], 0);
            for seed in setup.seeds() {
                let mut random = random(seed);
                let mut delays =
                    |count| (0..count).map(|_| random.random_range(1..span)).collect::<Vec<_>>();
                let mut counted = setup.build_with_slots(name, SLOTS);
                counted.fill(delays(TIMERS));
                let wakeups = wakeups(&mut counted);
                let fired = wakeups.iter().map(|it| it.fired).sum::<u64>();
                let moves = counted.steps().of(Work::CascadeMove);
                let read = counted.steps().of(Work::EntryScan).saturating_sub(fired + moves);
                all = [all[0] + fired, all[1] + moves, all[2] + read];
                let alone = delays(ALONE)
                    .into_iter()
                    .map(|delay| moves_of_one(setup.build_with_slots(name, SLOTS), delay));
                most = alone.fold(most, u64::max);
            }
            // The slots of all levels that timers passed through, including the one they fired
            // from.
            let slots = SLOTS * (1 + most);
            dense += u64::from(slots >= span);
            beyond += u64::from(most >= u64::from(levels));
            (vain, moved) = (vain + all[2], moved.max(most));
            let mean = format!("{:.2}", all[1] as f64 / all[0] as f64);
            let [levels, slots, span, most] =
                [u64::from(levels), slots, span, most].map(|count| count.to_string());
            rows.push([name.to_owned(), levels, slots, span, mean, most]);
        }
    }
    let quote = "Levels waste no space: fewer slots are in use than the span has ticks.";
    e.holds("C17.1", quote, dense == 0, "2 to 6 levels of 8 slots");
    let quote = "They waste no time: no entry is read that neither fires nor moves.";
    e.holds("C17.2", quote, vain == 0, format!("{vain} read in vain"));
    let quote = "A timer is moved at most once for each level but one.";
    e.holds("C17.4", quote, beyond == 0, format!("up to {moved} moves in 6 levels"));
    large_cascades(setup, e);
    let columns = ["wheel", "levels", "slots in use", "span", "moves a timer", "most"];
    e.table("Timers over the whole span of levels of 8 slots", columns, rows);
    left_in_upper_slots(setup, e);
}

/// How often a timer is moved before it fires.
fn moves_of_one(mut counted: CountedTimer, delay: Tick) -> u64 {
    counted.fill([delay]);
    wakeups(&mut counted).iter().map(|it| it.moved).sum()
}

/// From this number of timers on, as a power of two, a hierarchical-wheel is large.
const LARGE: u32 = 16;

/// The most moves in one call if all timers are in one slot of the third level.
fn largest_cascade(setup: &Setup, name: &str, n: u64, seed: u64) -> f64 {
    let (mut random, mut counted) = (random(seed), setup.build_with_slots(name, 256));
    counted.fill((0..n).map(|_| (1 << 16) + random.random_range(0..1 << 16)));
    wakeups(&mut counted).iter().map(|it| it.moved).max().unwrap_or(0) as f64
}

fn large_cascades(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("A slot with all timers cascades", "the most moves in one advance");
    for name in WHEELS {
        sweep.add(
            name,
            setup.curve(&setup.scale.sizes(), |n, seed| largest_cascade(setup, name, n, seed)),
        );
    }
    let quote = "In levels of lists one advance may move all timers.";
    e.class("C17.5", quote, [&sweep["list-wheel"]], Linear);
    let sizes = crate::scale::powers(LARGE, setup.scale.to.max(LARGE + 2));
    let ours = setup.curve(&sizes, |n, seed| largest_cascade_in_one_tick(setup, n, seed));
    let quote = "Our large wheel, which empties slots ahead, moves far fewer in one tick.";
    let most = sizes.last().map_or(f64::NAN, |n| *n as f64);
    e.exceeds("C17.6", quote, (most, ours.last()), Much);
    sweep.add_hidden("hierarchical-wheel, tick by tick", ours);
    e.sweep(&sweep);
}

/// The most moves in one tick of our large wheel if all timers are in one slot of 65,536 ticks.
fn largest_cascade_in_one_tick(setup: &Setup, n: u64, seed: u64) -> f64 {
    let (mut random, mut counted) =
        (random(seed), setup.build_with_slots("hierarchical-wheel", 256));
    counted.fill((0..n).map(|_| (1 << 16) + random.random_range(0..1 << 16)));
    let ticks = (1..2 << 16).map(|tick| counted.work(|timer| timer.advance(tick, |_| ())).0);
    ticks.map(|steps| steps.of(Work::CascadeMove)).max().unwrap_or(0) as f64
}

/// Counts the timers that advances of Kafka's wheels, as printed, leave in upper slots.
fn left_in_upper_slots(setup: &Setup, e: &mut Evidence) {
    let [mut advances, mut moved, mut by_distance] = [0_u64; 3];
    for seed in setup.seeds() {
        let (mut wheels, mut random) = (KafkaModel::new(1, 20, 0), random(seed));
        for name in 0..1 << 10 {
            wheels.add(random.random_range(1..8_000), name);
        }
        while let Some(poll) = wheels.poll_next() {
            advances += 1;
            moved += poll.moved.len() as u64;
            let width = |level: usize| 20_u64.pow(level as u32 - 1);
            let near = |(level, deadline): &(usize, Tick)| {
                *level > 1 && deadline - wheels.current() < width(*level)
            };
            by_distance += wheels.timers().filter(near).count() as u64;
        }
    }
    let quote = "An advance reinserts the tasks of the slot that begins.";
    e.holds("C65.1", quote, moved > 0, format!("{moved} moves in {advances} advances"));
    let quote = "It reinserts all tasks that a lower level could take by their distance.";
    let left = by_distance as f64 / advances as f64;
    e.holds("C65.2", quote, by_distance == 0, format!("{left:.1} left above after an advance"));
}

pub(super) const SLOT: Experiment = Experiment {
    name: "bottom-slot-due",
    about: "four wheels from wake-up to wake-up, n random timers: whether what fires is due; \
        Kafka's wheels as printed: how many deadlines are in a slot, by level",
    run: slots_due,
};

fn slots_due(setup: &Setup, e: &mut Evidence) {
    let [mut fired, mut wrong, mut deadlines] = [0_u64; 3];
    let mut seen: Vec<[u64; 4]> = Vec::new();
    for n in setup.sizes_to(1 << 16) {
        for seed in setup.seeds() {
            let mut random = random(seed ^ n << 32);
            let draws: Vec<Tick> = (0..n / 2).map(|_| random.random_range(1..1 << 22)).collect();
            // Each deadline twice, so that slots of one deadline hold more than one timer.
            let draws = draws.repeat(2);
            for name in ["list-wheel", "hierarchical-wheel", "kafka-wheel"] {
                let mut counted = setup.build(name);
                counted.fill(draws.iter().copied());
                while let Some(tick) = counted.timer.next_wakeup() {
                    let of_tick: BTreeSet<Tick> = counted
                        .advance_to(tick)
                        .into_iter()
                        .map(|it| {
                            (fired, wrong) = (fired + 1, wrong + u64::from(it.0 != tick));
                            it.0
                        })
                        .collect();
                    deadlines = deadlines.max(of_tick.len() as u64);
                }
            }
            note_slots(&mut seen, &draws);
        }
    }
    let quote = "All tasks in the list that the hand reaches are due.";
    e.holds("C18.1", quote, fired > 0 && wrong == 0, format!("{wrong} of {fired} not due"));
    let quote = "With demotion a timer fires at its tick, whatever level it started in.";
    e.holds("C62.1", quote, fired > 0 && wrong == 0, format!("{wrong} of {fired} off"));
    let late: Vec<Tick> = (0..4).map(|level| lateness_without_demotion(setup, level)).collect();
    let quote = "Without it, as in linux-wheel, a timer is later, the higher its level.";
    e.holds("C62.2", quote, late.is_sorted_by(|one, other| one < other), phrase(&late));
    let quote = "A slot of the lowest level holds tasks of one expiry.";
    e.holds("C60.1", quote, deadlines == 1, format!("{deadlines} deadline at most"));
    let most = seen.iter().skip(1).map(|level| level[3]).max().unwrap_or(0);
    let quote = "So does a slot of a higher level.";
    e.holds("C60.2", quote, most == 1, format!("up to {most} deadlines"));
    let row = |(level, counts): (usize, &[u64; 4])| {
        let [slots, timers, not_due, distinct] = counts.map(|count| count.to_string());
        [level.to_string(), slots, timers, not_due, distinct]
    };
    let columns = ["level", "slots emptied", "timers", "not due", "most deadlines"];
    e.table(
        "Slots of Kafka's wheels when they are emptied",
        columns,
        seen.iter().enumerate().map(row),
    );
}

/// By how many ticks, at most, linux-wheel fires timers of a level late.
fn lateness_without_demotion(setup: &Setup, level: u32) -> Tick {
    let mut random = random(setup.scale.seed());
    let mut late = |shortest: Tick| {
        let deadline = random.random_range(shortest..2 * shortest);
        let mut counted = setup.build("linux-wheel");
        counted.fill([deadline]);
        advance_by_wakeups(&mut counted.timer)
            .1
            .first()
            .map_or(Tick::MAX, |(tick, _)| tick - deadline)
    };
    // A level above the lowest begins at 8^level * 8 ticks, which is 8 slots of that level.
    (0..256).map(|_| late(if level == 0 { 16 } else { 8_u64.pow(level) * 8 })).max().unwrap_or(0)
}

/// Adds to `seen`, by level: slots emptied, timers, timers not due, and the most deadlines of a
/// slot.
fn note_slots(seen: &mut Vec<[u64; 4]>, deadlines: &[Tick]) {
    let mut wheels = KafkaModel::new(1, 20, 0);
    (0..).zip(deadlines).for_each(|(name, deadline)| _ = wheels.add(*deadline, name));
    while let Some(poll) = wheels.poll_next() {
        let moved = poll.moved.iter().map(|(deadline, ..)| *deadline);
        let all: Vec<Tick> = poll.ran.iter().map(|(deadline, _)| *deadline).chain(moved).collect();
        let distinct = all.iter().collect::<BTreeSet<_>>().len() as u64;
        let not_due = all.iter().filter(|deadline| **deadline > poll.expiry).count() as u64;
        let level = poll.from.level - 1;
        seen.resize(seen.len().max(level + 1), [0; 4]);
        let [slots, timers, late, most] = seen[level];
        seen[level] = [slots + 1, timers + all.len() as u64, late + not_due, most.max(distinct)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn a_timer_moves_once_for_each_level_on_its_way() {
        let setup = Setup::new(&Scale::REDUCED);
        for name in WHEELS {
            let moves =
                [7, 63, 511].map(|delay| moves_of_one(setup.build_with_slots(name, 8), delay));
            assert_eq!(moves, [0, 1, 2], "{name}");
        }
    }
}
