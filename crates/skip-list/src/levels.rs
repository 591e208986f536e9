//! All levels of the list.

use crate::level::{Level, Link, NONE, Node};
use crate::towers::{Path, Towers};
use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work};

/// The list of all timers, and the levels above it. A timer is identified by its index in the
/// arena.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    /// The nodes of level 0, by the timer's index. `other` is the timer's tower, [`NONE`] if it has
    /// none.
    nodes: Vec<Node>,
    base: Level,
    towers: Towers,
}

impl Levels {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        // A quarter of all timers are on level 1, a quarter of those on level 2, and so on:
        // together a third.
        let (nodes, towers) = (Vec::with_capacity(capacity), Towers::with_capacity(capacity / 3));
        Self { nodes, base: Level::EMPTY, towers }
    }

    /// The earliest timer; `None` if it is not due at `now`.
    #[inline]
    pub(crate) fn due(&self, now: Tick) -> Option<Link> {
        Some(self.base.first()).filter(|first| first.reaches(now))
    }

    /// The deadline of the earliest timer.
    #[inline]
    pub(crate) fn earliest(&self) -> Option<Tick> {
        self.due(Tick::MAX).map(|first| first.deadline)
    }

    /// The deadline of a timer in the list.
    #[inline]
    pub(crate) fn deadline_of(&self, index: u32) -> Tick {
        self.base.deadline_of(&self.nodes, index)
    }

    /// Inserts a timer on `height` levels, behind all timers that are due at or before its
    /// deadline.
    #[inline]
    pub(crate) fn link(&mut self, index: u32, deadline: Tick, height: usize, meter: &impl Meter) {
        if index as usize >= self.nodes.len() {
            self.nodes.resize(index as usize + 1, Node::UNUSED);
        }
        let (behind, path) = self.search(deadline, meter);
        let link = Link { deadline, at: index };
        let tower =
            if height > 1 { self.towers.build(&path, height - 1, link, meter) } else { NONE };
        self.base.put_in(&mut self.nodes, behind, link, tower, meter);
    }

    /// The last timer due at or before `deadline`, and the search path to it.
    #[inline]
    fn search(&self, deadline: Tick, meter: &impl Meter) -> (u32, Path) {
        let last = self.base.last();
        meter.tally(Work::Comparison, 1);
        if last == NONE || self.deadline_of(last) <= deadline {
            return (last, self.towers.ends());
        }
        let (from, path) = self.towers.search(deadline, meter);
        (self.base.search(&self.nodes, from, deadline, meter), path)
    }

    /// Removes a timer from all its levels.
    #[inline]
    pub(crate) fn unlink(&mut self, index: u32, meter: &impl Meter) {
        self.base.take_out(&mut self.nodes, index, meter);
        let tower = self.nodes[index as usize].other;
        if tower != NONE {
            self.towers.pull_down(tower, index, meter);
        }
    }

    /// The number of nodes allocated for towers.
    #[cfg(test)]
    pub(crate) fn tower_nodes(&self) -> usize {
        self.towers.len()
    }

    /// Checks all links. Returns the number of timers.
    #[cfg(test)]
    pub(crate) fn check(&self) -> usize {
        let base = self.base.check(&self.nodes).into_iter();
        let base: Vec<_> = base.map(|link| (link, self.nodes[link.at as usize].other)).collect();
        base.iter().for_each(|(link, _)| assert_eq!(self.deadline_of(link.at), link.deadline));
        self.towers.check(&base);
        base.len()
    }
}
