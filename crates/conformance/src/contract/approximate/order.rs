//! 3. Order.

use super::super::STARTS;
use super::{Watched, distances};
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// Contract 3 of structures that are late by design: among timers inserted at one tick, no timer
/// fires at a later tick than a timer with a later deadline. If they were inserted in order of
/// their deadlines, they fire in that order. A call that advances by many ticks fires in the same
/// order as calls at each tick. A move counts as an insertion.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn approximate_03_order_of_what_comes_at_one_tick<B: Backend>() {
    earlier_deadlines_at_no_later_tick::<B>();
    in_order_if_inserted_in_order::<B>();
    in_order_across_the_edges_of_levels::<B>();
    jumps_fire_as_steps_do::<B>();
    a_move_counts_as_an_insertion::<B>();
}

/// Start ticks, and the number of bits of the delays.
fn scales() -> impl Iterator<Item = (u64, u32)> {
    STARTS.into_iter().flat_map(|start| [8, 14, 24, 50].map(|bits| (start, bits)))
}

fn earlier_deadlines_at_no_later_tick<B: Backend>() {
    for (start, bits) in scales() {
        let mut random = Random::new(start ^ u64::from(bits));
        let mut watched = Watched::<B>::new(start);
        let deadlines: Vec<_> = (0..300).map(|_| start + random.of_any_scale(bits)).collect();
        deadlines.iter().for_each(|deadline| _ = watched.insert(*deadline));
        let mut fired = 0;
        while let Some(earliest) = watched.earliest() {
            let now = watched.now();
            assert!(
                earliest >= fired,
                "contract 3: at {now}, a timer due at {fired} has fired, but not one at {earliest}"
            );
            fired = watched
                .wake()
                .into_iter()
                .fold(fired, |fired, timer| fired.max(deadlines[timer as usize]));
        }
    }
}

fn in_order_if_inserted_in_order<B: Backend>() {
    for (start, bits) in scales() {
        let mut random = Random::new(start ^ u64::from(bits) ^ 3);
        // Each deadline occurs at least twice.
        let mut deadlines: Vec<_> = (0..150).map(|_| start + random.of_any_scale(bits)).collect();
        deadlines.extend_from_within(..);
        deadlines.sort_unstable();
        let mut watched = Watched::<B>::new(start);
        deadlines.iter().for_each(|deadline| _ = watched.insert(*deadline));
        let seen = watched.advance(u64::MAX);
        assert!(
            seen.is_sorted(),
            "contract 3: inserted at {start} in order of deadlines, fired as {seen:?}"
        );
    }
}

/// At the edge between two levels, a narrow slot and a wide one may end at the same tick. The
/// timers of the narrow slot have to fire first. This needs a phase of the clock in which the edge
/// is shortly before that tick.
fn in_order_across_the_edges_of_levels<B: Backend>() {
    let mut distances: Vec<_> = distances().collect();
    distances.sort_unstable();
    for start in (0..64).chain((0..57).flat_map(|bit| [5 << bit, 7 << bit])) {
        let mut watched = Watched::<B>::new(start);
        for deadline in distances.iter().map_while(|distance| start.checked_add(*distance)) {
            watched.insert(deadline);
        }
        let seen = watched.advance(u64::MAX);
        assert!(
            seen.is_sorted(),
            "contract 3: inserted at {start} in order of deadlines, fired as {seen:?}"
        );
    }
}

/// A structure with timers inserted at two ticks, some of them moved and some cancelled.
fn filled<B: Backend>(start: u64, bits: u32) -> Watched<B> {
    let mut random = Random::new(start ^ u64::from(bits) ^ 5);
    let mut watched = Watched::<B>::new(start);
    for phase in 0..2 {
        watched.advance(start + (phase << (bits - 3)));
        for _ in 0..200 {
            let timer = watched.insert(watched.now() + random.of_any_scale(bits));
            match timer % 8 {
                0 => watched.cancel(random.below(timer + 1)),
                1 => watched
                    .reschedule(random.below(timer + 1), watched.now() + random.of_any_scale(bits)),
                _ => {}
            }
        }
    }
    watched
}

fn jumps_fire_as_steps_do<B: Backend>() {
    for (start, bits) in scales() {
        let (mut steps, mut jump, mut parts) =
            (filled::<B>(start, bits), filled::<B>(start, bits), filled::<B>(start, bits));
        let stepped: Vec<_> =
            std::iter::from_fn(|| Some(steps.wake()).filter(|seen| !seen.is_empty()))
                .flatten()
                .collect();
        assert_eq!(
            jump.advance(u64::MAX),
            stepped,
            "contract 3: from {start}, one call fires in the same order as wake-ups"
        );
        let mut random = Random::new(start);
        let mut seen = Vec::new();
        while !parts.is_empty() {
            let to = parts.now().saturating_add(random.of_any_scale(bits));
            // Some runs of pops end early.
            seen.extend((0..random.below(50)).map_while(|_| parts.pop(to)));
            if random.one_in(2) {
                seen.extend(parts.advance(to));
            }
        }
        assert_eq!(
            seen, stepped,
            "contract 3: from {start}, several calls fire in the same order as wake-ups"
        );
    }
}

fn a_move_counts_as_an_insertion<B: Backend>() {
    for deadline in [5, 64, 300, 70_000, 1 << 33] {
        let mut watched = Watched::<B>::new(0);
        let timers = [0; 4].map(|_| watched.insert(deadline));
        watched.reschedule(timers[1], deadline);
        watched.reschedule(timers[0], 9 * deadline);
        watched.reschedule(timers[0], deadline);
        let seen = watched.advance(u64::MAX);
        assert_eq!(
            seen,
            [2, 3, 1, 0],
            "contract 3: 1 was moved to its own deadline, then 0 away and back"
        );
    }
}
