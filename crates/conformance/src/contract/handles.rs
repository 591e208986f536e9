//! 5. Stale handles are harmless.

use crate::random::Random;
use crate::{fresh, latest, sized};
use std::collections::HashSet;
use std::num::NonZeroU32;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Timer, TimerId};

/// Contract 5: once a timer has fired or was cancelled, every call with its handle returns `None`
/// or `false`, for ever. The handle never reaches another timer, however often its storage is
/// reused.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_05_stale_handles_are_harmless<B: Backend>() {
    handles_of_a_life::<B>();
    after_cancel_fire_and_reuse::<B>();
    over_many_reuses::<B>();
    among_many_timers::<B>();
    of_an_empty_structure::<B>();
}

/// Checks the result of every method for a stale handle.
fn assert_stale<T: std::fmt::Debug>(timer: &mut impl Timer<T>, id: TimerId, why: &str) {
    let before = (timer.len(), timer.next_wakeup());
    assert_eq!(timer.deadline(id), None, "contract 5: deadline of a handle whose timer {why}");
    assert!(
        !timer.reschedule(id, timer.now() + 5),
        "contract 5: reschedule of a handle whose timer {why}"
    );
    assert!(
        !timer.reschedule(id, 0),
        "contract 5: reschedule into the past of a handle whose timer {why}"
    );
    assert!(timer.cancel(id).is_none(), "contract 5: cancel of a handle whose timer {why}");
    assert_eq!(
        (timer.len(), timer.next_wakeup()),
        before,
        "contract 5: a stale handle changes nothing"
    );
}

/// A handle does not change when its timer moves, and is reported when the timer fires.
fn handles_of_a_life<B: Backend>() {
    let mut timer = fresh::<B, ()>();
    let id = timer.insert(70_000, ());
    for deadline in [3, 1 << 40, 500] {
        assert!(timer.reschedule(id, deadline), "contract 5: the handle of a live timer is valid");
        assert_eq!(
            timer.deadline(id),
            Some(deadline),
            "contract 5: after a move, the handle names the new deadline"
        );
    }
    let expired = timer.pop_expired(latest::<B>(0, 500)).expect("contract 2: it is due");
    assert_eq!(expired.id, id, "contract 5: the timer fires with the handle that insert returned");
    assert_stale(&mut timer, id, "has fired");
}

fn after_cancel_fire_and_reuse<B: Backend>() {
    for deadline in [0, 5, 300, 70_000, 1 << 40] {
        let mut timer = fresh::<B, char>();
        let cancelled = timer.insert(deadline, 'a');
        assert_eq!(timer.cancel(cancelled), Some('a'), "contract 1: a live timer can be cancelled");
        assert_stale(&mut timer, cancelled, "was cancelled");
        let fired = timer.insert(deadline, 'b'); // perhaps in the place of the first
        assert_stale(&mut timer, cancelled, "was cancelled, and its place is reused");
        assert_eq!(
            timer.deadline(fired),
            Some(deadline),
            "contract 5: the old handle did not reach the new timer"
        );
        let tick = latest::<B>(0, deadline);
        timer.advance(tick, |expired| {
            assert_eq!(expired.id, fired, "contract 5: the timer fires with its own handle")
        });
        let live = timer.insert(deadline + 1, 'c');
        for (stale, why) in [(cancelled, "was cancelled"), (fired, "has fired")] {
            assert_stale(&mut timer, stale, why);
        }
        assert_eq!(
            timer.cancel(live),
            Some('c'),
            "contract 5: the old handles did not reach the new timer"
        );
    }
}

/// One place is reused again and again: no handle is returned twice, and no old handle reaches the
/// live timer.
fn over_many_reuses<B: Backend>() {
    let mut timer = fresh::<B, usize>();
    let mut old: Vec<TimerId> = Vec::new();
    let mut seen = HashSet::new();
    let mut random = Random::new(5);
    for value in 0..sized(200_000, 20_000) {
        let deadline = timer.now() + 1 + random.of_any_scale(12);
        let id = timer.insert(deadline, value);
        assert!(seen.insert(id), "contract 5: {id:?} was returned before");
        if !old.is_empty() {
            let stale = old[random.index(old.len())];
            assert_stale(&mut timer, stale, "is gone, and its place in use");
            assert_eq!(timer.deadline(id), Some(deadline), "contract 5: {stale:?} reached {id:?}");
        }
        if value % 3 == 0 {
            let tick = latest::<B>(timer.now(), deadline);
            timer.advance(tick, |expired| {
                assert_eq!(expired.value, value, "contract 1: its own value")
            });
        } else {
            assert_eq!(timer.cancel(id), Some(value), "contract 1: its own value");
        }
        old.push(id);
    }
    let live = timer.insert(timer.now() + 1, 0);
    for id in old {
        assert!(timer.cancel(id).is_none(), "contract 5: {id:?} is stale and reaches no timer");
    }
    assert_eq!(
        timer.cancel(live),
        Some(0),
        "contract 5: the live timer is reached by its own handle"
    );
}

/// Many live timers between many stale handles: each live handle reaches its own timer.
fn among_many_timers<B: Backend>() {
    let mut random = Random::new(6);
    let mut timer = fresh::<B, usize>();
    let mut live: Vec<(TimerId, usize, u64)> = Vec::new();
    let mut stale: Vec<TimerId> = Vec::new();
    for value in 0..sized(100_000, 20_000) {
        let deadline = timer.now() + 1 + random.of_any_scale(20);
        live.push((timer.insert(deadline, value), value, deadline));
        if live.len() > 500 {
            let (id, value, deadline) = live.swap_remove(random.index(live.len()));
            assert_eq!(
                timer.deadline(id),
                Some(deadline),
                "contract 5: each handle reaches its own timer"
            );
            assert_eq!(
                timer.cancel(id),
                Some(value),
                "contract 5: each handle reaches its own timer"
            );
            stale.push(id);
        }
        if let Some(id) = stale.get(random.index(stale.len().max(1))) {
            assert_eq!(timer.deadline(*id), None, "contract 5: {id:?} is stale");
            assert!(!timer.reschedule(*id, 1), "contract 5: {id:?} is stale");
        }
    }
    for (id, value, _) in live {
        assert_eq!(timer.cancel(id), Some(value), "contract 5: stale handles reached no timer");
    }
}

/// Handles that this structure has not returned. No timer is live, so they must not reach any.
fn of_an_empty_structure<B: Backend>() {
    let mut timer = fresh::<B, ()>();
    for used in [false, true] {
        if used {
            let id = timer.insert(9, ());
            timer.cancel(id);
        }
        for (index, generation) in
            [(0, 0), (0, 1), (1, 1), (0, u32::MAX), (1 << 20, 3), (u32::MAX, u32::MAX)]
        {
            let generation = NonZeroU32::MIN.saturating_add(generation);
            assert_stale(
                &mut timer,
                TimerId::from_parts(index, generation),
                "is not in this structure",
            );
        }
    }
}
