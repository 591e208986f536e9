//! A heap with four children per node that drops cancelled timers while it sifts, after the
//! `DelayScheduler` of JDK 25.
//!
//! A cancelled timer leaves a dead node. A node that sinks checks the child that moves up, if any
//! node is dead: a random access to the timer, where the JDK reads a field of the task that it
//! compares anyway. The first dead node is removed in a second pass, as in the JDK: the last live
//! node fills the gap, and the dead nodes after it are dropped. Unlike in the JDK, an insertion
//! checks too: a new node replaces a dead one that it would pass. Most nodes are leaves, which no
//! node passes, so all dead nodes are dropped at once when they outnumber the live ones.
//!
//! Timers with equal deadlines fire in any order.

use crate::peer::Peer;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::{Tick, TimerId};

const ARITY: usize = 4;

#[derive(Clone, Copy)]
struct Node {
    deadline: Tick,
    id: TimerId,
}

#[derive(Default)]
pub(crate) struct Heap {
    nodes: Vec<Node>,
    /// Deadlines and values. A timer that was moved has a dead node at its old deadline.
    timers: Arena<(Tick, u64)>,
}

impl Heap {
    #[inline]
    fn is_live(&self, node: Node) -> bool {
        self.timers.get(node.id).is_some_and(|timer| timer.0 == node.deadline)
    }

    #[inline]
    fn push(&mut self, node: Node) {
        // The timer of the new node is counted already.
        let has_dead = self.nodes.len() >= self.timers.len();
        let mut at = if has_dead { self.nodes.len() } else { 0 };
        while at > 0 && self.nodes[(at - 1) / ARITY].deadline > node.deadline {
            at = (at - 1) / ARITY;
            if !self.is_live(self.nodes[at]) {
                // Its children are due after the dead node, and the new one is due before it.
                self.rise(at, node);
                return;
            }
        }
        self.nodes.push(node);
        self.rise(self.nodes.len() - 1, node);
    }

    /// Puts a node at an index, or above it if the nodes there are due later.
    #[inline]
    fn rise(&mut self, mut at: usize, node: Node) {
        while at > 0 && self.nodes[(at - 1) / ARITY].deadline > node.deadline {
            self.nodes[at] = self.nodes[(at - 1) / ARITY];
            at = (at - 1) / ARITY;
        }
        self.nodes[at] = node;
    }

    /// Puts a node at an index, or below it if the nodes there are due earlier. If `check` is set,
    /// returns the index of a dead node that was met.
    #[inline]
    fn sink(&mut self, mut at: usize, node: Node, check: bool) -> Option<usize> {
        let mut dead = None;
        while let Some(least) = self.least_child(at) {
            let child = self.nodes[least];
            if child.deadline >= node.deadline {
                break;
            }
            if check && dead.is_none() && !self.is_live(child) {
                dead = Some(at);
            }
            self.nodes[at] = child;
            at = least;
        }
        self.nodes[at] = node;
        dead
    }

    #[inline]
    fn least_child(&self, at: usize) -> Option<usize> {
        let first = ARITY * at + 1;
        let end = self.nodes.len().min(first + ARITY);
        (first..end).min_by_key(|child| self.nodes[*child].deadline)
    }

    /// Removes a dead node, and others that are met on the way. Each pass removes at least one.
    #[inline]
    fn remove(&mut self, mut at: usize) {
        loop {
            debug_assert!(!self.is_live(self.nodes[at]), "only dead nodes are removed");
            let Some(last) = self.pop_last_live(at) else { return };
            // The last node may be due before the parent of the gap, if it is of another branch.
            if at > 0 && self.nodes[(at - 1) / ARITY].deadline > last.deadline {
                self.rise(at, last);
                return;
            }
            let check = self.nodes.len() > self.timers.len();
            let Some(dead) = self.sink(at, last, check) else { return };
            at = dead;
        }
    }

    /// Pops the last nodes until one is live, which can fill the gap at an index. Returns `None` if
    /// there is no live node after the gap; the gap is then popped too.
    #[inline]
    fn pop_last_live(&mut self, gap: usize) -> Option<Node> {
        while self.nodes.len() > gap + 1 {
            // The gap is one dead node. If there is no other, this one is live.
            let has_dead = self.nodes.len() > self.timers.len() + 1;
            let last = self.nodes.pop()?;
            if !has_dead || self.is_live(last) {
                return Some(last);
            }
        }
        self.nodes.pop();
        None
    }

    /// The number of nodes, dead ones included.
    #[inline]
    fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Keeps the nodes of live timers only, and restores the order: O(n).
    #[inline(never)]
    fn drop_dead(&mut self) {
        if self.timers.peak() <= 2 * self.nodes.len() {
            // Reading the arena in order is faster than one random access for each node.
            self.nodes.clear();
            let timers = self.timers.iter();
            self.nodes
                .extend(timers.map(|(id, _, (deadline, _))| Node { deadline: *deadline, id }));
        } else {
            let nodes = std::mem::take(&mut self.nodes);
            self.nodes = nodes.into_iter().filter(|node| self.is_live(*node)).collect();
        }
        for at in (0..self.nodes.len().div_ceil(ARITY)).rev() {
            self.sink(at, self.nodes[at], false);
        }
    }
}

impl Peer for Heap {
    const NAME: &'static str = "cleaning-heap";
    const PACKAGE: Option<&'static str> = None;
    type Handle = TimerId;

    fn new(_: usize) -> Self {
        Self::default()
    }

    lazy_deletion!(self, 0, deadline, id => self.push(Node { deadline, id }));

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        while let Some(&first) = self.nodes.first()
            && first.deadline <= now
        {
            if self.is_live(first)
                && let Some(((), (_, value))) = self.timers.remove(first.id)
            {
                fire(value);
            }
            self.remove(0);
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        while let Some(&first) = self.nodes.first()
            && !self.is_live(first)
        {
            self.remove(0);
        }
        self.nodes.first().map(|first| first.deadline)
    }
}
