//! What is in a slot when the hand gets to it: whether all of it is due, and how many deadlines it mixes.

use super::hierarchy::{Emptied, Hierarchy, Rule};
use super::ours;
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::experiments::configured;
use crate::{Evidence, Finding, Part, Scale, Table};
use rand::RngExt;
use std::collections::BTreeSet;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "bottom-slot-due",
    about: "hierarchical-wheel and kafka-wheel from wake-up to wake-up, n random timers: what is taken from a slot, due or not, and how many deadlines \
            are in it, by level",
    run,
};

/// Delays are below this: three levels of hierarchical-wheel, six of kafka-wheel, and no slot so crowded that it is split.
const LONGEST: Tick = 1 << 22;
/// The most timers of a run, as a power of two.
const MOST: u32 = 16;
/// Timers of each deadline that is drawn, so that slots of one deadline hold more than one timer.
const TWINS: usize = 2;

/// What was in the slots of one level.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    slots: u64,
    timers: u64,
    not_due: u64,
    /// The most deadlines in one slot.
    distinct: usize,
}

/// What was seen of one wheel, over all sizes and seeds.
#[derive(Debug, Default)]
struct Seen {
    /// By level, in the model.
    levels: Vec<Level>,
    /// Timers that fired, in the wheel.
    fired: u64,
    /// Those of them whose deadline was another tick than the one at which they fired.
    wrong: u64,
    /// The most deadlines that fired at one tick.
    deadlines: usize,
    /// Ticks at which the wheel fired or moved as many timers as the model, and at which it did not.
    agreed: u64,
    disagreed: u64,
}

fn run(scale: &Scale) -> Evidence {
    let wheels = [
        (
            "hierarchical-wheel",
            see(scale, Rule::Digits, 256, || configured::hierarchical_wheel(256, 0)),
        ),
        ("kafka-wheel", see(scale, Rule::Reach, 20, || configured::kafka_wheel(20, 0))),
    ];
    let columns = [
        "wheel",
        "level",
        "slots emptied",
        "timers in them",
        "not due",
        "most deadlines in a slot",
    ];
    let mut table =
        Table::new("What is in a slot when it is emptied, all sizes and seeds together", columns);
    for (name, seen) in &wheels {
        for (level, Level { slots, timers, not_due, distinct }) in seen.levels.iter().enumerate() {
            let counts = [level as u64, *slots, *timers, *not_due, *distinct as u64];
            table.row(
                std::iter::once((*name).to_owned()).chain(counts.map(|count| count.to_string())),
            );
        }
    }
    let findings = vec![all_due(&wheels), one_deadline(&wheels)];
    Evidence { findings, tables: vec![table, fired(&wheels)], charts: Vec::new() }
}

type Wheels = [(&'static str, Seen); 2];

/// The wheels take what is in a bottom slot without a look at its deadline, so that a timer that is not due would fire at a wrong tick.
fn all_due(wheels: &Wheels) -> Finding {
    let part = |(name, seen): &(&str, Seen)| {
        Part::new(
            format!("{name}: all that is taken from a slot of the lowest level is due"),
            seen.fired > 0 && seen.wrong == 0,
        )
    };
    let fired: u64 = wheels.iter().map(|(_, seen)| seen.fired).sum();
    let wrong: u64 = wheels.iter().map(|(_, seen)| seen.wrong).sum();
    let upper: u64 = upper(wheels).map(|level| level.not_due).sum();
    let figure = format!(
        "{wrong} of {fired} timers of the lowest level not due; {upper} times a timer of a higher one was not"
    );
    Finding::new("C18", figure, wheels.iter().map(part).collect::<Vec<_>>())
}

fn upper(wheels: &Wheels) -> impl Iterator<Item = &Level> {
    wheels.iter().flat_map(|(_, seen)| seen.levels.iter().skip(1))
}

fn one_deadline(wheels: &Wheels) -> Finding {
    let lowest = wheels.iter().map(|(_, seen)| seen.deadlines).max().unwrap_or(0);
    let higher = upper(wheels).map(|level| level.distinct).max().unwrap_or(0);
    // The levels are those of the model: they say nothing unless it does as the wheels do.
    let agreed = wheels.iter().all(|(_, seen)| seen.disagreed == 0 && seen.agreed > 0);
    let parts = [
        Part::new("a slot of the lowest level has one deadline", lowest == 1),
        Part::maybe("and so has a slot of a higher level", agreed.then_some(higher == 1)),
    ];
    Finding::new(
        "C60",
        format!("{lowest} deadline in a slot of the lowest level, up to {higher} in one above"),
        parts,
    )
}

fn fired(wheels: &Wheels) -> Table {
    let columns = [
        "wheel",
        "timers fired",
        "at another tick than their deadline",
        "most deadlines at one tick",
        "ticks as in the model",
        "ticks otherwise",
    ];
    let mut table = Table::new(
        "What fired, and whether the model of the slots fired and moved as many at each tick",
        columns,
    );
    for (name, seen) in wheels {
        let counts = [seen.fired, seen.wrong, seen.deadlines as u64, seen.agreed, seen.disagreed];
        table.row(std::iter::once((*name).to_owned()).chain(counts.map(|count| count.to_string())));
    }
    table
}

/// Runs the wheel and the model of its slots side by side.
fn see<T: Timer<u64>>(
    scale: &Scale,
    rule: Rule,
    slots: Tick,
    wheel: impl Fn() -> Probe<T>,
) -> Seen {
    let mut seen = Seen::default();
    for n in scale.sizes().into_iter().filter(|n| *n <= 1 << MOST) {
        for seed in scale.seeds() {
            let mut random = random(seed ^ n << 32);
            let draws = (0..n / TWINS as u64)
                .map(|_| 1 + random.random_range(0..LONGEST - 1))
                .collect::<Vec<_>>();
            let deadlines = draws.repeat(TWINS);
            let mut model = Hierarchy::new(rule, slots);
            deadlines.iter().for_each(|deadline| model.insert(*deadline));
            let modelled = model.wakeups(|slot| seen.note(slot));
            let mut probe = wheel();
            probe.fill(deadlines);
            let counted = ours::wakeups(&mut probe, |tick, fired| seen.note_fired(tick, fired));
            let same = modelled.iter().zip(&counted).filter(|(one, other)| one == other).count();
            seen.agreed += same as u64;
            seen.disagreed += (modelled.len().max(counted.len()) - same) as u64;
        }
    }
    seen
}

impl Seen {
    fn note(&mut self, slot: &Emptied) {
        if slot.level >= self.levels.len() {
            self.levels.resize(slot.level + 1, Level::default());
        }
        let level = &mut self.levels[slot.level];
        level.slots += 1;
        level.timers += slot.deadlines.len() as u64;
        level.not_due += slot.not_due() as u64;
        level.distinct = level.distinct.max(slot.distinct());
    }

    fn note_fired(&mut self, tick: Tick, fired: &[(Tick, u64)]) {
        self.fired += fired.len() as u64;
        self.wrong += fired.iter().filter(|(deadline, _)| *deadline != tick).count() as u64;
        let deadlines: BTreeSet<_> = fired.iter().map(|(deadline, _)| deadline).collect();
        self.deadlines = self.deadlines.max(deadlines.len());
    }
}
