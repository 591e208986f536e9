//! Examples that the articles stand on: Varghese and Lauck's figures, nine minutes in Linux.

use crate::experiment::Experiment;
use crate::experiments::models::checks::{Checks, shown};
use crate::experiments::models::structures::{by_wakeups, each};
use crate::experiments::paper::linux_model;
use crate::{Evidence, Scale};
use wheelhouse_core::{Tick, Timer};
use wheelhouse_linux_wheel::LinuxWheel;

pub(super) const E14: Experiment = Experiment {
    name: "example-e14",
    about: "figures 9 to 11 of Varghese and Lauck: the index, the way through the wheels of hours, minutes and seconds, the slots of 100 days; firing on every structure",
    run: varghese_and_lauck,
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
    while let Some((unit, slots)) =
        WHEELS.into_iter().find(|(unit, _)| now / unit != deadline / unit)
    {
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
    checks.is(
        "figure 10: 11 d 10:24:30 and 50:45 is 11 d 11:15:15",
        clock(11, 11, 15, 15),
        now + delay,
    );
    let through = way(now, now + delay);
    checks.is(
        "figures 10 and 11: hour, minute and second in whose slots it waits",
        vec![(3_600, 11), (60, 15), (1, 15)],
        through.clone(),
    );
    checks.is(
        "the hour slot is ahead by",
        1,
        through.first().map_or(0, |(unit, slot)| slot - now / unit % 24),
    );
    checks.is(
        "slots of the hierarchy for 100 days",
        244,
        WHEELS.iter().map(|(_, slots)| slots).sum::<u64>(),
    );
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
    checks.holds(
        "it never fires before 540 s",
        earliest >= DELAY,
        format!("after {earliest} ms at the earliest"),
    );
    checks.holds(
        "it fires after more than 550 s in some phases",
        beyond > 0,
        format!("from {beyond} of {phases}"),
    );
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
