//! How late timers fire in a wheel that moves them closer, level by level, and in one that leaves them where they are.

use crate::count::random;
use crate::experiments::Experiment;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_linux_wheel::LinuxWheel;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "precision-by-level",
    about: "hierarchical-wheel, which demotes, and linux-wheel, which does not: lateness of 100,000 timers at random and of those at the edges of each level",
    run,
};

/// Timers with random delays, all together.
const RANDOM: u64 = 100_000;
/// Levels of Linux's wheel whose edges are looked at, and phases of the clock for each.
const LEVELS: u32 = 9;
const PHASES: u64 = 200;
/// The bound for a wheel of levels eight times as coarse as the one below, which begin at 63 of its slots.
const BOUND: (u64, u64) = (8, 63);

/// The lateness of one timer.
#[derive(Clone, Copy, Debug)]
struct Late {
    delay: Tick,
    by: Tick,
    early: bool,
}

fn run(scale: &Scale) -> Evidence {
    let wheels = [
        ("hierarchical-wheel", measure(HierarchicalWheel::new(), scale)),
        ("linux-wheel", measure(LinuxWheel::new(), scale)),
    ];
    let [(_, demoted), (_, left)] = &wheels;
    let findings = vec![finding(demoted, left)];
    Evidence { findings, tables: vec![table(&wheels)], charts: vec![chart(left)] }
}

/// The delays at and around the shortest of a level of Linux's wheel.
fn edges() -> impl Iterator<Item = Tick> {
    let first = |level: u32| if level == 0 { 2 } else { 63 << (3 * (level - 1)) };
    (0..LEVELS).flat_map(move |level| [first(level) - 1, first(level), first(level) + 1])
}

/// A delay of any magnitude, up to 2^30.
fn any(random: &mut Pcg64Mcg) -> Tick {
    let bits = random.random_range(1..=30_u32);
    random.random_range(1..=1 << bits)
}

fn measure(mut wheel: impl Timer<u64>, scale: &Scale) -> Vec<Late> {
    let mut late = Vec::new();
    for seed in scale.seeds() {
        let mut random = random(seed);
        for delay in edges() {
            late.extend((0..PHASES).map(|_| fire(&mut wheel, delay, &mut random)));
        }
        for _ in 0..RANDOM / scale.seeds {
            let delay = any(&mut random);
            late.push(fire(&mut wheel, delay, &mut random));
        }
    }
    late
}

/// Starts a timer at a random tick and goes from wake-up to wake-up until it has fired.
fn fire(wheel: &mut impl Timer<u64>, delay: Tick, random: &mut Pcg64Mcg) -> Late {
    let now = wheel.now() + random.random_range(0..1 << 24);
    wheel.advance(now, |_| ());
    let deadline = now + delay;
    wheel.insert(deadline, 0);
    let mut at = now;
    while let Some(tick) = wheel.next_wakeup() {
        at = tick;
        wheel.advance(tick, |_| ());
    }
    Late { delay, by: at.saturating_sub(deadline), early: at < deadline }
}

fn finding(demoted: &[Late], left: &[Late]) -> Finding {
    let latest = demoted.iter().map(|it| it.by).max().unwrap_or(Tick::MAX);
    let within = |it: &Late| u128::from(it.by) * u128::from(BOUND.1) <= u128::from(it.delay) * u128::from(BOUND.0);
    let share = left.iter().map(|it| it.by as f64 / it.delay as f64).fold(0.0, f64::max);
    let never_early = demoted.iter().chain(left).all(|it| !it.early);
    let parts = [
        Part::new("with demotion every timer fires at its tick", latest == 0 && !demoted.is_empty()),
        Part::new("without it the lateness is a share of the delay", left.iter().any(|it| it.by > 0)),
        Part::new("of at most 8/63", !left.is_empty() && left.iter().all(within)),
        Part::new("no timer is early in either", never_early),
    ];
    let figure =
        format!("at most {latest} ticks late with demotion, up to {:.2} % of the delay without it", 100.0 * share);
    Finding::new("C62", figure, parts)
}

/// The magnitude of a delay: the power of two at or below it.
fn magnitude(late: &Late) -> u32 {
    late.delay.ilog2()
}

fn table(wheels: &[(&str, Vec<Late>); 2]) -> Table {
    let columns = ["wheel", "delays", "timers", "late", "early", "most ticks late", "largest share of the delay"];
    let mut table = Table::new("Lateness by the magnitude of the delay", columns);
    for (name, late) in wheels {
        for bits in (0..=30).step_by(3) {
            let these: Vec<_> = late.iter().filter(|it| (bits..bits + 3).contains(&magnitude(it))).collect();
            let count = |of: fn(&Late) -> bool| these.iter().filter(|it| of(it)).count().to_string();
            let most = these.iter().map(|it| it.by).max().unwrap_or(0).to_string();
            let share = these.iter().map(|it| it.by as f64 / it.delay as f64).fold(0.0, f64::max);
            let delays = format!("2^{bits} to 2^{}", bits + 3);
            let counts =
                [these.len().to_string(), count(|it| it.by > 0), count(|it| it.early), most, format!("{share:.4}")];
            table.row([(*name).to_owned(), delays].into_iter().chain(counts));
        }
    }
    table
}

fn chart(left: &[Late]) -> Chart {
    let at = |bits: u32, figure: fn(&Late) -> f64| {
        let these = left.iter().filter(move |it| magnitude(it) == bits);
        ((1_u64 << bits) as f64, these.map(figure).fold(0.0, f64::max))
    };
    let line = |name: &str, figure: fn(&Late) -> f64| Series {
        name: name.to_owned(),
        points: (0..=30).map(|bits| at(bits, figure)).filter(|point| point.1 > 0.0).collect(),
    };
    Chart {
        title: "Lateness without demotion".to_owned(),
        subtitle: "the latest timer of linux-wheel for each magnitude of delay; hierarchical-wheel is never late"
            .to_owned(),
        x: "delay in ticks".to_owned(),
        y: "ticks late".to_owned(),
        series: vec![
            line("linux-wheel", |it| it.by as f64),
            line("8/63 of the delay", |it| it.delay as f64 * 8.0 / 63.0),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_are_those_of_linux() {
        let edges: Vec<_> = edges().collect();
        assert_eq!(edges[..6], [1, 2, 3, 62, 63, 64]);
        assert!(edges.contains(&504) && edges.contains(&4_032) && edges.contains(&132_120_576));
    }

    #[test]
    fn nine_minutes_may_be_half_a_minute_late() {
        let mut random = random(1);
        let mut wheel = LinuxWheel::new();
        let latest = (0..1_000).map(|_| fire(&mut wheel, 540_000, &mut random).by).max();
        assert!(latest.is_some_and(|by| (30_000..32_768).contains(&by)), "{latest:?}");
    }
}
