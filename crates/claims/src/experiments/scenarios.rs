//! C13, C41, C47, C49, E8: one scenario on every structure: periods, callbacks that fail or take
//! time, a session.

use super::drive::tick_by_tick;
use super::models::rounds::{S0, WITHOUT_END, ticks_of};
use crate::count::{AnyTimer, random};
use crate::shown::shown;
use crate::{By, Evidence, Experiment, Lab};
use rand::RngExt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use wheelhouse_core::{Tick, Timer};

pub(super) const PERIODS: Experiment = Experiment {
    name: "periodic-reinsert",
    about: "every structure: timers of periods 1 to 300 and of multiples of slot counts, aligned \
        and staggered, re-inserted from their own expiry; woken in time and late",
    run: periods,
};

/// Multiples of the slot counts of the articles and of the structures here.
const TURNS: [Tick; 12] = [12, 24, 36, 168, 256, 512, 1_024, 4_096, 8_192, 16_384, 32_768, 65_536];
const SHORT: Tick = 300;

fn periods(lab: &Lab, e: &mut Evidence) {
    for (id, quote, staggered, late) in [
        (
            "C13.1",
            "A repeating task needs only its next deadline: aligned, called in time.",
            false,
            0,
        ),
        ("C13.2", "The same, each call 7 ticks late.", false, 7),
        ("C13.3", "The same, staggered, called in time.", true, 0),
        ("C13.4", "The same, staggered, each call 7 ticks late.", true, 7),
    ] {
        let outcomes = lab.each(SHORT + 12, |timer| faults(timer, staggered, late));
        e.everywhere(id, quote, 0, &outcomes);
    }
    e.beside(
        "S0's code, 12 slots, period 12, fires at (see B2)",
        ticks_of(S0, 12, 12, WITHOUT_END, 80),
    );
}

/// Firings that are not the next of their timer, and timers that have missed their last. (period,
/// phase) of each: it fires at phase + k · period.
fn faults(timer: &mut AnyTimer, staggered: bool, late: Tick) -> u64 {
    let phased = |period: Tick| (period, if staggered { period * 7 % 11 } else { 0 });
    let short: Vec<_> = (1..=SHORT).map(phased).collect();
    // The short ones for a while; then each of the long ones by itself, so that not all ticks need
    // a call.
    let long = TURNS.map(|period| drive(timer, &[phased(period)], 5 * period, late));
    drive(timer, &short, 5 * SHORT, late) + long.iter().sum::<u64>()
}

/// Drives these timers for so many ticks, each call so many ticks late; cancels them.
fn drive(timer: &mut AnyTimer, timers: &[(Tick, Tick)], ticks: Tick, late: Tick) -> u64 {
    let start = timer.now();
    let begin = |(value, (period, phase)): (u64, &(Tick, Tick))| {
        timer.insert(start + phase + period, value)
    };
    let mut ids: Vec<_> = (0..).zip(timers).map(begin).collect();
    let (mut fired, mut faults) = (vec![0; timers.len()], 0);
    while let Some(tick) = timer.next_wakeup().filter(|tick| *tick <= start + ticks) {
        while let Some((deadline, value)) = timer.pop(tick + late) {
            let (period, phase) = timers[value as usize];
            let count = &mut fired[value as usize];
            *count += 1;
            faults += u64::from(deadline != start + phase + *count * period);
            ids[value as usize] = timer.insert(deadline + period, value);
        }
    }
    ids.into_iter().for_each(|id| _ = timer.cancel(id));
    let missed = |((period, phase), fired): (&(Tick, Tick), &u64)| {
        u64::from(*fired < (ticks - phase) / period)
    };
    faults + timers.iter().zip(&fired).map(missed).sum::<u64>()
}

pub(super) const FAILING: Experiment = Experiment {
    name: "failing-callbacks",
    about: "27 timers, three a tick, one of which panics, on every structure: what fires if the \
        driver's loop ends with it, and if the driver catches it and goes on",
    run: failing,
};

const TICKS: Tick = 9;
const FAILERS: u64 = 3 * TICKS;
/// The one that panics: between two others of its tick.
const FAILS: u64 = 13;

/// What fires under a driver that comes back after so many panics.
fn fired(timer: &mut AnyTimer, comes_back: u64) -> Vec<u64> {
    let mut fired = Vec::new();
    (0..FAILERS).for_each(|value| _ = timer.insert(1 + value / 3, value));
    for _ in 0..=comes_back {
        let mut go_on = || {
            for tick in timer.now().max(1)..=TICKS {
                timer.advance(tick, |expired| {
                    if expired.value == FAILS {
                        // As a panic does, but for the message.
                        resume_unwind(Box::new("a task fails"));
                    }
                    fired.push(expired.value);
                });
            }
        };
        if catch_unwind(AssertUnwindSafe(&mut go_on)).is_ok() {
            break;
        }
    }
    fired
}

fn failing(lab: &Lab, e: &mut Evidence) {
    let others: Vec<u64> = (0..FAILERS).filter(|value| *value != FAILS).collect();
    let before = others[..FAILS as usize].to_vec();
    e.by(By::Arithmetic);
    let quote = "One failing task ends a loop without a guard, as java.util.Timer has it.";
    e.everywhere("C47.1", quote, before, &lab.each(FAILERS, |timer| fired(timer, 0)));
    let quote = "A loop that catches it runs all others, each once and in order.";
    e.everywhere("C47.2", quote, others, &lab.each(FAILERS, |timer| fired(timer, 1)));
}

pub(super) const CALLBACKS: Experiment = Experiment {
    name: "serial-callbacks",
    about: "1, 2, 4 and 8 workers with 1 to 64 callbacks of 300 ms due together: by how much each \
        starts late; lateness of every structure alone",
    run: callbacks,
};

/// How long a slow callback takes, in ms.
const SLOW: Tick = 300;

/// Callbacks as (due, duration), in order of firing, run by so many workers: by how much each
/// starts late. With one worker it is the driver that runs them.
fn lateness(callbacks: &[(Tick, Tick)], workers: usize) -> Vec<Tick> {
    // When each worker is free again, the soonest first.
    let mut free: BinaryHeap<_> = std::iter::repeat_n(Reverse(0), workers).collect();
    let late = |(due, duration): &(Tick, Tick)| {
        let Reverse(at) = free.pop().unwrap_or(Reverse(0));
        let start = at.max(*due);
        free.push(Reverse(start + duration));
        start - due
    };
    callbacks.iter().map(late).collect()
}

fn latest(tasks: usize, workers: usize) -> Tick {
    lateness(&vec![(0, SLOW); tasks], workers).into_iter().max().unwrap_or(0)
}

fn callbacks(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    let two = [(0, SLOW), (10, 1)];
    let quote = "A slow task of 300 ms blocks the next, due 10 ms later: 290 ms late.";
    e.is("C41.1", quote, SLOW - 10, lateness(&two, 1)[1]);
    let quote = "It does not if tasks run in a thread or pool of their own.";
    e.is("C41.2", quote, 0, lateness(&two, 2)[1]);
    let loads = || {
        [1, 2, 4, 8, 16, 32, 64]
            .into_iter()
            .flat_map(|tasks| [1, 2, 4, 8].map(|workers| (tasks, workers)))
    };
    let on_time = loads().filter(|(tasks, workers)| latest(*tasks, *workers) == 0).count();
    let enough = loads().filter(|(tasks, workers)| tasks <= workers).count();
    let quote = "Asynchronous execution blocks when threads run out, and not before.";
    e.holds(
        "C49.2",
        quote,
        on_time == enough,
        format!("64 on 8 workers: {} ms late", latest(64, 8)),
    );
    let row = |tasks: usize| {
        let [a, b, c, d] = [1, 2, 4, 8].map(|workers| latest(tasks, workers).to_string());
        [tasks.to_string(), a, b, c, d]
    };
    let columns = ["callbacks", "1 worker, ms late", "2", "4", "8"];
    e.table(
        "Callbacks of 300 ms due together: the latest start",
        columns,
        [1, 2, 4, 8, 16, 32, 64].map(row),
    );
    let exact =
        lab.each(500, |timer| lab.seeds().map(|seed| worst(timer, seed)).max().unwrap_or(0));
    let late = exact.iter().map(|(_, late)| *late).max().unwrap_or(0);
    let quote = "No implementation of delays is exact: the structures themselves are not.";
    e.by(By::Counts).holds(
        "C49.1",
        quote,
        late > 0,
        format!("{late} ticks late, {} structures", exact.len()),
    );
}

/// By how many ticks a structure fires after the deadline, at most: the first half tick by tick,
/// the rest from wake-up to wake-up.
fn worst(timer: &mut AnyTimer, seed: u64) -> Tick {
    let (mut random, start) = (random(seed), timer.now());
    (0..500).for_each(|value| _ = timer.insert(start + random.random_range(1..=4_000), value));
    let mut worst = 0;
    let mut note = |tick: Tick, fired: Vec<(Tick, u64)>| {
        worst = fired.into_iter().map(|(deadline, _)| tick - deadline).fold(worst, Tick::max);
    };
    (start + 1..=start + 2_000).for_each(|tick| note(tick, timer.fired(tick)));
    while let Some(tick) = timer.next_wakeup() {
        note(tick, timer.fired(tick));
    }
    worst
}

pub(super) const E8: Experiment = Experiment {
    name: "example-e8",
    about: "every structure: a session of 3 s, and one of 4 s that is refreshed to 5 s after 2 s, \
        looked at when the article does",
    run: two_sessions,
};

/// Which looks find the session, and when it ends. `refresh` is (when, for how long).
fn session(
    timer: &mut AnyTimer,
    lives: Tick,
    looks: &[Tick],
    refresh: (Tick, Tick),
) -> (Vec<bool>, Vec<Tick>) {
    let id = timer.insert(lives, 0);
    let (mut found, mut ended) = (Vec::new(), Vec::new());
    for second in 1..=10 {
        ended.extend(tick_by_tick(timer, second, second).iter().map(|(tick, _)| *tick));
        if second == refresh.0 {
            timer.reschedule(id, second + refresh.1);
        }
        found.extend(looks.contains(&second).then_some(ended.is_empty()));
    }
    (found, ended)
}

fn two_sessions(lab: &Lab, e: &mut Evidence) {
    let short = lab.each(1, |timer| session(timer, 3, &[2, 4, 6], (0, 0)));
    let quote = "A session of 3 s is there at 2 s, and gone at 4 and 6 s.";
    e.everywhere("E8.1", quote, (vec![true, false, false], vec![3]), &short);
    let refreshed = lab.each(1, |timer| session(timer, 4, &[1, 2, 3, 4, 5], (2, 5)));
    let quote = "One of 4 s, refreshed to 5 s at 2 s, is there for 5 s and gone at 7.";
    e.everywhere("E8.2", quote, (vec![true; 5], vec![7]), &refreshed);
    e.beside("the first ends at, in s", shown(&short[0].1.1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_waits_for_the_first_worker_that_is_free() {
        assert_eq!(lateness(&[(0, 300), (10, 1)], 1), [0, 290]);
        assert_eq!(lateness(&[(0, 300), (0, 100), (0, 50), (120, 1)], 2), [0, 0, 100, 30]);
        assert_eq!((latest(8, 8), latest(9, 8), latest(64, 1)), (0, 300, 63 * 300));
    }

    #[test]
    fn a_driver_that_does_not_come_back_loses_what_is_later() {
        let mut timer = Lab::new(&crate::Scale::REDUCED).make("binary-heap").timer;
        assert_eq!(fired(&mut timer, 0).last(), Some(&(FAILS - 1)));
        assert_eq!(timer.len() as u64, FAILERS - FAILS - 1, "the failing one is gone");
    }
}
