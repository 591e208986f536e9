//! 10. The whole range of `u64`.

use super::{Watched, distances};
use wheelhouse_core::Tick;
use wheelhouse_core::backend::Backend;

const MAX: Tick = Tick::MAX;

/// Contract 10: any tick is a valid deadline, `u64::MAX` included, at which every timer is due.
/// Nothing overflows, and no loop runs once per tick. ([`Check`](crate::Check) detects such loops
/// by its time limit.)
pub fn contract_10_the_whole_range_of_u64<B: Backend>() {
    the_last_ticks_from_afar::<B>();
    the_last_ticks_one_by_one::<B>();
    at_the_end_of_time::<B>();
    every_tick_of_a_scale::<B>();
    moved_from_end_to_end::<B>();
}

/// However wide their slots are, the last timers do not fire early, and they fire at `u64::MAX` at
/// the latest.
fn the_last_ticks_from_afar<B: Backend>() {
    for distance in distances().filter(|distance| *distance > 0) {
        let start = MAX - distance;
        let mut watched = Watched::<B>::new(start);
        let lefts = [0, 1, 2, 63, 64, 1_000];
        watched.insert_all(lefts.map(|left| MAX.saturating_sub(left).max(start)));
        for left in [1_000, 64, 2, 1] {
            watched.advance(MAX - left);
        }
        assert!(!watched.is_empty(), "contract 2: a timer is due at the last tick");
        watched.advance(MAX);
        assert!(watched.is_empty(), "contract 10: every timer is due at the last tick");
    }
}

fn the_last_ticks_one_by_one<B: Backend>() {
    for left in [3, 64, 255, 256, 1_000, 70_000] {
        let mut watched = Watched::<B>::new(MAX - left);
        let last = left.min(1_000);
        watched.insert_all((0..=last).map(|ticks| MAX - ticks));
        (0..=last).rev().for_each(|ticks| _ = watched.advance(MAX - ticks));
        assert!(watched.is_empty(), "contract 10: none is left");
    }
}

/// With the clock at the last tick, every timer is due, and the structure still works.
fn at_the_end_of_time<B: Backend>() {
    let mut watched = Watched::<B>::new(MAX);
    for _ in 0..3 {
        watched.insert_all([MAX, 0, MAX - 1, 5, MAX]);
        let moved = watched.insert(MAX);
        watched.reschedule(moved, 1);
        watched.wakeup();
        assert_eq!(watched.pop_all(MAX).len(), 6, "contract 10: all is due at the end of time");
        let gone = watched.insert(MAX);
        watched.cancel(gone);
        watched.advance(0);
    }
}

/// Timers of all scales in one structure, fired by one call up to `stop` and then by one call or by
/// wake-ups.
fn every_tick_of_a_scale<B: Backend>() {
    for stop in [0, 1, 1 << 20, (1 << 32) - 1, 1 << 63, MAX - 1, MAX] {
        let mut watched = Watched::<B>::with(0, distances());
        watched.advance(stop);
        while stop % 2 == 1 && !watched.is_empty() {
            watched.wake();
        }
        watched.advance(MAX);
        assert!(watched.is_empty(), "contract 10: every scale, with a stop at {stop}");
    }
}

fn moved_from_end_to_end<B: Backend>() {
    let mut watched = Watched::<B>::new(0);
    let timer = watched.insert(MAX);
    for bit in 0..64 {
        watched.reschedule(timer, 1 << bit);
        watched.reschedule(timer, MAX - (1 << bit));
    }
    watched.reschedule(timer, MAX);
    assert_eq!(watched.advance(MAX - 1), [], "contract 10: not yet");
    assert_eq!(watched.advance(MAX), [timer], "contract 10: at the last tick");
}
