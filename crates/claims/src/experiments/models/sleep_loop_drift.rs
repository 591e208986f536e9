//! A hand that a loop turns by sleeping and stepping, and one that is set from what has passed.
//!
//! Time runs in thousandths of a slot. A sleep takes a little longer than asked for, and after each step the loop works for a while. The one loop
//! sleeps for a slot and steps on by one. The other sleeps until the next slot begins, and steps on to the slot that it then is.

use crate::count::random;
use crate::experiment::Experiment;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "sleep-loop-drift",
    about: "model of a hand turned by a loop of sleep and step, and of one set from elapsed time, under random oversleep and work: slots behind and lateness over 10,000 slots",
    run,
};

/// Parts of a slot.
const SLOT: u64 = 1_000;
const SLOTS: u64 = 10_000;

/// What disturbs the loop: the most by which a sleep is too long and the most that a step works, in parts of a slot.
#[derive(Clone, Copy)]
struct Load {
    name: &'static str,
    oversleep: u64,
    work: u64,
}

const LOADS: [Load; 4] = [
    Load { name: "none", oversleep: 0, work: 0 },
    Load { name: "oversleep up to 0.1 slots", oversleep: 100, work: 0 },
    Load { name: "work up to 0.1 slots", oversleep: 0, work: 100 },
    Load { name: "both", oversleep: 100, work: 100 },
];

/// How the hand moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    SleepAndStep,
    ElapsedTime,
}

/// How far behind a hand was.
struct Drift {
    /// By how many slots it was behind after each wake-up, with the slots that had passed.
    behind: Vec<(u64, u64)>,
    /// The most by which it came to a slot after that began, in parts of a slot.
    latest: u64,
}

fn drift(driver: Driver, load: Load, seed: u64) -> Drift {
    let mut random = random(seed);
    let (mut passed, mut hand) = (0, 0);
    let mut drift = Drift { behind: Vec::new(), latest: 0 };
    while passed < SLOTS * SLOT {
        let asked = if driver == Driver::SleepAndStep { SLOT } else { SLOT - passed % SLOT };
        passed += asked + random.random_range(0..=load.oversleep);
        let next = if driver == Driver::SleepAndStep { hand + 1 } else { passed / SLOT };
        // The first of the slots that it moves over has waited longest.
        drift.latest = drift.latest.max(passed - (hand + 1) * SLOT);
        hand = next;
        drift.behind.push((passed / SLOT, passed / SLOT - hand));
        passed += random.random_range(0..=load.work);
    }
    drift
}

fn run(scale: &Scale) -> Evidence {
    let mut table = Table::new(
        "A hand over 10,000 slots; the worst of the seeds",
        ["load", "driver", "slots behind at the end", "latest, slots"],
    );
    let mut worst = Vec::new();
    for load in LOADS {
        for (name, driver) in
            [("sleep and step", Driver::SleepAndStep), ("elapsed time", Driver::ElapsedTime)]
        {
            let drifts: Vec<_> = scale.seeds().map(|seed| drift(driver, load, seed)).collect();
            let behind = drifts
                .iter()
                .filter_map(|drift| drift.behind.last())
                .map(|(_, behind)| *behind)
                .max()
                .unwrap_or(0);
            let latest =
                drifts.iter().map(|drift| drift.latest).max().unwrap_or(0) as f64 / SLOT as f64;
            table.row([
                load.name.to_owned(),
                name.to_owned(),
                behind.to_string(),
                format!("{latest:.2}"),
            ]);
            worst.push((load.name, driver, behind, latest));
        }
    }
    let of = |name: &str, driver| {
        worst.iter().find(|(load, by, ..)| *load == name && *by == driver).copied()
    };
    let stays = |name: &str| {
        of(name, Driver::SleepAndStep).map(|(_, _, behind, latest)| behind == 0 && latest < 1.0)
    };
    let figure = of(LOADS[3].name, Driver::SleepAndStep).zip(of(LOADS[3].name, Driver::ElapsedTime)).map_or_else(String::new, |(loop_, elapsed)| {
        format!("{} of 10,000 slots behind with a tenth of a slot of oversleep and of work; set from elapsed time {}, late by {:.2} slots at most", loop_.2, elapsed.2, elapsed.3)
    });
    let parts: Vec<_> = LOADS
        .iter()
        .map(|load| {
            Part::maybe(
                format!("the loop stays within a slot of the time, disturbed by: {}", load.name),
                stays(load.name),
            )
        })
        .collect();
    Evidence {
        findings: vec![Finding::new("C54", figure, parts)],
        tables: vec![table],
        charts: vec![chart()],
    }
}

/// Slots behind against slots passed, after 1, 2, 4 .. steps; the first seed.
fn chart() -> Chart {
    let behind = drift(Driver::SleepAndStep, LOADS[3], 1).behind;
    let points = behind
        .iter()
        .enumerate()
        .filter(|(step, (_, behind))| (step + 1).is_power_of_two() && *behind > 0);
    let points = points.map(|(_, (passed, behind))| (*passed as f64, *behind as f64)).collect();
    Chart {
        title: "A loop of sleep and step falls behind for good".to_owned(),
        subtitle:
            "oversleep and work of up to 0.1 slots each; a hand set from elapsed time is not behind"
                .to_owned(),
        x: "slots passed".to_owned(),
        y: "slots behind".to_owned(),
        series: vec![Series { name: "sleep and step".to_owned(), points }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_load_both_are_on_time_and_with_one_only_elapsed_time_is() {
        for driver in [Driver::SleepAndStep, Driver::ElapsedTime] {
            let calm = drift(driver, LOADS[0], 1);
            assert_eq!((calm.behind.last().copied(), calm.latest), (Some((SLOTS, 0)), 0));
        }
        let behind =
            |driver| drift(driver, LOADS[3], 1).behind.last().map_or(0, |(_, behind)| *behind);
        // On average a twentieth of a slot each, of 1.1 slots that a turn of the loop takes.
        assert!(
            (850..970).contains(&behind(Driver::SleepAndStep)),
            "{}",
            behind(Driver::SleepAndStep)
        );
        assert_eq!(behind(Driver::ElapsedTime), 0);
    }
}
