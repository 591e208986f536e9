//! Netty's wheel: a worker that takes submissions out of a queue at each tick, so many at most, and then serves the slot.
//!
//! Time runs in microseconds from the start of the worker, a tick is 100 ms. At the end of tick w the worker takes up to `cap` timers out of the queue, each to the slot of
//! the tick in which it is due, or to this one if that is past; and fires what is due in this tick.

use std::collections::VecDeque;
use wheelhouse_core::Timer;
use wheelhouse_round_wheel::RoundWheel;

/// Netty's default tick, in microseconds.
pub(crate) const TICK: u64 = 100_000;
/// Netty's default number of slots.
pub(crate) const SLOTS: usize = 512;
/// How many submissions Netty's worker takes at a tick.
pub(crate) const CAP: u64 = 100_000;

/// Timers of these delays, all submitted at 0: by how much each fires after its deadline, in microseconds, in the order of firing.
pub(crate) fn lateness(delays: impl IntoIterator<Item = u64>, cap: u64) -> Vec<i64> {
    let mut queue: VecDeque<u64> = delays.into_iter().collect();
    let mut late = Vec::with_capacity(queue.len());
    let mut wheel =
        RoundWheel::builder().slots(SLOTS).build().expect("512 slots are a power of two");
    for tick in 1.. {
        let taken = queue.len().min(usize::try_from(cap).unwrap_or(usize::MAX));
        for delay in queue.drain(..taken) {
            // The tick at whose end the delay is over. If that is past, the wheel fires it at once.
            wheel.insert(delay / TICK + 1, delay);
        }
        wheel.advance(tick, |expired| late.push((tick * TICK) as i64 - expired.value as i64));
        if queue.is_empty() && wheel.is_empty() {
            break;
        }
    }
    late
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_the_cap_a_timer_is_late_by_a_tick_at_most() {
        assert_eq!(
            lateness([0, 1, 99_999, 100_000, 350_000], 5),
            [100_000, 99_999, 1, 100_000, 50_000]
        );
    }

    #[test]
    fn what_waits_in_the_queue_is_late_by_its_wait() {
        assert_eq!(lateness([50_000, 50_000, 50_000], 1), [50_000, 150_000, 250_000]);
        assert_eq!(lateness([250_000, 250_000, 250_000], 1), [50_000, 50_000, 50_000]);
    }
}
