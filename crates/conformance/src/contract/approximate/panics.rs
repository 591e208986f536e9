//! 9. A panicking callback.

use super::super::panics::{the_others_fire_in_the_next_call, values_survive_or_are_dropped};
use super::Watched;
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// Contract 9 with the order of structures that are late by design: if the callback of `advance`
/// panics, only the timer passed to it is lost. All others stay, and the next call continues with
/// them.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn approximate_09_a_panic_loses_nothing_else<B: Backend>() {
    the_others_fire_in_the_next_call::<B>();
    values_survive_or_are_dropped::<B>();
    every_callback_panics::<B>();
    the_structure_can_be_used_after_it::<B>();
}

/// If every callback panics, each call fires one timer.
fn every_callback_panics<B: Backend>() {
    let mut watched = Watched::<B>::new(0);
    (0..200).for_each(|value| _ = watched.insert(1 + (value * 37) % 1_000));
    let to = crate::latest::<B>(0, 1_000);
    (0..200).for_each(|_| watched.panic(to, 0));
    assert!(watched.is_empty(), "contract 9: each call passes the next timer to the callback");
    assert_eq!(watched.wakeup(), None, "contract 9: no timer is left");
}

fn the_structure_can_be_used_after_it<B: Backend>() {
    for unit in [1, 64, 5_000, 1 << 30] {
        let mut random = Random::new(unit);
        let mut watched = Watched::<B>::new(0);
        for round in 1..50 {
            (0..20).for_each(|_| _ = watched.insert(watched.now() + unit * random.below(10)));
            watched.panic(round * 5 * unit, random.index(5));
            watched.cancel(random.below(watched.inserted()));
            watched.reschedule(random.below(watched.inserted()), round * 7 * unit);
            watched.insert(round * unit);
            watched.wakeup();
            if round % 3 == 0 {
                watched.advance(watched.now());
            }
        }
        watched.advance(u64::MAX);
        assert!(
            watched.is_empty(),
            "contract 9: after panics, cancels, moves and insertions, unit {unit}"
        );
    }
}
