//! 2. Never early, late within the bound.

use super::super::STARTS;
use super::{Watched, distances};
use crate::latest;
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// Contract 2 of structures that are late by design: a timer never fires before its deadline, and
/// at the latest in the first call at or after its deadline plus the bound for its delay when it
/// was inserted or last moved. The delays are those at all edges between levels and random ones,
/// from several phases of the clock. The calls go tick by tick, in jumps, and just before and at
/// the last allowed tick.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn approximate_02_never_early_late_within_the_bound<B: Backend>() {
    at_every_distance::<B>();
    at_every_phase::<B>();
    tick_by_tick::<B>();
    in_jumps_of_any_size::<B>();
    all_distances_at_once::<B>();
    the_bound_is_that_of_the_last_move::<B>();
}

/// A timer inserted at `start` does not fire a tick before its deadline, and has fired at the last
/// tick that its bound allows.
fn fires_in_time<B: Backend>(start: u64, deadline: u64) {
    let mut watched = Watched::<B>::new(start);
    watched.insert(deadline);
    let early = watched.advance(deadline - 1);
    assert!(early.is_empty(), "contract 2, never early: inserted at {start}, due at {deadline}");
    watched.advance(latest::<B>(start, deadline));
    assert!(watched.is_empty(), "contract 2: inserted at {start}, due at {deadline}");
}

fn at_every_distance<B: Backend>() {
    for start in STARTS {
        for distance in distances().filter(|distance| *distance > 0) {
            if let Some(deadline) = start.checked_add(distance) {
                fires_in_time::<B>(start, deadline);
            }
        }
    }
}

/// The lateness of a timer depends on the position of its deadline in its slot.
fn at_every_phase<B: Backend>() {
    for distance in distances().filter(|distance| (1..1 << 16).contains(distance)) {
        let mut random = Random::new(distance);
        let phases = (0..64).chain((0..32).map(|_| random.of_any_scale(40)));
        phases.for_each(|start| fires_in_time::<B>(start, start + distance));
    }
}

/// A call at each tick, over the edges of several levels. No timer may be later than its bound.
fn tick_by_tick<B: Backend>() {
    for start in [0, (1 << 12) - 700, (1 << 16) - 2_000, (1 << 24) - 1_500, (1 << 32) - 1_000] {
        let mut random = Random::new(start);
        let mut watched = Watched::<B>::new(start);
        (0..2_000).for_each(|_| _ = watched.insert(start + 1 + random.below(5_000)));
        while !watched.is_empty() {
            // Timers inserted on the way have other phases.
            if random.one_in(8) && watched.inserted() < 3_000 {
                watched.insert(watched.now() + random.below(1_000));
            }
            watched.advance(watched.now() + 1);
        }
    }
}

fn in_jumps_of_any_size<B: Backend>() {
    for bits in [6, 12, 20, 40, 60] {
        let mut random = Random::new(bits.into());
        let mut watched = Watched::<B>::new(0);
        (0..2_000).for_each(|_| _ = watched.insert(1 + random.of_any_scale(bits)));
        while !watched.is_empty() {
            let to = watched.now() + 1 + random.of_any_scale(bits - 2);
            if random.one_in(2) {
                watched.advance(to);
            } else {
                while watched.pop(to).is_some() {}
            }
        }
    }
}

/// Calls at each deadline and a tick before it, and at the last tick that its bound allows and a
/// tick before that.
fn all_distances_at_once<B: Backend>() {
    for start in STARTS {
        let mut watched = Watched::<B>::new(start);
        let mut calls = Vec::new();
        for deadline in distances().filter_map(|distance| start.checked_add(distance)) {
            watched.insert(deadline);
            let latest = latest::<B>(start, deadline);
            calls.extend([deadline.saturating_sub(1), deadline, latest.saturating_sub(1), latest]);
        }
        calls.sort_unstable();
        calls.into_iter().for_each(|tick| _ = watched.advance(tick));
        assert!(watched.is_empty(), "contract 2: inserted at {start}");
    }
}

/// A timer that was moved has the bound of its new delay, whatever its former delay was.
fn the_bound_is_that_of_the_last_move<B: Backend>() {
    for start in STARTS {
        for near in [1, 5, 62, 63, 100, 1_000, 1 << 20] {
            let mut watched = Watched::<B>::new(start);
            let timers = [1 << 20, 1 << 40, 1 << 62].map(|far| watched.insert(start + far));
            watched.advance(start + (1 << 19));
            timers.into_iter().for_each(|timer| watched.reschedule(timer, watched.now() + near));
            let last = latest::<B>(watched.now(), watched.now() + near);
            let early = watched.advance(watched.now() + near - 1);
            assert!(early.is_empty(), "contract 2, never early: moved, to be due in {near}");
            watched.advance(last);
            assert!(watched.is_empty(), "contract 2: moved, to be due in {near}");
        }
    }
}
