//! The levels above level 0, on which a quarter of all timers stand.

use crate::heights::MAX_HEIGHT;
use crate::level::{Level, Link, NONE, Node};
use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::Meter;

/// The most levels above level 0.
const FLOORS: usize = MAX_HEIGHT - 1;

/// The last node before some deadline on each floor.
pub(crate) type Path = [u32; FLOORS];

/// A *tower* is what a timer has above level 0: its nodes side by side, the lowest floor first, so
/// that a step down mostly stays in the cache line. In a node, `other` is the timer's index in the
/// arena, [`NONE`] where no timer is.
#[derive(Clone, Debug)]
pub(crate) struct Towers {
    nodes: Vec<Node>,
    /// Towers not in use, by their number of floors less one: stacks, since a list through the
    /// nodes would be a chain of cache misses.
    free: [Vec<u32>; FLOORS],
    floors: [Level; FLOORS],
    /// The floors in use.
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

    /// On each floor, finds the last node that is due at `deadline` or before. Returns the timer
    /// found on the lowest.
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

    /// Builds a tower of so many floors, one at least, each node behind that of the path; `link.at`
    /// is the timer's index. Returns where it is.
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

    /// Takes the tower of a timer down.
    #[inline]
    pub(crate) fn pull_down(&mut self, tower: u32, index: u32, meter: &impl Meter) {
        let mut floors = 0;
        // The node behind the topmost is another timer's, or nobody's.
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

    /// Checks every floor, that it passes the towers of `base` that are as high, in their order,
    /// and that no node is lost. `base` has the index, deadline and tower of each timer.
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
