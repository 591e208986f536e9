//! 4. Overdue.

use crate::{fired, fresh, fresh_at, popped};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Timer, TimerId};

/// Contract 4: a timer with a deadline at or before `now` is due at once. It fires in the next
/// call, even one to the same tick, in order of its deadline. This also holds between two calls of
/// `pop_expired`.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_04_overdue_is_due_at_once<B: Backend>() {
    fires_in_the_next_call::<B>();
    takes_its_place_by_deadline::<B>();
    in_the_middle_of_a_run::<B>();
    timers_between_two_pops_can_be_changed::<B>();
    a_period_is_caught_up_in_order::<B>();
}

fn fires_in_the_next_call<B: Backend>() {
    for now in [0, 1, 255, 256, 1_000, 1 << 20, (1 << 40) + 17] {
        for ago in [0, 1, 2, 63, 64, 255, 256, 999, 1 << 19, 1 << 40] {
            let Some(deadline) = u64::checked_sub(now, ago) else { continue };
            for to in [now, now + 1, now + 1_000, 0] {
                let mut timer = fresh_at::<B, ()>(now);
                let id = timer.insert(deadline, ());
                assert_eq!(
                    (timer.len(), timer.deadline(id)),
                    (1, Some(deadline)),
                    "contract 4: a deadline {ago} ticks ago is accepted"
                );
                let wakeup = timer.next_wakeup();
                assert!(
                    wakeup.is_some_and(|tick| tick <= deadline),
                    "contract 7: overdue since {deadline}: {wakeup:?}"
                );
                let at = fired(&mut timer, to);
                assert_eq!(
                    at,
                    [(deadline, ())],
                    "contract 4: inserted {ago} ticks too late at {now}, next call to {to}"
                );
            }
            let mut timer = fresh_at::<B, ()>(now);
            let id = timer.insert(now + 70_000, ());
            assert!(
                timer.reschedule(id, deadline),
                "contract 4: a move to a deadline already past is accepted"
            );
            assert_eq!(timer.deadline(id), Some(deadline), "contract 4: its handle stays valid");
            assert_eq!(
                popped(&mut timer, now),
                [(deadline, ())],
                "contract 4: moved to {ago} ticks before {now}"
            );
        }
    }
}

fn takes_its_place_by_deadline<B: Backend>() {
    let mut timer = fresh_at::<B, char>(1_000);
    for (deadline, value) in
        [(1_001, 'z'), (1_000, 'e'), (400, 'b'), (0, 'a'), (700, 'd'), (400, 'c'), (1_000, 'f')]
    {
        timer.insert(deadline, value);
    }
    let in_order = [(0, 'a'), (400, 'b'), (400, 'c'), (700, 'd'), (1_000, 'e'), (1_000, 'f')];
    assert_eq!(
        fired(&mut timer, 1_000),
        in_order,
        "contract 4: overdue timers fire by (deadline, insertion)"
    );
    assert_eq!(fired(&mut timer, 1_001), [(1_001, 'z')], "contract 4: a timer not due stays");

    // Timers that are overdue when they are inserted, and timers that become due later, mixed, on
    // several levels of a wheel.
    let mut timer = fresh_at::<B, u64>(100_000);
    for value in 0..400 {
        let deadline = (value * 7_919) % 200_000;
        timer.insert(deadline, deadline);
    }
    let mut expected: Vec<_> = (0..400).map(|value| (value * 7_919) % 200_000).collect();
    expected.sort_unstable();
    let values: Vec<_> = fired(&mut timer, 200_000).into_iter().map(|(_, value)| value).collect();
    assert_eq!(
        values, expected,
        "contract 4: before all timers with later deadlines, overdue or not"
    );
}

/// The timer that `pop_expired` returns, as (deadline, value).
fn next<T>(timer: &mut impl Timer<T>, to: u64) -> Option<(u64, T)> {
    timer.pop_expired(to).map(|expired| (expired.deadline, expired.value))
}

fn in_the_middle_of_a_run<B: Backend>() {
    for unit in [1, 10, 64, 256, 1_000, 1 << 20, 1 << 36] {
        let now = 100 * unit;
        let mut timer = fresh::<B, &str>();
        timer.insert(10 * unit, "10");
        timer.insert(20 * unit, "20");
        timer.insert(30 * unit, "30");
        timer.insert(101 * unit, "101");
        assert_eq!(
            next(&mut timer, now),
            Some((10 * unit, "10")),
            "contract 4: the run starts with the earliest"
        );
        assert_eq!(timer.now(), now, "between two pops of a run, now is the tick of the run");
        timer.insert(20 * unit, "20 again");
        timer.insert(5 * unit, "5");
        timer.insert(25 * unit, "25");
        timer.insert(now, "100");
        assert_eq!(timer.len(), 7, "contract 1: all are live");
        let wakeup = timer.next_wakeup();
        assert!(
            wakeup.is_some_and(|tick| tick <= 5 * unit),
            "contract 7: in a run, wake-up {wakeup:?} after a deadline"
        );
        let run = popped(&mut timer, now);
        let expected =
            [(5, "5"), (20, "20"), (20, "20 again"), (25, "25"), (30, "30"), (100, "100")];
        let expected = expected.map(|(deadline, value)| (deadline * unit, value));
        assert_eq!(
            run, expected,
            "contract 4: timers inserted in a run fire in order of deadline, unit {unit}"
        );
        assert_eq!(
            popped(&mut timer, 101 * unit),
            [(101 * unit, "101")],
            "contract 4: a timer that is not due stays"
        );
    }
}

fn timers_between_two_pops_can_be_changed<B: Backend>() {
    for unit in [1, 64, 1_000, 1 << 20] {
        let now = 100 * unit;
        let mut timer = fresh::<B, u64>();
        let ids: Vec<TimerId> =
            (1..=9).map(|value| timer.insert(value * 10 * unit, value)).collect();
        assert_eq!(
            next(&mut timer, now),
            Some((10 * unit, 1)),
            "contract 4: the run starts with the earliest"
        );
        assert_eq!(
            timer.deadline(ids[4]),
            Some(50 * unit),
            "contract 5: a timer that is due but has not fired is live"
        );
        assert_eq!(
            timer.cancel(ids[1]),
            Some(2),
            "contract 4: a timer that is due but has not fired can be cancelled"
        );
        assert!(
            timer.reschedule(ids[2], 85 * unit),
            "contract 4: it can be moved to a later deadline in the run"
        );
        assert!(
            timer.reschedule(ids[6], 15 * unit),
            "contract 4: it can be moved to an earlier deadline"
        );
        assert!(
            timer.reschedule(ids[3], now + 1),
            "contract 4: it can be moved to a deadline after the run"
        );
        assert!(
            timer.reschedule(ids[7], 80 * unit),
            "contract 4: it can be moved to its own deadline"
        );
        assert_eq!(timer.len(), 7, "contract 1: seven are live");
        let run: Vec<_> = popped(&mut timer, now).into_iter().map(|(_, value)| value).collect();
        assert_eq!(
            run,
            [7, 5, 6, 8, 3, 9],
            "contract 4: the rest of the run after those changes, unit {unit}"
        );
        assert_eq!(
            popped(&mut timer, now + 1),
            [(now + 1, 4)],
            "contract 4: moved out of the run, it fires later"
        );
    }
}

/// A periodic timer that is started again in the run fires once for each period that has passed.
fn a_period_is_caught_up_in_order<B: Backend>() {
    let mut timer = fresh::<B, u64>();
    timer.insert(7, 7);
    timer.insert(10, 10);
    let mut seen = Vec::new();
    for to in [5, 36, 36, 100, 1_000] {
        while let Some(expired) = timer.pop_expired(to) {
            seen.push((expired.deadline, expired.value));
            timer.insert(expired.deadline + expired.value, expired.value);
        }
    }
    let mut expected: Vec<_> = [7, 10]
        .iter()
        .flat_map(|period| (1..=1_000 / period).map(move |n| (n * period, *period)))
        .collect();
    // If both are due at one tick, the one with the longer period fires first, because it was
    // started again first.
    expected.sort_unstable_by_key(|(deadline, period)| (*deadline, std::cmp::Reverse(*period)));
    assert_eq!(seen, expected, "contract 4: each period once, in order");
}
