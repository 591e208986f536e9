//! 9. A panicking callback.

use super::super::panics::{the_others_fire_in_the_next_call, values_survive_or_are_dropped};
use super::Watched;
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// Contract 9, as for all structures, with the order that is promised by those that are late by
/// design: if the callback of `advance` panics, the timer it was given is gone; all others stay,
/// and the structure goes on with the next call.
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

/// A structure gets through a run in which nothing but panics happens, one timer at a time.
fn every_callback_panics<B: Backend>() {
    let mut watched = Watched::<B>::new(0);
    (0..200).for_each(|value| _ = watched.insert(1 + (value * 37) % 1_000));
    let to = crate::latest::<B>(0, 1_000);
    (0..200).for_each(|_| watched.panic(to, 0));
    assert!(watched.is_empty(), "contract 9: each call gives the callback the next timer");
    assert_eq!(watched.wakeup(), None, "contract 9: nothing is left");
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
