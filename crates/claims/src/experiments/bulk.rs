//! What starting and stopping costs where nothing is left to be paid by another operation: all of n timers started, half of them stopped, and the structure tidied up.
//!
//! Structures put work off. One that marks what is stopped throws it away later, one that leaves holes closes them when there are many; so the mean of a few operations can
//! miss all of it.

use crate::count::{Order, Probe, random};
use rand::seq::SliceRandom;
use wheelhouse_core::Timer;

/// No wheel is to take more steps for a start or a stop, on average.
pub(super) const MOST_OF_A_STOP: f64 = 100.0;

/// Mean steps to start one of n timers, and to stop one of the half that are stopped, at random.
pub(super) fn start_and_stop<T: Timer<u64>>(
    mut probe: Probe<T>,
    order: Order,
    n: u64,
    seed: u64,
) -> [f64; 2] {
    let mut ids = probe.fill(order.delays(n, seed));
    let start = probe.steps();
    ids.shuffle(&mut random(seed));
    ids[..n as usize / 2].iter().for_each(|id| _ = probe.timer.cancel(*id));
    probe.timer.compact();
    let stop = probe.steps().since(&start);
    [start.total() as f64 / n as f64, stop.total() as f64 / (n / 2) as f64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::configured;

    #[test]
    fn a_crowd_of_one_tick_costs_no_more_than_its_links() {
        let crowd = |n| start_and_stop(configured::hierarchical_wheel(256, 0), Order::Equal, n, 1);
        let [few, many] = [1 << 12, 1 << 13].map(crowd);
        assert!(few[1] < 3.0 && many[1] < 3.0, "{few:?} {many:?}");
        // In the overflow: its list is looked for at each start, and for the one of 512 that is at an
        // end of it when it stops.
        let overflow = start_and_stop(configured::single_wheel(64), Order::Equal, 1 << 10, 1);
        assert_eq!(overflow, [4.0 + 1.0, 2.0 + 1.0 / 512.0]);
    }
}
