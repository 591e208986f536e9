//! B1, C42: one scenario on every structure, by ticks of a virtual clock.

use crate::count::CountedTimer;
use crate::{Evidence, EvidenceKind, Experiment, Setup};
use wheelhouse_core::{Tick, Timer};

pub(super) const EVERY: Experiment = Experiment {
    name: "every-structure",
    about: "on every structure, by ticks: 1,000 timers of one deadline; one timer at tick 350",
    run,
};

const TIMERS: u64 = 1_000;
/// The deadline of S4's timer.
const ALONE: Tick = 350;

fn run(setup: &Setup, e: &mut Evidence) {
    let right: Vec<(Tick, u64)> = (0..TIMERS).map(|value| (5, value)).collect();
    let outcomes = setup.on_each_structure(TIMERS, |timer| {
        (0..TIMERS).for_each(|value| _ = timer.insert(5, value));
        let fired = advance_by_ticks(timer, 60);
        let are_right = fired.iter().zip(&right).take_while(|(fired, right)| fired == right);
        if fired.len() == right.len() { are_right.count() } else { fired.len() }
    });
    let sentence = "Our structures fire 1,000 timers due at tick 5 at that tick, in order.";
    e.equals_everywhere("B1.4", sentence, right.len(), &outcomes);
    let in_vain = setup.on_each_structure(1, |timer| {
        timer.insert(ALONE, 0);
        ALONE as usize - advance_by_ticks(timer, ALONE).len()
    });
    let sentence = "A single task of 350 s at a tick of 1 s causes 349 useless advances.";
    e.decide_by(EvidenceKind::Arithmetic).equals_everywhere("C42.1", sentence, 349, &in_vain);
}

/// Advances to each tick up to `to`. Returns (tick of firing, value) of each timer.
fn advance_by_ticks(timer: &mut CountedTimer, to: Tick) -> Vec<(Tick, u64)> {
    let mut fired = Vec::new();
    for tick in 1..=to {
        timer.advance(tick, |expired| fired.push((tick, expired.value)));
    }
    fired
}
