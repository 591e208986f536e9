//! How late Linux's wheel is: delays over all its levels, in the worst phases and in others.
//!
//! A timer is put into a slot behind its deadline, and stays there. A level is eight times as coarse as the one below and begins at 63 slots of that one: so its shortest delay is
//! 63/8 of its slots, and a slot is at most 8/63 of a delay. Linux itself is decided on its [arithmetic](super::linux_model), which adds a slot to each deadline. linux-wheel,
//! which adds none to a deadline at the end of a slot, and wheels that move timers closer stand beside it.

use super::linux_model::{self, LEVELS, fires, shortest};
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_binary_heap::Definition as Heap;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "linux-lateness",
    about: "Linux's arithmetic and linux-wheel, single timers with delays over levels 0 to 8, in the worst phases and at random: ticks and share of the delay by which they are late; hierarchical-wheel, kafka-wheel and binary-heap beside them",
    run,
};

/// The bound that follows from where the levels begin.
const BOUND: (i64, i64) = (8, 63);

/// The bound that was given when the wheel was introduced.
const SAID: f64 = 0.125;

/// Phases of each delay, for each seed. In the first the deadline is where a slot ends, in the second a tick behind.
const PHASES: u64 = 8;

/// The earliest and the latest firing of timers with a delay, in ticks after the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Miss {
    delay: Tick,
    earliest: i64,
    latest: i64,
}

impl Miss {
    fn share(&self) -> f64 {
        self.latest as f64 / self.delay as f64
    }

    fn is_bounded(&self) -> bool {
        self.latest * BOUND.1 <= self.delay as i64 * BOUND.0
    }
}

/// A level, and its timers.
struct Level {
    number: u32,
    /// By the kernel's arithmetic.
    linux: Vec<Miss>,
    /// In linux-wheel.
    ours: Vec<Miss>,
    /// In wheels that demote.
    demoted: Vec<Miss>,
    heap: Vec<Miss>,
}

impl Level {
    /// Ticks of a slot.
    fn width(&self) -> i64 {
        linux_model::width(self.number) as i64
    }

    fn exact(&self) -> impl Iterator<Item = &Miss> {
        self.demoted.iter().chain(&self.heap)
    }
}

/// The most ticks that a timer is late.
fn latest<'a>(misses: impl IntoIterator<Item = &'a Miss>) -> i64 {
    misses.into_iter().map(|miss| miss.latest).max().unwrap_or(0)
}

/// The greatest share of its delay that a timer is late.
fn worst<'a>(misses: impl IntoIterator<Item = &'a Miss>) -> f64 {
    misses.into_iter().map(Miss::share).fold(0.0, f64::max)
}

fn run(scale: &Scale) -> Evidence {
    let levels: Vec<_> = LEVELS.map(|number| level(number, scale)).collect();
    Evidence {
        findings: vec![bounded(&levels), as_said(&levels), demotion(&levels)],
        tables: vec![table(&levels)],
        charts: vec![ticks_late(&levels), share_late(&levels)],
    }
}

/// The delays of a level, four in each doubling, its shortest and its longest among them.
fn delays(level: u32) -> Vec<Tick> {
    if level == 0 {
        return vec![1, 2, 4, 8, 16, 32, 62];
    }
    let shortest = shortest(level);
    let quarter = |quarter: u32| (shortest as f64 * 2_f64.powf(f64::from(quarter) / 4.0)) as Tick;
    (0..12).map(quarter).chain([8 * shortest - 1]).collect()
}

fn level(number: u32, scale: &Scale) -> Level {
    let delays = delays(number);
    let demoted = [
        of_structure::<wheelhouse_hierarchical_wheel::Definition>(&delays, scale),
        of_structure::<wheelhouse_kafka_wheel::Definition>(&delays, scale),
    ];
    let by_arithmetic = |now: &mut Tick, delay, phase, random: &mut Pcg64Mcg| {
        *now = start(*now, delay, phase, random);
        fires(*now, *now + delay) as i64 - (*now + delay) as i64
    };
    Level {
        number,
        linux: misses(&delays, scale, || 0, by_arithmetic),
        ours: of_structure::<wheelhouse_linux_wheel::Definition>(&delays, scale),
        demoted: demoted.concat(),
        heap: of_structure::<Heap<2>>(&delays, scale),
    }
}

fn of_structure<B: Backend + 'static>(delays: &[Tick], scale: &Scale) -> Vec<Miss> {
    misses(delays, scale, || Probe::of::<B>().timer, miss)
}

/// What timers of each delay miss, in each phase and for each seed, on something that is made for each seed.
fn misses<S>(
    delays: &[Tick],
    scale: &Scale,
    make: impl Fn() -> S,
    miss: impl Fn(&mut S, Tick, u64, &mut Pcg64Mcg) -> i64,
) -> Vec<Miss> {
    let of_delay = |&delay: &Tick| {
        let (mut earliest, mut latest) = (i64::MAX, i64::MIN);
        for seed in scale.seeds() {
            let (mut subject, mut random) = (make(), random(seed));
            for phase in 0..PHASES {
                let missed = miss(&mut subject, delay, phase, &mut random);
                (earliest, latest) = (earliest.min(missed), latest.max(missed));
            }
        }
        Miss { delay, earliest, latest }
    };
    delays.iter().map(of_delay).collect()
}

/// The next tick from which a delay ends so many ticks behind the end of a slot of its level as the phase says.
fn start(now: Tick, delay: Tick, phase: u64, random: &mut Pcg64Mcg) -> Tick {
    let width = linux_model::width(linux_model::level(delay));
    let behind = if phase < 2 { phase } else { random.random_range(0..width) };
    now + 1 + (behind + width - (now + 1 + delay) % width) % width
}

/// By how many ticks a single timer misses its deadline.
fn miss<T: Timer<u64>>(timer: &mut T, delay: Tick, phase: u64, random: &mut Pcg64Mcg) -> i64 {
    let start = start(timer.now(), delay, phase, random);
    timer.advance(start, |_| ());
    timer.insert(start + delay, 0);
    let mut fired = start;
    while let Some(tick) = timer.next_wakeup() {
        timer.advance(tick, |_| ());
        fired = tick;
    }
    fired as i64 - (start + delay) as i64
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// The timers of 63 ticks and more.
fn coarse(levels: &[Level]) -> impl Iterator<Item = &Level> {
    levels.iter().filter(|level| level.number > 0)
}

fn is_exact<'a>(misses: impl IntoIterator<Item = &'a Miss>) -> bool {
    misses.into_iter().all(|miss| (miss.earliest, miss.latest) == (0, 0))
}

fn bounded(levels: &[Level]) -> Finding {
    let linux = || levels.iter().flat_map(|level| &level.linux);
    let least = linux().map(|miss| miss.earliest).min().unwrap_or(0);
    let figure = format!(
        "from 63 ticks on at most {} of the delay late, where 8/63 is {}; never less than {least} tick; linux-wheel at most {}",
        percent(worst(coarse(levels).flat_map(|level| &level.linux))),
        percent(BOUND.0 as f64 / BOUND.1 as f64),
        percent(worst(coarse(levels).flat_map(|level| &level.ours))),
    );
    let parts = [
        Part::new("no timer of Linux fires early", linux().all(|miss| miss.earliest >= 0)),
        Part::new(
            "none is later than a slot of its level",
            levels.iter().all(|level| latest(&level.linux) <= level.width()),
        ),
        Part::new(
            "from 63 ticks on none is later than 8/63 of its delay",
            coarse(levels).flat_map(|level| &level.linux).all(Miss::is_bounded),
        ),
        Part::new(
            "hierarchical-wheel, kafka-wheel and binary-heap fire every delay on its tick",
            levels.iter().all(|level| is_exact(level.exact())),
        ),
    ];
    Finding::new("P4", figure, parts)
}

fn as_said(levels: &[Level]) -> Finding {
    let greatest = worst(coarse(levels).flat_map(|level| &level.linux));
    let by_slot = |level: &Level| {
        let worst = worst(&level.linux);
        let on_shortest =
            |miss: &Miss| miss.delay == shortest(level.number) || miss.share() < worst;
        worst == level.width() as f64 / shortest(level.number) as f64
            && level.linux.iter().all(on_shortest)
    };
    let above: Vec<_> = coarse(levels)
        .filter(|level| worst(&level.linux) > SAID)
        .map(|level| level.number.to_string())
        .collect();
    let parts = [
        Part::new(
            "from level 1 on the worst of a level is a slot on its shortest delay",
            coarse(levels).all(by_slot),
        ),
        Part::new(format!("that is at most 12.5 %; found {}", percent(greatest)), greatest <= SAID),
    ];
    Finding::new(
        "P5",
        format!("{}; above 12.5 % in levels {}", percent(greatest), above.join(", ")),
        parts,
    )
}

/// C62: what moving timers closer, level by level, is worth.
fn demotion(levels: &[Level]) -> Finding {
    let demoted = || levels.iter().flat_map(|level| &level.demoted);
    let left = || levels.iter().flat_map(|level| level.linux.iter().chain(&level.ours));
    let grows = |of: fn(&Level) -> &Vec<Miss>| {
        levels.windows(2).all(|pair| latest(of(&pair[1])) > latest(of(&pair[0])))
    };
    let parts = [
        Part::new(
            "with demotion every timer fires at its tick, whatever its level",
            is_exact(demoted()),
        ),
        Part::new(
            "without it timers are the later the higher their level, in Linux and in linux-wheel",
            grows(|level| &level.linux) && grows(|level| &level.ours),
        ),
        Part::new(
            "no timer is early in any of them",
            demoted().chain(left()).all(|miss| miss.earliest >= 0),
        ),
    ];
    let share = |of: fn(&Level) -> &Vec<Miss>| percent(worst(coarse(levels).flat_map(of)));
    let figure = format!(
        "at most {} ticks late with demotion; without it, from 63 ticks on, up to {} of the delay in Linux and {} in linux-wheel",
        latest(demoted()),
        share(|level| &level.linux),
        share(|level| &level.ours)
    );
    Finding::new("C62", figure, parts)
}

fn table(levels: &[Level]) -> Table {
    let columns = [
        "level",
        "a slot, ticks",
        "shortest delay",
        "longest",
        "Linux, least late",
        "latest",
        "share of the delay",
        "linux-wheel, latest",
        "share of the delay",
        "exact ones, latest",
    ];
    let mut table = Table::new(
        "Ticks by which timers are late, by level of Linux's wheel; 8/63 of the delay is 12.698 %",
        columns,
    );
    let share = |misses: &[Miss]| format!("{:.3} %", 100.0 * worst(misses));
    for level in levels {
        let delay = |at: Option<&Miss>| at.map_or(String::new(), |miss| miss.delay.to_string());
        table.row([
            level.number.to_string(),
            level.width().to_string(),
            delay(level.linux.first()),
            delay(level.linux.last()),
            level.linux.iter().map(|miss| miss.earliest).min().unwrap_or(0).to_string(),
            latest(&level.linux).to_string(),
            share(&level.linux),
            latest(&level.ours).to_string(),
            share(&level.ours),
            latest(level.exact()).to_string(),
        ]);
    }
    table
}

/// Both over the delay, and lines of a constant share.
fn lines(levels: &[Level], figure: fn(f64, f64) -> f64) -> Vec<Series> {
    let series = |name: &str, misses: Vec<&Miss>, share: &dyn Fn(&Miss) -> f64| {
        let point = |miss: &&Miss| (miss.delay as f64, figure(miss.delay as f64, share(miss)));
        let points = misses.iter().map(point).filter(|(_, late)| *late > 0.0).collect();
        Series { name: name.to_owned(), points }
    };
    let of = |misses: fn(&Level) -> &Vec<Miss>| levels.iter().flat_map(misses).collect::<Vec<_>>();
    let bound = BOUND.0 as f64 / BOUND.1 as f64;
    vec![
        series("Linux", of(|level| &level.linux), &Miss::share),
        series("linux-wheel", of(|level| &level.ours), &Miss::share),
        series("8/63 of the delay", of(|level| &level.linux), &|_| bound),
    ]
}

fn ticks_late(levels: &[Level]) -> Chart {
    Chart {
        title: "How late Linux's wheel is".to_owned(),
        subtitle:
            "the latest of many phases; hierarchical-wheel, kafka-wheel and binary-heap are at 0"
                .to_owned(),
        x: "delay, ticks".to_owned(),
        y: "late, ticks".to_owned(),
        series: lines(levels, |delay, share| delay * share),
    }
}

fn share_late(levels: &[Level]) -> Chart {
    Chart {
        title: "How late Linux's wheel is, for its delay".to_owned(),
        subtitle:
            "the latest of many phases, in percent of the delay; one tick is all of a delay of one"
                .to_owned(),
        x: "delay, ticks".to_owned(),
        y: "late, % of the delay".to_owned(),
        series: lines(levels, |_, share| 100.0 * share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_linux_wheel::LinuxWheel;

    /// What stands beside each other is comparable: both put a delay into the same level.
    #[test]
    fn linux_wheel_has_the_levels_of_linux() {
        for number in LEVELS {
            let delays = delays(number);
            assert!(delays.iter().all(|delay| linux_model::level(*delay) == number), "{number}");
            assert!(
                delays.iter().all(|delay| LinuxWheel::<u64>::level(*delay) == number),
                "{number}"
            );
        }
    }
}
