//! The timers that the hand has collected and that have not fired yet.

use crate::slots::{Waiting, link_to, position_of};
use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::meter::{Meter, Work};

/// Holes are dropped if there are more than the number of timers plus this.
const SLACK: usize = 32;

/// An empty queue with room for more timers than this frees its memory.
const KEEP: usize = 1024;

/// This bit is set in the link of a timer that is in the queue. Links to slots and arrivals are
/// smaller.
const IN_QUEUE: u32 = 1 << 31;

/// A queue of timers in the order in which they fire: an array, and the number of positions that
/// have been read. A cancelled timer leaves a hole. The queue has at most `2 k + 32` positions for
/// k timers, plus those that have just been collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct DueQueue {
    timers: Vec<Waiting>,
    /// The first position that has not been read. It has a timer, unless all positions have been
    /// read.
    read: usize,
    live: usize,
}

impl DueQueue {
    pub(crate) const fn new() -> Self {
        Self { timers: Vec::new(), read: 0, live: 0 }
    }

    /// Returns `true` if a link is that of a timer in the queue.
    #[inline]
    pub(crate) fn has(link: Link) -> bool {
        link.get() & IN_QUEUE != 0
    }

    #[inline]
    pub(crate) fn earliest(&self) -> Option<Tick> {
        self.timers.get(self.read).map(|timer| timer.deadline)
    }

    /// Adds a timer. [`number`](Self::number) sets its link.
    #[inline]
    pub(crate) fn push(&mut self, timer: Waiting) {
        self.timers.push(timer);
        self.live += 1;
    }

    /// The number of positions.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.timers.len()
    }

    /// Sorts the timers from a position on by deadline. The sort is stable.
    pub(crate) fn sort(&mut self, from: usize, meter: &impl Meter) {
        self.timers[from..].sort_by(|one, other| {
            meter.tally(Work::Comparison, 1);
            one.deadline.cmp(&other.deadline)
        });
    }

    /// Sets the links of the timers from a position on.
    pub(crate) fn number<E>(&self, from: usize, entries: &mut Arena<E, Link>) {
        for (position, timer) in self.timers.iter().enumerate().skip(from) {
            entries.set_link(timer.index, link_to(position) | IN_QUEUE);
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self, meter: &impl Meter) -> Option<Waiting> {
        let first = *self.timers.get(self.read)?;
        debug_assert!(first.is_live(), "the first position has a timer");
        self.read += 1;
        self.live -= 1;
        self.skip_holes(meter);
        Some(first)
    }

    pub(crate) fn remove<E>(
        &mut self,
        link: Link,
        entries: &mut Arena<E, Link>,
        meter: &impl Meter,
    ) {
        let in_queue = Link::new(link.get() & !IN_QUEUE);
        debug_assert!(in_queue.is_some(), "links to positions start at 1");
        let position = in_queue.map_or(0, position_of);
        debug_assert!(position >= self.read && self.timers[position].is_live());
        meter.tally(Work::ElementMove, 1);
        self.timers[position] = Waiting::HOLE;
        self.live -= 1;
        self.skip_holes(meter);
        self.tidy(entries, meter);
    }

    #[inline]
    fn skip_holes(&mut self, meter: &impl Meter) {
        if self.live == 0 {
            // Only holes are left, so they need not be read one by one.
            self.timers.clear();
            self.read = 0;
            if self.timers.capacity() > KEEP {
                self.timers = Vec::new();
            }
        }
        while self.timers.get(self.read).is_some_and(|timer| !timer.is_live()) {
            meter.tally(Work::EntryScan, 1);
            self.read += 1;
        }
    }

    /// Drops the positions that were read or cancelled, if they outnumber the timers.
    #[inline]
    pub(crate) fn tidy<E>(&mut self, entries: &mut Arena<E, Link>, meter: &impl Meter) {
        if self.timers.len() > 2 * self.live + SLACK {
            meter.tally(Work::EntryScan, (self.timers.len() - self.read) as u64);
            meter.tally(Work::ElementMove, self.live as u64);
            self.timers.drain(..self.read);
            self.timers.retain(Waiting::is_live);
            // All timers have new positions, so all get new links.
            self.read = 0;
            self.number(0, entries);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_core::meter::NoMeter;

    fn queue(deadlines: impl IntoIterator<Item = Tick>) -> (DueQueue, Arena<Tick, Link>) {
        let (mut queue, mut entries) = (DueQueue::new(), Arena::new());
        for deadline in deadlines {
            let id = entries.insert_linked(Link::MIN, deadline);
            queue.push(Waiting { deadline, index: id.index() });
        }
        queue.number(0, &mut entries);
        (queue, entries)
    }

    fn link_of(entries: &mut Arena<Tick, Link>, index: u32) -> Link {
        entries.at_mut(index).map_or(Link::MIN, |(link, _)| *link)
    }

    #[test]
    fn cancelled_timers_are_skipped_and_the_others_stay_in_order() {
        let (mut queue, mut entries) = queue([3, 3, 5, 7, 7, 9]);
        for gone in [0, 3, 5] {
            let link = link_of(&mut entries, gone);
            assert!(DueQueue::has(link));
            queue.remove(link, &mut entries, &NoMeter);
        }
        assert_eq!(queue.earliest(), Some(3));
        let order: Vec<u32> =
            core::iter::from_fn(|| queue.pop(&NoMeter)).map(|timer| timer.index).collect();
        assert_eq!(
            (order.as_slice(), queue.earliest(), queue.end()),
            ([1, 2, 4].as_slice(), None, 0)
        );
    }

    #[test]
    fn the_number_of_holes_is_bounded() {
        let (mut queue, mut entries) = queue(0..10_000);
        for gone in (1..10_000).rev() {
            let link = link_of(&mut entries, gone);
            queue.remove(link, &mut entries, &NoMeter);
            assert!(queue.end() <= 2 * queue.live + SLACK);
        }
        assert_eq!(queue.pop(&NoMeter).map(|timer| timer.index), Some(0));
    }

    #[test]
    fn a_burst_gives_its_memory_back() {
        let (mut queue, _) = queue(0..100_000);
        while queue.pop(&NoMeter).is_some() {}
        assert!(queue.timers.capacity() <= KEEP);
    }
}
