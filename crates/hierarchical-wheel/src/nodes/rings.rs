//! The rings: how nodes are linked.

use super::{Node, Nodes, OUTSIDE};
use crate::Tick;
use core::array;
use core::hint::black_box;
use core::mem;

/// The number of timers of a list that are read ahead.
const READ_AHEAD: usize = 32;

/// The neighbours of a timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(crate) prev: u32,
    pub(crate) next: u32,
}

impl Links {
    /// Placeholder links of a timer that is in no list.
    pub(crate) const NONE: Self = Self { prev: 0, next: 0 };

    /// Returns `true` if the timer is the only one of its slot: both neighbours are the sentinel.
    #[inline(always)]
    pub(crate) fn is_alone(self) -> bool {
        self.prev == self.next
    }
}

impl<T> Nodes<T> {
    #[inline(always)]
    pub(crate) fn set_links(&mut self, at: u32, Links { prev, next }: Links) {
        let node = self.node_mut(at);
        (node.prev, node.next) = (prev, next);
    }

    /// Links the timer at `at` as the last one of a slot, except for its own links: it returns
    /// these, and the caller writes them. `None` if the slot does not exist or is
    /// [open](Self::open).
    #[inline(always)]
    pub(crate) fn append(&mut self, slot: u32, at: u32) -> Option<Links> {
        // The bounds checks, which Rust makes in any case, detect both: the sentinel of a slot that
        // does not exist is at or after `OUTSIDE`, and the `prev` of an open slot is `OUTSIDE`.
        let prev = self.nodes.get(slot as usize)?.prev;
        self.nodes.get_mut(prev as usize)?.next = at;
        debug_assert!(!self.is_timer(slot), "a list begins and ends at its sentinel");
        self.node_mut(slot).prev = at;
        Some(Links { prev, next: slot })
    }

    /// Links a timer as the first one of a slot, which must not be open. Returns `true` if the slot
    /// was empty.
    #[inline(always)]
    pub(crate) fn prepend(&mut self, slot: u32, at: u32) -> bool {
        debug_assert_ne!(self.node(slot).prev, OUTSIDE, "no timer comes to an open slot");
        let next = mem::replace(&mut self.node_mut(slot).next, at);
        self.node_mut(next).prev = at;
        self.set_links(at, Links { prev: slot, next });
        next == slot
    }

    /// Links the neighbours of a timer that leaves. If both are the same node, it is the sentinel:
    /// it is returned, because its slot is empty now. (An overdue timer is its own neighbour, so
    /// this writes only its own links. The caller ignores the result.)
    #[inline(always)]
    pub(super) fn close(&mut self, prev: u32, next: u32) -> Option<u32> {
        debug_assert_eq!(self.node(prev).next, self.node(next).prev, "both link to the timer");
        self.node_mut(prev).next = next;
        self.node_mut(next).prev = prev;
        (prev == next).then_some(prev)
    }

    /// Removes the first timer of a slot from its list. Returns its place, its deadline, and `true`
    /// if the slot is empty now.
    pub(crate) fn take_first(&mut self, slot: u32) -> (u32, Tick, bool) {
        let at = self.node(slot).next;
        let (next, deadline) = self.next(at);
        (at, deadline, self.close(slot, next).is_some())
    }

    /// Empties a slot. Returns its former first timer, from which [`next`](Self::next) leads to the
    /// other timers and then to the slot itself.
    #[inline]
    pub(crate) fn take_list(&mut self, slot: u32) -> u32 {
        debug_assert_ne!(self.node(slot).prev, OUTSIDE, "an open slot has no timers");
        let sentinel = self.node_mut(slot);
        sentinel.prev = slot;
        mem::replace(&mut sentinel.next, slot)
    }

    /// Makes this timer the last one of the slot's list. If `at` is the sentinel itself, the list
    /// is empty.
    #[inline]
    pub(crate) fn cut_after(&mut self, slot: u32, at: u32) {
        self.node_mut(slot).prev = at;
        self.node_mut(at).next = slot;
    }

    /// Opens a slot: its timers move to the empty list of the sentinel `older`, and no timer can be
    /// appended to the slot.
    pub(crate) fn open(&mut self, slot: u32, older: u32) {
        let Node { prev: last, next: first, .. } = *self.node(slot);
        debug_assert_ne!(last, OUTSIDE, "a slot opens once");
        if first != slot {
            debug_assert!(self.is_empty(older), "the slot that was open before is closed");
            self.set_links(older, Links { prev: last, next: first });
            self.node_mut(first).prev = older;
            self.node_mut(last).next = older;
        }
        self.set_links(slot, Links { prev: OUTSIDE, next: slot });
    }

    /// Closes an open slot, which is empty then.
    pub(crate) fn close_slot(&mut self, slot: u32) {
        debug_assert_eq!(self.node(slot).prev, OUTSIDE, "the slot is open");
        debug_assert!(self.is_empty(slot), "no timer comes to an open slot");
        self.set_links(slot, Links { prev: slot, next: slot });
    }

    pub(crate) fn is_empty(&self, slot: u32) -> bool {
        self.node(slot).next == slot
    }

    /// The node behind a timer, and the deadline of the timer.
    #[inline]
    pub(crate) fn next(&self, at: u32) -> (u32, Tick) {
        debug_assert!(self.is_timer(at), "only a timer has a deadline");
        (self.node(at).next, self.deadline_at(at))
    }

    #[cfg(test)]
    pub(crate) fn following(&self, at: u32) -> u32 {
        self.node(at).next
    }

    #[inline(always)]
    pub(crate) fn prev(&self, at: u32) -> u32 {
        self.node(at).prev
    }

    /// Reads the first timers of the lists of slots with consecutive sentinels, one timer of each
    /// list in turn. So no read waits for a read of another list.
    pub(crate) fn read_lists<const LISTS: usize>(&self, first: u32) {
        let mut at: [u32; LISTS] = array::from_fn(|n| first + n as u32);
        for _ in 0..READ_AHEAD {
            let mut ended = 0;
            for (slot, at) in (first..).zip(&mut at) {
                let next = self.node(*at).next;
                if next == slot {
                    ended += 1;
                } else {
                    *at = next;
                }
            }
            if ended == LISTS {
                break;
            }
        }
        // Keeps the compiler from removing the reads, whose results are not used.
        black_box(at);
    }
}
