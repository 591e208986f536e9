//! 6. Time does not run back.

use crate::{fired, fresh, latest, popped};
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;

/// Contract 6: a call with a tick before `now` is treated as a call with `now`. It fires the timers
/// due at `now` and does not move the clock.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_06_time_does_not_run_back<B: Backend>() {
    now_is_the_latest_tick_named::<B>();
    a_call_back_is_a_call_with_now::<B>();
    deadlines_after_a_call_back_hold::<B>();
}

fn now_is_the_latest_tick_named<B: Backend>() {
    let mut timer = fresh::<B, ()>();
    assert_eq!(timer.now(), 0, "a backend is built with its clock at 0");
    for (to, now) in [
        (0, 0),
        (7, 7),
        (7, 7),
        (3, 7),
        (1 << 40, 1 << 40),
        (u64::MAX >> 1, u64::MAX >> 1),
        (0, u64::MAX >> 1),
    ] {
        timer.advance(to, |_| ());
        assert_eq!(timer.now(), now, "contract 6: after advance({to}), with no timers");
    }
    let mut timer = fresh::<B, ()>();
    timer.insert(1 << 50, ());
    for (to, now) in [(9, 9), (4, 9), (300, 300), (299, 300), (70_000, 70_000), (1, 70_000)] {
        assert!(timer.pop_expired(to).is_none(), "contract 2: not due");
        assert_eq!(timer.now(), now, "contract 6: after pop_expired({to})");
    }
}

fn a_call_back_is_a_call_with_now<B: Backend>() {
    for now in [1, 100, 256, 70_000, 1 << 33] {
        for to in [0, now / 2, now - 1] {
            let mut timer = fresh::<B, char>();
            timer.advance(now, |_| ());
            timer.insert(now - 1, 'a');
            timer.insert(now, 'b');
            timer.insert(now + 1, 'c');
            let expected = [(now - 1, 'a'), (now, 'b')];
            assert_eq!(
                fired(&mut timer, to),
                expected,
                "contract 6: advance({to}) at {now} is treated as one to {now}"
            );
            timer.insert(now, 'd');
            assert_eq!(
                popped(&mut timer, to),
                [(now, 'd')],
                "contract 6: pop_expired({to}) at {now} is treated as one to {now}"
            );
            assert_eq!(
                (timer.now(), timer.len()),
                (now, 1),
                "contract 6: now stays, and timers that are not due stay"
            );
            let tick = latest::<B>(now, now + 1);
            assert_eq!(
                fired(&mut timer, tick),
                [(now + 1, 'c')],
                "contract 2: it fires at its deadline"
            );
        }
    }
}

/// Calls with earlier ticks in between must not affect the hand of a structure.
fn deadlines_after_a_call_back_hold<B: Backend>() {
    let mut timer = fresh::<B, ()>();
    for delay in [1, 5, 64, 255, 256, 1_000, 70_000] {
        for back in [1, 63, 256, 50_000, u64::MAX] {
            let now = timer.now();
            let deadline = now + delay;
            let tick = latest::<B>(now, deadline);
            timer.insert(deadline, ());
            timer.advance(now.saturating_sub(back), |_| {
                panic!("contract 2, never early: due at {deadline}")
            });
            let before = fired(&mut timer, deadline - 1);
            assert_eq!(
                before,
                [],
                "contract 2, never early: after a call {back} back, due at {deadline}"
            );
            timer.advance((deadline - 1).saturating_sub(back), |_| {
                panic!("contract 2, never early: due at {deadline}")
            });
            assert_eq!(
                fired(&mut timer, tick),
                [(deadline, ())],
                "contract 2, never late: after a call {back} back"
            );
        }
    }
}
