//! A tick at which nothing is due, as the paper's schemes 1 and 6 do it: every timer that is met has its count decremented.
//!
//! Ours keep deadlines instead of counts, and for the list, and each slot, a tick before which nothing is due; such a tick they answer in one comparison. What the paper says of
//! its own schemes is therefore asked of the [model](super::rounds) of scheme 6, which is scheme 1 if it has one slot: each timer is met at each tick, and its rounds are ticks.

use super::rounds::{Rounds, Visit};
use super::schemes::{FEW_SLOTS, PER_SLOT};
use super::tools::anywhere;
use crate::Scale;
use crate::count::random;
use crate::growth::Curve;
use wheelhouse_core::Tick;

/// Timers have at least so many revolutions to go.
const ROUNDS: u64 = 2;

/// Ticks that are counted, at least.
const TICKS: Tick = 64;

/// A scheme, the paper's class, and timers met in a tick.
pub(super) struct Idle {
    pub(super) scheme: &'static str,
    pub(super) paper: &'static str,
    pub(super) met: Curve,
}

/// Scheme 1; scheme 6 with a fixed number of slots; and with slots in proportion to the timers.
pub(super) fn idle_ticks(scale: &Scale) -> [Idle; 3] {
    let (all, linear) = (scale.sizes(), scale.linear_sizes());
    let row = |scheme, paper, met| Idle { scheme, paper, met };
    [
        row("1 timers counted down (model)", "O(n)", met(scale, &linear, |_| 1)),
        row(
            "6 rounds counted down, 256 slots (model)",
            "O(n/M) avg, O(n) worst",
            met(scale, &all, |_| FEW_SLOTS),
        ),
        row(
            "6 rounds counted down, n/16 slots (model)",
            "O(n/M) avg, O(n) worst",
            met(scale, &all, |n| n / PER_SLOT),
        ),
    ]
}

/// Timers met in a tick, on average over whole revolutions in which none is due.
fn met(scale: &Scale, sizes: &[u64], slots: impl Fn(u64) -> u64) -> Curve {
    Curve::sweep(sizes, scale.seeds(), |n, seed| {
        let (slots, mut random) = (slots(n), random(seed ^ n << 32));
        let ticks = TICKS.next_multiple_of(slots);
        let mut model = Rounds::new(slots);
        for at in 0..n {
            model.start(1 + ticks + anywhere(at, n, ROUNDS * slots, &mut random));
        }
        let visits = model.hold(ticks, || 1);
        visits.iter().map(Visit::met).sum::<u64>() as f64 / ticks as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slot_is_the_list_in_which_each_timer_is_met_at_each_tick() {
        let met = met(&Scale::REDUCED, &[64, 128], |_| 1);
        assert_eq!(met.points(), [(64.0, 64.0), (128.0, 128.0)]);
    }

    #[test]
    fn nothing_is_due_and_a_slot_in_m_is_met() {
        let met = met(&Scale::REDUCED, &[512, 1_024], |_| 256);
        assert_eq!(met.points(), [(512.0, 2.0), (1_024.0, 4.0)]);
    }
}
