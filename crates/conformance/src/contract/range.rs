//! 10. The whole range of `u64`.

use super::edges;
use crate::{fired, fresh, fresh_at, insert, popped};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Tick, Timer};

/// Contract 10: any tick is a valid deadline, `u64::MAX` included. Nothing overflows, and no loop
/// runs once per tick. ([`Check`](crate::Check) detects such loops by its time limit.)
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_10_the_whole_range_of_u64<B: Backend>() {
    the_last_ticks_from_the_first::<B>();
    the_last_ticks_one_by_one::<B>();
    at_the_end_of_time::<B>();
    every_tick_of_a_scale::<B>();
    wakeups_over_the_whole_range::<B>();
    moved_from_end_to_end::<B>();
}

const MAX: Tick = Tick::MAX;

fn the_last_ticks_from_the_first<B: Backend>() {
    let mut timer = fresh::<B, char>();
    for (deadline, value) in [(MAX, 'd'), (MAX - 1, 'c'), (0, 'a'), (MAX, 'e'), (1, 'b')] {
        let id = timer.insert(deadline, value);
        assert_eq!(timer.deadline(id), Some(deadline), "contract 10: any tick is a valid deadline");
    }
    assert_eq!(
        fired(&mut timer, MAX - 2),
        [(0, 'a'), (1, 'b')],
        "contract 10: one call over the whole range"
    );
    assert_eq!(fired(&mut timer, MAX - 1), [(MAX - 1, 'c')], "contract 10: the last tick but one");
    assert_eq!(fired(&mut timer, MAX), [(MAX, 'd'), (MAX, 'e')], "contract 10: the last tick");
    assert_eq!(timer.now(), MAX, "contract 10: the clock can be at the last tick");
}

fn the_last_ticks_one_by_one<B: Backend>() {
    for left in [3, 64, 255, 256, 1_000, 70_000] {
        let mut timer = fresh_at::<B, u64>(MAX - left);
        let last = left.min(1_000);
        for ticks in (0..=last).rev() {
            timer.insert(MAX - ticks, ticks);
        }
        for ticks in (0..=last).rev() {
            let tick = MAX - ticks;
            assert_eq!(
                fired(&mut timer, tick),
                [(tick, ticks)],
                "contract 10: {ticks} ticks before the last"
            );
        }
        assert!(timer.is_empty(), "contract 10: none is left");
    }
}

/// With the clock at the last tick, every timer is due, and the structure still works.
fn at_the_end_of_time<B: Backend>() {
    let mut timer = fresh_at::<B, char>(MAX);
    for _ in 0..3 {
        for (deadline, value) in [(MAX, 'd'), (0, 'a'), (MAX - 1, 'c'), (5, 'b'), (MAX, 'e')] {
            timer.insert(deadline, value);
        }
        let late = timer.insert(MAX, 'x');
        assert!(timer.reschedule(late, 1), "contract 10: moves at the end of time");
        assert!(timer.next_wakeup().is_some_and(|tick| tick == 0), "contract 7: overdue since 0");
        let expected = [(0, 'a'), (1, 'x'), (5, 'b'), (MAX - 1, 'c'), (MAX, 'd'), (MAX, 'e')];
        assert_eq!(popped(&mut timer, MAX), expected, "contract 10: all is due at the end of time");
        let id = timer.insert(MAX, 'f');
        assert_eq!(timer.cancel(id), Some('f'), "contract 10: cancels at the end of time");
        assert_eq!(fired(&mut timer, 0), [], "contract 6: at the end of time");
    }
}

/// Timers of all scales in one structure, fired by two calls: one up to `stop`, one up to the last
/// tick.
fn every_tick_of_a_scale<B: Backend>() {
    let mut deadlines: Vec<_> = edges().collect();
    deadlines.sort_unstable();
    deadlines.dedup();
    for stop in [0, 1, 1 << 20, (1 << 32) - 1, 1 << 63, MAX - 1, MAX] {
        let mut timer = fresh::<B, ()>();
        insert(&mut timer, deadlines.iter().rev().map(|deadline| (*deadline, ())));
        let mut all = fired(&mut timer, stop);
        assert!(
            all.iter().all(|(deadline, ())| *deadline <= stop),
            "contract 2, never early: at {stop}"
        );
        all.extend(fired(&mut timer, MAX));
        let all: Vec<_> = all.into_iter().map(|(deadline, ())| deadline).collect();
        assert_eq!(all, deadlines, "contract 10: every scale in order, with a stop at {stop}");
    }
}

pub(super) fn wakeups_over_the_whole_range<B: Backend>() {
    let mut timer = fresh::<B, ()>();
    insert(&mut timer, edges().map(|deadline| (deadline, ())));
    let mut calls = 0;
    while let Some(tick) = timer.next_wakeup() {
        let now = timer.now();
        let fired = timer.advance(tick, |_| ());
        assert!(
            fired > 0 || tick > now,
            "contract 7: at {now}, a wake-up at {tick} fires nothing and does not move the clock"
        );
        calls += 1;
        assert!(calls < 100_000, "contract 10: too many wake-ups over the range");
    }
    assert!(timer.is_empty(), "contract 7: no wake-up, but timers are live");
}

pub(super) fn moved_from_end_to_end<B: Backend>() {
    let mut timer = fresh::<B, ()>();
    let id = timer.insert(MAX, ());
    for bit in 0..64 {
        assert!(
            timer.reschedule(id, 1 << bit) && timer.reschedule(id, MAX - (1 << bit)),
            "contract 10: moved"
        );
        assert_eq!(timer.deadline(id), Some(MAX - (1 << bit)), "contract 10: moved");
    }
    assert!(timer.reschedule(id, MAX), "contract 10: moved to the last tick");
    assert_eq!(fired(&mut timer, MAX - 1), [], "contract 10: not yet");
    assert_eq!(fired(&mut timer, MAX), [(MAX, ())], "contract 10: at the last tick");
}
