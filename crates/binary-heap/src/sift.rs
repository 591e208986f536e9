//! The ways up and down the tree. Each moves a *hole* and fills it once at the end, instead of swapping nodes.

use crate::node::{HeapNode, Places};
use wheelhouse_core::meter::{Meter, Work};

#[inline]
fn put<N: HeapNode>(nodes: &mut [N], places: &mut impl Places<N>, place: usize, node: N, meter: &impl Meter) {
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
    mut place: usize,
    node: N,
    meter: &impl Meter,
) {
    while let Some(child) = first_child::<ARITY, N>(nodes, place, meter) {
        meter.tally(Work::Comparison, 1);
        if node.is_before(&nodes[child]) {
            break;
        }
        put(nodes, places, place, nodes[child], meter);
        place = child;
    }
    put(nodes, places, place, node, meter);
}

/// Moves the hole at `place` down to a leaf, and returns where it is.
#[inline]
pub(crate) fn sink_hole<const ARITY: usize, N: HeapNode>(
    nodes: &mut [N],
    places: &mut impl Places<N>,
    mut place: usize,
    meter: &impl Meter,
) -> usize {
    while let Some(child) = first_child::<ARITY, N>(nodes, place, meter) {
        put(nodes, places, place, nodes[child], meter);
        place = child;
    }
    place
}

/// The place of the earliest child, if there is one.
///
/// Which child it is cannot be guessed, so that choosing it without a branch seems better. It is not (half as fast, when it was
/// tried at a million timers): behind a branch, guessed right half of the time, the processor already fetches the children's children,
/// while an arithmetic choice waits for one cache miss after the other. Hence a loop whose length the compiler does not know.
#[inline]
fn first_child<const ARITY: usize, N: HeapNode>(nodes: &[N], place: usize, meter: &impl Meter) -> Option<usize> {
    let from = place * ARITY + 1;
    let children = nodes.get(from..nodes.len().min(from + ARITY)).filter(|children| !children.is_empty())?;
    meter.tally(Work::Comparison, children.len() as u64 - 1);
    let mut earliest = 0;
    for child in 1..children.len() {
        if children[child].is_before(&children[earliest]) {
            earliest = child;
        }
    }
    Some(from + earliest)
}
