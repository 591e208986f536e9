//! The runs behind the table: the same batches on each structure, counted or timed.

use super::batch_timer::{BatchTimer, Build, metered};
use super::contestants::Contestant;
use crate::Setup;
use crate::count::{LONGEST, Order, random};
use crate::growth::Curve;
use rand::seq::SliceRandom;
use std::cmp::Reverse;
use std::time::Instant;
use wheelhouse_core::Tick;
use wheelhouse_present::stats::median;

/// The number of empty ticks: a turn of the wheel with the most slots.
const EMPTY: Tick = 1 << 14;
/// The number of timers for times.
pub(super) const TIMED: u64 = 1_000_000;
/// The number of timers for times if an operation visits all of them.
pub(super) const TIMED_LINEAR: u64 = 1 << 14;
/// The least number of timers in a sample. With few timers a sample has several runs.
const TIMERS_PER_SAMPLE: u64 = 1 << 14;
/// The distance between the seeds of two runs of a sample, so that all runs differ.
const SEEDS: u64 = 1 << 32;
/// The number of rounds. A time is their median.
const ROUNDS: u64 = 3;

/// The steps of each operation against n, in the order of
/// [`Operation::ALL`](super::Operation::ALL).
pub(super) fn curves(contestant: &Contestant, setup: &Setup) -> [Curve; 5] {
    let scale = &setup.scale;
    let sizes = if contestant.linear { scale.linear_sizes() } else { scale.sizes() };
    let build = || {
        if contestant.is_model {
            (contestant.build_unmetered)()
        } else {
            metered(setup.build(contestant.name))
        }
    };
    setup.curves(&sizes, |n, seed| {
        // A model makes whole turns of its wheel, which do not depend on chance.
        let runs = if contestant.is_model { 1 } else { (TIMERS_PER_SAMPLE / n).max(1) };
        let run = |run| {
            costs(contestant.is_model, &build, n, seed + SEEDS * run, |timer| timer.steps() as f64)
        };
        let sums = (0..runs)
            .map(run)
            .fold([0.0; 5], |sums, costs| std::array::from_fn(|at| sums[at] + costs[at]));
        sums.map(|sum| sum / runs as f64)
    })
}

/// The nanoseconds of each operation, without a meter.
pub(super) fn times(contestant: &Contestant) -> [f64; 5] {
    let n = if contestant.linear { TIMED_LINEAR } else { TIMED };
    let start = Instant::now();
    let clock = |_: &dyn BatchTimer| start.elapsed().as_nanos() as f64;
    let round = |seed| costs(contestant.is_model, &contestant.build_unmetered, n, seed, clock);
    let rounds: Vec<[f64; 5]> = (1..=ROUNDS).map(round).collect();
    std::array::from_fn(|at| {
        median(&rounds.iter().map(|costs| costs[at]).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    })
}

/// The cost of each operation with n timers. `gauge` reads the step counter or the clock.
fn costs(
    per_tick: bool,
    build: Build<'_>,
    n: u64,
    seed: u64,
    gauge: impl Fn(&dyn BatchTimer) -> f64,
) -> [f64; 5] {
    let deadlines = Order::Random.delays(n, seed);
    let random = start_and_stop(build, &deadlines, seed, &gauge);
    // The same deadlines in another order, so that a wheel has to cover the same span.
    let mut falling = deadlines;
    falling.sort_unstable_by_key(|deadline| Reverse(*deadline));
    let earliest = start_and_stop(build, &falling, seed, &gauge);
    let (fire, empty) = fire_and_tick(per_tick, build, n, seed, &gauge);
    [random[0], earliest[0], random[1], fire, empty]
}

/// Starts all timers, then stops half of them. Returns the mean cost of a start, over the second
/// half, and of a stop.
fn start_and_stop(
    build: Build<'_>,
    deadlines: &[Tick],
    seed: u64,
    gauge: &impl Fn(&dyn BatchTimer) -> f64,
) -> [f64; 2] {
    let mut timer = build();
    let half = deadlines.len() / 2;
    let mut ids = timer.insert(&deadlines[..half]);
    let begin = gauge(&*timer);
    ids.extend(timer.insert(&deadlines[half..]));
    let inserted = gauge(&*timer);
    ids.shuffle(&mut random(seed));
    let shuffled = gauge(&*timer);
    timer.cancel(&ids[..half]);
    let cancelled = gauge(&*timer);
    [(inserted - begin) / (ids.len() - half) as f64, (cancelled - shuffled) / half as f64]
}

/// Advances through empty ticks, then fires all timers. Returns the mean cost of a timer that fires
/// (or of a tick on the way) and of an empty tick.
fn fire_and_tick(
    per_tick: bool,
    build: Build<'_>,
    n: u64,
    seed: u64,
    gauge: &impl Fn(&dyn BatchTimer) -> f64,
) -> (f64, f64) {
    let mut timer = build();
    let late: Vec<Tick> =
        Order::Random.delays(n, seed).into_iter().map(|delay| LONGEST + delay).collect();
    timer.insert(&late);
    let begin = gauge(&*timer);
    let early = timer.ticks(EMPTY);
    let ticked = gauge(&*timer);
    let (fired, took) = timer.fire();
    let end = gauge(&*timer);
    assert_eq!((early, fired as u64), (0, n), "all timers fire when they are due, and not before");
    let count = if per_tick { took } else { n };
    ((end - ticked) / count as f64, (ticked - begin) / EMPTY as f64)
}
