//! 4. Overdue.

use super::Watched;
use crate::latest;
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// Contract 4: a timer with a deadline at or before `now` is due at once. It fires in the next
/// call, even one to the same tick, and in the same run of `pop_expired`. It fires in order of its
/// deadline, unless the structure is late by design.
pub fn contract_04_overdue_is_due_at_once<B: Backend>() {
    fires_in_the_next_call::<B>();
    takes_its_place_by_deadline::<B>();
    in_the_middle_of_a_run::<B>();
    timers_between_two_pops_can_be_changed::<B>();
    periods_are_caught_up::<B>();
}

fn fires_in_the_next_call<B: Backend>() {
    for now in [0, 1, 255, 256, 1_000, 1 << 20, (1 << 40) + 17] {
        for ago in [0, 1, 2, 63, 64, 255, 256, 999, 1 << 19, 1 << 40] {
            let Some(deadline) = u64::checked_sub(now, ago) else { continue };
            for to in [now, now + 1, now + 1_000, 0] {
                let mut watched = Watched::<B>::new(now);
                watched.insert(deadline);
                let moved = watched.insert(now + 70_000);
                watched.reschedule(moved, deadline);
                watched.advance(to);
                assert!(watched.is_empty(), "contract 4: {ago} ticks too late, next call to {to}");
                watched.insert(deadline);
                watched.wakeup();
                assert!(watched.pop(to).is_some(), "contract 4: overdue, next pop to {to}");
            }
        }
    }
}

/// Timers that are overdue when they are inserted, and timers that become due later, mixed, on
/// several levels of a wheel.
fn takes_its_place_by_deadline<B: Backend>() {
    for calls in [1, 4] {
        let mut watched = Watched::<B>::with(100_000, (0..400).map(|n| n * 7_919 % 200_000));
        (1..=calls).for_each(|call| _ = watched.advance(100_000 + 200_000 / calls * call));
        watched.advance(u64::MAX);
    }
}

/// Between two pops of a run the clock is at the tick of the run, wherever the structure's hand is.
fn in_the_middle_of_a_run<B: Backend>() {
    for unit in [1, 10, 64, 256, 1_000, 1 << 20, 1 << 36] {
        let now = 100 * unit;
        let mut watched = Watched::<B>::with(0, [10, 20, 30, 102].map(|deadline| deadline * unit));
        assert!(watched.pop(now).is_some(), "contract 4: a timer is due");
        watched.insert_all([20, 5, 25, 99, 100].map(|deadline| deadline * unit));
        let near = watched.insert(now + 1);
        watched.wakeup();
        assert_eq!(watched.pop_all(now).len(), 7, "contract 4: all that is due, unit {unit}");
        // The bounds of the others count from the clock, not from the last timer that fired.
        watched.advance(latest::<B>(now, now + 1));
        assert_eq!(watched.deadline(near), None, "contract 2: due at the tick after the run");
        watched.advance(u64::MAX);
        assert!(watched.is_empty(), "contract 10: every timer is due at the last tick");
    }
}

fn timers_between_two_pops_can_be_changed<B: Backend>() {
    for unit in [1, 64, 1_000, 1 << 20] {
        let now = latest::<B>(0, 90 * unit);
        let mut watched = Watched::<B>::with(0, (1..=9).map(|value| value * 10 * unit));
        assert_eq!(watched.pop(now), Some(0), "contract 3: the run starts with the earliest");
        watched.cancel(1);
        watched.reschedule(2, 85 * unit);
        watched.reschedule(3, now + 1);
        watched.reschedule(6, 15 * unit);
        watched.reschedule(7, 80 * unit);
        let mut run = watched.pop_all(now);
        run.sort_unstable();
        assert_eq!(run, [2, 4, 5, 6, 7, 8], "contract 4: the rest of the run, unit {unit}");
        watched.advance(latest::<B>(now, now + 1));
        assert!(watched.is_empty(), "contract 4: moved out of the run, it fires later");
    }
}

/// Periodic timers that are started again in the run fire once for each period, however far the
/// clock advances.
fn periods_are_caught_up<B: Backend>() {
    const PERIODS: [u64; 4] = [7, 10, 100, 1_000];
    let mut random = Random::new(4);
    let mut watched = Watched::<B>::with(0, PERIODS);
    let mut timers = PERIODS.map(|period| (period, period)).to_vec();
    while watched.now < 100_000 {
        let to = watched.now + random.of_any_scale(14);
        while let Some(timer) = watched.pop(to) {
            let (period, deadline) = timers[timer as usize];
            watched.insert(deadline + period);
            timers.push((period, deadline + period));
        }
    }
    for period in PERIODS {
        let started = timers.iter().filter(|(other, _)| *other == period).count() as u64;
        // One timer for each period that has passed, and one that is live. Timers whose bound has
        // not passed may still be live too.
        let passed = watched.now / period;
        let behind = B::INFO.precision.lateness(period).div_ceil(period);
        let expected = passed.saturating_sub(behind)..=passed + 1;
        assert!(expected.contains(&started), "contract 4: {started} of {passed}");
    }
}
