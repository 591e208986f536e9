//! What a hierarchy of wheels pays for its small space: timers that move from level to level, some of them many at once.

use super::hierarchy::{Hierarchy, Rule};
use super::ours;
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::experiments::configured;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cascade-counts",
    about: "list-wheel and kafka-wheel of 2 to 6 levels: moves of a timer, entries read in vain, slots against the span; n timers in one slot of \
            the third level: the most moves in one call; and what an advance leaves in upper slots",
    run,
};

/// The wheels.
const WHEELS: [(&str, Rule); 2] = [("list-wheel", Rule::Digits), ("kafka-wheel", Rule::Reach)];
/// Slots of a level where levels are counted.
const SLOTS: u64 = 8;
/// The levels that are counted.
const LEVELS: std::ops::RangeInclusive<u32> = 2..=6;
/// Timers of such a run, and timers that are started alone.
const TIMERS: u64 = 4_096;
const ALONE: u64 = 256;

fn run(scale: &Scale) -> Evidence {
    let mut moves = Vec::new();
    for levels in LEVELS {
        moves.push(count_moves(WHEELS[0].0, levels, scale, |slots| {
            configured::list_wheel(slots, 0)
        }));
        moves.push(count_moves(WHEELS[1].0, levels, scale, |slots| {
            configured::kafka_wheel(slots, 0)
        }));
    }
    let storms = [
        storm("hierarchical-wheel", scale, || configured::hierarchical_wheel(256, 0)),
        storm(WHEELS[1].0, scale, || configured::kafka_wheel(256, 0)),
    ];
    let left = [
        count_left(WHEELS[0], 16, scale, || configured::list_wheel(16, 0)),
        count_left(WHEELS[1], 20, scale, || configured::kafka_wheel(20, 0)),
    ];
    Evidence {
        findings: vec![price(&moves, &storms), demotion(&left)],
        tables: vec![move_table(&moves), storm_table(&storms), left_table(&left)],
        charts: vec![chart(&storms)],
    }
}

/// What was counted of timers over the whole span of some levels, all seeds together.
struct Moves {
    name: &'static str,
    levels: u32,
    fired: u64,
    moved: u64,
    /// Entries that were read and neither fired nor moved.
    in_vain: u64,
    /// The most moves of a timer that was alone.
    most: u64,
}

impl Moves {
    /// Those of the levels that timers went through, the one they fired from included.
    fn slots(&self) -> u64 {
        SLOTS * (1 + self.most)
    }

    fn span(&self) -> u64 {
        SLOTS.pow(self.levels)
    }
}

fn count_moves<T: Timer<u64>>(
    name: &'static str,
    levels: u32,
    scale: &Scale,
    wheel: impl Fn(usize) -> Probe<T>,
) -> Moves {
    let mut moves = Moves { name, levels, fired: 0, moved: 0, in_vain: 0, most: 0 };
    let span = moves.span();
    for seed in scale.seeds() {
        let mut random = random(seed);
        let mut delays =
            |count: u64| (0..count).map(|_| random.random_range(1..span)).collect::<Vec<_>>();
        let mut probe = wheel(SLOTS as usize);
        probe.fill(delays(TIMERS));
        let wakeups = ours::wakeups(&mut probe, |_, _| ());
        let (fired, moved) =
            (wakeups.iter().map(|it| it.fired).sum::<u64>(), probe.steps().of(Work::CascadeMove));
        moves.fired += fired;
        moves.moved += moved;
        moves.in_vain += probe.steps().of(Work::EntryScan).saturating_sub(fired + moved);
        for delay in delays(ALONE) {
            let mut probe = wheel(SLOTS as usize);
            probe.fill([delay]);
            ours::wakeups(&mut probe, |_, _| ());
            moves.most = moves.most.max(probe.steps().of(Work::CascadeMove));
        }
    }
    moves
}

fn move_table(moves: &[Moves]) -> Table {
    let columns = [
        "wheel",
        "levels",
        "slots in use",
        "span in ticks",
        "moves a timer",
        "most moves of one",
        "entries read in vain",
    ];
    let title = format!(
        "Levels of {SLOTS} slots, {TIMERS} timers over their whole span, all seeds together; the most of one: {ALONE} timers, each alone"
    );
    let mut table = Table::new(title, columns);
    for it in moves {
        let mean = format!("{:.2}", it.moved as f64 / it.fired as f64);
        let counts = [
            it.levels.to_string(),
            it.slots().to_string(),
            it.span().to_string(),
            mean,
            it.most.to_string(),
            it.in_vain.to_string(),
        ];
        table.row(std::iter::once(it.name.to_owned()).chain(counts));
    }
    table
}

/// The most moves in one call, where all timers are in one slot of the third level.
struct Storm {
    name: &'static str,
    advance: Curve,
    insert: Curve,
}

fn storm<T: Timer<u64>>(name: &'static str, scale: &Scale, wheel: impl Fn() -> Probe<T>) -> Storm {
    let [advance, insert] = ours::curves(&scale.sizes(), scale.seeds(), |n, seed| {
        let mut random = random(seed);
        let mut probe = wheel();
        let mut inserting = 0;
        for number in 0..n {
            let deadline = (1 << 16) + random.random_range(0..1 << 16);
            let (work, _) = probe.work(|timer| timer.insert(deadline, number));
            inserting = inserting.max(work.of(Work::CascadeMove));
        }
        let advancing = ours::wakeups(&mut probe, |_, _| ()).iter().map(|it| it.moved).max();
        [advancing.unwrap_or(0) as f64, inserting as f64]
    });
    Storm { name, advance, insert }
}

fn storm_table(storms: &[Storm]) -> Table {
    let columns = ["wheel, call", "smallest n", "largest n", "growth"];
    let mut table = Table::new(
        "The most moves in one call: n timers in one slot of the third level, 256 slots a level",
        columns,
    );
    for storm in storms {
        for (call, curve) in [("advance", &storm.advance), ("insert", &storm.insert)] {
            let (first, last) = curve.ends();
            table.row([
                format!("{}, {call}", storm.name),
                format!("{first:.0}"),
                format!("{last:.0}"),
                curve.growth().to_string(),
            ]);
        }
    }
    table
}

fn chart(storms: &[Storm]) -> Chart {
    let points = |curve: &Curve| curve.points().into_iter().filter(|point| point.1 > 0.0).collect();
    let series = |storm: &Storm| {
        let curves = [("advance", &storm.advance), ("insert", &storm.insert)];
        curves.map(|(call, curve)| Series {
            name: format!("{}, {call}", storm.name),
            points: points(curve),
        })
    };
    Chart {
        title: "A slot with all timers cascades".to_owned(),
        subtitle: "the most moves in one call".to_owned(),
        x: "timers".to_owned(),
        y: "moves".to_owned(),
        series: storms.iter().flat_map(series).filter(|series| !series.points.is_empty()).collect(),
    }
}

fn price(moves: &[Moves], storms: &[Storm]) -> Finding {
    let textbook = &storms[1];
    let parts = [
        Part::new(
            "fewer slots are in use than there are ticks in the span, whatever the number of levels",
            moves.iter().all(|it| it.slots() < it.span()),
        ),
        Part::new(
            "no entry is read that neither fires nor moves",
            moves.iter().all(|it| it.in_vain == 0),
        ),
        Part::new(
            "a timer is moved at most once for each level but one",
            moves.iter().all(|it| it.most < u64::from(it.levels)),
        ),
        Part::new("no timer is moved before it fires", moves.iter().all(|it| it.moved == 0)),
        Part::maybe(
            "an advance of kafka-wheel moves no more timers at once, the more there are in a slot",
            textbook.advance.growth().is(Growth::Constant),
        ),
    ];
    let most = moves.iter().map(|it| it.most).max().unwrap_or(0);
    let levels = moves.iter().map(|it| it.levels).max().unwrap_or(0);
    let [bounded, unbounded] = [&storms[0], textbook].map(|storm| storm.advance.ends().1);
    let figure = format!(
        "up to {most} moves of a timer in {levels} levels; {unbounded:.0} moves in one advance of kafka-wheel, {bounded:.0} in one of \
         list-wheel, which splits such slots"
    );
    Finding::new("C17", figure, parts)
}

/// What the advances of a wheel moved, and what they left.
struct Left {
    name: &'static str,
    advances: u64,
    moved: u64,
    /// Timers in an upper slot after an advance, whose distance is below the span of the levels below; the sum over the advances.
    by_distance: u64,
    /// Those that an insertion would put lower now; likewise.
    by_rule: u64,
    /// Whether the wheel fired and moved as many timers as the model at each tick.
    as_modelled: bool,
}

/// Timers over the span of three levels, in a wheel and in the model of its slots.
fn count_left<T: Timer<u64>>(
    (name, rule): (&'static str, Rule),
    slots: Tick,
    scale: &Scale,
    wheel: impl Fn() -> Probe<T>,
) -> Left {
    let mut left =
        Left { name, advances: 0, moved: 0, by_distance: 0, by_rule: 0, as_modelled: true };
    for seed in scale.seeds() {
        let (mut model, mut probe) = (Hierarchy::new(rule, slots), wheel());
        let mut random = random(seed);
        for number in 0..1 << 10 {
            let deadline = random.random_range(1..slots.pow(3));
            model.insert(deadline);
            probe.timer.insert(deadline, number);
        }
        let mut modelled = model.clone();
        left.as_modelled &= modelled.wakeups(|_| ()) == ours::wakeups(&mut probe, |_, _| ());
        while let Some(tick) = model.next() {
            left.advance(&mut model, tick);
        }
    }
    left
}

impl Left {
    /// Empties all slots of a tick.
    fn advance(&mut self, model: &mut Hierarchy, tick: Tick) {
        while let Some(slot) =
            model.next().filter(|next| *next == tick).and_then(|_| model.empty_next())
        {
            self.moved += if slot.level > 0 { slot.deadlines.len() as u64 } else { 0 };
        }
        self.advances += 1;
        for (level, deadline) in model.timers().filter(|(level, _)| *level > 0) {
            self.by_distance += u64::from(deadline - model.now() < model.width(level));
            self.by_rule += u64::from(model.level_of(deadline) < level);
        }
    }
}

fn left_table(left: &[Left]) -> Table {
    let columns = [
        "wheel",
        "advances",
        "moves",
        "left, by distance",
        "left, by the wheel's rule",
        "the wheel as in the model",
    ];
    let title = "Timers that an advance leaves in upper slots though a lower level would have them: the sum over all advances, 1,024 timers over three levels";
    let mut table = Table::new(title, columns);
    for it in left {
        let counts =
            [it.advances, it.moved, it.by_distance, it.by_rule].map(|count| count.to_string());
        let agreed = if it.as_modelled { "yes" } else { "no" };
        table.row(std::iter::once(it.name.to_owned()).chain(counts).chain([agreed.to_owned()]));
    }
    table
}

fn demotion(left: &[Left]) -> Finding {
    // What is left is known from the model only: it says nothing unless it does as the wheels do.
    let decided = |holds: bool| left.iter().all(|it| it.as_modelled).then_some(holds);
    let parts = [
        Part::maybe(
            "an advance moves the timers of the slot that begins",
            decided(left.iter().all(|it| it.moved > 0)),
        ),
        Part::maybe(
            "kafka-wheel leaves none that an insertion would put lower by now",
            decided(left[1].by_rule == 0),
        ),
        Part::maybe(
            "no wheel leaves one that is nearer than the span of the levels below",
            decided(left.iter().all(|it| it.by_distance == 0)),
        ),
    ];
    let each =
        |it: &Left| format!("{:.1} in {}", it.by_distance as f64 / it.advances as f64, it.name);
    let figure = format!(
        "left above after an advance, on average: {}",
        left.iter().map(each).collect::<Vec<_>>().join(", ")
    );
    Finding::new("C65", figure, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_timer_moves_more_often_than_there_are_levels_below_its_own() {
        for levels in LEVELS {
            let moves = [
                count_moves("", levels, &Scale::REDUCED, |slots| configured::list_wheel(slots, 0)),
                count_moves("", levels, &Scale::REDUCED, |slots| configured::kafka_wheel(slots, 0)),
            ];
            for it in moves {
                assert!(
                    it.most == u64::from(levels) - 1
                        && it.moved <= it.fired * it.most
                        && it.fired == 5 * TIMERS
                );
            }
        }
    }
}
