//! A long random run with many live timers, compared with the oracle. It reaches layouts of a
//! structure that a run with few timers does not reach.

use crate::random::Random;
use crate::script::Pair;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer};

/// Plays about this number of random operations with up to 200,000 live timers. Panics at the first
/// difference from the oracle, as [`differential_long_run`](crate::differential_long_run) does.
/// Returns the most timers that were live.
///
/// Each epoch of the run has other parameters. After some of them a copy of the structure
/// continues, or all timers are cancelled or fire.
pub fn differential_crowd<B: Backend>(operations: u64) -> usize
where
    B::Timer<u64, NoMeter>: Clone,
{
    let (mut random, mut pair) = (Random::new(13), Pair::new::<B>());
    let (mut played, mut most) = (0, 0);
    while played < operations {
        let (epoch, length) = (Epoch::new(&mut random), 1 << (10 + random.below(10)));
        let outcome = (0..length).try_for_each(|at| epoch.play(&mut pair, at, &mut random));
        played += length;
        most = most.max(pair.timer.len());
        let outcome = outcome.and_then(|()| end(&mut pair, &mut random));
        outcome.unwrap_or_else(|what| panic!("within the first {played} operations: {what}"));
        // Old handles are kept to test that stale ones are refused, but not for ever.
        if pair.inserted() > 4_000_000 || pair.now > 1 << 60 {
            pair = Pair::new::<B>();
        }
    }
    pair.finish().unwrap_or_else(|divergence| panic!("{divergence}"));
    most
}

struct Epoch {
    /// About how many timers are live.
    target: u64,
    /// Delays are below a random power of two up to `1 << bits`. In a crowd, all are nearly equal.
    bits: u32,
    is_crowd: bool,
    /// How many of ten operations cancel, and how many move. The others insert.
    cancels: u64,
    moves: u64,
    /// How many of two moves postpone.
    postpones: u64,
    /// The clock moves once in `every` operations, by less than `1 << step` ticks.
    every: u64,
    step: u64,
}

impl Epoch {
    fn new(random: &mut Random) -> Self {
        Self {
            target: 1 << random.below(18),
            bits: 1 + random.below(43) as u32,
            is_crowd: random.one_in(4),
            cancels: random.below(6),
            moves: random.below(5),
            postpones: random.below(3),
            every: 1 << random.below(16),
            step: 1 + random.below(29),
        }
    }

    fn delay(&self, random: &mut Random) -> Tick {
        match self.is_crowd {
            true => (1 << self.bits) + random.below(3),
            false => random.of_any_scale(self.bits),
        }
    }

    /// Plays an operation and, if it is time, moves the clock.
    fn play<T: Timer<u64>>(
        &self,
        pair: &mut Pair<T>,
        at: u64,
        random: &mut Random,
    ) -> Result<(), String> {
        let (inserted, live) = (pair.inserted(), pair.timer.len() as u64);
        let deadline = pair.now.saturating_add(self.delay(random));
        match random.below(10) {
            _ if live < self.target / 2 || inserted == 0 => pair.insert(deadline).map(drop)?,
            kind if kind < self.cancels => pair.cancel(random.below(inserted)).map(drop)?,
            kind if kind < self.cancels + self.moves => {
                // One of the newest timers, since few of all are live.
                let timer = inserted - 1 - random.below(inserted.min(4 * self.target));
                let postpones = random.below(2) < self.postpones;
                let call = if postpones { Pair::postpone } else { Pair::reschedule };
                call(pair, timer, deadline).map(drop)?;
            }
            _ if live < 2 * self.target => pair.insert(deadline).map(drop)?,
            _ => pair.cancel(random.below(inserted)).map(drop)?,
        }
        if at % self.every == 0 {
            let to = pair.now.saturating_add(random.below(1 << self.step));
            if random.one_in(8) {
                pair.panic(to, 1)?;
            }
            pair.advance(to)?;
            pair.wakeup()?;
        }
        Ok(())
    }
}

fn end<T: Timer<u64> + Clone>(pair: &mut Pair<T>, random: &mut Random) -> Result<(), String> {
    match random.below(4) {
        0 => *pair = pair.clone(),
        1 => (0..pair.inserted()).try_for_each(|timer| pair.cancel(timer).map(drop))?,
        2 => pair.advance(pair.now.saturating_add(1 << 46)).map(drop)?,
        _ => {}
    }
    pair.forget_if_empty();
    Ok(())
}
