//! Promises 1 to 3 and 7 for postponed timers.

use super::{STARTS, Watched};
use crate::random::Random;
use wheelhouse_core::Tick;
use wheelhouse_core::backend::Backend;

/// A postponed timer fires once, at its last deadline. It does not change the order of other
/// timers.
pub fn contract_03_postponed_timers_fire_on_time<B: Backend>() {
    for (seed, start) in (0..).zip(STARTS) {
        let mut random = Random::new(seed);
        let mut watched = Watched::<B>::new(start);
        for _ in 0..4_000 {
            call(&mut watched, start, &mut random);
            watched.wakeup();
        }
        while let Some(wakeup) = watched.wakeup() {
            watched.advance(wakeup);
        }
    }
}

/// Makes a random call. The clock began at `start`.
fn call<B: Backend>(watched: &mut Watched<B>, start: Tick, random: &mut Random) {
    let now = watched.now;
    let later = |random: &mut Random, from: Tick| from.saturating_add(random.of_any_scale(14));
    // One of the last timers, which are mostly live.
    let timer = watched.inserted().saturating_sub(1 + random.of_any_scale(9));
    let deadline = if watched.is_empty() { None } else { watched.deadline(timer) };
    match (random.below(16), deadline) {
        (0..4, _) | (4..14, None) => {
            // Now and then an overdue timer.
            let from = if random.one_in(8) { start } else { now };
            watched.insert(later(random, from));
        }
        (4, Some(_)) => _ = watched.cancel(timer),
        (5, Some(_)) => _ = watched.reschedule(timer, later(random, now)),
        (6..14, Some(deadline)) => {
            // Now and then to an earlier deadline.
            let from = if random.one_in(8) { now } else { deadline };
            watched.postpone(timer, later(random, from));
        }
        _ => {
            let far = random.of_any_scale(12);
            watched.advance(if random.one_in(3) { now.saturating_add(far) } else { now + 1 });
        }
    }
}
