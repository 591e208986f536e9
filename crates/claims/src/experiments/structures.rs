//! B1, B5, B9, C42: one scenario on every structure, by ticks of a virtual clock.

use super::drive::advance_by_ticks;
use crate::count::random;
use crate::{Evidence, EvidenceKind, Experiment, Setup};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};

pub(super) const EVERY: Experiment = Experiment {
    name: "every-structure",
    about: "on every structure: 1,000 timers of one deadline; advances by up to 40 ticks at once; \
        deadlines in ms rounded up to ticks of 500, 1,000 and 1,500 ms; one timer at 350 by ticks",
    run,
};

/// Timers of a scenario.
const TIMERS: u64 = 1_000;
/// The deadline of S4's timer.
const ALONE: Tick = 350;

fn run(setup: &Setup, e: &mut Evidence) {
    let right: Vec<(Tick, u64)> = (0..TIMERS).map(|value| (5, value)).collect();
    let outcomes = setup.on_each_structure(TIMERS, |timer| {
        (0..TIMERS).for_each(|value| _ = timer.insert(5, value));
        advance_by_ticks(timer, 1, 60) == right
    });
    let quote = "Ours fire all 1,000 of a slot at tick 5, in order.";
    e.equals_everywhere("B1.4", quote, true, &outcomes);
    let outcomes = setup.on_each_structure(TIMERS, faults_of_jumps);
    let quote = "Ours, advanced to the elapsed tick, lose none, fire none early, and are on time.";
    e.equals_everywhere("B5.3", quote, 0, &outcomes);
    let on_ticks_of =
        |tick| setup.on_each_structure(TIMERS, |timer| off_by_a_tick(timer, tick, 1_000_000));
    let outcomes: Vec<_> = [500, 1_000, 1_500].into_iter().flat_map(on_ticks_of).collect();
    let quote = "Ours, rounded up, are never early, and late by less than a tick.";
    e.equals_everywhere("B9.3", quote, 0, &outcomes);
    let in_vain = setup.on_each_structure(1, |timer| {
        timer.insert(ALONE, 0);
        ALONE as usize - advance_by_ticks(timer, 1, ALONE).len()
    });
    let quote = "A single task of 350 s at a tick of 1 s brings 349 useless advances.";
    e.decide_by(EvidenceKind::Arithmetic).equals_everywhere("C42.1", quote, 349, &in_vain);
}

/// Starts a timer at each tick and advances by several ticks at once, as after dropped ticks.
/// Returns how many timers are lost or early, and how often the clock is wrong.
fn faults_of_jumps(timer: &mut impl Timer<u64>) -> u64 {
    (1..=TIMERS).for_each(|tick| _ = timer.insert(tick, tick));
    let (mut faults, mut fired, mut now) = (0, 0, 0);
    while now < TIMERS {
        now = TIMERS.min(now + 1 + now % 40);
        fired += timer.advance(now, |it| faults += u64::from(it.deadline > now)) as u64;
        faults += u64::from(timer.now() != now || fired != now);
    }
    faults
}

/// Rounds random deadlines in ms up to ticks of `interval` ms. Returns how many timers fire early,
/// or a tick or more late, or not at all.
fn off_by_a_tick(timer: &mut impl Timer<u64>, interval: u64, longest: u64) -> usize {
    let mut random = random(interval);
    for _ in 0..TIMERS {
        let deadline = random.random_range(1..=longest);
        timer.insert(deadline.div_ceil(interval), deadline);
    }
    let fired = advance_by_ticks(timer, 1, longest / interval + 1);
    let off = |(tick, at): &&(Tick, u64)| (tick * interval).wrapping_sub(*at) >= interval;
    TIMERS as usize - fired.len() + fired.iter().filter(off).count()
}
