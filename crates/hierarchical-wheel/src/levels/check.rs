//! What the header of `levels` promises, checked by walking everything.

use super::*;
use crate::rings::bits;

impl Levels {
    /// Checks all slots; how many timers are in them.
    pub(crate) fn check<S: Store>(&self, nodes: &Nodes<S>) -> usize {
        let mut timers = 0;
        for level in (0..self.geometry.levels()).map(|number| self.geometry.level(number)) {
            let base = self.current[level.shift as usize].base;
            assert_eq!(self.rings.get(nodes.slot(base).ring).parent, CURRENT);
            for digit in 0..self.geometry.slots() {
                let found = self.check_slot(nodes, base + digit, level);
                let number = level.first + digit;
                assert_eq!(self.occupied.contains(number), found > 0, "slot {number} has {found}");
                timers += found;
            }
        }
        let first = self.occupied.first(&NoMeter);
        assert_eq!(first, Some(self.next.number).filter(|number| *number != NONE.number));
        timers
    }

    /// Checks a slot of a level and all below it; how many timers there are.
    fn check_slot<S: Store>(&self, nodes: &Nodes<S>, slot: u32, level: Level) -> usize {
        let Links { prev, next: base } = nodes.links(slot);
        if prev != SPLIT {
            return self.check_list(nodes, slot, slot);
        }
        let ring = self.rings.get(nodes.slot(base).ring);
        assert_eq!((ring.parent, ring.base), (slot, base));
        assert_eq!(ring.level, self.geometry.below(level));
        let mut timers = self.check_list(nodes, base + self.rings.slots(), slot);
        for digit in 0..self.rings.slots() {
            let found = self.check_slot(nodes, base + digit, ring.level);
            assert_eq!(bits_of(ring).any(|bit| bit == digit), found > 0, "digit {digit}");
            timers += found;
        }
        assert!(timers > 0, "a split slot has timers");
        timers
    }

    /// Checks the list of a sentinel, of whose timers a slot knows; how many there are.
    fn check_list<S: Store>(&self, nodes: &Nodes<S>, sentinel: u32, slot: u32) -> usize {
        let (mut at, mut timers) = (sentinel, 0);
        loop {
            let next = nodes.links(at).next;
            assert_eq!(nodes.links(next).prev, at);
            if next == sentinel {
                break;
            }
            assert!(nodes.deadline_at(next) >= self.hand);
            (at, timers) = (next, timers + 1);
        }
        assert!(nodes.slot(slot).most() as usize >= timers);
        timers
    }

    /// Rings that are current or belong to a slot.
    pub(crate) fn rings_in_use(&self) -> usize {
        self.rings.in_use()
    }

    /// Timers that were read ahead, each as often as it was.
    pub(crate) fn read_ahead_so_far(&self) -> usize {
        self.rings.read_ahead()
    }
}

fn bits_of(ring: &crate::rings::Ring) -> impl Iterator<Item = u32> {
    ring.words.iter().copied().zip(0..).flat_map(bits)
}
