//! 2. Never early, never a tick late.

use super::{STARTS, Watched, distances, starts_and_deadlines};
use crate::latest;
use crate::random::Random;
use wheelhouse_core::backend::{Backend, Precision};

/// Contract 2: a timer fires in the first call with `now >= deadline` and is reported with its own
/// deadline, however many ticks that call advances. A structure that is late by design fires it at
/// the latest in the first call at or after its deadline plus the bound for its delay when it was
/// inserted or last moved.
pub fn contract_02_never_early_never_late<B: Backend>() {
    at_every_distance::<B>();
    at_every_phase::<B>();
    on_a_way_of_many_stops::<B>();
    tick_by_tick::<B>();
    in_jumps_of_any_size::<B>();
    all_distances_at_once::<B>();
    the_bound_is_that_of_the_last_move::<B>();
}

/// A timer inserted at `start` does not fire a tick before its deadline, and has fired at the last
/// tick that is allowed.
fn fires_in_time<B: Backend>(start: u64, deadline: u64) {
    let mut watched = Watched::<B>::new(start);
    watched.insert(deadline);
    watched.advance(deadline - 1);
    watched.advance(latest::<B>(start, deadline));
    assert!(watched.is_empty(), "contract 2: inserted at {start}, due at {deadline}");
}

fn at_every_distance<B: Backend>() {
    let later = starts_and_deadlines().filter(|(start, deadline)| deadline > start);
    later.for_each(|(start, deadline)| fires_in_time::<B>(start, deadline));
}

/// The lateness of a timer depends on the position of its deadline in its slot.
fn at_every_phase<B: Backend>() {
    if matches!(B::INFO.precision, Precision::Exact) {
        return;
    }
    for distance in distances().filter(|distance| (1..1 << 16).contains(distance)) {
        let mut random = Random::new(distance);
        let phases = (0..64).chain((0..32).map(|_| random.of_any_scale(40)));
        phases.for_each(|start| fires_in_time::<B>(start, start + distance));
    }
}

/// One timer, and a clock that halves the distance to its deadline with every call, so that a wheel
/// cascades on all levels.
fn on_a_way_of_many_stops<B: Backend>() {
    for (start, deadline) in starts_and_deadlines().filter(|(start, end)| end - start > 1) {
        let mut watched = Watched::<B>::new(start);
        watched.insert(deadline);
        while watched.now < deadline - 1 {
            let half = (deadline - watched.now) / 2;
            watched.pop(watched.now + half);
        }
        watched.pop_all(latest::<B>(start, deadline));
        assert!(watched.is_empty(), "contract 2: inserted at {start}, due at {deadline}");
    }
}

/// A call at each tick, over the edges of several levels.
fn tick_by_tick<B: Backend>() {
    for start in [0, (1 << 12) - 700, (1 << 16) - 2_000, (1 << 24) - 1_500, (1 << 32) - 1_000] {
        let mut random = Random::new(start);
        let mut watched =
            Watched::<B>::with(start, (0..2_000).map(|_| start + 1 + random.below(5_000)));
        while !watched.is_empty() {
            // Timers inserted on the way have other phases.
            if random.one_in(8) && watched.inserted() < 3_000 {
                watched.insert(watched.now + random.below(1_000));
            }
            watched.advance(watched.now + 1);
        }
    }
}

fn in_jumps_of_any_size<B: Backend>() {
    for bits in [6, 12, 20, 40, 60] {
        let mut random = Random::new(bits.into());
        let mut watched = Watched::<B>::with(0, (0..2_000).map(|_| 1 + random.of_any_scale(bits)));
        while !watched.is_empty() {
            let to = watched.now + 1 + random.of_any_scale(bits - 2);
            if random.one_in(2) {
                watched.advance(to);
            } else {
                watched.pop_all(to);
            }
        }
    }
}

/// Calls at each deadline and a tick before it, and at the last allowed tick and a tick before
/// that.
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
            let deadline = watched.now + near;
            timers.into_iter().for_each(|timer| _ = watched.reschedule(timer, deadline));
            let last = latest::<B>(watched.now, deadline);
            watched.advance(deadline - 1);
            watched.advance(last);
            assert!(watched.is_empty(), "contract 2: moved, to be due in {near}");
        }
    }
}
