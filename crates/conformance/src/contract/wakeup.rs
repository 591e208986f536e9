//! 7. Wake-up.

use super::{STARTS, edges};
use crate::random::Random;
use crate::{fresh, fresh_at, insert};
use std::collections::BTreeMap;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Timer, TimerId};

/// Contract 7: `next_wakeup` is `None` if and only if no timer is live. Otherwise it is at or
/// before the earliest deadline. Advancing from wake-up to wake-up reaches every deadline with at
/// most one call in vain per level.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_07_wakeup_never_after_a_deadline<B: Backend>() {
    none_if_and_only_if_empty::<B>();
    one_timer_at_every_distance::<B>();
    from_wakeup_to_wakeup::<B>();
    after_cancels_and_moves::<B>();
    one_left_of_many::<B>();
}

/// Returns the wake-up after checking it against the earliest deadline.
fn wakeup<T>(timer: &impl Timer<T>, earliest: Option<u64>) -> Option<u64> {
    let wakeup = timer.next_wakeup();
    assert_eq!(
        wakeup.is_some(),
        earliest.is_some(),
        "contract 7: None if and only if nothing is live: {wakeup:?}"
    );
    assert!(
        wakeup <= earliest,
        "contract 7: wake-up {wakeup:?} is after the earliest deadline, {earliest:?}"
    );
    wakeup
}

/// Advances from wake-up to wake-up until a timer fires. Returns how many fired, and the clock.
fn wake<B: Backend, T>(timer: &mut impl Timer<T>, earliest: u64) -> (usize, u64) {
    for _ in 0..=B::INFO.max_idle_wakeups {
        let tick = wakeup(timer, Some(earliest)).unwrap_or(earliest);
        let fired = timer.advance(tick, |_| ());
        if fired > 0 {
            return (fired, timer.now());
        }
    }
    let levels = B::INFO.max_idle_wakeups;
    panic!(
        "contract 7: more than {levels} wake-ups in vain, one per level, on the way to {earliest}"
    );
}

fn none_if_and_only_if_empty<B: Backend>() {
    for deadline in [0, 1, 300, 70_000, 1 << 40, u64::MAX] {
        let mut timer = fresh::<B, ()>();
        wakeup(&timer, None);
        let id = timer.insert(deadline, ());
        wakeup(&timer, Some(deadline));
        timer.cancel(id);
        wakeup(&timer, None);
        let id = timer.insert(deadline, ());
        timer.reschedule(id, deadline / 2);
        wakeup(&timer, Some(deadline / 2));
        timer.reschedule(id, deadline);
        wakeup(&timer, Some(deadline));
        timer.advance(deadline, |_| ());
        wakeup(&timer, None);
    }
}

fn one_timer_at_every_distance<B: Backend>() {
    for start in STARTS {
        for deadline in edges().filter_map(|distance| start.checked_add(distance)) {
            let mut timer = fresh_at::<B, ()>(start);
            timer.insert(deadline, ());
            let outcome = wake::<B, ()>(&mut timer, deadline);
            assert_eq!(
                outcome,
                (1, deadline),
                "contract 7: from {start}, wake-ups lead to the deadline"
            );
        }
    }
}

fn from_wakeup_to_wakeup<B: Backend>() {
    for bits in [4, 8, 12, 16, 20, 30, 62] {
        let mut random = Random::new(u64::from(bits) + 70);
        let mut timer = fresh_at::<B, ()>(random.of_any_scale(bits));
        let start = timer.now();
        let mut deadlines: Vec<_> = (0..1_000).map(|_| start + random.of_any_scale(bits)).collect();
        insert(&mut timer, deadlines.iter().map(|deadline| (*deadline, ())));
        deadlines.sort_unstable();
        for run in deadlines.chunk_by(|one, next| one == next) {
            let outcome = wake::<B, ()>(&mut timer, run[0]);
            let expected = (run.len(), run[0].max(start));
            assert_eq!(
                outcome, expected,
                "contract 7: wake-ups lead to every deadline, and fire at no other tick"
            );
        }
        wakeup(&timer, None);
    }
}

/// Wake-ups stay right while timers are inserted, cancelled and moved: a structure must not
/// remember the deadline of a timer that is gone.
fn after_cancels_and_moves<B: Backend>() {
    for bits in [5, 10, 18, 40] {
        let mut random = Random::new(u64::from(bits) + 700);
        let mut timer = fresh::<B, u64>();
        // The live timers by (deadline, value), which is unique.
        let mut live: BTreeMap<(u64, u64), TimerId> = BTreeMap::new();
        for value in 0..4_000 {
            let deadline = timer.now() + random.of_any_scale(bits);
            match random.below(4) {
                0 => {
                    // Cancels the earliest timer, after which a remembered wake-up is wrong.
                    if let Some((_, id)) = live.pop_first() {
                        timer.cancel(id);
                    }
                }
                1 => {
                    let entry = if random.one_in(2) { live.pop_first() } else { live.pop_last() };
                    if let Some(((_, value), id)) = entry {
                        timer.reschedule(id, deadline);
                        live.insert((deadline, value), id);
                    }
                }
                2 if random.one_in(4) => {
                    if let Some((earliest, _)) = live.first_key_value().map(|(key, _)| *key) {
                        let (fired, _) = wake::<B, u64>(&mut timer, earliest);
                        let now = timer.now();
                        let before = live.len();
                        live.retain(|(deadline, _), _| *deadline > now);
                        assert_eq!(
                            fired,
                            before - live.len(),
                            "contract 2: the timers due at {now} fired"
                        );
                    }
                }
                _ => {
                    live.insert((deadline, value), timer.insert(deadline, value));
                }
            }
            wakeup(&timer, live.first_key_value().map(|((deadline, _), _)| *deadline));
        }
    }
}

/// After many cancels one timer is left. The wake-ups to it are as few as if the others had never
/// existed.
fn one_left_of_many<B: Backend>() {
    for bits in [8, 14, 20, 40] {
        let mut random = Random::new(bits);
        let mut timer = fresh::<B, ()>();
        let last = (1 << bits) + 12_345;
        let ids: Vec<_> =
            (0..5_000).map(|_| timer.insert(1 + random.below(last - 1), ())).collect();
        timer.insert(last, ());
        for (cancelled, id) in ids.into_iter().enumerate() {
            // Some are moved before they are cancelled.
            if cancelled % 3 == 0 {
                timer.reschedule(id, 1 + random.below(last - 1));
            }
            timer.cancel(id);
        }
        assert_eq!(
            wake::<B, ()>(&mut timer, last),
            (1, last),
            "contract 7: after 5000 cancels, wake-ups lead to the last timer"
        );
    }
}
