//! A long random run, compared with the oracle step by step. It reaches states of a wheel that a
//! short sequence does not reach.

use crate::random::Random;
use crate::script::{Divergence, Pair, Step, When};
use wheelhouse_core::backend::Backend;

/// The number of operations of [`differential_long_run`].
const LONG_RUN: usize = crate::sized(3_000_000, 300_000);

/// The wake-up is compared once in this many operations, because some structures have to search for
/// it.
const WAKEUP_EVERY: usize = 16;

/// If the clock is past this tick, the next phase starts with new structures.
const LATE: u64 = 1 << 63;

/// Plays three million operations, a tenth of that in debug builds. All results must equal those of
/// the oracle: each timer that fires with handle, deadline and value, each value that is returned,
/// and the length and the clock after each operation. The timers of a structure that is late by
/// design must fire within its bound.
pub fn differential_long_run<B: Backend>() {
    for (part, seed) in (0..4).zip(19_870_101..) {
        if let Err(divergence) = differential_run::<B>(seed, LONG_RUN / 4) {
            panic!("part {part}, seed {seed}: {divergence}");
        }
    }
}

fn differential_run<B: Backend>(seed: u64, operations: usize) -> Result<(), Divergence> {
    let mut random = Random::new(seed);
    let mut pair = Pair::new::<B>();
    let mut phase = Phase::new(&mut random);
    for operation in 0..operations {
        if random.one_in(5_000) {
            phase = Phase::new(&mut random);
            if pair.now > LATE {
                pair.finish()?;
                pair = Pair::new::<B>();
            }
        }
        let step = phase.step(&mut random, &|timer| pair.is_live(timer));
        pair.play(step)?;
        if operation % WAKEUP_EVERY == 0 {
            pair.compare_wakeup(step)?;
        }
    }
    pair.finish()
}

/// Chooses a timer to cancel or move. Mostly chooses a live timer, although most of the remembered
/// timers are not live.
fn choose(random: &mut Random, is_live: &dyn Fn(u16) -> bool) -> u16 {
    let tries = if random.one_in(6) { 1 } else { 20 };
    let mut drawn = (0..tries).map(|_| random.word() as u16);
    drawn.find(|timer| is_live(*timer)).unwrap_or_else(|| random.word() as u16)
}

/// The distribution of operations for a while: their frequencies, and the range of deadlines and of
/// clock advances.
struct Phase {
    /// How many of 16 operations insert, cancel and move. The others advance the clock.
    insert: u64,
    cancel: u64,
    moves: u64,
    /// How many of two moves postpone.
    postpone: u64,
    deadline_bits: u32,
    jump_bits: u32,
}

impl Phase {
    fn new(random: &mut Random) -> Self {
        let (insert, cancel, moves) =
            [(8, 3, 3), (12, 1, 1), (2, 10, 2), (2, 2, 10), (4, 2, 2)][random.index(5)];
        let deadline_bits = [4, 10, 16, 20, 36, 50][random.index(6)];
        // Calls that fire few or many timers, but rarely all.
        let jump_bits = deadline_bits.min(40) * (1 + random.below(3) as u32) / 4;
        let postpone = random.below(3);
        Self { insert, cancel, moves, postpone, deadline_bits, jump_bits }
    }

    fn step(&self, random: &mut Random, is_live: &dyn Fn(u16) -> bool) -> Step {
        let drawn = random.below(16);
        if drawn < self.insert {
            Step::Insert(self.deadline(random))
        } else if drawn < self.insert + self.cancel {
            Step::Cancel(choose(random, is_live))
        } else if drawn < self.insert + self.cancel + self.moves {
            let postpones = random.below(2) < self.postpone;
            let step = if postpones { Step::Postpone } else { Step::Reschedule };
            step(choose(random, is_live), self.deadline(random))
        } else {
            self.clock(random)
        }
    }

    fn deadline(&self, random: &mut Random) -> When {
        match random.below(16) {
            0 => When::Ago(random.of_any_scale(self.deadline_bits)),
            1 => When::In(1 << random.below(u64::from(self.deadline_bits))),
            2 if random.one_in(200) => When::At(u64::MAX - random.below(3)),
            2..6 => When::In(random.below(1 << self.deadline_bits)),
            _ => When::In(random.of_any_scale(self.deadline_bits)),
        }
    }

    fn clock(&self, random: &mut Random) -> Step {
        let jump = When::In(random.of_any_scale(self.jump_bits));
        match random.below(32) {
            0..10 => Step::Advance(When::In(1)),
            10..16 => Step::Advance(jump),
            16..18 => Step::Wake,
            18 => Step::Panic(jump, random.below(3) as u8),
            19 => Step::Advance(When::Ago(random.of_any_scale(self.jump_bits))),
            20 => Step::Pop(jump),
            21 => Step::Compact,
            _ => Step::Pop(When::In(0)),
        }
    }
}
