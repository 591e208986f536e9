//! How the wheels of this workspace are driven and measured.

use crate::count::Probe;
pub(super) use crate::growth::{all_are, curves};
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

/// What was done at one tick on the way from wake-up to wake-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wakeup {
    pub(super) tick: Tick,
    /// Timers that fired.
    pub(super) fired: u64,
    /// Timers that were moved to a lower level.
    pub(super) moved: u64,
}

/// Advances from wake-up to wake-up until no timer is left. `seen` is told of each tick and of what fired at it, as (deadline, value).
pub(super) fn wakeups<T: Timer<u64>>(
    probe: &mut Probe<T>,
    mut seen: impl FnMut(Tick, &[(Tick, u64)]),
) -> Vec<Wakeup> {
    let mut wakeups = Vec::new();
    while let Some(tick) = probe.timer.next_wakeup() {
        let before = probe.steps();
        let fired = probe.fired(tick);
        let moved = probe.steps().since(&before).of(Work::CascadeMove);
        wakeups.push(Wakeup { tick, fired: fired.len() as u64, moved });
        seen(tick, &fired);
    }
    wakeups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::configured;

    #[test]
    fn each_wheel_fires_what_it_holds_from_wakeup_to_wakeup() {
        fn check<T: Timer<u64>>(mut probe: Probe<T>) {
            probe.fill([7, 300, 300, 5_000]);
            let mut fired = Vec::new();
            let wakeups = wakeups(&mut probe, |tick, timers| {
                fired.extend(timers.iter().map(|timer| (tick, timer.0)))
            });
            assert_eq!(fired, [(7, 7), (300, 300), (300, 300), (5_000, 5_000)]);
            assert_eq!(wakeups.iter().map(|wakeup| wakeup.fired).sum::<u64>(), 4);
        }
        check(configured::single_wheel(64));
        check(configured::hashed_wheel(64));
        check(configured::round_wheel(64));
        check(configured::hierarchical_wheel(64, 0));
        check(configured::kafka_wheel(20, 0));
    }
}
