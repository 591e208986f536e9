//! The doubly linked lists of the textbooks: many lists of timers, one pool of nodes.
//!
//! A timer is identified by its place in the arena, and its node has the same index. So a timer is
//! in at most one list at a time, and a list consists of its two [`Ends`]. If the timers do not fit
//! the caches, each step along a list is a cache miss, and so is each neighbour of a timer that is
//! removed. These lists are for structures that follow a paper to the letter. The fast wheels store
//! their slots in the same array as the timers instead.

use crate::segments::Segments;

/// The number of links written to insert a timer into a list, for the meter: its own two, and one
/// in each neighbour.
pub const LINKS_IN: u64 = 4;

/// The number of links written to remove a timer from a list: one in each neighbour.
pub const LINKS_OUT: u64 = 2;

/// The link to no timer.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    before: u32,
    behind: u32,
}

/// The ends of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    first: u32,
    last: u32,
}

impl Ends {
    /// An empty list.
    pub const EMPTY: Self = Self { first: NONE, last: NONE };

    /// The first timer.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// The last timer.
    #[inline]
    pub fn last(&self) -> Option<u32> {
        (self.last != NONE).then_some(self.last)
    }

    /// Returns `true` if the list has no timers.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }

    #[inline]
    fn are_consistent(&self) -> bool {
        (self.first == NONE) == (self.last == NONE)
    }
}

impl Default for Ends {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// The nodes of all lists. Each method is O(1), except [`iter`](Self::iter). An insertion at times
/// allocates a segment of storage.
///
/// ```
/// use wheelhouse_core::lists::{Ends, Lists};
///
/// let (mut lists, mut slot) = (Lists::new(), Ends::EMPTY);
/// (0..3).for_each(|place| lists.push_back(&mut slot, place));
/// lists.remove(&mut slot, 1);
/// assert_eq!(lists.pop_front(&mut slot), Some(0));
/// assert_eq!((slot.first(), slot.last()), (Some(2), Some(2)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lists {
    nodes: Segments<Node>,
}

impl Lists {
    /// No nodes. Allocates nothing.
    pub const fn new() -> Self {
        Self { nodes: Segments::new() }
    }

    /// The timer behind a timer that is in a list.
    #[inline]
    pub fn behind(&self, place: u32) -> Option<u32> {
        self.nodes.get(place as usize).map(|node| node.behind).filter(|behind| *behind != NONE)
    }

    /// The timer before a timer that is in a list.
    #[inline]
    pub fn before(&self, place: u32) -> Option<u32> {
        self.nodes.get(place as usize).map(|node| node.before).filter(|before| *before != NONE)
    }

    /// Inserts a timer that is in no list behind the timer `before`, which is in this list; `None`
    /// inserts it at the front.
    pub fn insert_behind(&mut self, list: &mut Ends, before: Option<u32>, place: u32) {
        if place as usize >= self.nodes.len() {
            self.nodes.grow_to(place as usize + 1, || Node { before: NONE, behind: NONE });
        }
        // The ends of the list serve as its sentinel: at `NONE`, the two link functions return the
        // ends. So the first and the last timer need no separate case.
        let before = before.unwrap_or(NONE);
        let behind = core::mem::replace(self.link_behind(list, before), place);
        debug_assert!(*self.link_before(list, behind) == before, "`before` is in this list");
        *self.link_before(list, behind) = place;
        self.nodes[place as usize] = Node { before, behind };
        debug_assert!(list.are_consistent(), "{list:?}");
    }

    /// Inserts a timer that is in no list at the back.
    #[inline]
    pub fn push_back(&mut self, list: &mut Ends, place: u32) {
        self.insert_behind(list, list.last(), place);
    }

    /// Inserts a timer that is in no list at the front.
    #[inline]
    pub fn push_front(&mut self, list: &mut Ends, place: u32) {
        self.insert_behind(list, None, place);
    }

    /// Removes a timer that is in this list.
    pub fn remove(&mut self, list: &mut Ends, place: u32) {
        let Node { before, behind } = self.nodes[place as usize];
        debug_assert_eq!(*self.link_behind(list, before), place, "the timer is in this list");
        debug_assert_eq!(*self.link_before(list, behind), place, "the timer is in this list");
        *self.link_behind(list, before) = behind;
        *self.link_before(list, behind) = before;
        debug_assert!(list.are_consistent(), "{list:?}");
    }

    /// Removes the first timer and returns it.
    pub fn pop_front(&mut self, list: &mut Ends) -> Option<u32> {
        let first = list.first()?;
        self.remove(list, first);
        Some(first)
    }

    /// Moves all timers of the other list to the back of this list.
    pub fn append(&mut self, list: &mut Ends, other: &mut Ends) {
        let Some(first) = other.first() else { return };
        debug_assert_eq!(self.nodes[first as usize].before, NONE, "the first timer of a list");
        let last = list.last;
        // If this list is empty, `last` is `NONE`, and its first end is written.
        *self.link_behind(list, last) = first;
        self.nodes[first as usize].before = last;
        list.last = core::mem::take(other).last;
        debug_assert!(list.are_consistent(), "{list:?}");
    }

    /// The timers of a list, in order.
    pub fn iter(&self, list: &Ends) -> impl Iterator<Item = u32> {
        core::iter::successors(list.first(), |place| self.behind(*place))
    }

    /// The link to the timer behind `place`; the link to the first timer if `place` is `NONE`.
    #[inline]
    fn link_behind<'a>(&'a mut self, list: &'a mut Ends, place: u32) -> &'a mut u32 {
        if place == NONE { &mut list.first } else { &mut self.nodes[place as usize].behind }
    }

    /// The link to the timer before `place`; the link to the last timer if `place` is `NONE`.
    #[inline]
    fn link_before<'a>(&'a mut self, list: &'a mut Ends, place: u32) -> &'a mut u32 {
        if place == NONE { &mut list.last } else { &mut self.nodes[place as usize].before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    #[test]
    fn two_lists_are_two_queues_over_one_pool() {
        let mut lists = Lists::new();
        let mut ends = [Ends::EMPTY; 2];
        let mut expected = [VecDeque::new(), VecDeque::new()];
        for place in 0..4_000_u32 {
            let which = (place % 7 / 4) as usize;
            match place % 5 {
                0 => {
                    lists.push_front(&mut ends[which], place);
                    expected[which].push_front(place);
                }
                1 => assert_eq!(lists.pop_front(&mut ends[which]), expected[which].pop_front()),
                2 if expected[which].len() > 3 => {
                    let gone = expected[which].remove(expected[which].len() / 2).unwrap();
                    lists.remove(&mut ends[which], gone);
                }
                _ => {
                    lists.push_back(&mut ends[which], place);
                    expected[which].push_back(place);
                }
            }
            assert_eq!(ends[which].last(), expected[which].back().copied());
        }
        for which in 0..2 {
            let order: VecDeque<u32> = lists.iter(&ends[which]).collect();
            assert_eq!(order, expected[which]);
            assert!(
                order.iter().zip(order.iter().skip(1)).all(|(a, b)| lists.before(*b) == Some(*a))
            );
            expected[which].iter().for_each(|_| _ = lists.pop_front(&mut ends[which]));
            assert!(ends[which].is_empty() && ends[which] == Ends::EMPTY);
        }
    }

    #[test]
    fn appended_timers_come_behind_in_their_order() {
        for (left, right) in [(0, 0), (0, 2), (2, 0), (1, 1), (2, 3)] {
            let (mut lists, mut one, mut other) = (Lists::new(), Ends::EMPTY, Ends::EMPTY);
            (0..left).for_each(|place| lists.push_back(&mut one, place));
            (left..left + right).for_each(|place| lists.push_back(&mut other, place));
            lists.append(&mut one, &mut other);
            assert_eq!(other, Ends::EMPTY);
            lists.push_back(&mut one, left + right);
            assert!(lists.iter(&one).eq(0..=left + right));
            // Backwards too. The list is empty once all are removed.
            let backwards = core::iter::successors(one.last(), |place| lists.before(*place));
            assert!(backwards.eq((0..=left + right).rev()));
            (0..=left + right).for_each(|place| lists.remove(&mut one, place));
            assert_eq!(one, Ends::EMPTY);
        }
    }
}
