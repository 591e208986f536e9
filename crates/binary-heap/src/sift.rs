//! The ways up and down the tree. Each moves a *hole* and fills it once at the end, instead of
//! swapping nodes.

use crate::node::{HeapNode, Places};
use wheelhouse_core::meter::{Meter, Work};

/// Nodes up to this place are in the first caches: nothing is gained by reading them ahead.
const NEAR: usize = 1 << 12;

/// In a heap of more nodes than this, most of the way down is a cache miss on each level.
const FAR: usize = 1 << 18;

/// So many nodes are read ahead: with two children four levels below, with four two.
const AHEAD: usize = 16;

/// Bytes of a line of the cache.
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

/// Puts `node` where the hole at `place` is, or nearer to the root.
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

/// Puts `node` where the hole at `place` is, or nearer to the leaves.
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

/// Moves the hole at `place` down to a leaf, and returns where it is.
#[inline]
pub(crate) fn sink_hole<const ARITY: usize, N: HeapNode>(
    nodes: &mut [N],
    places: &mut impl Places<N>,
    place: usize,
    meter: &impl Meter,
) -> usize {
    sink_past::<ARITY, N>(nodes, places, place, meter, |_| true)
}

/// Moves the hole at `place` down past the earliest children, as long as they are to be passed.
///
/// Nobody can guess which child is the earliest. In the caches a wrong guess costs more than all
/// comparisons of a level, so it is chosen without a branch. Beyond them a choice waits for one
/// miss after the other, while behind a branch, guessed right half of the time, the processor
/// already fetches the children's children: at a million timers guessing is faster.
#[inline(always)]
fn sink_past<const ARITY: usize, N: HeapNode>(
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

/// The place of the earliest child, behind a branch for each: a loop whose length the compiler does
/// not know.
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

/// The same without a branch, where all children are there.
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
    // Written so that the compiler has no reason for a branch.
    let (mut at, mut first) = (0, children[0]);
    for (other, node) in children.iter().enumerate().skip(1) {
        let is_before = node.is_before(&first);
        at = if is_before { other } else { at };
        first = if is_before { *node } else { first };
    }
    Some(from + at)
}

/// Reads what the way down may come to some levels below the children at `from`.
///
/// Without a branch nothing is fetched before it is chosen, so all that may come next is fetched
/// before the choice. Safe Rust has no prefetch instruction; a load that nothing waits for is one.
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
