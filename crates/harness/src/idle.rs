//! What the player costs by itself: a timer facility that does nothing.
//!
//! The player stands between a stream and a structure, and is counted with it. `Idle` holds no
//! timer. It gives out one handle for all, and when the clock moves it hands out as many expiries
//! as it is told. So what is counted of it is the player: the loop over the operations, the table
//! of handles, and the checksum. Its answers are wrong, and it is therefore no
//! [contender](crate::contender).
//!
//! How many timers fire comes from the oracle. Without it the player's part in an expiry, which is
//! two words into the checksum, would be missing.

use crate::contender::play_phase;
use crate::stream::Stream;
use std::hint::black_box;
use std::num::NonZeroU32;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_workload::{Checksum, Player};

/// The name under which the player stands among the backends.
pub const PLAYER: &str = "player";

/// Holds nothing and answers at once.
///
/// What it is given goes into a sum, and what it answers comes from what it is given. Otherwise the
/// compiler would see that nothing depends on them, and leave out a part of the player. A sum costs
/// an instruction, where a black box for each answer would cost five.
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
    fn now(&self) -> Tick {
        self.now
    }

    fn len(&self) -> usize {
        self.counts.len()
    }

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
        // The player goes on from wake-up to wake-up until something has fired; here it is to stop.
        count.max(1) as usize
    }
}

/// Plays a stream on nothing, given how many timers fire each time the clock moves.
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
    use crate::source::Source;

    /// A wake-up of a structure that is never done would be asked for again for ever.
    #[test]
    fn the_player_comes_to_the_end_of_every_stream() -> anyhow::Result<()> {
        for source in Source::all().iter().filter(|source| source.is_scalable()) {
            let stream = source.load(50, 1)?;
            play(&stream, &[]);
            let script = stream.solve().script.unwrap_or_default();
            play(&stream, &script.counts);
        }
        Ok(())
    }

    #[test]
    fn as_many_timers_fire_as_it_is_told() {
        let mut idle = Idle::new(&[3, 0]);
        let mut fired = 0;
        idle.advance(1, |_| fired += 1);
        assert_eq!(fired, 3);
        idle.advance(2, |_| fired += 1);
        assert_eq!(fired, 3);
    }
}
