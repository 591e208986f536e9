//! 7. Wake-up.

use super::{Watched, starts_and_deadlines};
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// Contract 7: `next_wakeup` is `None` if and only if no timer is live. Otherwise it is at or
/// before the earliest deadline, or, if the structure is late by design, at or before the latest
/// tick at which a live timer may fire. Advancing from wake-up to wake-up reaches every deadline
/// with at most one call in vain per level.
pub fn contract_07_wakeup_never_after_a_deadline<B: Backend>() {
    none_if_and_only_if_empty::<B>();
    one_timer_at_every_distance::<B>();
    after_cancels_and_moves::<B>();
    one_left_of_many::<B>();
}

fn none_if_and_only_if_empty<B: Backend>() {
    for deadline in [0, 1, 300, 70_000, 1 << 40, u64::MAX] {
        let mut watched = Watched::<B>::new(0);
        let timer = watched.insert(deadline);
        watched.wakeup();
        watched.cancel(timer);
        watched.wakeup();
        let timer = watched.insert(deadline);
        for deadline in [deadline / 2, deadline] {
            watched.reschedule(timer, deadline);
            watched.wakeup();
        }
        watched.advance(u64::MAX);
        assert_eq!(watched.wakeup(), None, "contract 7: nothing is live");
    }
}

fn one_timer_at_every_distance<B: Backend>() {
    for (start, deadline) in starts_and_deadlines() {
        let mut watched = Watched::<B>::new(start);
        let timer = watched.insert(deadline);
        assert_eq!(watched.wake(), [timer], "contract 7: from {start}, due at {deadline}");
    }
}

/// Wake-ups stay right while timers are inserted, cancelled and moved: a structure must not
/// remember the deadline of a timer that is gone.
fn after_cancels_and_moves<B: Backend>() {
    for bits in [5, 10, 18, 40] {
        let mut random = Random::new(u64::from(bits) + 700);
        let mut watched = Watched::<B>::new(0);
        for _ in 0..4_000 {
            let deadline = watched.now + random.of_any_scale(bits);
            // Mostly one of the last timers, which are mostly live.
            let timer = watched.inserted().saturating_sub(1 + random.of_any_scale(8));
            match random.below(4) {
                0 if watched.inserted() > 0 => _ = watched.cancel(timer),
                1 if watched.inserted() > 0 => _ = watched.reschedule(timer, deadline),
                2 if random.one_in(4) => _ = watched.wake(),
                _ => _ = watched.insert(deadline),
            }
            watched.wakeup();
        }
    }
}

/// After many cancels one timer is left. The wake-ups to it are as few as if the others had never
/// existed.
fn one_left_of_many<B: Backend>() {
    for bits in [8, 14, 20, 40] {
        let mut random = Random::new(bits);
        let mut watched = Watched::<B>::new(0);
        let last = (1 << bits) + 12_345;
        watched.insert_all((0..5_000).map(|_| 1 + random.below(last - 1)));
        let left = watched.insert(last);
        for timer in 0..5_000 {
            // Some are moved before they are cancelled.
            if timer % 3 == 0 {
                watched.reschedule(timer, 1 + random.below(last - 1));
            }
            watched.cancel(timer);
        }
        assert_eq!(watched.wake(), [left], "contract 7: the last timer after 5000 cancels");
    }
}
