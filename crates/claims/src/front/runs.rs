//! The runs behind the table: the same operations on each structure, counted, timed, or watched by
//! callgrind.

use super::Contestant;
use crate::Setup;
use crate::count::{LONGEST, Order};
use crate::experiments::models::rounds::{RoundsModel, Rules};
use crate::growth::Curve;
use crate::life::{mean_over_copies, start_and_stop, steps, tick_and_fire};
use std::cell::Cell;
use std::cmp::Reverse;
use std::hint::black_box;
use std::time::Instant;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::lists::{LINKS_IN, LINKS_OUT};
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer};

/// The number of empty ticks: a turn of the wheel with the most slots.
const EMPTY: Tick = 1 << 14;
/// The number of timers for times.
pub(super) const TIMED: u64 = 1_000_000;
/// The number of timers for times if an operation visits all of them.
pub(super) const TIMED_LINEAR: u64 = 1 << 14;
/// The number of rounds. A time is their median.
pub const ROUNDS: u64 = 3;
/// The slots of the model: Netty's default.
const SLOTS: Tick = 512;

/// Plays all operations on n timers of a seed, without a meter. The gauge is read before and after
/// each operation.
pub(super) type Play = fn(n: u64, seed: u64, gauge: &dyn Fn() -> f64) -> [f64; 5];

pub(super) fn play<B: Backend>(n: u64, seed: u64, gauge: &dyn Fn() -> f64) -> [f64; 5] {
    costs(B::build::<u64, NoMeter>, n, seed, &|_: &_| gauge())
}

/// The steps of each operation against n, in the order of
/// [`Operation::ALL`](super::Operation::ALL).
pub(super) fn curves(contestant: &Contestant, setup: &Setup) -> [Curve; 5] {
    let scale = &setup.scale;
    let sizes = if contestant.linear { scale.linear_sizes() } else { scale.sizes() };
    setup.curves(&sizes, |n, seed| match contestant.play {
        None => model_costs(n, seed),
        Some(_) => mean_over_copies(n, seed, |seed| {
            costs(|| setup.build(contestant.name), n, seed, &steps)
        }),
    })
}

/// The nanoseconds of each operation in a round, without a meter; `None` for a model.
pub(super) fn times(contestant: &Contestant, round: u64) -> Option<[f64; 5]> {
    let (play, start) = (contestant.play?, Instant::now());
    let n = if contestant.linear { TIMED_LINEAR } else { TIMED };
    Some(play(n, round, &|| start.elapsed().as_nanos() as f64))
}

/// The cost of each operation with n timers.
fn costs<T: Timer<u64>>(
    build: impl Fn() -> T,
    n: u64,
    seed: u64,
    gauge: &impl Fn(&T) -> f64,
) -> [f64; 5] {
    let mut deadlines = Order::Random.delays(n, seed);
    let [insert, cancel] = start_and_stop(build(), &deadlines, seed, gauge);
    let [empty, fire] = tick_and_fire(build(), &deadlines, EMPTY, gauge);
    // The same deadlines in another order, so that a wheel has to cover the same span.
    deadlines.sort_unstable_by_key(|deadline| Reverse(*deadline));
    let [earliest, _] = start_and_stop(build(), &deadlines, seed, gauge);
    [insert, earliest, cancel, fire, empty]
}

/// The steps of the articles' wheel with rounds, with doubly linked lists: one to visit a slot, one
/// to read an entry, four to link an entry and two to unlink it. The visits are counted. An
/// insertion and a cancel take the same steps at every n by construction. "Fire" is the mean tick
/// until no timer is left.
fn model_costs(n: u64, seed: u64) -> [f64; 5] {
    let mut wheel = RoundsModel::new(Rules::S4, SLOTS);
    let delays = Order::Random.delays(n, seed).into_iter().zip(0..);
    delays.for_each(|(delay, name)| wheel.add(name, LONGEST + delay, 1));
    let mut left = n;
    let mut tick = || {
        let visit = wheel.tick();
        let fired = visit.fired.len() as u64;
        left -= fired;
        (1 + visit.visited + LINKS_OUT * fired, left)
    };
    let empty: u64 = (0..EMPTY).map(|_| tick().0).sum();
    let (mut steps, mut ticks) = (0, 0);
    loop {
        let (of_tick, left) = tick();
        (steps, ticks) = (steps + of_tick, ticks + 1);
        if left == 0 {
            break;
        }
    }
    let [link, unlink] = [1 + LINKS_IN, LINKS_OUT].map(|steps| steps as f64);
    [link, link, unlink, steps as f64 / ticks as f64, empty as f64 / EMPTY as f64]
}

/// The number of timers for cache lines: the largest n of the table.
pub(super) const CACHED: u64 = 1 << 20;

/// Plays all operations and calls [`read_counters`] before and after each: callgrind then writes
/// down its counts.
pub(super) fn play_with_counters(play: Play) {
    black_box(play(CACHED, 1, &read_counters));
}

/// Returns nothing of interest. Never inlined: callgrind finds the function by its name.
#[inline(never)]
fn read_counters() -> f64 {
    black_box(0.0)
}

/// The mean counts of each operation, from those between the calls of [`read_counters`].
pub(super) fn per_operation(play: Play, counts: &[u64]) -> [f64; 5] {
    let (at, sum) = (Cell::new(0), Cell::new(0));
    // Playing again gives the numbers of operations.
    play(CACHED, 1, &|| {
        sum.set(sum.get() + counts.get(at.get()).copied().unwrap_or(0));
        at.set(at.get() + 1);
        sum.get() as f64
    })
}
