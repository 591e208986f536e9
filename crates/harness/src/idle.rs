//! The cost of the player by itself, measured on a timer facility that does nothing.
//!
//! The player plays a stream on a structure, so a count of the structure includes the player.
//! `Idle` holds no timers. It returns one handle for all timers, and when the clock moves it fires
//! as many timers as it is given. Only the player is counted then: the loop over the operations,
//! the table of handles, and the checksum. The answers are wrong, so `Idle` is not a
//! [contender](crate::contender).
//!
//! The oracle supplies how many timers fire. Otherwise the count would miss the player's part in an
//! expiry, which is to add two words to the checksum.

use crate::contender::play_phase;
use crate::stream::Stream;
use std::hint::black_box;
use std::num::NonZeroU32;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_workload::{Checksum, Player};

/// The name of the player in tables, where it is a row among the backends.
pub const PLAYER: &str = "player";

/// Holds nothing and answers at once.
///
/// Every input is added to a sum, and every answer is computed from an input. Otherwise the
/// compiler would see that nothing depends on them and remove a part of the player. The sum costs
/// one instruction; a black box for each answer would cost five.
#[derive(Debug)]
struct Idle<'a> {
    /// How many timers fire each time the clock moves.
    counts: std::slice::Iter<'a, u32>,
    now: Tick,
    sum: u64,
}

impl<'a> Idle<'a> {
    fn new(counts: &'a [u32]) -> Self {
        Self { counts: counts.iter(), now: 0, sum: 0 }
    }
}

/// The handle of every timer.
const HANDLE: TimerId = TimerId::from_parts(0, NonZeroU32::MIN);

impl Timer<u64> for Idle<'_> {
    wheelhouse_core::now_and_len!(counts);

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.sum = self.sum.wrapping_add(deadline ^ value);
        HANDLE
    }

    #[inline]
    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        Some(u64::from(id.index()))
    }

    #[inline]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        self.sum = self.sum.wrapping_add(deadline);
        id.index() == 0
    }

    fn deadline(&self, _: TimerId) -> Option<Tick> {
        None
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        Some(self.now)
    }

    fn pop_expired(&mut self, _: Tick) -> Option<Expired<u64>> {
        None
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<u64>)) -> usize {
        self.now = now;
        let count = self.counts.next().copied().unwrap_or_default();
        for value in 0..u64::from(count) {
            on_expiry(Expired { id: HANDLE, deadline: now, value });
        }
        // Never 0: the player would ask for one wake-up after another until a timer fires.
        count.max(1) as usize
    }
}

/// Plays a stream on `Idle`, given how many timers fire each time the clock moves.
pub fn play(stream: &Stream, counts: &[u32]) -> Checksum {
    let mut player = Player::new(Idle::new(counts), stream.labels);
    for (at, phase) in stream.phases.iter().enumerate() {
        play_phase(&mut player, &phase.ops, stream.ends_measure(at));
    }
    black_box(player.timer().sum);
    player.checksum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::StreamSource;

    /// If `advance` could return 0, the player would ask for wake-ups forever.
    #[test]
    fn the_player_finishes_every_stream() -> anyhow::Result<()> {
        for source in StreamSource::all().iter().filter(|source| source.is_scalable()) {
            let stream = source.load(50, 1)?;
            play(&stream, &[]);
            let script = stream.expected_answers().script.unwrap_or_default();
            play(&stream, &script.counts);
        }
        Ok(())
    }

    #[test]
    fn the_given_number_of_timers_fires() {
        let mut idle = Idle::new(&[3, 0]);
        let mut fired = 0;
        idle.advance(1, |_| fired += 1);
        assert_eq!(fired, 3);
        idle.advance(2, |_| fired += 1);
        assert_eq!(fired, 3);
    }
}
