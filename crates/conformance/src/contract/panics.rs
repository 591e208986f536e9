//! 9. A panicking callback loses one timer only.

use crate::{fired, fresh, insert, latest, popped};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;

/// Contract 9: if the callback of `advance` panics, only the timer passed to it is lost. All others
/// stay, in order, and the next call continues with them.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_09_a_panic_loses_nothing_else<B: Backend>() {
    the_others_fire_in_the_next_call::<B>();
    every_callback_panics::<B>();
    the_structure_can_be_used_after_it::<B>();
    values_survive_or_are_dropped::<B>();
}

/// Advances with a callback that panics at the timer with number `nth`, counted from 0. Returns the
/// timers that the callback received.
fn panic_at<T: Clone>(timer: &mut impl Timer<T>, to: u64, nth: usize) -> Vec<(u64, T)> {
    let mut seen = Vec::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        timer.advance(to, |expired| {
            seen.push((expired.deadline, expired.value));
            if seen.len() > nth {
                resume_unwind(Box::new("a callback's panic")); // unlike panic!, prints nothing
            }
        });
    }));
    assert!(outcome.is_err(), "contract 9: the panic of the callback reaches the caller");
    seen
}

pub(super) fn the_others_fire_in_the_next_call<B: Backend>() {
    for unit in [1, 50, 300, 1 << 16, 1 << 33] {
        for nth in [0, 1, 10, 38, 39] {
            let mut timer = fresh::<B, u64>();
            // Twenty deadlines with two timers each, and one that is not due.
            let ids: Vec<_> =
                (0..40).map(|value| timer.insert((1 + value / 2) * unit, value)).collect();
            timer.insert(1_000 * unit, 99);
            let all: Vec<_> = (0..40).map(|value| ((1 + value / 2) * unit, value)).collect();
            let to = latest::<B>(0, 20 * unit);
            let seen = panic_at(&mut timer, to, nth);
            assert_eq!(seen, all[..=nth], "contract 9: up to the panic, in order");
            assert_eq!(timer.now(), to, "after a panic, now is the tick of the call");
            assert_eq!(
                timer.len(),
                40 - nth,
                "contract 9: the timers passed to the callback are gone, all others are live"
            );
            for (value, id) in ids.iter().enumerate() {
                let deadline = timer.deadline(*id);
                assert_eq!(
                    deadline.is_some(),
                    value > nth,
                    "contract 9: panic at {nth}, deadline of {value}: {deadline:?}"
                );
            }
            let wakeup = timer.next_wakeup();
            let earliest = all.get(nth + 1).map_or(1_000 * unit, |(deadline, _)| *deadline);
            let last = latest::<B>(0, earliest);
            assert!(
                wakeup.is_some_and(|tick| tick <= last),
                "contract 9: wake-up {wakeup:?} for {earliest}"
            );
            let rest = if nth % 2 == 0 { fired(&mut timer, to) } else { popped(&mut timer, to) };
            assert_eq!(
                rest,
                all[nth + 1..],
                "contract 9: the others fire in the next call, in order"
            );
            let last = fired(&mut timer, latest::<B>(0, 1_000 * unit));
            assert_eq!(
                last,
                [(1_000 * unit, 99)],
                "contract 9: later timers fire at their deadline"
            );
        }
    }
}

/// If every callback panics, each call fires one timer.
fn every_callback_panics<B: Backend>() {
    let mut timer = fresh::<B, u64>();
    let deadline = |value: u64| 1 + (value * 37) % 1_000;
    insert(&mut timer, (0..200).map(|value| (deadline(value), value)));
    let mut expected: Vec<_> = (0..200).map(|value| (deadline(value), value)).collect();
    expected.sort_unstable();
    let seen: Vec<_> = (0..200).flat_map(|_| panic_at(&mut timer, 1_000, 0)).collect();
    assert_eq!(seen, expected, "contract 9: each call passes the next timer to the callback");
    assert!(timer.is_empty() && timer.next_wakeup().is_none(), "contract 9: no timer is left");
}

fn the_structure_can_be_used_after_it<B: Backend>() {
    for unit in [1, 64, 5_000] {
        let mut timer = fresh::<B, char>();
        let ids = [(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (90, 'z')]
            .map(|(deadline, value)| timer.insert(deadline * unit, value));
        panic_at(&mut timer, 10 * unit, 0);
        assert_eq!(
            timer.cancel(ids[0]),
            None,
            "contract 9: the timer whose callback panicked is gone"
        );
        assert_eq!(
            timer.cancel(ids[1]),
            Some('b'),
            "contract 9: a timer that was due can be cancelled"
        );
        assert!(
            timer.reschedule(ids[2], 11 * unit),
            "contract 9: a timer that was due can be moved"
        );
        timer.insert(3 * unit, 'f');
        timer.insert(11 * unit, 'g');
        panic_at(&mut timer, 10 * unit, 1);
        let rest: String =
            fired(&mut timer, 100 * unit).into_iter().map(|(_, value)| value).collect();
        assert_eq!(
            rest, "ecgz",
            "contract 9: after two panics, a cancel, a move and insertions, unit {unit}"
        );
    }
}

pub(super) fn values_survive_or_are_dropped<B: Backend>() {
    let value = Rc::new(());
    let mut timer = fresh::<B, Rc<()>>();
    for deadline in 1..=10 {
        timer.insert(deadline * 100, Rc::clone(&value));
    }
    drop(panic_at(&mut timer, latest::<B>(0, 500), 1));
    assert_eq!(
        Rc::strong_count(&value),
        9,
        "contract 9: two values were passed to the callback, eight are in the structure"
    );
    drop(timer);
    assert_eq!(Rc::strong_count(&value), 1, "contract 1: the structure drops its values");
}
