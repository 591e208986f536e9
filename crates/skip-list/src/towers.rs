//! The levels above level 0. A quarter of all timers are on these levels.

use crate::heights::MAX_HEIGHT;
use crate::level::{Level, Link, NONE, Node};
use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::Meter;

/// The most levels above level 0.
const FLOORS: usize = MAX_HEIGHT - 1;

/// The search path: on each floor, the last node at or before a deadline.
pub(crate) type Path = [u32; FLOORS];

/// The nodes above level 0. The nodes of one timer are its *tower*: they are stored side by side,
/// the lowest floor first, so that a step down mostly stays in the cache line. In a node, `other`
/// is the timer's index in the arena, or [`NONE`] if the node is not used.
#[derive(Clone, Debug)]
pub(crate) struct Towers {
    nodes: Vec<Node>,
    /// The unused towers, by their number of floors minus one. They are on stacks, because a list
    /// through the nodes would be a chain of cache misses.
    free: [Vec<u32>; FLOORS],
    floors: [Level; FLOORS],
    /// The number of floors in use.
    height: usize,
}

impl Towers {
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(nodes),
            free: [const { Vec::new() }; FLOORS],
            floors: [Level::EMPTY; FLOORS],
            height: 0,
        }
    }

    /// The last node of each floor.
    #[inline]
    pub(crate) fn ends(&self) -> Path {
        self.floors.each_ref().map(Level::last)
    }

    /// On each floor, finds the last node that is due at or before `deadline`. Returns the timer of
    /// the node on the lowest floor, and the path.
    #[inline]
    pub(crate) fn search(&self, deadline: Tick, meter: &impl Meter) -> (u32, Path) {
        let mut path = [NONE; FLOORS];
        let mut at = NONE;
        for (floor, level) in self.floors.iter().enumerate().take(self.height).rev() {
            at = level.search(&self.nodes, at, deadline, meter);
            path[floor] = at;
            if floor > 0 && at != NONE {
                at -= 1;
            }
        }
        (self.nodes.get(at as usize).map_or(NONE, |node| node.other), path)
    }

    /// Builds a tower of `floors` floors, at least one, with each node behind the node of the path.
    /// `link.at` is the timer's index. Returns the index of the lowest node.
    #[inline]
    pub(crate) fn build(
        &mut self,
        path: &Path,
        floors: usize,
        link: Link,
        meter: &impl Meter,
    ) -> u32 {
        let tower = self.allocate(floors);
        for (floor, level) in self.floors.iter_mut().enumerate().take(floors) {
            let at = tower + floor as u32;
            level.put_in(&mut self.nodes, path[floor], Link { at, ..link }, link.at, meter);
        }
        self.height = self.height.max(floors);
        tower
    }

    #[inline]
    pub(crate) fn pull_down(&mut self, tower: u32, index: u32, meter: &impl Meter) {
        let mut floors = 0;
        // The node behind the top one belongs to another timer or is not used.
        while self.nodes.get(tower as usize + floors).is_some_and(|node| node.other == index) {
            let at = tower + floors as u32;
            self.floors[floors].take_out(&mut self.nodes, at, meter);
            self.nodes[at as usize].other = NONE;
            floors += 1;
        }
        self.free[floors - 1].push(tower);
        while self.height > 0 && self.floors[self.height - 1].last() == NONE {
            self.height -= 1;
        }
    }

    #[inline]
    fn allocate(&mut self, floors: usize) -> u32 {
        self.free[floors - 1].pop().unwrap_or_else(|| {
            let at = self.nodes.len();
            self.nodes.resize(at + floors, Node::UNUSED);
            at as u32
        })
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Checks that every floor has the nodes of all towers that are high enough, in the order of
    /// `base`, and that no node is lost. `base` has the index, deadline and tower of each timer.
    #[cfg(test)]
    pub(crate) fn check(&self, base: &[(Link, u32)]) {
        let mut used = 0;
        for (floor, level) in self.floors.iter().enumerate() {
            let owner = |tower: u32| self.nodes.get(tower as usize + floor).map(|node| node.other);
            let mut expected = base
                .iter()
                .filter(|(timer, tower)| *tower != NONE && owner(*tower) == Some(timer.at));
            let passed = level.check(&self.nodes);
            for link in &passed {
                let (timer, tower) = expected.next().expect("a node for each timer of the floor");
                assert_eq!(*link, Link { at: tower + floor as u32, ..*timer });
            }
            assert!(expected.next().is_none());
            assert_eq!(
                floor >= self.height,
                passed.is_empty(),
                "floors in use are those below `height`"
            );
            used += passed.len();
        }
        let unused: usize =
            self.free.iter().enumerate().map(|(class, towers)| (class + 1) * towers.len()).sum();
        assert_eq!(used + unused, self.nodes.len());
    }
}
