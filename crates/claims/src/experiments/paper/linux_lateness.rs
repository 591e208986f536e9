//! How late Linux's wheel is: delays over all its levels, in the worst phase and in others.
//!
//! A timer is put into the slot that ends at its deadline or next after it, and stays there. A level is eight times as coarse as the one below and begins at 63 slots
//! of that one: so its shortest delay is 63/8 of its slots, and the most by which that can be late is a tick less than a slot, under 8/63 of the delay.

use crate::count::{Probe, random};
use crate::experiments::Experiment;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::ops::RangeInclusive;
use wheelhouse_binary_heap::Definition as Heap;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_linux_wheel::LinuxWheel;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "linux-lateness",
    about: "linux-wheel, single timers with delays over levels 0 to 8, in the worst phase and at random: ticks and share of the delay by which they are late; hierarchical-wheel, kafka-wheel and binary-heap beside it",
    run,
};

/// Levels of Linux at 1,000 ticks a second.
const LEVELS: RangeInclusive<u32> = 0..=8;

/// The bound that follows from where the levels begin.
const BOUND: f64 = 8.0 / 63.0;

/// The bound that was given when the wheel was introduced.
const SAID: f64 = 0.125;

/// Phases of each delay, for each seed; one of them the worst.
const PHASES: u64 = 8;

/// A level, and its timers.
struct Level {
    number: u32,
    delays: Vec<Tick>,
    /// For each delay the earliest and the latest firing, in ticks after the deadline.
    linux: Vec<(i64, i64)>,
    /// Of all structures that are exact.
    exact: Vec<(i64, i64)>,
}

impl Level {
    /// The most ticks that a timer is late.
    fn latest(&self) -> i64 {
        self.linux.iter().map(|(_, latest)| *latest).max().unwrap_or(0)
    }

    /// Delay and the share of it that a timer is late at most.
    fn shares(&self) -> impl Iterator<Item = (f64, f64)> {
        self.delays.iter().zip(&self.linux).map(|(delay, (_, latest))| (*delay as f64, *latest as f64 / *delay as f64))
    }

    fn worst(&self) -> f64 {
        self.shares().map(|(_, share)| share).fold(0.0, f64::max)
    }

    /// Ticks of a slot.
    fn width(&self) -> u64 {
        8_u64.pow(self.number)
    }
}

fn run(scale: &Scale) -> Evidence {
    let levels: Vec<_> = LEVELS.map(|number| level(number, scale)).collect();
    Evidence {
        findings: vec![bounded(&levels), as_said(&levels)],
        tables: vec![table(&levels)],
        charts: vec![ticks_late(&levels), share_late(&levels)],
    }
}

/// The delays of a level, four in each doubling, its shortest and its longest among them.
fn delays(level: u32) -> Vec<Tick> {
    if level == 0 {
        return vec![1, 2, 4, 8, 16, 32, 62];
    }
    let shortest = 63 * 8_u64.pow(level - 1);
    let quarter = |quarter: u32| (shortest as f64 * 2_f64.powf(f64::from(quarter) / 4.0)) as Tick;
    (0..12).map(quarter).chain([8 * shortest - 1]).collect()
}

fn level(number: u32, scale: &Scale) -> Level {
    let delays = delays(number);
    let linux = misses::<wheelhouse_linux_wheel::Definition>(&delays, scale);
    let exact = [
        misses::<wheelhouse_hierarchical_wheel::Definition>(&delays, scale),
        misses::<wheelhouse_kafka_wheel::Definition>(&delays, scale),
        misses::<Heap<2>>(&delays, scale),
    ];
    Level { number, delays, linux, exact: exact.concat() }
}

/// The earliest firing and the latest of timers of each delay, in ticks after the deadline.
fn misses<B: Backend + 'static>(delays: &[Tick], scale: &Scale) -> Vec<(i64, i64)> {
    let of_delay = |delay: &Tick| {
        let of_seed = |seed| {
            let (mut timer, mut random) = (Probe::of::<B>().timer, random(seed));
            let phases: Vec<_> = (0..PHASES).map(|phase| miss(&mut timer, *delay, phase, &mut random)).collect();
            phases.into_iter()
        };
        let misses: Vec<i64> = scale.seeds().flat_map(of_seed).collect();
        (misses.iter().min().copied().unwrap_or(0), misses.iter().max().copied().unwrap_or(0))
    };
    delays.iter().map(of_delay).collect()
}

/// By how many ticks a single timer misses its deadline. In the first phase that is a tick behind the end of a slot of Linux's wheel.
fn miss<T: Timer<u64>>(timer: &mut T, delay: Tick, phase: u64, random: &mut Pcg64Mcg) -> i64 {
    let width = LinuxWheel::<u64>::lateness(delay) + 1;
    let behind = if phase == 0 { 1 } else { random.random_range(0..width) };
    let soon = timer.now() + 1;
    let start = soon + (behind + width - (soon + delay) % width) % width;
    timer.advance(start, |_| ());
    timer.insert(start + delay, 0);
    let mut fired = start;
    while let Some(tick) = timer.next_wakeup() {
        timer.advance(tick, |_| ());
        fired = tick;
    }
    fired as i64 - (start + delay) as i64
}

fn bounded(levels: &[Level]) -> Finding {
    let worst = levels.iter().map(Level::worst).fold(0.0, f64::max);
    let earliest = levels.iter().flat_map(|level| &level.linux).map(|(earliest, _)| *earliest).min().unwrap_or(0);
    let exact = levels.iter().flat_map(|level| &level.exact).all(|miss| *miss == (0, 0));
    let figure = format!(
        "at most {:.2} % of the delay late, where 8/63 is {:.2} %; the exact ones {}",
        100.0 * worst,
        100.0 * BOUND,
        if exact { "on their tick" } else { "miss theirs" }
    );
    let parts = [
        Part::new("no timer of linux-wheel fires early", earliest >= 0),
        Part::new("none is later than 8/63 of its delay", worst <= BOUND),
        Part::new(
            "delays below 63 ticks fire on their tick",
            levels.iter().filter(|level| level.number == 0).all(|level| level.latest() == 0),
        ),
        Part::new("hierarchical-wheel, kafka-wheel and binary-heap fire every delay on its tick", exact),
    ];
    Finding::new("P4", figure, parts)
}

fn as_said(levels: &[Level]) -> Finding {
    let coarse: Vec<_> = levels.iter().filter(|level| level.number > 0).collect();
    let worst = coarse.iter().map(|level| level.worst()).fold(0.0, f64::max);
    // A tick less than a slot, for the shortest delay of the level.
    let by_slot = |level: &&Level| {
        let shortest = level.delays.first().map_or(0.0, |delay| *delay as f64);
        level.latest() as u64 == level.width() - 1
            && level.shares().all(|(delay, share)| delay == shortest || share < level.worst())
    };
    let above: Vec<_> =
        coarse.iter().filter(|level| level.worst() > SAID).map(|level| level.number.to_string()).collect();
    let parts = [
        Part::new("the worst of a level is a slot on its shortest delay", coarse.iter().all(by_slot)),
        Part::new("that is at most 12.5 %", worst <= SAID),
    ];
    Finding::new(
        "P5",
        format!("{:.2} % at the worst; above 12.5 % in levels {}", 100.0 * worst, above.join(", ")),
        parts,
    )
}

fn table(levels: &[Level]) -> Table {
    let columns = [
        "level",
        "a slot, ticks",
        "shortest delay",
        "longest",
        "latest, ticks",
        "share of the delay",
        "8/63",
        "exact ones, ticks",
    ];
    let mut table = Table::new("Lateness of Linux's wheel by level", columns);
    for level in levels {
        let delay = |at: Option<&Tick>| at.map_or(String::new(), Tick::to_string);
        table.row([
            level.number.to_string(),
            level.width().to_string(),
            delay(level.delays.first()),
            delay(level.delays.last()),
            level.latest().to_string(),
            format!("{:.3} %", 100.0 * level.worst()),
            format!("{:.3} %", 100.0 * BOUND),
            level.exact.iter().map(|(_, latest)| *latest).max().unwrap_or(0).to_string(),
        ]);
    }
    table
}

/// (delay, share late) of all levels, and lines of a constant share over the same delays.
fn lines(levels: &[Level], figure: fn(f64, f64) -> f64) -> Vec<Series> {
    let late: Vec<_> = levels.iter().flat_map(Level::shares).filter(|(_, share)| *share > 0.0).collect();
    let of = |name: &str, share: &dyn Fn(f64) -> f64| Series {
        name: name.to_owned(),
        points: late.iter().map(|(delay, late)| (*delay, figure(*delay, share(*late)))).collect(),
    };
    vec![of("linux-wheel", &|late| late), of("8/63 of the delay", &|_| BOUND), of("12.5 % of the delay", &|_| SAID)]
}

fn ticks_late(levels: &[Level]) -> Chart {
    Chart {
        title: "How late Linux's wheel is".to_owned(),
        subtitle: "the latest of many phases; hierarchical-wheel, kafka-wheel and binary-heap are at 0".to_owned(),
        x: "delay, ticks".to_owned(),
        y: "late, ticks".to_owned(),
        series: lines(levels, |delay, share| delay * share),
    }
}

fn share_late(levels: &[Level]) -> Chart {
    Chart {
        title: "How late Linux's wheel is, for its delay".to_owned(),
        subtitle: "the latest of many phases, in percent of the delay".to_owned(),
        x: "delay, ticks".to_owned(),
        y: "late, % of the delay".to_owned(),
        series: lines(levels, |_, share| 100.0 * share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel's table says of its levels.
    #[test]
    fn levels_begin_at_63_slots_of_the_level_below() {
        assert_eq!(delays(1).first(), Some(&63));
        assert_eq!((delays(2).first(), delays(2).last()), (Some(&504), Some(&4_031)));
        assert_eq!(delays(8).first(), Some(&132_120_576));
        for number in LEVELS {
            assert!(delays(number).iter().all(|delay| LinuxWheel::<u64>::lateness(*delay) == 8_u64.pow(number) - 1));
        }
    }
}
