//! How often a timer is moved from level to level.
//!
//! With m levels a timer starts in one of them and is moved to a lower one each time its slot begins: m - 1 times at the most, and, as nearly all of a range lies in
//! its highest level, nearly as often on average. Varghese and Lauck have 2 to 5 levels in mind and charge the moves to START_TIMER: O(m).
//!
//! Each timer here is alone in a wheel whose clock stands anywhere, so that no slot grows so large that it is split and moves are saved.

use crate::count::{Probe, Tally, random};
use crate::experiment::Experiment;
use crate::experiments::configured::{hierarchical_wheel, kafka_wheel};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "vl-cascades",
    about: "hierarchical-wheel and kafka-wheel with 16 slots a level, single timers anywhere in the range of m = 1 to 5 levels: how often each is moved",
    run,
};

/// Slots of a level.
const SLOTS: u64 = 16;

/// Levels: those of the paper, and one.
const LEVELS: [u32; 5] = [1, 2, 3, 4, 5];

/// Timers of a sample.
const TIMERS: u64 = 400;

/// How far the moves that a level adds may be from one.
const TOLERANCE: f64 = 0.15;

/// A structure, and how often its timers were moved, for each of [`LEVELS`].
struct Moves {
    name: &'static str,
    moves: [Tally; 5],
}

fn run(scale: &Scale) -> Evidence {
    let both = [
        Moves {
            name: "hierarchical-wheel",
            moves: moves(scale, |now| hierarchical_wheel(SLOTS as usize, now)),
        },
        Moves { name: "kafka-wheel", moves: moves(scale, |now| kafka_wheel(SLOTS as usize, now)) },
    ];
    Evidence {
        findings: vec![finding(&both)],
        tables: vec![table(&both)],
        charts: vec![chart(&both)],
    }
}

fn moves<T: Timer<u64>>(scale: &Scale, build: impl Fn(Tick) -> Probe<T>) -> [Tally; 5] {
    LEVELS.map(|levels| {
        let range = SLOTS.pow(levels);
        let of_seed = |seed| {
            let mut random = random(seed);
            let timers = (0..TIMERS).map(|_| {
                // The hand and the deadline in one turn of the highest level.
                let now = random.random_range(0..range - 1);
                moves_of_one(build(now), random.random_range(now + 1..range))
            });
            timers.collect::<Vec<_>>()
        };
        scale.seeds().flat_map(of_seed).collect()
    })
}

/// How often a timer is moved until it fires.
fn moves_of_one<T: Timer<u64>>(mut probe: Probe<T>, deadline: Tick) -> u64 {
    probe.timer.insert(deadline, 0);
    while let Some(tick) = probe.timer.next_wakeup() {
        probe.timer.advance(tick, |_| ());
    }
    probe.steps().of(Work::CascadeMove)
}

fn finding(both: &[Moves; 2]) -> Finding {
    let mut parts = Vec::new();
    for Moves { name, moves } in both {
        let bounded =
            LEVELS.iter().zip(moves).all(|(levels, moves)| moves.max() < u64::from(*levels));
        // How many timers start in the second level at all depends on what is in reach of the first.
        let adds_one = |pair: &[Tally]| (pair[1].mean() - pair[0].mean() - 1.0).abs() < TOLERANCE;
        parts.push(Part::new(
            format!("{name}: with m levels no timer is moved more than m - 1 times"),
            bounded,
        ));
        parts.push(Part::new(
            format!("{name}: each level from the third on adds one move on average"),
            moves[1..].windows(2).all(adds_one),
        ));
    }
    let told = |Moves { name, moves }: &Moves| {
        let means: Vec<_> = moves.iter().map(|moves| format!("{:.2}", moves.mean())).collect();
        format!("{name} {}", means.join(", "))
    };
    Finding::new(
        "V11",
        format!("moves per timer with 1 to 5 levels: {}; {}", told(&both[0]), told(&both[1])),
        parts,
    )
}

fn table(both: &[Moves; 2]) -> Table {
    let columns =
        ["structure", "levels m", "range, ticks", "timers", "moves, mean", "maximum", "m - 1"];
    let mut table = Table::new("Moves of a timer from level to level, 16 slots a level", columns);
    for Moves { name, moves } in both {
        for (levels, moves) in LEVELS.iter().zip(moves) {
            table.row([
                (*name).to_owned(),
                levels.to_string(),
                SLOTS.pow(*levels).to_string(),
                moves.len().to_string(),
                format!("{:.3}", moves.mean()),
                moves.max().to_string(),
                (levels - 1).to_string(),
            ]);
        }
    }
    table
}

fn chart(both: &[Moves; 2]) -> Chart {
    let levels = || LEVELS.into_iter().map(f64::from);
    let most = Series {
        name: "m - 1".to_owned(),
        points: levels().map(|levels| (levels, levels - 1.0)).collect(),
    };
    let series = both.iter().map(|Moves { name, moves }| Series {
        name: (*name).to_owned(),
        points: levels().zip(moves.iter().map(Tally::mean)).collect(),
    });
    let above_0 = |Series { name, points }| Series {
        name,
        points: points.into_iter().filter(|(_, moves)| *moves > 0.0).collect(),
    };
    Chart {
        title: "Moves of a timer from level to level".to_owned(),
        subtitle: "mean of timers anywhere in the range of m levels of 16 slots".to_owned(),
        x: "levels, m".to_owned(),
        y: "moves".to_owned(),
        series: series.chain([most]).map(above_0).collect(),
    }
}
