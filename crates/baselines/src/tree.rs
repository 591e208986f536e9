//! A red-black tree with handles.

use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::ordered::{Key, Queue};
use wheelhouse_core::segments::Segments;

/// The place of no timer. It counts as a black node.
const NONE: u32 = u32::MAX;

/// The index of a child: the one with lesser keys or the one with greater keys.
type Side = usize;
const LESS: Side = 0;
const MORE: Side = 1;

/// A node of the tree. It has the same index as the place of its timer.
#[derive(Clone, Copy, Debug)]
struct Node {
    key: Key,
    parent: u32,
    children: [u32; 2],
    is_red: bool,
}

/// A red-black tree: a binary search tree in which no red node has a red child, and all paths from
/// the root pass the same number of black nodes. So no path is more than twice as long as another.
/// The handle of a timer leads to its node, so removing it needs no search. The first timer is
/// remembered.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Segments<Node>,
    root: u32,
    first: u32,
}

impl Tree {
    fn node(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    fn is_red(&self, at: u32) -> bool {
        at != NONE && self.nodes[at as usize].is_red
    }

    fn parent(&self, at: u32) -> u32 {
        self.nodes[at as usize].parent
    }

    fn child(&self, at: u32, side: Side) -> u32 {
        self.nodes[at as usize].children[side]
    }

    /// The side of a node under its parent. The parent is an argument because the node may be
    /// `NONE`.
    fn side(&self, at: u32, parent: u32) -> Side {
        if self.child(parent, LESS) == at { LESS } else { MORE }
    }

    /// The last node if the child on one side is followed as far as possible.
    fn outermost(&self, mut at: u32, side: Side, meter: &impl Meter) -> u32 {
        while self.child(at, side) != NONE {
            meter.tally(Work::Link, 1);
            at = self.child(at, side);
        }
        at
    }

    /// The node with the next greater key.
    fn next(&self, mut at: u32, meter: &impl Meter) -> u32 {
        meter.tally(Work::Link, 1);
        if self.child(at, MORE) != NONE {
            return self.outermost(self.child(at, MORE), LESS, meter);
        }
        let mut parent = self.parent(at);
        while parent != NONE && self.child(parent, MORE) == at {
            meter.tally(Work::Link, 1);
            (at, parent) = (parent, self.parent(parent));
        }
        parent
    }

    /// Makes a node, or `NONE`, the child of a parent on a side, or the root. Writes the links in
    /// both directions.
    fn replace(&mut self, parent: u32, side: Side, by: u32, meter: &impl Meter) {
        meter.tally(Work::Link, if by == NONE { 1 } else { 2 });
        if parent == NONE {
            self.root = by;
        } else {
            self.node(parent).children[side] = by;
        }
        if by != NONE {
            self.node(by).parent = parent;
        }
    }

    /// The side of a node under its parent, which is looked up; arbitrary if the node is the root.
    fn side_of(&self, at: u32) -> Side {
        let parent = self.parent(at);
        if parent == NONE { LESS } else { self.side(at, parent) }
    }

    /// Rotates a node down to a side. Its child on the other side replaces it.
    fn rotate(&mut self, at: u32, side: Side, meter: &impl Meter) {
        let up = self.child(at, 1 - side);
        let middle = self.child(up, side);
        let (parent, was) = (self.parent(at), self.side_of(at));
        self.replace(parent, was, up, meter);
        self.replace(up, side, at, meter);
        self.replace(at, 1 - side, middle, meter);
    }

    /// Restores the invariants if the red node `at` has a red parent.
    fn fix_red(&mut self, mut at: u32, meter: &impl Meter) {
        while self.is_red(self.parent(at)) {
            let mut parent = self.parent(at);
            let above = self.parent(parent);
            let side = self.side(parent, above);
            let uncle = self.child(above, 1 - side);
            if self.is_red(uncle) {
                meter.tally(Work::Link, 1);
                self.node(parent).is_red = false;
                self.node(uncle).is_red = false;
                self.node(above).is_red = true;
                at = above;
                if self.parent(at) == NONE {
                    break;
                }
                continue;
            }
            if self.child(parent, 1 - side) == at {
                self.rotate(parent, side, meter);
                (at, parent) = (parent, at);
            }
            self.node(parent).is_red = false;
            self.node(above).is_red = true;
            self.rotate(above, 1 - side, meter);
        }
        let root = self.root;
        self.node(root).is_red = false;
    }

    /// Restores the invariants after a black node was removed: the paths through `at`, which may be
    /// `NONE`, under `parent` pass one black node too few.
    fn fix_black(&mut self, mut at: u32, mut parent: u32, meter: &impl Meter) {
        while parent != NONE && !self.is_red(at) {
            let side = self.side(at, parent);
            let mut other = self.child(parent, 1 - side);
            if self.is_red(other) {
                self.node(other).is_red = false;
                self.node(parent).is_red = true;
                self.rotate(parent, side, meter);
                other = self.child(parent, 1 - side);
            }
            let [near, far] = [self.child(other, side), self.child(other, 1 - side)];
            if !self.is_red(near) && !self.is_red(far) {
                meter.tally(Work::Link, 1);
                self.node(other).is_red = true;
                (at, parent) = (parent, self.parent(parent));
                continue;
            }
            if !self.is_red(far) {
                self.node(near).is_red = false;
                self.node(other).is_red = true;
                self.rotate(other, 1 - side, meter);
                other = near;
            }
            let far = self.child(other, 1 - side);
            self.node(other).is_red = self.is_red(parent);
            self.node(parent).is_red = false;
            self.node(far).is_red = false;
            self.rotate(parent, side, meter);
            return;
        }
        if at != NONE {
            self.node(at).is_red = false;
        }
    }

    /// Removes a node that has at most one child. The child replaces it. Returns the child and the
    /// parent.
    fn splice(&mut self, at: u32, meter: &impl Meter) -> (u32, u32) {
        let Node { parent, children: [less, more], .. } = *self.node(at);
        let child = if less == NONE { more } else { less };
        let side = self.side_of(at);
        self.replace(parent, side, child, meter);
        (child, parent)
    }
}

impl<M: Meter> Queue<M> for Tree {
    const EMPTY: Self = Self { nodes: Segments::new(), root: NONE, first: NONE };

    fn insert(&mut self, key: Key, place: u32, meter: &M) {
        let new = Node { key, parent: NONE, children: [NONE; 2], is_red: true };
        if place as usize >= self.nodes.len() {
            self.nodes.grow_to(place as usize + 1, || new);
        }
        *self.node(place) = new;
        let (mut parent, mut side, mut at) = (NONE, LESS, self.root);
        let mut is_first = true;
        while at != NONE {
            meter.tally(Work::Link, 1);
            meter.tally(Work::Comparison, 1);
            side = if key < self.node(at).key { LESS } else { MORE };
            is_first &= side == LESS;
            (parent, at) = (at, self.child(at, side));
        }
        self.replace(parent, side, place, meter);
        if is_first {
            self.first = place;
        }
        if parent == NONE {
            self.node(place).is_red = false;
        } else {
            self.fix_red(place, meter);
        }
    }

    fn remove(&mut self, _: Key, place: u32, meter: &M) {
        if self.first == place {
            self.first = self.next(place, meter);
        }
        let [less, more] = self.node(place).children;
        if less == NONE || more == NONE {
            let was_red = self.is_red(place);
            let (child, parent) = self.splice(place, meter);
            if !was_red {
                self.fix_black(child, parent, meter);
            }
            return;
        }
        // The next greater node, which has no lesser child, is removed from its position instead,
        // and then replaces this node.
        let next = self.outermost(more, LESS, meter);
        let was_red = self.is_red(next);
        let (child, mut parent) = self.splice(next, meter);
        if parent == place {
            parent = next;
        }
        let (above, side) = (self.parent(place), self.side_of(place));
        let Node { children, is_red, .. } = *self.node(place);
        self.node(next).is_red = is_red;
        self.replace(above, side, next, meter);
        for side in [LESS, MORE] {
            self.replace(next, side, children[side], meter);
        }
        if !was_red {
            self.fix_black(child, parent, meter);
        }
    }

    fn first(&self) -> Option<Tick> {
        (self.first != NONE).then(|| self.nodes[self.first as usize].key.deadline)
    }

    fn pop(&mut self, meter: &M) -> Option<u32> {
        let first = self.first;
        if first == NONE {
            return None;
        }
        let key = self.node(first).key;
        self.remove(key, first, meter);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use wheelhouse_conformance::Random;
    use wheelhouse_core::meter::{CountingMeter, NoMeter};

    const EMPTY: Tree = <Tree as Queue<NoMeter>>::EMPTY;

    impl Tree {
        /// Checks the subtree of a node. Returns the number of black nodes on each path and the
        /// number of nodes.
        fn check(&self, at: u32, parent: u32) -> (u32, usize) {
            if at == NONE {
                return (1, 0);
            }
            let node = self.nodes[at as usize];
            assert_eq!(node.parent, parent);
            assert!(
                !node.is_red || parent != NONE && !self.is_red(parent),
                "red under red, or a red root"
            );
            let [less, more] = node.children;
            assert!(less == NONE || self.nodes[less as usize].key < node.key);
            assert!(more == NONE || self.nodes[more as usize].key > node.key);
            let ((blacks, left), (others, right)) = (self.check(less, at), self.check(more, at));
            assert_eq!(blacks, others, "the same number of black nodes on each path");
            (blacks + u32::from(!node.is_red), left + right + 1)
        }

        /// The number of nodes on the search path of a key.
        fn way(&self, key: Key) -> u64 {
            let (mut at, mut passed) = (self.root, 0);
            while at != NONE {
                let node = &self.nodes[at as usize];
                (at, passed) = (node.children[usize::from(key > node.key)], passed + 1);
            }
            passed
        }

        fn links(&self) -> Vec<[u32; 3]> {
            let links = |node: &Node| [node.parent, node.children[LESS], node.children[MORE]];
            self.nodes.iter().map(links).collect()
        }

        /// The number of links that have changed, except those of the node `but`.
        fn changed(&self, before: &[[u32; 3]], but: usize) -> u64 {
            let links = self.links();
            let pairs = before.iter().zip(&links).enumerate().filter(|(at, _)| *at != but);
            pairs
                .map(|(_, (old, new))| (0..3).filter(|at| old[*at] != new[*at]).count() as u64)
                .sum()
        }
    }

    #[test]
    fn stays_balanced_under_random_operations() {
        let (mut tree, mut expected, mut random) = (EMPTY, BTreeMap::new(), Random::new(7));
        let mut places = [None; 300];
        for order in 0..40_000 {
            let place = random.index(places.len());
            let (before, meter) = (tree.links(), CountingMeter::default());
            let told = |work| meter.count(work);
            if let Some(key) = places[place].take() {
                tree.remove(key, place as u32, &meter);
                assert!(
                    tree.changed(&before, place) <= told(Work::Link) && told(Work::Comparison) == 0
                );
                assert_eq!(expected.remove(&key), Some(place as u32));
            } else {
                let key = Key { deadline: random.below(100), order };
                let way = tree.way(key);
                tree.insert(key, place as u32, &meter);
                // An independent count: one comparison and one link for each node on the path. In
                // addition, every link that has changed must have been counted.
                assert_eq!(told(Work::Comparison), way);
                assert!(tree.changed(&before, place) <= told(Work::Link) - way);
                expected.insert(key, place as u32);
                places[place] = Some(key);
            }
            if order % 5 == 0 {
                let popped = tree.pop(&NoMeter);
                assert_eq!(popped, expected.pop_first().map(|(_, place)| place));
                popped.inspect(|place| places[*place as usize] = None);
            }
            assert_eq!(tree.check(tree.root, NONE).1, expected.len());
            assert_eq!(
                Queue::<NoMeter>::first(&tree),
                expected.first_key_value().map(|(key, _)| key.deadline)
            );
        }
    }
}
