//! C62, E16, P4, P5: how late Linux's wheel is, over all its levels, in the worst phases and in
//! others.
//!
//! A timer is put into a slot behind its deadline, and stays there. A level is eight times as
//! coarse as the one below and begins at 63 slots of that one: so its shortest delay is 63/8 of its
//! slots, and a slot is at most 8/63 of a delay. Linux is decided on its
//! [arithmetic](super::models::linux), which adds a slot to each deadline. linux-wheel, which adds
//! none to a deadline at the end of a slot, and wheels that move timers closer stand beside it.

use super::models::linux::{LEVELS, fires, level, shortest, width};
use crate::count::{AnyTimer, random};
use crate::{Evidence, Experiment, Lab};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_linux_wheel::LinuxWheel;

pub(super) const LATENESS: Experiment = Experiment {
    name: "linux-lateness",
    about: "Linux's arithmetic and linux-wheel, single timers with delays over levels 0 to 8, in \
        the worst phases and at random; list-wheel, hierarchical-wheel, kafka-wheel and \
        binary-heap beside them",
    run,
};

/// The bound that follows from where the levels begin, and the one given when the wheel was
/// introduced.
const BOUND: f64 = 8.0 / 63.0;
const SAID: f64 = 0.125;
/// Phases of each delay, for each seed. In the first the deadline is where a slot ends, in the
/// second a tick behind.
const PHASES: u64 = 8;
const EXACT: [&str; 4] = ["list-wheel", "hierarchical-wheel", "kafka-wheel", "binary-heap"];

/// The earliest and the latest firing of timers with a delay, in ticks after the deadline.
#[derive(Clone, Copy, Debug)]
struct Miss {
    level: u32,
    delay: Tick,
    earliest: i64,
    latest: i64,
}

impl Miss {
    fn share(&self) -> f64 {
        self.latest as f64 / self.delay as f64
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

/// What timers of each delay miss, in each phase and for each seed.
fn misses<S>(
    lab: &Lab,
    make: impl Fn() -> S,
    miss: impl Fn(&mut S, Tick, u64, &mut Pcg64Mcg) -> i64,
) -> Vec<Miss> {
    let of_delay = |(level, delay): (u32, Tick)| {
        let (mut earliest, mut latest) = (i64::MAX, i64::MIN);
        for seed in lab.seeds() {
            let (mut subject, mut random) = (make(), random(seed));
            for phase in 0..PHASES {
                let missed = miss(&mut subject, delay, phase, &mut random);
                (earliest, latest) = (earliest.min(missed), latest.max(missed));
            }
        }
        Miss { level, delay, earliest, latest }
    };
    LEVELS
        .flat_map(|level| delays(level).into_iter().map(move |delay| (level, delay)))
        .map(of_delay)
        .collect()
}

/// The next tick from which a delay ends so many ticks behind the end of a slot of its level as the
/// phase says.
fn start(now: Tick, delay: Tick, phase: u64, random: &mut Pcg64Mcg) -> Tick {
    let width = width(level(delay));
    let behind = if phase < 2 { phase } else { random.random_range(0..width) };
    now + 1 + (behind + width - (now + 1 + delay) % width) % width
}

/// By how many ticks a single timer misses its deadline.
fn miss(timer: &mut AnyTimer, delay: Tick, phase: u64, random: &mut Pcg64Mcg) -> i64 {
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

fn latest(misses: &[Miss], level: u32) -> i64 {
    misses.iter().filter(|it| it.level == level).map(|it| it.latest).max().unwrap_or(0)
}

/// The greatest share of its delay that a timer is late, from level 1 on.
fn worst(misses: &[Miss]) -> f64 {
    misses.iter().filter(|it| it.level > 0).map(Miss::share).fold(0.0, f64::max)
}

fn run(lab: &Lab, e: &mut Evidence) {
    let linux = misses(
        lab,
        || 0,
        |now: &mut Tick, delay, phase, random| {
            *now = start(*now, delay, phase, random);
            fires(*now, *now + delay) as i64 - (*now + delay) as i64
        },
    );
    let of = |name: &str| misses(lab, || lab.make(name).timer, miss);
    let (ours, exact) = (of("linux-wheel"), EXACT.map(of));
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let early = linux.iter().chain(&ours).filter(|it| it.earliest < 0).count();
    let off = exact.iter().flatten().filter(|it| (it.earliest, it.latest) != (0, 0)).count();
    e.holds(
        "P4.1",
        "Linux's wheel never fires early.",
        early == 0,
        format!("{early} delays early"),
    );
    let later = LEVELS.filter(|level| latest(&linux, *level) > width(*level) as i64).count();
    e.holds(
        "P4.2",
        "It is late by a slot of the level at most.",
        later == 0,
        "at each of nine levels",
    );
    let quote = "From 63 ticks on it is late by 8/63 of the delay at most.";
    e.holds("P4.3", quote, worst(&linux) <= BOUND, percent(worst(&linux)));
    let quote = "A wheel that cascades is exact.";
    e.holds("P4.4", quote, off == 0, format!("{off} delays off, {} structures", EXACT.len()));
    let on_shortest = LEVELS.skip(1).all(|at| {
        let of_level: Vec<_> = linux.iter().filter(|it| it.level == at).collect();
        let worst = of_level.iter().map(|it| it.share()).fold(0.0, f64::max);
        worst == width(at) as f64 / shortest(at) as f64
            && of_level.iter().all(|it| it.delay == shortest(at) || it.share() < worst)
    });
    let quote = "The worst lateness of a level is a slot on its shortest delay.";
    e.holds("P5.1", quote, on_shortest, "from level 1 on");
    e.holds("P5.2", "That is 12.5 % at most.", worst(&linux) <= SAID, percent(worst(&linux)));
    let quote = "Demotion from level to level keeps the precision: each fires at its tick.";
    e.holds("C62.1", quote, off == 0, format!("{off} delays off, {} structures", EXACT.len()));
    let rises =
        |misses: &[Miss]| LEVELS.skip(1).all(|at| latest(misses, at) > latest(misses, at - 1));
    let quote = "Without it a timer is the later, the higher its level.";
    let number = format!("up to {} of the delay, in Linux", percent(worst(&linux)));
    e.holds("C62.2", quote, rises(&linux) && rises(&ours), number);
    let row = |at: u32| {
        let [linux, ours] = [&linux, &ours].map(|misses| latest(misses, at).to_string());
        [at.to_string(), width(at).to_string(), shortest(at).to_string(), linux, ours]
    };
    let columns =
        ["level", "a slot, ticks", "shortest delay", "Linux, latest", "linux-wheel, latest"];
    e.table("Ticks by which timers are late", columns, LEVELS.map(row));
    let line = |name: &str, misses: &[Miss]| {
        let points = misses.iter().map(|it| (it.delay as f64, 100.0 * it.share()));
        (name.to_owned(), points.collect::<Vec<_>>())
    };
    let subtitle = "the latest of many phases; wheels that demote are at 0";
    e.chart(
        ["How late Linux's wheel is", subtitle, "delay, ticks", "late, % of the delay"],
        [line("Linux", &linux), line("linux-wheel", &ours)],
    );
}

pub(super) const E16: Experiment = Experiment {
    name: "example-e16",
    about: "540 s by Linux's arithmetic and in linux-wheel, tick 1 ms, from each of 32,768 phases: \
        level, granularity, and when it fires",
    run: nine_minutes,
};

fn nine_minutes(_: &Lab, e: &mut Evidence) {
    const DELAY: Tick = 540_000;
    let level = level(DELAY);
    e.is("E16.1", "540 s at 1000 Hz go into level 5.", 5, level);
    e.is("E16.2", "The granularity there is 32.768 s.", 32_768, width(level));
    let after: Vec<Tick> =
        (0..width(level)).map(|phase| fires(phase, phase + DELAY) - phase).collect();
    let (least, most) =
        (after.iter().min().copied().unwrap_or(0), after.iter().max().copied().unwrap_or(0));
    let beyond = after.iter().filter(|after| **after > 550_000).count();
    e.holds(
        "E16.3",
        "540 s became more than 550 s.",
        beyond > 0,
        format!("from {beyond} of {} phases", after.len()),
    );
    e.holds(
        "E16.4",
        "It never fires before 540 s.",
        least >= DELAY,
        format!("after {least} to {most} ms"),
    );
    let mut wheel = LinuxWheel::<u64>::new();
    let mut ours = (0..width(level)).step_by(97).map(|phase| {
        let start = (wheel.now() / width(level) + 1) * width(level) + phase;
        wheel.advance(start, |_| ());
        wheel.insert(start + DELAY, phase);
        super::drive::by_wakeups(&mut wheel).1.first().map_or(0, |(tick, _)| tick - start)
    });
    e.beside("linux-wheel fires after, at the latest, in ms", ours.by_ref().max().unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands beside each other is comparable: both put a delay into the same level.
    #[test]
    fn linux_wheel_has_the_levels_of_linux() {
        for number in LEVELS {
            for delay in delays(number) {
                assert_eq!((level(delay), LinuxWheel::<u64>::level(delay)), (number, number));
            }
        }
    }
}
