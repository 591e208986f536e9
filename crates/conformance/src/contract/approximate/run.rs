//! A long random run that checks every result.

use super::Watched;
use crate::LONG_RUN;
use crate::random::Random;
use wheelhouse_core::backend::Backend;

/// If the clock is past this tick, the next phase starts with a new structure.
const LATE: u64 = 1 << 63;

/// Plays [`LONG_RUN`] / 4 operations of all kinds with deadlines of all scales. Checks that each
/// timer fires once, neither early nor later than its bound, with its handle, deadline and value;
/// each value that is returned; and the length, the clock and the wake-up after each operation.
///
/// # Panics
///
/// At the first wrong result.
pub fn approximate_long_run<B: Backend>() {
    let mut random = Random::new(19_870_201);
    let mut watched = Watched::<B>::new(0);
    let mut phase = Phase::new(&mut random);
    for _ in 0..LONG_RUN / 4 {
        if random.one_in(5_000) {
            phase = Phase::new(&mut random);
            // Starts a new structure if the clock is late, and now and then, so that the number of
            // handles stays small.
            if watched.now() > LATE || random.one_in(4) {
                watched.advance(u64::MAX);
                watched = Watched::new(random.of_any_scale(phase.bits));
            }
        }
        phase.step(&mut random, &mut watched);
        watched.wakeup();
    }
    watched.advance(u64::MAX);
    assert!(watched.is_empty(), "contract 10: everything is due at the last tick");
}

/// The distribution of operations for a while: their frequencies, and the range of deadlines and of
/// clock advances.
struct Phase {
    /// How many of 16 operations insert, cancel and reschedule. The others move the clock.
    insert: u64,
    cancel: u64,
    reschedule: u64,
    bits: u32,
}

impl Phase {
    fn new(random: &mut Random) -> Self {
        let (insert, cancel, reschedule) =
            [(8, 3, 3), (12, 1, 1), (2, 10, 2), (2, 2, 10), (4, 2, 2)][random.index(5)];
        Self { insert, cancel, reschedule, bits: [4, 7, 10, 16, 20, 36, 50][random.index(7)] }
    }

    fn step<B: Backend>(&self, random: &mut Random, watched: &mut Watched<B>) {
        let drawn = random.below(16);
        // One of the last timers, which are mostly live. Sometimes an older one.
        let bits = if random.one_in(8) { 16 } else { 7 };
        let timer = watched.inserted().saturating_sub(1 + random.of_any_scale(bits));
        let some = watched.inserted() > 0;
        if drawn < self.insert || !some {
            watched.insert(self.deadline(random, watched.now()));
        } else if drawn < self.insert + self.cancel {
            watched.cancel(timer);
        } else if drawn < self.insert + self.cancel + self.reschedule {
            watched.reschedule(timer, self.deadline(random, watched.now()));
        } else {
            self.clock(random, watched);
        }
    }

    fn deadline(&self, random: &mut Random, now: u64) -> u64 {
        match random.below(16) {
            0 => now.saturating_sub(random.of_any_scale(self.bits)),
            1 if random.one_in(200) => u64::MAX - random.below(3),
            _ => now.saturating_add(random.of_any_scale(self.bits)),
        }
    }

    fn clock<B: Backend>(&self, random: &mut Random, watched: &mut Watched<B>) {
        let now = watched.now();
        let jump = now.saturating_add(random.of_any_scale(self.bits.min(40)));
        match random.below(32) {
            0..10 => _ = watched.advance(now.saturating_add(1)),
            10..14 => _ = watched.advance(jump),
            14..18 => _ = watched.wake(),
            18 => watched.panic(jump, random.index(3)),
            19 => _ = watched.advance(now.saturating_sub(random.of_any_scale(self.bits))),
            20..22 => _ = watched.pop(jump),
            _ => _ = watched.pop(now),
        }
    }
}
