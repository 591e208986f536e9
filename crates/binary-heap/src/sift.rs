//! Moving nodes up and down the tree. Each function moves a *hole* and fills it once at the end,
//! instead of swapping nodes.

use crate::node::{HeapNode, Places};
use wheelhouse_core::meter::{Meter, Work};

/// Nodes before this position are in the first-level or second-level cache: reading them ahead
/// gains nothing.
const NEAR: usize = 1 << 12;

/// In a heap with more nodes than this, most levels on the way down cost a cache miss.
const FAR: usize = 1 << 18;

/// The number of nodes that are read ahead: four levels below with two children, two levels below
/// with four.
const AHEAD: usize = 16;

/// The size of a cache line in bytes.
const LINE: usize = 64;

#[inline]
fn put<N: HeapNode>(
    nodes: &mut [N],
    places: &mut impl Places<N>,
    place: usize,
    node: N,
    meter: &impl Meter,
) {
    meter.tally(Work::ElementMove, 1);
    nodes[place] = node;
    places.put(&node, place);
}

/// Moves the hole at `place` towards the root until `node` fits, and fills it with `node`.
#[inline]
pub(crate) fn rise<const ARITY: usize, N: HeapNode>(
    nodes: &mut [N],
    places: &mut impl Places<N>,
    mut place: usize,
    node: N,
    meter: &impl Meter,
) {
    while place > 0 {
        let parent = (place - 1) / ARITY;
        meter.tally(Work::Comparison, 1);
        if nodes[parent].is_before(&node) {
            break;
        }
        put(nodes, places, place, nodes[parent], meter);
        place = parent;
    }
    put(nodes, places, place, node, meter);
}

/// Moves the hole at `place` towards the leaves until `node` fits, and fills it with `node`.
#[inline]
pub(crate) fn sink<const ARITY: usize, N: HeapNode>(
    nodes: &mut [N],
    places: &mut impl Places<N>,
    place: usize,
    node: N,
    meter: &impl Meter,
) {
    let hole = sink_past::<ARITY, N>(nodes, places, place, meter, |child| {
        meter.tally(Work::Comparison, 1);
        child.is_before(&node)
    });
    put(nodes, places, hole, node, meter);
}

/// Moves the hole at `place` down past the earliest child of each level while `is_passed` returns
/// `true` for that child. Returns the position of the hole.
///
/// The processor cannot predict which child is the earliest. If the nodes are in the caches, a
/// misprediction costs more than all comparisons of a level, so the child is chosen without a
/// branch. If they are not, a choice without a branch waits for one cache miss after the other.
/// With a branch, whose prediction is right half of the time, the processor already fetches the
/// next level: with a million timers that is faster.
#[inline(always)]
pub(crate) fn sink_past<const ARITY: usize, N: HeapNode>(
    nodes: &mut [N],
    places: &mut impl Places<N>,
    place: usize,
    meter: &impl Meter,
    is_passed: impl Fn(&N) -> bool,
) -> usize {
    if nodes.len() > FAR {
        let first_child = |nodes: &[N], place| guess::<ARITY, N>(nodes, place, meter);
        descend(nodes, places, place, meter, first_child, is_passed)
    } else {
        let first_child = |nodes: &[N], place| choose::<ARITY, N>(nodes, place, meter);
        descend(nodes, places, place, meter, first_child, is_passed)
    }
}

#[inline(always)]
fn descend<N: HeapNode>(
    nodes: &mut [N],
    places: &mut impl Places<N>,
    mut place: usize,
    meter: &impl Meter,
    first_child: impl Fn(&[N], usize) -> Option<usize>,
    is_passed: impl Fn(&N) -> bool,
) -> usize {
    while let Some(child) = first_child(nodes, place).filter(|child| is_passed(&nodes[*child])) {
        put(nodes, places, place, nodes[child], meter);
        place = child;
    }
    place
}

/// The position of the earliest child, with a branch for each child. The compiler does not know the
/// length of the loop, so it keeps the branches.
#[inline(always)]
fn guess<const ARITY: usize, N: HeapNode>(
    nodes: &[N],
    place: usize,
    meter: &impl Meter,
) -> Option<usize> {
    let from = place * ARITY + 1;
    let children =
        nodes.get(from..nodes.len().min(from + ARITY)).filter(|children| !children.is_empty())?;
    meter.tally(Work::Comparison, children.len() as u64 - 1);
    let mut earliest = 0;
    for child in 1..children.len() {
        if children[child].is_before(&children[earliest]) {
            earliest = child;
        }
    }
    Some(from + earliest)
}

/// The position of the earliest child, without branches if the node has all its children.
#[inline(always)]
fn choose<const ARITY: usize, N: HeapNode>(
    nodes: &[N],
    place: usize,
    meter: &impl Meter,
) -> Option<usize> {
    let from = place * ARITY + 1;
    let Some(children) = nodes.get(from..).and_then(<[N]>::first_chunk::<ARITY>) else {
        return guess::<ARITY, N>(nodes, place, meter);
    };
    if from > NEAR {
        read_ahead::<ARITY, N>(nodes, from);
    }
    meter.tally(Work::Comparison, ARITY as u64 - 1);
    // Written so that the compiler uses conditional moves instead of branches.
    let (mut at, mut first) = (0, children[0]);
    for (other, node) in children.iter().enumerate().skip(1) {
        let is_before = node.is_before(&first);
        at = if is_before { other } else { at };
        first = if is_before { *node } else { first };
    }
    Some(from + at)
}

/// Reads the nodes that the way down may reach some levels below the children at `from`.
///
/// Without a branch, nothing is fetched before it is chosen. So all nodes that may come next are
/// fetched before the choice. Safe Rust has no prefetch instruction, but a load whose result is not
/// used has the same effect.
#[inline(always)]
fn read_ahead<const ARITY: usize, N: HeapNode>(nodes: &[N], from: usize) {
    let (mut first, mut count) = (from, ARITY);
    while count * ARITY <= AHEAD {
        (first, count) = (first * ARITY + 1, count * ARITY);
    }
    if let Some(ahead) = nodes.get(first..first + count) {
        let lines = ahead.iter().step_by(LINE / size_of::<N>());
        core::hint::black_box(lines.fold(0, |sum, node| sum ^ node.deadline()));
    }
}
