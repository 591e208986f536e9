//! Examples that the articles stand on: Varghese and Lauck's figures, a burst in Netty, nine minutes in Linux.

use crate::count::{Tally, random};
use crate::experiments::Experiment;
use crate::experiments::models::checks::{Checks, shown};
use crate::experiments::models::netty_submit_model::{cap, delays};
use crate::experiments::models::structures::{by_wakeups, each};
use crate::experiments::models::submissions::lateness;
use crate::experiments::paper::linux_model;
use crate::{Evidence, Scale, Table};
use wheelhouse_core::{Tick, Timer};
use wheelhouse_linux_wheel::LinuxWheel;

pub(super) const E14: Experiment = Experiment {
    name: "example-e14",
    about: "figures 9 to 11 of Varghese and Lauck: the index, the way through the wheels of hours, minutes and seconds, the slots of 100 days; firing on every structure",
    run: varghese_and_lauck,
};

pub(super) const E15: Experiment = Experiment {
    name: "example-e15",
    about: "a million timers offered at once to Netty's worker, due within a second, with its cap and without, five seeds: quantiles of the lateness",
    run: a_million_at_once,
};

pub(super) const E16: Experiment = Experiment {
    name: "example-e16",
    about: "540 s by Linux's arithmetic and in linux-wheel, tick 1 ms, from each of 32,768 phases: level, granularity, and when it fires",
    run: nine_minutes,
};

/// The units of the paper's wheels, the coarsest first, in seconds, and their slots.
const WHEELS: [(Tick, u64); 4] = [(86_400, 100), (3_600, 24), (60, 60), (1, 60)];

/// A moment of the paper's clock, in seconds.
const fn clock(day: Tick, hour: Tick, minute: Tick, second: Tick) -> Tick {
    ((day * 24 + hour) * 60 + minute) * 60 + second
}

/// The way of a timer through the wheels: the unit and the slot of each wheel that it waits in. It waits in the coarsest in which now and deadline differ, until that slot
/// begins.
fn way(mut now: Tick, deadline: Tick) -> Vec<(Tick, u64)> {
    let mut way = Vec::new();
    while let Some((unit, slots)) = WHEELS.into_iter().find(|(unit, _)| now / unit != deadline / unit) {
        way.push((unit, deadline / unit % slots));
        now = deadline / unit * unit;
    }
    way
}

fn varghese_and_lauck(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Figures 9 to 11");
    // The deadline's low 8 bits are added to the pointer; its high bits are rounds.
    let index = |high: u64| (10 + ((high << 8) | 20)) % 256;
    checks.is(
        "figure 9: index of low 8 bits 20 with the pointer at 10, for any high bits",
        [30; 3],
        [0, 1, 1_000].map(index),
    );
    let (now, delay) = (clock(11, 10, 24, 30), clock(0, 0, 50, 45));
    checks.is("figure 10: 11 d 10:24:30 and 50:45 is 11 d 11:15:15", clock(11, 11, 15, 15), now + delay);
    let through = way(now, now + delay);
    checks.is(
        "figures 10 and 11: hour, minute and second in whose slots it waits",
        vec![(3_600, 11), (60, 15), (1, 15)],
        through.clone(),
    );
    checks.is("the hour slot is ahead by", 1, through.first().map_or(0, |(unit, slot)| slot - now / unit % 24));
    checks.is("slots of the hierarchy for 100 days", 244, WHEELS.iter().map(|(_, slots)| slots).sum::<u64>());
    checks.is("slots of one wheel for 100 days", 8_640_000, clock(100, 0, 0, 0));
    let outcomes = each(1, |timer| {
        timer.fired(now);
        timer.insert(now + delay, 0);
        [clock(11, 11, 0, 0), clock(11, 11, 15, 0), clock(11, 11, 15, 14), clock(11, 11, 15, 15)]
            .map(|at| timer.fired(at).len())
    });
    checks.everywhere("fired at 11:00:00, 11:15:00, 11:15:14, 11:15:15", [0, 0, 0, 1], &outcomes);
    checks.evidence("E14", format!("(unit, slot) on the way: {}", shown(&through)))
}

/// What is reported of the model, in ms: the median, the 99 % quantile and the latest with the cap; the latest without.
const REPORTED: [(&str, f64); 4] = [
    ("with the cap, median", 91.0),
    ("with the cap, 99 %", 901.0),
    ("with the cap, latest", 1_000.0),
    ("without the cap, latest", 100.0),
];

fn a_million_at_once(scale: &Scale) -> Evidence {
    let cap = cap(scale);
    let timers = 10 * cap;
    let seeds: Vec<[f64; 4]> = scale.seeds().map(|seed| quantiles(timers, cap, seed)).collect();
    let mut table = Table::new(
        format!("{timers} timers at once, {cap} moved a tick of 100 ms; lateness in ms"),
        ["figure", "reported", "least of the seeds", "most of the seeds"],
    );
    let mut checks =
        Checks::new("Against the reported figures: within the spread of the seeds, and a millisecond of rounding");
    let mut means = Vec::new();
    for (which, (name, reported)) in REPORTED.into_iter().enumerate() {
        let of_seeds = || seeds.iter().map(|figures| figures[which]);
        let (least, most) = (of_seeds().fold(f64::INFINITY, f64::min), of_seeds().fold(0.0, f64::max));
        table.row([name.to_owned(), format!("{reported}"), format!("{least:.1}"), format!("{most:.1}")]);
        let agrees = (least - 1.0..=most + 1.0).contains(&reported);
        checks.holds(format!("{name}: {reported} ms"), agrees, format!("{least:.1} to {most:.1}"));
        means.push(format!("{name} {:.0} ms", of_seeds().sum::<f64>() / seeds.len() as f64));
    }
    let (finding, detail) = checks.into_parts("E15", means.join(", "));
    Evidence { findings: vec![finding], tables: vec![table, detail], charts: Vec::new() }
}

/// Median, 99 % quantile and maximum with the cap, maximum without, in ms.
fn quantiles(timers: u64, cap: u64, seed: u64) -> [f64; 4] {
    let late =
        |cap| lateness(delays(timers, random(seed)), cap).into_iter().map(|late| late.max(0) as u64).collect::<Tally>();
    let (capped, free) = (late(cap), late(timers));
    [capped.quantile(0.5), capped.quantile(0.99), capped.max(), free.max()].map(|late| late as f64 / 1_000.0)
}

/// When a timer of nine minutes fires, in ms after its start, over all phases of a slot.
struct NineMinutes {
    earliest: Tick,
    latest: Tick,
    /// Phases from which it is after more than 550 s.
    beyond: usize,
}

impl NineMinutes {
    const DELAY: Tick = 540_000;

    /// `fires_after` is given each phase in turn.
    fn over(phases: Tick, mut fires_after: impl FnMut(Tick) -> Tick) -> Self {
        let after: Vec<Tick> = (0..phases).map(&mut fires_after).collect();
        Self {
            earliest: after.iter().min().copied().unwrap_or(0),
            latest: after.iter().max().copied().unwrap_or(0),
            beyond: after.iter().filter(|after| **after > 550_000).count(),
        }
    }

    /// By the kernel's arithmetic.
    fn in_linux(phases: Tick) -> Self {
        Self::over(phases, |phase| linux_model::fires(phase, phase + Self::DELAY) - phase)
    }

    /// In linux-wheel.
    fn in_ours(phases: Tick) -> Self {
        let mut wheel = LinuxWheel::<u64>::new();
        Self::over(phases, |phase| {
            let start = (wheel.now() / phases + 1) * phases + phase;
            wheel.advance(start, |_| ());
            wheel.insert(start + Self::DELAY, phase);
            by_wakeups(&mut wheel).1.first().map_or(0, |(tick, _)| tick - start)
        })
    }
}

fn nine_minutes(_: &Scale) -> Evidence {
    const DELAY: Tick = NineMinutes::DELAY;
    let mut checks = Checks::new("540,000 ticks in Linux, by its arithmetic");
    let level = linux_model::level(DELAY);
    let phases = linux_model::width(level);
    checks.is("granularity in ms", 32_768, phases);
    checks.is("level", 5, level);
    let (linux, ours) = (NineMinutes::in_linux(phases), NineMinutes::in_ours(phases));
    let NineMinutes { earliest, latest, beyond } = linux;
    checks.holds("it never fires before 540 s", earliest >= DELAY, format!("after {earliest} ms at the earliest"));
    checks.holds("it fires after more than 550 s in some phases", beyond > 0, format!("from {beyond} of {phases}"));
    let late = latest.saturating_sub(DELAY);
    let share = format!("{late} ms, {:.2} % at most", 100.0 * late as f64 / DELAY as f64);
    checks.holds("it is late by at most 8/63 of the delay", late * 63 <= DELAY * 8, share);
    checks.beside(
        "linux-wheel fires after, in ms, and after more than 550 s",
        format!("{} to {}, from {} of {phases} phases", ours.earliest, ours.latest, ours.beyond),
    );
    checks.evidence(
        "E16",
        format!(
            "Linux after {earliest} to {latest} ms, beyond 550 s from {beyond} of {phases} phases; linux-wheel after {} to {}",
            ours.earliest, ours.latest
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_goes_from_hours_to_minutes_to_seconds() {
        assert_eq!(way(clock(0, 0, 0, 59), clock(0, 0, 1, 0)), [(60, 1)]);
        assert_eq!(way(clock(3, 4, 5, 6), clock(5, 4, 0, 7)), [(86_400, 5), (3_600, 4), (1, 7)]);
        assert_eq!(way(7, 7), []);
    }
}
