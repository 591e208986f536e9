//! The life of n timers: they are started, stopped and fired, and each operation has a cost.
//!
//! A later operation pays for deferred work: a wheel cascades when its hand arrives, a lazy heap
//! drops all cancelled timers at once. So each cost is a mean over many timers: the second half of
//! those that are started, a random half that is stopped before the structure is compacted, or all
//! that fire.

use crate::count::{CountedTimer, LONGEST, random};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::hint::black_box;
use wheelhouse_core::{Tick, Timer};

pub(crate) fn steps(counted: &CountedTimer) -> f64 {
    counted.steps().total() as f64
}

/// Starts a timer at each deadline, then stops a random half of them and compacts. Returns the mean
/// cost of a start, over the second half, and of a stop. `gauge` reads a counter or a clock.
pub(crate) fn start_and_stop<T: Timer<u64>>(
    mut timer: T,
    deadlines: &[Tick],
    seed: u64,
    gauge: &impl Fn(&T) -> f64,
) -> [f64; 2] {
    let half = deadlines.len() / 2;
    let (first, second) = deadlines.split_at(half);
    let mut ids: Vec<_> = first.iter().map(|at| timer.insert(*at, *at)).collect();
    let begin = gauge(&timer);
    ids.extend(second.iter().map(|at| timer.insert(*at, *at)));
    let started = gauge(&timer);
    ids.shuffle(&mut random(seed));
    let shuffled = gauge(&timer);
    ids[..half].iter().for_each(|id| _ = black_box(timer.cancel(*id)));
    timer.compact();
    let stopped = gauge(&timer);
    [(started - begin) / second.len() as f64, (stopped - shuffled) / half as f64]
}

/// Starts a timer at each deadline, [`LONGEST`] ticks later. Advances through `empty` ticks one at
/// a time, then from wake-up to wake-up. Returns the mean cost of an empty tick, and of a timer
/// that fires, cascades included.
pub(crate) fn tick_and_fire<T: Timer<u64>>(
    mut timer: T,
    deadlines: &[Tick],
    empty: Tick,
    gauge: &impl Fn(&T) -> f64,
) -> [f64; 2] {
    deadlines.iter().for_each(|at| _ = timer.insert(LONGEST + at, *at));
    let fire = |timer: &mut T, tick| timer.advance(tick, |it| _ = black_box(it));
    let begin = gauge(&timer);
    let early: usize = (1..=empty).map(|tick| fire(&mut timer, tick)).sum();
    let ticked = gauge(&timer);
    let mut fired = 0;
    while let Some(tick) = timer.next_wakeup() {
        fired += fire(&mut timer, tick);
    }
    let end = gauge(&timer);
    assert_eq!((early, fired), (0, deadlines.len()), "all timers fire, none in an empty tick");
    [(ticked - begin) / empty.max(1) as f64, (end - ticked) / fired as f64]
}

/// The moves of a sample: a few of them move a timer past many others.
const MOVES: u64 = 4_096;

/// Starts a timer at each deadline. Returns the mean steps of moving a random one. Each move is
/// undone.
pub(crate) fn moved(
    mut counted: CountedTimer,
    deadlines: &[Tick],
    seed: u64,
    to: impl Fn(&mut Pcg64Mcg) -> Tick,
) -> f64 {
    let mut random = random(seed);
    let ids: Vec<_> = deadlines.iter().map(|at| counted.insert(*at, 0)).collect();
    let mut costs = 0;
    for _ in 0..MOVES {
        let at = random.random_range(0..ids.len());
        let to = to(&mut random);
        costs += counted.work(|timer| timer.reschedule(ids[at], to)).0.total();
        counted.reschedule(ids[at], deadlines[at]);
    }
    costs as f64 / MOVES as f64
}

/// The least number of timers in all structures of a sample together.
const ENOUGH: u64 = 1 << 14;

/// The mean of costs over several structures if n is small, so that the shape of a single one does
/// not decide.
pub(crate) fn mean_over_copies<const K: usize>(
    n: u64,
    seed: u64,
    sample: impl Fn(u64) -> [f64; K],
) -> [f64; K] {
    let copies = (ENOUGH / n).max(1);
    let samples: Vec<_> = (0..copies).map(|copy| sample(seed << 32 | copy)).collect();
    std::array::from_fn(|at| samples.iter().map(|it| it[at]).sum::<f64>() / copies as f64)
}
