//! Shared steps of many experiments: driving structures by ticks or by wake-ups.

use crate::Setup;
use crate::count::CountedTimer;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

/// Advances from wake-up to wake-up until no timer is left. Returns how many timers fired, how
/// often one was moved to a lower level, and the most moves in one call.
pub(super) fn run_out(counted: &mut CountedTimer) -> [u64; 3] {
    let [mut fired, mut moved, mut most] = [0; 3];
    while let Some(tick) = counted.next_wakeup() {
        let (steps, of_tick) = counted.work(|timer| timer.advance(tick, |_| ()));
        let moves = steps.of(Work::CascadeMove);
        (fired, moved, most) = (fired + of_tick as u64, moved + moves, most.max(moves));
    }
    [fired, moved, most]
}

/// Starts timers with these delays in a wheel, and fires them. Returns how often a timer was moved
/// to a lower level, in all and at most in one call.
pub(super) fn moves(
    setup: &Setup,
    wheel: &str,
    slots: u64,
    delays: impl IntoIterator<Item = Tick>,
) -> (u64, u64) {
    let mut counted = setup.build_with_slots(wheel, slots);
    counted.fill(delays);
    let [_, moved, most] = run_out(&mut counted);
    (moved, most)
}

/// Advances to each tick up to `to`. Returns (tick of firing, value) of each timer.
pub(super) fn advance_by_ticks(timer: &mut CountedTimer, to: Tick) -> Vec<(Tick, u64)> {
    let mut fired = Vec::new();
    for tick in 1..=to {
        timer.advance(tick, |expired| fired.push((tick, expired.value)));
    }
    fired
}
