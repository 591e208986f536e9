//! 10. The whole range of `u64`.

use super::super::range::{moved_from_end_to_end, wakeups_over_the_whole_range};
use super::{Watched, distances};
use wheelhouse_core::Tick;
use wheelhouse_core::backend::Backend;

const MAX: Tick = Tick::MAX;

/// Contract 10 of structures that are late by design: any tick is a valid deadline, `u64::MAX`
/// included, at which every timer is due. Nothing overflows, and no loop runs once per tick.
/// ([`Check`](crate::Check) detects such loops by its time limit.)
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn approximate_10_the_whole_range_of_u64<B: Backend>() {
    the_last_ticks_from_afar::<B>();
    the_last_ticks_one_by_one::<B>();
    at_the_end_of_time::<B>();
    every_tick_of_a_scale::<B>();
    wakeups_over_the_whole_range::<B>();
    moved_from_end_to_end::<B>();
}

/// However wide their slots are, the last timers do not fire early, and they fire at `u64::MAX` at
/// the latest.
fn the_last_ticks_from_afar<B: Backend>() {
    for distance in distances().filter(|distance| *distance > 0) {
        let start = MAX - distance;
        let mut watched = Watched::<B>::new(start);
        for left in [0, 1, 2, 63, 64, 1_000] {
            watched.insert(MAX.saturating_sub(left).max(start));
        }
        [MAX - 1_000, MAX - 64, MAX - 2, MAX - 1]
            .iter()
            .for_each(|tick| _ = watched.advance(*tick));
        assert!(!watched.is_empty(), "contract 2: a timer is due at the last tick");
        watched.advance(MAX);
        assert!(watched.is_empty(), "contract 10: every timer is due at the last tick");
    }
}

fn the_last_ticks_one_by_one<B: Backend>() {
    for left in [3, 64, 255, 256, 1_000, 70_000] {
        let mut watched = Watched::<B>::new(MAX - left);
        let last = left.min(1_000);
        (0..=last).for_each(|ticks| _ = watched.insert(MAX - ticks));
        (0..=last).rev().for_each(|ticks| _ = watched.advance(MAX - ticks));
        assert!(watched.is_empty(), "contract 10: none is left");
    }
}

/// With the clock at the last tick, every timer is due, and the structure still works.
fn at_the_end_of_time<B: Backend>() {
    let mut watched = Watched::<B>::new(MAX);
    for _ in 0..3 {
        [MAX, 0, MAX - 1, 5, MAX].iter().for_each(|deadline| _ = watched.insert(*deadline));
        let moved = watched.insert(MAX);
        watched.reschedule(moved, 1);
        let run = std::iter::from_fn(|| watched.pop(MAX)).count();
        assert_eq!(
            (run, watched.is_empty()),
            (6, true),
            "contract 10: all is due at the end of time"
        );
        let gone = watched.insert(MAX);
        watched.cancel(gone);
        assert!(watched.advance(0).is_empty(), "contract 6: at the end of time");
    }
}

/// Timers of all scales in one structure, fired by one call up to `stop` and then by one call or by
/// wake-ups.
fn every_tick_of_a_scale<B: Backend>() {
    for stop in [0, 1, 1 << 20, (1 << 32) - 1, 1 << 63, MAX - 1, MAX] {
        let mut watched = Watched::<B>::new(0);
        distances().for_each(|deadline| _ = watched.insert(deadline));
        watched.advance(stop);
        while stop % 2 == 1 && !watched.is_empty() {
            watched.wake();
        }
        watched.advance(MAX);
        assert!(watched.is_empty(), "contract 10: every scale, with a stop at {stop}");
    }
}
