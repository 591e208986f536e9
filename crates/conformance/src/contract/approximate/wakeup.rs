//! 7. Wake-up.

use super::super::STARTS;
use super::{Watched, distances};
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// Contract 7 of structures that are late by design: `next_wakeup` is `None` if and only if no
/// timer is live. Otherwise it is never after the latest tick at which a live timer may fire, and
/// at or before `now` if a timer is due. From wake-up to wake-up every timer fires within its
/// bound, with at most one call in vain per level.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn approximate_07_wakeup_never_after_a_bound<B: Backend>() {
    one_timer_at_every_distance::<B>();
    from_wakeup_to_wakeup::<B>();
    after_cancels_and_moves::<B>();
    one_left_of_many::<B>();
}

fn one_timer_at_every_distance<B: Backend>() {
    for start in STARTS {
        for deadline in distances().filter_map(|distance| start.checked_add(distance)) {
            let mut watched = Watched::<B>::new(start);
            let timer = watched.insert(deadline);
            assert_eq!(
                watched.wake(),
                [timer],
                "contract 7: from {start}, wake-ups lead to the timer due at {deadline}"
            );
            assert_eq!(watched.wakeup(), None, "contract 7: nothing is live");
            let gone = watched.insert(deadline);
            watched.cancel(gone);
            assert_eq!(watched.wakeup(), None, "contract 7: nothing is live");
        }
    }
}

fn from_wakeup_to_wakeup<B: Backend>() {
    for bits in [4, 8, 12, 16, 20, 30, 62] {
        let mut random = Random::new(u64::from(bits) + 70);
        let start = random.of_any_scale(bits);
        let mut watched = Watched::<B>::new(start);
        (0..1_000).for_each(|_| _ = watched.insert(start + random.of_any_scale(bits)));
        while !watched.is_empty() {
            watched.wake();
        }
    }
}

/// Wake-ups stay right while timers are inserted, cancelled and moved.
fn after_cancels_and_moves<B: Backend>() {
    for bits in [5, 10, 18, 40] {
        let mut random = Random::new(u64::from(bits) + 700);
        let mut watched = Watched::<B>::new(0);
        for _ in 0..4_000 {
            let deadline = watched.now() + random.of_any_scale(bits);
            // Mostly one of the last timers, which are mostly live.
            let timer = watched.inserted().saturating_sub(1 + random.of_any_scale(8));
            match random.below(4) {
                0 if watched.inserted() > 0 => watched.cancel(timer),
                1 if watched.inserted() > 0 => watched.reschedule(timer, deadline),
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
        (0..5_000).for_each(|_| _ = watched.insert(1 + random.below(last - 1)));
        let left = watched.insert(last);
        for timer in 0..5_000 {
            if timer % 3 == 0 {
                watched.reschedule(timer, 1 + random.below(last - 1));
            }
            watched.cancel(timer);
        }
        assert_eq!(
            watched.wake(),
            [left],
            "contract 7: after 5000 cancels, wake-ups lead to the last timer"
        );
    }
}
