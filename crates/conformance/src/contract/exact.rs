//! 2. Never early, never a tick late.

use super::{STARTS, edges};
use crate::random::Random;
use crate::{fired, fresh, fresh_at, insert, popped};
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;

/// Contract 2: a timer fires in the first call with `now >= deadline` and is reported with its own
/// deadline, however many ticks that call advances.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_02_never_early_never_late<B: Backend>() {
    at_every_distance::<B>();
    on_a_way_of_many_stops::<B>();
    tick_by_tick::<B>();
    in_jumps_of_any_size::<B>();
    all_distances_at_once::<B>();
}

/// One timer: it does not fire a tick before its deadline, but at its deadline.
fn at_every_distance<B: Backend>() {
    for start in STARTS {
        for distance in edges() {
            let Some(deadline) = start.checked_add(distance).filter(|_| distance > 0) else {
                continue;
            };
            let mut timer = fresh_at::<B, ()>(start);
            let id = timer.insert(deadline, ());
            let before = fired(&mut timer, deadline - 1);
            assert_eq!(
                before,
                [],
                "contract 2, never early: inserted at {start}, fired at {}",
                deadline - 1
            );
            assert_eq!(timer.deadline(id), Some(deadline), "contract 2: it keeps its deadline");
            let at = fired(&mut timer, deadline);
            assert_eq!(
                at,
                [(deadline, ())],
                "contract 2, never late: inserted at {start}, fired at its deadline"
            );
        }
    }
}

/// One timer, and a clock that halves the distance to its deadline with every call, so that a wheel
/// cascades on all levels.
fn on_a_way_of_many_stops<B: Backend>() {
    for start in STARTS {
        for distance in edges().filter(|distance| *distance > 1) {
            let Some(deadline) = start.checked_add(distance) else { continue };
            let mut timer = fresh_at::<B, ()>(start);
            timer.insert(deadline, ());
            let mut now = start;
            while now < deadline - 1 {
                now += (deadline - now) / 2;
                assert_eq!(
                    popped(&mut timer, now),
                    [],
                    "contract 2, never early: due at {deadline}, fired at {now}"
                );
            }
            let at = popped(&mut timer, deadline);
            assert_eq!(
                at,
                [(deadline, ())],
                "contract 2, never late: after a way of many stops from {start}"
            );
        }
    }
}

/// Many timers, and a clock that goes tick by tick over the edges of several levels. At each tick
/// exactly the timers due at that tick fire.
fn tick_by_tick<B: Backend>() {
    for start in [0, (1 << 12) - 700, (1 << 16) - 2_000, (1 << 24) - 1_500, (1 << 32) - 1_000] {
        let mut random = Random::new(start);
        let mut timer = fresh_at::<B, ()>(start);
        let mut due = vec![0; 3_000];
        for _ in 0..2_000 {
            let delay = 1 + random.index(due.len() - 1);
            due[delay] += 1;
            timer.insert(start + delay as u64, ());
        }
        for (delay, due) in due.into_iter().enumerate().skip(1) {
            let tick = start + delay as u64;
            let at = fired(&mut timer, tick);
            let expected = vec![(tick, ()); due];
            assert_eq!(
                at, expected,
                "contract 2: with a call at each tick, exactly the timers due at {tick} fire at it"
            );
        }
    }
}

/// Many timers, and a clock that advances by many ticks. Each call fires exactly the timers due up
/// to its tick.
fn in_jumps_of_any_size<B: Backend>() {
    for bits in [6, 12, 20, 40, 60] {
        let mut random = Random::new(bits.into());
        let mut timer = fresh::<B, ()>();
        let mut deadlines: Vec<_> = (0..2_000).map(|_| 1 + random.of_any_scale(bits)).collect();
        insert(&mut timer, deadlines.iter().map(|deadline| (*deadline, ())));
        deadlines.sort_unstable();
        let mut left = deadlines.as_slice();
        let mut now = 0;
        while !left.is_empty() {
            now += 1 + random.of_any_scale(bits - 2);
            let (due, later) = left.split_at(left.partition_point(|deadline| *deadline <= now));
            let at: Vec<_> =
                fired(&mut timer, now).into_iter().map(|(deadline, ())| deadline).collect();
            assert_eq!(
                at, due,
                "contract 2: a jump to {now} fires exactly the timers due up to it"
            );
            left = later;
        }
    }
}

/// Timers at all distances in one structure, with calls at each deadline and at the tick before it.
fn all_distances_at_once<B: Backend>() {
    for start in STARTS {
        let mut timer = fresh_at::<B, ()>(start);
        let mut deadlines: Vec<_> =
            edges().filter_map(|distance| start.checked_add(distance)).collect();
        insert(&mut timer, deadlines.iter().map(|deadline| (*deadline, ())));
        deadlines.sort_unstable();
        for run in deadlines.chunk_by(|one, next| one == next) {
            let deadline = run[0];
            if deadline > timer.now() {
                let before = fired(&mut timer, deadline - 1);
                assert_eq!(
                    before,
                    [],
                    "contract 2, never early: inserted at {start}, seen at {}",
                    deadline - 1
                );
            }
            let at = fired(&mut timer, deadline);
            assert_eq!(
                at,
                vec![(deadline, ()); run.len()],
                "contract 2, never late: inserted at {start}"
            );
        }
    }
}
