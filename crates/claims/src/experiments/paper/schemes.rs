//! The seven schemes, each built as the paper means it, and their four costs against n.

use super::tools::anywhere;
use crate::Scale;
use crate::count::{Probe, random};
use crate::experiments::configured::{hashed_wheel, hierarchical_wheel, round_wheel, single_wheel};
use crate::growth::{Curve, Growth, Sample};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::ops::Range;
use wheelhouse_baselines::{RedBlackTreeDefinition, SortedListDefinition, UnorderedListDefinition};
use wheelhouse_core::{Tick, Timer};

/// Starts of which a sample is the mean.
pub(super) const STARTS: u64 = 1_024;

/// Ticks of a revolution, where the wheel does not say otherwise.
const REVOLUTION: Tick = 1_024;

/// Deadlines lie no further ahead, where the wheel does not say otherwise. Below 1,024 squared: two levels of that many slots.
const LONGEST: Tick = (1 << 20) - 1;

/// Slots of the wheels whose slots are ticks or hold one timer on average: the most there can be.
const MOST_SLOTS: u64 = 1 << 16;

/// The tree is not smaller.
const LEAST_TREE: u64 = 1 << 10;

/// Slots of the wheel with rounds that stays as it is while n grows, and of those in which all timers share one.
pub(super) const FEW_SLOTS: u64 = 256;

/// Timers in a slot where the wheel grows with n.
pub(super) const PER_SLOT: u64 = 16;

/// Slots of a level. So many that no slot of a million timers is split into a level of its own: `vl-crossover` and `cascade-counts` have that.
const PER_LEVEL: u64 = 1_024;

/// The time that a structure is put through.
#[derive(Clone, Copy, Debug)]
struct Span {
    revolution: Tick,
    longest: Tick,
}

impl Span {
    const USUAL: Self = Self { revolution: REVOLUTION, longest: LONGEST };
}

/// The four costs of a scheme.
pub(super) const OPERATIONS: [&str; 4] =
    ["START", "STOP", "PER_TICK, one timer due", "PER_TICK, nothing due"];

/// A scheme and what it costs.
pub(super) struct Row {
    pub(super) scheme: &'static str,
    /// The paper's classes, of START, STOP and PER_TICK.
    pub(super) paper: [&'static str; 3],
    /// In the order of [`OPERATIONS`].
    pub(super) costs: [Curve; 4],
}

impl Row {
    pub(super) fn growth(&self, operation: usize) -> Growth {
        self.costs[operation].growth()
    }
}

pub(super) const START: usize = 0;
pub(super) const STOP: usize = 1;
pub(super) const DUE: usize = 2;
pub(super) const IDLE: usize = 3;

/// The schemes, in the paper's order; the wheel with rounds twice.
pub(super) fn rows(scale: &Scale) -> [Row; 8] {
    let (all, linear) = (scale.sizes(), scale.linear_sizes());
    // A wheel has no more slots than 65,536, so that one with a slot for each timer has no more timers.
    let slots: Vec<u64> = all.iter().copied().filter(|n| *n <= MOST_SLOTS).collect();
    // In a tree of some hundred nodes the ends show: a removal there is cheaper than elsewhere.
    let large: Vec<u64> = all.iter().copied().filter(|n| *n >= LEAST_TREE).collect();
    let row = |scheme, paper, costs| Row { scheme, paper, costs };
    let usual = |_: u64| Span::USUAL;
    [
        row(
            "1 unordered-list",
            ["O(1)", "O(1)", "O(n)"],
            measure(scale, &linear, usual, |_| Probe::of::<UnorderedListDefinition>()),
        ),
        row(
            "2 sorted-list",
            ["O(n)", "O(1)", "O(1)"],
            measure(scale, &linear, usual, |_| Probe::of::<SortedListDefinition>()),
        ),
        row(
            "3 red-black-tree",
            ["O(lg n)", "O(lg n)", "O(1)"],
            measure(scale, &large, usual, |_| Probe::of::<RedBlackTreeDefinition>()),
        ),
        row(
            "4 single-wheel",
            ["O(1)", "O(1)", "O(1)"],
            measure(
                scale,
                &all,
                |_| Span { longest: MOST_SLOTS - 1, ..Span::USUAL },
                |_| single_wheel(MOST_SLOTS as usize),
            ),
        ),
        row(
            "5 hashed-wheel, n slots",
            ["O(1) avg, O(n) worst", "O(1)", "O(1)"],
            measure(
                scale,
                &slots,
                |n| Span { revolution: n, ..Span::USUAL },
                |n| hashed_wheel(n as usize),
            ),
        ),
        row(
            "6 round-wheel, 256 slots",
            ["O(1)", "O(1)", "O(n/M) avg, O(n) worst"],
            measure(scale, &all, usual, |_| round_wheel(FEW_SLOTS as usize)),
        ),
        row(
            "6 round-wheel, n/16 slots",
            ["O(1)", "O(1)", "O(n/M) avg, O(n) worst"],
            measure(
                scale,
                &all,
                |n| Span { revolution: n / PER_SLOT, ..Span::USUAL },
                |n| round_wheel((n / PER_SLOT) as usize),
            ),
        ),
        row(
            "7 hierarchical-wheel, 2 levels of 1,024",
            ["O(m)", "O(1)", "O(1) avg"],
            measure(scale, &all, usual, |_| hierarchical_wheel(PER_LEVEL as usize, 0)),
        ),
    ]
}

/// The four costs against n.
fn measure<T: Timer<u64>>(
    scale: &Scale,
    sizes: &[u64],
    span: impl Fn(u64) -> Span,
    build: impl Fn(u64) -> Probe<T>,
) -> [Curve; 4] {
    let of_seeds =
        |n: u64| scale.seeds().map(|seed| sample(build(n), n, seed, span(n))).collect::<Vec<_>>();
    let samples: Vec<(u64, Vec<[f64; 4]>)> = sizes.iter().map(|n| (*n, of_seeds(*n))).collect();
    std::array::from_fn(|operation| {
        let costs = |(n, seeds): &(u64, Vec<[f64; 4]>)| Sample {
            n: *n,
            costs: seeds.iter().map(|costs| costs[operation]).collect(),
        };
        Curve(samples.iter().map(costs).collect())
    })
}

/// The four costs at one size.
fn sample<T: Timer<u64>>(mut probe: Probe<T>, n: u64, seed: u64, span: Span) -> [f64; 4] {
    let mut random = random(seed ^ n << 32);
    let Span { revolution, longest } = span;
    let (first, rest) = (2 * revolution, longest - 2 * revolution);
    // The latest first: so a list that is searched from its head takes them without a search.
    let mut timers = probe.fill((0..n).rev().map(|at| first + anywhere(at, n, rest, &mut random)));
    let mut soon: Vec<Tick> = (revolution..2 * revolution).collect();
    soon.shuffle(&mut random);
    probe.fill(soon);
    let idle = tick_by_tick(&mut probe, 1..revolution);
    let due = tick_by_tick(&mut probe, revolution..2 * revolution);
    let start = start(&mut probe, rest, &mut random);
    timers.shuffle(&mut random);
    let (work, ()) = probe.work(|timer| timers.iter().for_each(|id| _ = timer.cancel(*id)));
    [start, work.total() as f64 / n as f64, due, idle]
}

/// The mean work of a tick.
fn tick_by_tick<T: Timer<u64>>(probe: &mut Probe<T>, ticks: Range<Tick>) -> f64 {
    let count = ticks.end - ticks.start;
    let (work, ()) = probe.work(|timer| ticks.for_each(|tick| _ = timer.advance(tick, |_| ())));
    work.total() as f64 / count as f64
}

/// The mean work of a start, undone after each so that n stays.
fn start<T: Timer<u64>>(probe: &mut Probe<T>, longest: Tick, random: &mut Pcg64Mcg) -> f64 {
    let (now, mut steps) = (probe.timer.now(), 0);
    for at in 0..STARTS {
        let deadline = now + 1 + anywhere(at, STARTS, longest, random);
        let (work, id) = probe.work(|timer| timer.insert(deadline, 0));
        steps += work.total();
        probe.timer.cancel(id);
    }
    steps as f64 / STARTS as f64
}
