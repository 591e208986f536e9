//! The bad cases of the schemes: all timers in one slot, and a tree that is never balanced.

use super::schemes::{FEW_SLOTS, STARTS};
use super::tools::anywhere;
use super::unbalanced;
use crate::Scale;
use crate::count::random;
use crate::experiments::configured::{hashed_wheel, round_wheel};
use crate::growth::Curve;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer};

/// What the paper says of bad cases: a scheme, the operation, the paper's class, and the steps.
pub(super) type Worst = (&'static str, &'static str, &'static str, Curve);

/// The bad cases: a table in which all timers have one slot, and a tree without balance whose timers come in the order of their deadlines.
pub(super) fn worst(scale: &Scale) -> [Worst; 3] {
    let sizes = scale.linear_sizes();
    let start = Curve::sweep(&sizes, scale.seeds(), |n, seed| {
        let (mut probe, mut random) = (hashed_wheel(FEW_SLOTS as usize), random(seed));
        probe.fill(in_one_slot(n, &mut random).into_iter().rev());
        let starts = (0..STARTS).map(|at| {
            let turn = 1 + anywhere(at, STARTS, 2 * n, &mut random);
            let (work, id) = probe.work(|timer| timer.insert(turn * FEW_SLOTS, 0));
            probe.timer.cancel(id);
            work.total()
        });
        starts.sum::<u64>() as f64 / STARTS as f64
    });
    let tick = Curve::sweep(&sizes, scale.seeds(), |n, seed| {
        let mut probe = round_wheel(FEW_SLOTS as usize);
        probe.fill(in_one_slot(n, &mut random(seed)));
        probe.work(|timer| timer.advance(FEW_SLOTS, |_| ())).0.total() as f64
    });
    [
        ("5 hashed-wheel, 256 slots, all timers in one", "START", "O(n) worst", start),
        (
            "6 round-wheel, 256 slots, all timers in one",
            "PER_TICK, the tick of that slot",
            "O(n) worst",
            tick,
        ),
        (
            "3 unbalanced tree (model), equal intervals",
            "START",
            "degenerates",
            unbalanced::ascending(scale),
        ),
    ]
}

/// n deadlines in one slot of [`FEW_SLOTS`], in up to 2n different turns and in order, one of them in the first.
fn in_one_slot(n: u64, random: &mut Pcg64Mcg) -> Vec<Tick> {
    let mut turns: Vec<u64> = (1..n).map(|_| random.random_range(1..=2 * n)).chain([1]).collect();
    turns.sort_unstable();
    turns.into_iter().map(|turn| turn * FEW_SLOTS).collect()
}
