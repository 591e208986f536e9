//! Shared steps of many experiments: driving structures by ticks or by wake-ups.

use crate::Setup;
use crate::count::CountedTimer;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

/// The work at one wake-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wakeup {
    /// Timers that fired.
    pub(super) fired: u64,
    /// Timers that were moved to a lower level.
    pub(super) moved: u64,
}

/// Advances from wake-up to wake-up until no timer is left.
pub(super) fn wakeups(counted: &mut CountedTimer) -> Vec<Wakeup> {
    let mut wakeups = Vec::new();
    while let Some(tick) = counted.next_wakeup() {
        let (steps, fired) = counted.work(|timer| timer.advance(tick, |_| ()));
        wakeups.push(Wakeup { fired: fired as u64, moved: steps.of(Work::CascadeMove) });
    }
    wakeups
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
    let moved = wakeups(&mut counted).into_iter().map(|it| it.moved);
    moved.fold((0, 0), |(all, most), moved| (all + moved, most.max(moved)))
}

/// Advances to each tick up to `to`. Returns (tick of firing, value) of each timer.
pub(super) fn advance_by_ticks(timer: &mut CountedTimer, to: Tick) -> Vec<(Tick, u64)> {
    let mut fired = Vec::new();
    for tick in 1..=to {
        timer.advance(tick, |expired| fired.push((tick, expired.value)));
    }
    fired
}
