//! Promises 1 to 3 and 7 for postponed timers.

use super::STARTS;
use crate::fresh_at;
use crate::random::Random;
use std::collections::BTreeMap;
use wheelhouse_core::backend::{Backend, Precision};
use wheelhouse_core::{Tick, Timer, TimerId};

/// The expected state of a live timer.
#[derive(Clone, Copy, Debug)]
struct Live {
    id: TimerId,
    deadline: Tick,
    /// The number of its insertion or last move; `None` once it was postponed.
    order: Option<u64>,
}

/// A postponed timer fires once, at its last deadline. It does not change the order of other
/// timers. Not checked if the structure is late by design.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_03_postponed_timers_fire_on_time<B: Backend>() {
    if let Precision::Late(_) = B::INFO.precision {
        return;
    }
    for (seed, start) in (0..).zip(STARTS) {
        let mut random = Random::new(seed);
        let mut timer = fresh_at::<B, u64>(start);
        let mut live = BTreeMap::new();
        for number in 1..=4_000 {
            call(&mut timer, number, start, &mut live, &mut random);
            let earliest = live.values().map(|it| it.deadline).min();
            let wakeup = timer.next_wakeup();
            assert!(wakeup <= earliest && wakeup.is_some() == earliest.is_some(), "contract 7");
        }
        while let Some(wakeup) = timer.next_wakeup() {
            advance(&mut timer, wakeup, &mut live);
        }
        assert!(live.is_empty(), "contract 7: no wake-up, but timers are live");
    }
}

/// Makes a random call. The clock began at `start`.
fn call(
    timer: &mut impl Timer<u64>,
    number: u64,
    start: Tick,
    live: &mut BTreeMap<u64, Live>,
    random: &mut Random,
) {
    let now = timer.now();
    let later = |random: &mut Random, from: Tick| from.saturating_add(random.of_any_scale(14));
    let any = live.iter().nth(random.index(live.len().max(1))).map(|(n, it)| (*n, *it));
    match (random.below(16), any) {
        (0..4, _) | (_, None) => {
            // Now and then an overdue timer.
            let from = if random.one_in(8) { start } else { now };
            let deadline = later(random, from);
            let id = timer.insert(deadline, number);
            live.insert(number, Live { id, deadline, order: Some(number) });
        }
        (4, Some((value, it))) => {
            assert_eq!(timer.cancel(it.id), Some(value), "contract 1: it is live");
            live.remove(&value);
        }
        (5, Some((value, it))) => {
            let deadline = later(random, now);
            assert!(timer.reschedule(it.id, deadline), "contract 1: it is live");
            live.insert(value, Live { deadline, order: Some(number), ..it });
        }
        (6..14, Some((value, it))) => {
            // Now and then to an earlier deadline.
            let from = if random.one_in(8) { now } else { it.deadline };
            let deadline = later(random, from);
            assert!(timer.postpone(it.id, deadline), "contract 1: it is live");
            assert_eq!(timer.deadline(it.id), Some(deadline));
            live.insert(value, Live { deadline, order: None, ..it });
        }
        _ => {
            let far = random.of_any_scale(12);
            let to = if random.one_in(3) { now.saturating_add(far) } else { now + 1 };
            advance(timer, to, live);
        }
    }
}

/// Fires the timers that are due, and checks that exactly these fire, in order.
fn advance(timer: &mut impl Timer<u64>, to: Tick, live: &mut BTreeMap<u64, Live>) {
    let (mut last, mut order) = (0, BTreeMap::new());
    timer.advance(to, |expired| {
        let it = live.remove(&expired.value).expect("contract 1: it is live, and fires once");
        assert_eq!((expired.id, expired.deadline), (it.id, it.deadline));
        assert!((last..=to).contains(&it.deadline), "contract 3: in the order of deadlines");
        last = it.deadline;
        if let Some(number) = it.order {
            let before = order.insert(it.deadline, number);
            assert!(before < Some(number), "contract 3: in the order of insertion");
        }
    });
    assert!(live.values().all(|it| it.deadline > to), "contract 2: never late");
}
