//! 4. Overdue.

use super::Watched;
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// Contract 4 of structures that are late by design: a timer with a deadline at or before `now` is
/// due at once. It fires in the next call, even one to the same tick, and in the same run of
/// `pop_expired`.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn approximate_04_overdue_is_due_at_once<B: Backend>() {
    fires_in_the_next_call::<B>();
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
                assert!(
                    watched.is_empty(),
                    "contract 4: {ago} ticks too late at {now}, next call to {to}"
                );
                watched.insert(deadline);
                let (now, wakeup) = (watched.now(), watched.wakeup());
                assert!(
                    wakeup.is_some_and(|tick| tick <= now),
                    "contract 7: overdue at {now}, wake-up {wakeup:?}"
                );
                assert!(
                    watched.pop(to).is_some(),
                    "contract 4: overdue at {now}, next pop to {to}"
                );
            }
        }
    }
}

/// Between two pops of a run the clock is at the tick of the run, wherever the structure's hand is.
fn in_the_middle_of_a_run<B: Backend>() {
    for unit in [1, 10, 64, 256, 1_000, 1 << 20, 1 << 36] {
        let now = 100 * unit;
        let mut watched = Watched::<B>::new(0);
        [10, 20, 30, 102].iter().for_each(|deadline| _ = watched.insert(deadline * unit));
        assert!(watched.pop(now).is_some(), "contract 4: a timer is due");
        [20, 5, 25, 99, 100].iter().for_each(|deadline| _ = watched.insert(deadline * unit));
        let near = watched.insert(now + 1);
        let run = std::iter::from_fn(|| watched.pop(now)).count();
        assert_eq!(
            run, 7,
            "contract 4: two of the first timers and five overdue ones are in the run, unit {unit}"
        );
        // The bounds of the others count from the clock, not from the last timer that fired.
        let last = crate::latest::<B>(now, now + 1);
        watched.advance(last);
        assert_eq!(
            watched.deadline(near),
            None,
            "contract 2: inserted in a run, due at its next tick, unit {unit}"
        );
        watched.advance(u64::MAX);
        assert!(watched.is_empty(), "contract 10: every timer is due at the last tick");
    }
}

fn timers_between_two_pops_can_be_changed<B: Backend>() {
    for unit in [1, 64, 1_000, 1 << 20] {
        let now = crate::latest::<B>(0, 90 * unit);
        let mut watched = Watched::<B>::new(0);
        (1..=9).for_each(|value| _ = watched.insert(value * 10 * unit));
        let first = watched.pop(now);
        assert_eq!(
            first,
            Some(0),
            "contract 3: inserted in order of deadlines, the run starts with the earliest"
        );
        watched.cancel(1);
        watched.reschedule(2, 85 * unit);
        watched.reschedule(3, now + 1);
        watched.reschedule(6, 15 * unit);
        watched.reschedule(7, 80 * unit);
        let mut run: Vec<_> = std::iter::from_fn(|| watched.pop(now)).collect();
        run.sort_unstable();
        assert_eq!(
            run,
            [2, 4, 5, 6, 7, 8],
            "contract 4: the rest of the run after those changes, unit {unit}"
        );
        watched.advance(crate::latest::<B>(now, now + 1));
        assert!(watched.is_empty(), "contract 4: moved out of the run, it fires later");
    }
}

/// Periodic timers that are started again in the run fire once for each period, however far the
/// clock advances.
fn periods_are_caught_up<B: Backend>() {
    let mut random = Random::new(4);
    let mut watched = Watched::<B>::new(0);
    let mut periods = vec![7_u64, 10, 100, 1_000];
    periods.iter().for_each(|period| _ = watched.insert(*period));
    let mut deadlines = periods.clone();
    while watched.now() < 100_000 {
        let to = watched.now() + random.of_any_scale(14);
        while let Some(timer) = watched.pop(to) {
            let (period, deadline) = (periods[timer as usize], deadlines[timer as usize]);
            watched.insert(deadline + period);
            periods.push(period);
            deadlines.push(deadline + period);
        }
    }
    for period in [7, 10, 100, 1_000] {
        let started = periods.iter().filter(|other| **other == period).count() as u64;
        // One timer for each period that has passed, and one that is live. Timers whose bound has
        // not passed may still be live too.
        let passed = watched.now() / period;
        let behind = B::INFO.precision.lateness(period).div_ceil(period);
        assert!(
            (passed.saturating_sub(behind)..=passed + 1).contains(&started),
            "contract 4: {started} of {passed}"
        );
    }
}
