//! One wheel with rounds or several levels: what a timer costs from its start to its end, against
//! how long that is.

use super::ours;
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::experiments::configured;
use crate::experiments::paper::tools::{Held, hold};
use crate::growth::Curve;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "rounds-vs-levels",
    about: "scheme 6 with 256 and with 4,096 slots against hierarchical-wheel of as many in 3 and in 4 levels: visits and moves of a timer, mean delays of \
            2^4 to 2^18; the same of round-wheel with four timers due at each tick",
    run,
};

/// Mean delays, as powers of two.
const DELAYS: std::ops::RangeInclusive<u32> = 4..=18;
/// Timers of a sample, one after the other.
const TIMERS: u64 = 256;
/// Timers that are due at each tick where wheels are busy, and the largest n there, as a power of
/// two.
const DUE: u64 = 4;
const MOST_BUSY: u32 = 16;

/// A wheel with rounds, and levels that have no more slots in all. They reach 2^18 and 2^40 ticks;
/// what lies beyond goes one level higher.
#[derive(Clone, Copy, Debug)]
struct Setting {
    slots: usize,
    levels: u64,
    slots_per_level: usize,
}

const SETTINGS: [Setting; 2] = [
    Setting { slots: 256, levels: 3, slots_per_level: 64 },
    Setting { slots: 4_096, levels: 4, slots_per_level: 1_024 },
];

impl Setting {
    fn name(&self) -> String {
        format!("{} slots, {} levels of {}", self.slots, self.levels, self.slots_per_level)
    }

    /// Where the costs meet by Varghese and Lauck's account, if a visit costs as much as a move.
    fn predicted(&self) -> u64 {
        self.levels * self.slots as u64
    }
}

/// The cost of a timer against its mean delay.
struct Costs {
    setting: Setting,
    rounds: Curve,
    levels: Curve,
}

impl Costs {
    /// (mean delay, cost with rounds, cost with levels)
    fn points(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let levels = self.levels.points().into_iter();
        self.rounds
            .points()
            .into_iter()
            .zip(levels)
            .map(|((delay, rounds), (_, levels))| (delay, rounds, levels))
    }

    /// The first mean delay at which levels cost less.
    fn crossover(&self) -> Option<f64> {
        self.points().find(|(_, rounds, levels)| levels < rounds).map(|(delay, ..)| delay)
    }
}

fn run(scale: &Scale) -> Evidence {
    let alone: Vec<_> = SETTINGS.into_iter().map(|setting| alone(setting, scale)).collect();
    let busy: Vec<_> = SETTINGS.into_iter().map(|setting| busy(setting, scale)).collect();
    let tables = vec![
        table(
            "Visits with rounds, moves and the last visit with levels, of a timer that is alone",
            &alone,
        ),
        table(
            "Entries read with rounds, moves and the last visit with levels, for each timer, four due at each tick",
            &busy,
        ),
    ];
    Evidence { findings: findings(&alone), tables, charts: vec![chart(&alone)] }
}

fn alone(setting: Setting, scale: &Scale) -> Costs {
    let delays: Vec<Tick> = DELAYS.map(|bits| 1 << bits).collect();
    let [rounds, levels] = ours::curves(&delays, scale.seeds(), |mean, seed| {
        let mut random = random(seed ^ mean << 32);
        let mut levels = configured::hierarchical_wheel(setting.slots_per_level, 0);
        let mut work = [0; 2];
        for _ in 0..TIMERS {
            let delay = random.random_range(1..=2 * mean);
            work[0] += visits(setting.slots as Tick, delay);
            // From any phase of the levels.
            let start = levels.timer.now() + random.random_range(1..1 << 20);
            levels.timer.advance(start, |_| ());
            work[1] += moves(&mut levels, delay);
        }
        work.map(|work| work as f64 / TIMERS as f64)
    });
    Costs { setting, rounds, levels }
}

/// How often a hand that comes to a slot a tick visits that of a timer until it fires. Scheme 6
/// does; ours does not look into a slot in which nothing is due.
fn visits(slots: Tick, delay: Tick) -> u64 {
    delay.div_ceil(slots)
}

/// How often a timer is moved until it fires, and its last visit.
fn moves<T: Timer<u64>>(probe: &mut Probe<T>, delay: Tick) -> u64 {
    probe.fill([delay]);
    let wakeups = ours::wakeups(probe, |_, _| ());
    wakeups.iter().map(|wakeup| wakeup.moved + wakeup.fired).sum()
}

/// The same where a timer that fires is started again, so that four are due at each tick.
fn busy(setting: Setting, scale: &Scale) -> Costs {
    let longest = scale.to.min(MOST_BUSY) - DUE.ilog2();
    let delays: Vec<Tick> = (*DELAYS.start()..=longest).map(|bits| 1 << bits).collect();
    let [rounds, levels] = ours::curves(&delays, scale.seeds(), |mean, seed| {
        let rounds = held(configured::round_wheel(setting.slots), mean, seed);
        let levels = held(configured::hierarchical_wheel(setting.slots_per_level, 0), mean, seed);
        let each = |held: &Held, work: Work| held.work.of(work) as f64 / held.fired as f64;
        [each(&rounds, Work::EntryScan), 1.0 + each(&levels, Work::CascadeMove)]
    });
    Costs { setting, rounds, levels }
}

/// Tick by tick over twice the mean delay, after as long a time in which the wheel becomes steady.
fn held<T: Timer<u64>>(mut probe: Probe<T>, mean: Tick, seed: u64) -> Held {
    let mut random = random(seed ^ mean << 32);
    let mut delay = || random.random_range(1..=2 * mean);
    probe.fill((0..DUE * mean).map(|_| delay()).collect::<Vec<_>>());
    hold(&mut probe, 1..=2 * mean, &mut delay);
    hold(&mut probe, 2 * mean + 1..=4 * mean, &mut delay)
}

fn findings(costs: &[Costs]) -> Vec<Finding> {
    let mut rounds_preferred = Vec::new();
    let mut layers_faster = Vec::new();
    for it in costs {
        let points: Vec<_> = it.points().collect();
        for (place, point) in [("short", points.first()), ("long", points.last())] {
            let Some((delay, rounds, levels)) = point else { continue };
            let what = format!("{}, {place} delays of {delay:.0} ticks", it.setting.name());
            rounds_preferred.push(Part::new(format!("{what}: rounds cost less"), rounds < levels));
            layers_faster.push(Part::new(format!("{what}: layers cost less"), levels < rounds));
        }
    }
    let crossover = |it: &Costs| {
        let from = it
            .crossover()
            .map_or("never".to_owned(), |delay| format!("from a mean delay of {delay:.0} ticks"));
        format!(
            "{from} against {} slots with rounds (by the formula at most {})",
            it.setting.slots,
            it.setting.predicted()
        )
    };
    let figure = format!(
        "in visits and moves levels cost less {}",
        costs.iter().map(crossover).collect::<Vec<_>>().join(", ")
    );
    vec![
        Finding::new("C09", figure.clone(), rounds_preferred),
        Finding::new("C19", figure, layers_faster),
    ]
}

fn table(title: &str, costs: &[Costs]) -> Table {
    let heads = costs
        .iter()
        .flat_map(|it| ["rounds", "levels"].map(|side| format!("{}: {side}", it.setting.name())));
    let mut table = Table::new(title, std::iter::once("mean delay".to_owned()).chain(heads));
    let columns: Vec<Vec<_>> = costs.iter().map(|it| it.points().collect()).collect();
    for at in 0..columns.first().map_or(0, Vec::len) {
        let cells = columns
            .iter()
            .flat_map(|points| [points[at].1, points[at].2].map(|cost| format!("{cost:.2}")));
        table.row(std::iter::once(format!("{:.0}", columns[0][at].0)).chain(cells));
    }
    table
}

fn chart(costs: &[Costs]) -> Chart {
    let series = |it: &Costs| {
        let rounds = Series {
            name: format!("rounds, {} slots", it.setting.slots),
            points: it.rounds.points(),
        };
        let levels =
            format!("{} levels of {} slots", it.setting.levels, it.setting.slots_per_level);
        [rounds, Series { name: levels, points: it.levels.points() }]
    };
    Chart {
        title: "Rounds or levels".to_owned(),
        subtitle: "visits and moves of a timer from start to end".to_owned(),
        x: "mean delay in ticks".to_owned(),
        y: "visits and moves".to_owned(),
        series: costs.iter().flat_map(series).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::paper::rounds::Rounds;

    #[test]
    fn a_timer_is_visited_once_a_round() {
        for delay in [1, 63, 64, 65, 1_000] {
            let mut scheme_6 = Rounds::new(64);
            scheme_6.start(delay);
            let met: u64 = (0..delay).map(|_| scheme_6.tick().met()).sum();
            assert_eq!(met, visits(64, delay));
        }
    }

    #[test]
    fn the_paper_predicts_768_and_16384() {
        assert_eq!(SETTINGS.map(|setting| setting.predicted()), [768, 16_384]);
    }
}
