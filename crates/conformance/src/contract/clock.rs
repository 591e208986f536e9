//! 6. Time does not run back.

use super::Watched;
use crate::latest;
use wheelhouse_core::backend::Backend;

/// Contract 6: a call with a tick before `now` is treated as a call with `now`. It fires the timers
/// due at `now` and does not move the clock.
pub fn contract_06_time_does_not_run_back<B: Backend>() {
    now_is_the_latest_tick_named::<B>();
    a_call_back_is_a_call_with_now::<B>();
    deadlines_after_a_call_back_hold::<B>();
}

fn now_is_the_latest_tick_named<B: Backend>() {
    let mut watched = Watched::<B>::new(0);
    for to in [7, 7, 3, 1 << 40, u64::MAX >> 1, 0] {
        watched.advance(to);
    }
    let mut watched = Watched::<B>::new(0);
    watched.insert(1 << 50);
    for to in [9, 4, 300, 299, 70_000, 1] {
        assert_eq!(watched.pop(to), None, "contract 2: not due at {to}");
    }
}

fn a_call_back_is_a_call_with_now<B: Backend>() {
    for now in [1, 100, 256, 70_000, 1 << 33] {
        for to in [0, now / 2, now - 1] {
            let mut watched = Watched::<B>::with(now, [now - 1, now, now + 1]);
            assert_eq!(watched.advance(to), [0, 1], "contract 6: advance({to}) at {now}");
            watched.insert(now);
            assert_eq!(watched.pop_all(to), [3], "contract 6: pop_expired({to}) at {now}");
            assert_eq!(watched.advance(latest::<B>(now, now + 1)), [2], "contract 2: it is due");
        }
    }
}

/// Calls with earlier ticks in between must not affect the hand of a structure.
fn deadlines_after_a_call_back_hold<B: Backend>() {
    let mut watched = Watched::<B>::new(0);
    for delay in [1, 5, 64, 255, 256, 1_000, 70_000] {
        for back in [1, 63, 256, 50_000, u64::MAX] {
            let now = watched.now;
            let deadline = now + delay;
            watched.insert(deadline);
            watched.advance(now.saturating_sub(back));
            watched.advance(deadline - 1);
            watched.advance((deadline - 1).saturating_sub(back));
            let fired = watched.advance(latest::<B>(now, deadline));
            assert_eq!(fired.len(), 1, "contract 2, never late: after a call {back} back");
        }
    }
}
