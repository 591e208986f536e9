//! The linked lists, one a level.

use crate::heights::MAX_HEIGHT;
use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work};

/// No node: before the first and behind the last of a level.
const NONE: u32 = u32::MAX;

/// A timer on one level: 24 bytes.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The deadline of the next node: a search reads it here and does not visit the next in vain. A node's own deadline is
    /// in the node before it.
    next_deadline: Tick,
    next: u32,
    prev: u32,
    /// The same timer one level down; on level 1, its place in level 0.
    down: u32,
    /// The same timer one level up.
    up: u32,
}

impl Node {
    const UNLINKED: Self = Self { next_deadline: 0, next: NONE, prev: NONE, down: NONE, up: NONE };
}

/// All levels. Timers go by their index in the arena, which is their place on level 0.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    base: Vec<Node>,
    upper: Vec<Node>,
    /// Nodes of `upper` that are not in use: a stack, since a list through the nodes would be a chain of cache misses.
    free: Vec<u32>,
    /// What each level begins with; only the links forward mean something.
    heads: [Node; MAX_HEIGHT],
    /// The last node of each level.
    tails: [u32; MAX_HEIGHT],
    /// The levels in use.
    height: usize,
}

impl Levels {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            base: Vec::with_capacity(capacity),
            upper: Vec::with_capacity(capacity / 3),
            free: Vec::new(),
            heads: [Node::UNLINKED; MAX_HEIGHT],
            tails: [NONE; MAX_HEIGHT],
            height: 1,
        }
    }

    /// The earliest timer: its deadline and index.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Tick, u32)> {
        let head = &self.heads[0];
        (head.next != NONE).then_some((head.next_deadline, head.next))
    }

    /// The deadline of a timer in the list.
    #[inline]
    pub(crate) fn deadline_of(&self, index: u32) -> Tick {
        self.node(0, self.base[index as usize].prev).next_deadline
    }

    #[inline]
    fn node(&self, level: usize, at: u32) -> &Node {
        match (level, at) {
            (_, NONE) => &self.heads[level],
            (0, _) => &self.base[at as usize],
            _ => &self.upper[at as usize],
        }
    }

    #[inline]
    fn node_mut(&mut self, level: usize, at: u32) -> &mut Node {
        match (level, at) {
            (_, NONE) => &mut self.heads[level],
            (0, _) => &mut self.base[at as usize],
            _ => &mut self.upper[at as usize],
        }
    }

    /// Puts a timer on `height` levels, behind all that are due at its deadline or before.
    #[inline]
    pub(crate) fn link(&mut self, index: u32, deadline: Tick, height: usize, meter: &impl Meter) {
        if index as usize >= self.base.len() {
            self.base.resize(index as usize + 1, Node::UNLINKED);
        }
        meter.tally(Work::Comparison, 1);
        let is_last = self.tails[0] == NONE || self.deadline_of(self.tails[0]) <= deadline;
        let before = if is_last { self.tails } else { self.search(deadline, meter) };
        self.height = self.height.max(height);
        self.link_behind(before[0], 0, index, NONE, deadline);
        let mut below = index;
        for (level, &behind) in before.iter().enumerate().take(height).skip(1) {
            let at = self.allocate();
            self.link_behind(behind, level, at, below, deadline);
            self.node_mut(level - 1, below).up = at;
            below = at;
        }
        meter.tally(Work::Link, 4 * height as u64);
    }

    /// The last node of each level that is due at `deadline` or before.
    #[inline]
    fn search(&self, deadline: Tick, meter: &impl Meter) -> [u32; MAX_HEIGHT] {
        let mut before = [NONE; MAX_HEIGHT];
        let mut at = NONE;
        for level in (0..self.height).rev() {
            let mut node = self.node(level, at);
            let mut steps = 0;
            while node.next != NONE && node.next_deadline <= deadline {
                at = node.next;
                node = self.node(level, at);
                steps += 1;
            }
            before[level] = at;
            meter.tally(Work::Comparison, steps + 1);
            meter.tally(Work::Link, steps + 1);
            if level > 0 {
                at = if at == NONE { NONE } else { node.down };
            }
        }
        before
    }

    /// Links node `at` of a level behind another.
    #[inline]
    fn link_behind(&mut self, behind: u32, level: usize, at: u32, down: u32, deadline: Tick) {
        let before = self.node_mut(level, behind);
        let (next, next_deadline) = (before.next, before.next_deadline);
        (before.next, before.next_deadline) = (at, deadline);
        *self.node_mut(level, at) = Node { next_deadline, next, prev: behind, down, up: NONE };
        if next == NONE {
            self.tails[level] = at;
        } else {
            self.node_mut(level, next).prev = at;
        }
    }

    /// Takes a timer in the list off all of its levels.
    #[inline]
    pub(crate) fn unlink(&mut self, index: u32, meter: &impl Meter) {
        let (mut level, mut at) = (0, index);
        while at != NONE {
            let Node { next_deadline, next, prev, up, .. } = *self.node(level, at);
            let before = self.node_mut(level, prev);
            (before.next, before.next_deadline) = (next, next_deadline);
            if next == NONE {
                self.tails[level] = prev;
            } else {
                self.node_mut(level, next).prev = prev;
            }
            if level > 0 {
                self.free.push(at);
            }
            meter.tally(Work::Link, 2);
            (level, at) = (level + 1, up);
        }
        while self.height > 1 && self.heads[self.height - 1].next == NONE {
            self.height -= 1;
        }
    }

    #[inline]
    fn allocate(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.upper.push(Node::UNLINKED);
            (self.upper.len() - 1) as u32
        })
    }

    /// Checks order, links both ways, and that each node stands above one of the same deadline; returns the number of timers.
    #[cfg(test)]
    pub(crate) fn check(&self) -> usize {
        let mut on_base = 0;
        for level in 0..MAX_HEIGHT {
            let (mut at, mut last, mut count) = (NONE, 0, 0);
            loop {
                let node = *self.node(level, at);
                if node.next == NONE {
                    break;
                }
                assert!(node.next_deadline >= last, "in order on level {level}");
                let next = *self.node(level, node.next);
                assert_eq!(next.prev, at);
                if level > 0 {
                    let below = *self.node(level - 1, next.down);
                    assert_eq!(below.up, node.next);
                    assert_eq!(self.node(level - 1, below.prev).next_deadline, node.next_deadline);
                }
                (at, last, count) = (node.next, node.next_deadline, count + 1);
            }
            assert_eq!(self.tails[level], at);
            assert!(count == 0 || level < self.height);
            if level == 0 {
                on_base = count;
            }
        }
        on_base
    }
}
