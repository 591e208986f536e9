//! 3. Order.

use super::{STARTS, Watched, distances};
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// Contract 3: timers fire in order of (deadline, insertion), within one call and across calls. A
/// reschedule counts as a new insertion, even to the same deadline.
///
/// In a structure that is late by design, no timer fires at a later tick than a timer with a later
/// deadline that was inserted at the same tick. If timers were inserted at one tick in order of
/// their deadlines, they fire in that order. A call that advances by many ticks fires in the same
/// order as calls at each tick.
pub fn contract_03_order_by_deadline_then_insertion<B: Backend>() {
    ties_in_order_of_insertion::<B>();
    ties_inserted_on_the_way::<B>();
    earlier_deadlines_at_no_later_tick::<B>();
    in_order_if_inserted_in_order::<B>();
    in_order_across_the_edges_of_levels::<B>();
    jumps_fire_as_steps_do::<B>();
    a_move_counts_as_an_insertion::<B>();
}

/// Three deadlines in turn, so that timers with the same deadline are not inserted in a row.
fn ties_in_order_of_insertion<B: Backend>() {
    for distance in [0, 1, 5, 63, 64, 255, 256, 4_095, 4_096, 70_000, 1 << 20, 1 << 33, 1 << 62] {
        let mut watched = Watched::<B>::with(100, (0..1_200).map(|n| 100 + distance + n % 3));
        watched.advance(u64::MAX);
    }
}

/// Timers with the same deadline, inserted at ever smaller distances: a wheel puts them on
/// different levels. Timers that cascade to a slot must go before those that were inserted there
/// directly.
fn ties_inserted_on_the_way<B: Backend>() {
    for start in STARTS {
        for distance in [5_000, 1 << 16, (1 << 18) + 12_345, 1 << 30] {
            let mut watched = Watched::<B>::new(start);
            let deadline = start + distance;
            while watched.now < deadline - 1 {
                watched.insert_all([deadline; 3]);
                watched.advance(watched.now + (deadline - watched.now) / 2);
            }
            watched.insert_all([deadline; 3]);
            // Inserts more when the first of them has fired.
            watched.pop(deadline);
            watched.insert_all([deadline; 3]);
            watched.pop_all(deadline);
        }
    }
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
        watched.insert_all(deadlines.iter().copied());
        let mut fired = 0;
        while let Some(earliest) = watched.earliest() {
            assert!(earliest >= fired, "contract 3: {fired} has fired before {earliest}");
            let timers = watched.wake().into_iter();
            fired = timers.fold(fired, |fired, timer| fired.max(deadlines[timer as usize]));
        }
    }
}

/// Inserts timers in order of their deadlines, and checks that they fire in that order.
fn check_sorted<B: Backend>(start: u64, deadlines: impl IntoIterator<Item = u64>) {
    let mut watched = Watched::<B>::with(start, deadlines);
    let fired = watched.advance(u64::MAX);
    assert!(fired.is_sorted(), "contract 3: inserted at {start} in order, fired as {fired:?}");
}

fn in_order_if_inserted_in_order<B: Backend>() {
    for (start, bits) in scales() {
        let mut random = Random::new(start ^ u64::from(bits) ^ 3);
        // Each deadline occurs at least twice.
        let mut deadlines: Vec<_> = (0..150).map(|_| start + random.of_any_scale(bits)).collect();
        deadlines.extend_from_within(..);
        deadlines.sort_unstable();
        check_sorted::<B>(start, deadlines);
    }
}

/// At the edge between two levels, a narrow slot and a wide one may end at the same tick. The
/// timers of the narrow slot have to fire first. This needs a phase of the clock in which the edge
/// is shortly before that tick.
fn in_order_across_the_edges_of_levels<B: Backend>() {
    let mut distances: Vec<_> = distances().collect();
    distances.sort_unstable();
    for start in (0..64).chain((0..57).flat_map(|bit| [5 << bit, 7 << bit])) {
        check_sorted::<B>(start, distances.iter().map_while(|far| start.checked_add(*far)));
    }
}

/// A structure with timers inserted at two ticks, some of them moved and some cancelled.
fn filled<B: Backend>(start: u64, bits: u32) -> Watched<B> {
    let mut random = Random::new(start ^ u64::from(bits) ^ 5);
    let mut watched = Watched::<B>::new(start);
    for phase in 0..2 {
        watched.advance(start + (phase << (bits - 3)));
        for _ in 0..200 {
            let timer = watched.insert(watched.now + random.of_any_scale(bits));
            let (any, to) = (random.below(timer + 1), watched.now + random.of_any_scale(bits));
            match timer % 8 {
                0 => _ = watched.cancel(any),
                1 => _ = watched.reschedule(any, to),
                _ => {}
            }
        }
    }
    watched
}

fn jumps_fire_as_steps_do<B: Backend>() {
    for (start, bits) in scales() {
        let [mut steps, mut jump, mut parts] = [(); 3].map(|()| filled::<B>(start, bits));
        let wakes = std::iter::from_fn(|| Some(steps.wake()).filter(|fired| !fired.is_empty()));
        let stepped: Vec<_> = wakes.flatten().collect();
        assert_eq!(jump.advance(u64::MAX), stepped, "contract 3: one call fires as wake-ups do");
        let mut random = Random::new(start);
        let mut fired = Vec::new();
        while !parts.is_empty() {
            let to = parts.now.saturating_add(random.of_any_scale(bits));
            // Some runs of pops end early.
            fired.extend((0..random.below(50)).map_while(|_| parts.pop(to)));
            if random.one_in(2) {
                fired.extend(parts.advance(to));
            }
        }
        assert_eq!(fired, stepped, "contract 3: several calls fire as wake-ups do");
    }
}

fn a_move_counts_as_an_insertion<B: Backend>() {
    for deadline in [5, 64, 300, 70_000, 1 << 33] {
        let mut watched = Watched::<B>::with(0, [deadline; 4]);
        watched.reschedule(1, deadline);
        watched.reschedule(0, 9 * deadline);
        watched.reschedule(0, deadline);
        let fired = watched.advance(u64::MAX);
        assert_eq!(fired, [2, 3, 1, 0], "contract 3: 1 was moved, then 0 away and back");
    }
}
