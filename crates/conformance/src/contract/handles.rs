//! 5. Stale handles are harmless.

use super::Watched;
use crate::random::Random;
use crate::{fresh, latest, sized};
use std::num::NonZeroU32;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Timer, TimerId};

/// Contract 5: once a timer has fired or was cancelled, every call with its handle returns `None`
/// or `false`, for ever. The handle never reaches another timer, however often its storage is
/// reused.
pub fn contract_05_stale_handles_are_harmless<B: Backend>() {
    handles_of_a_life::<B>();
    after_cancel_fire_and_reuse::<B>();
    over_many_reuses::<B>();
    of_an_empty_structure::<B>();
}

/// A handle does not change when its timer moves, and is reported when the timer fires.
fn handles_of_a_life<B: Backend>() {
    let mut watched = Watched::<B>::new(0);
    let timer = watched.insert(70_000);
    for deadline in [3, 1 << 40, 500] {
        assert!(watched.reschedule(timer, deadline), "contract 5: the handle is valid");
    }
    assert_eq!(watched.pop(latest::<B>(0, 500)), Some(timer), "contract 2: it is due");
    use_stale(&mut watched, timer);
}

/// Calls every method with a stale handle. The results are compared, and so is the wake-up.
fn use_stale<B: Backend>(watched: &mut Watched<B>, timer: u64) {
    let before = watched.wakeup();
    for deadline in [watched.now + 5, 0] {
        assert!(!watched.reschedule(timer, deadline), "contract 5: {timer} is stale");
    }
    assert!(!watched.cancel(timer), "contract 5: {timer} is stale");
    assert_eq!(watched.wakeup(), before, "contract 5: a stale handle changes nothing");
}

fn after_cancel_fire_and_reuse<B: Backend>() {
    for deadline in [0, 5, 300, 70_000, 1 << 40] {
        let mut watched = Watched::<B>::new(0);
        let cancelled = watched.insert(deadline);
        watched.cancel(cancelled);
        use_stale(&mut watched, cancelled);
        let fired = watched.insert(deadline); // perhaps in the place of the first
        use_stale(&mut watched, cancelled);
        watched.advance(latest::<B>(0, deadline));
        let live = watched.insert(deadline + 1);
        use_stale(&mut watched, cancelled);
        use_stale(&mut watched, fired);
        assert!(watched.cancel(live), "contract 5: the old handles did not reach the new timer");
    }
}

/// One place is used many times. Its old handles stay stale, and no two are equal.
fn over_many_reuses<B: Backend>() {
    let mut watched = Watched::<B>::new(0);
    let mut random = Random::new(5);
    for timer in 0..sized(200_000, 20_000) as u64 {
        let deadline = watched.now + 1 + random.of_any_scale(12);
        watched.insert(deadline);
        if timer > 0 {
            use_stale(&mut watched, random.below(timer));
        }
        if timer % 3 == 0 {
            watched.advance(latest::<B>(watched.now, deadline));
        } else {
            assert!(watched.cancel(timer), "contract 5: it is reached by its own handle");
        }
    }
    let live = watched.insert(watched.now + 1);
    assert!((0..live).all(|stale| !watched.cancel(stale)), "contract 5: they are stale");
    assert!(watched.cancel(live), "contract 5: the live timer is reached by its own handle");
    watched.compare_handles();
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
            let id = TimerId::from_parts(index, NonZeroU32::MIN.saturating_add(generation));
            let answers = (timer.deadline(id), timer.reschedule(id, 5), timer.cancel(id));
            assert_eq!(answers, (None, false, None), "contract 5: {id:?} is not in the structure");
            assert_eq!((timer.len(), timer.next_wakeup()), (0, None), "contract 5: after {id:?}");
        }
    }
}
