//! The implementation of [`Timer`] for the wheel.

use crate::wheel::Wheel;
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

// The methods that start, stop and move timers are always inlined. With a million timers a call
// waits for memory. The fewer instructions there are from one call to the next, the more calls wait
// at the same time. For the same reason a node is written once, when its neighbours are known: a
// processor buffers only some fifty stores that wait for memory.
/// [`advance`](Timer::advance) is O(1) for each timer that fires plus O(1) amortised for each call;
/// for the worst case see the [costs](crate#cost).
impl<T, M: Meter, const OPENS: bool> Timer<T> for Wheel<T, M, OPENS> {
    wheelhouse_core::now_and_len!(nodes);

    /// O(1), and a later move for each level between the hand and the deadline. O(n) when the array
    /// of n timers is full and grows beyond its [capacity](crate::Builder::capacity), and once when
    /// the wheel becomes large.
    #[inline(always)]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = match self.nodes.free_place() {
            Some(id) => id,
            None => self.new_place(),
        };
        self.link(id.index(), deadline, |nodes, links| nodes.put(id, links, deadline, value));
        id
    }

    /// O(1); O(log j) if the timer is one of j that were overdue when they were inserted. If it was
    /// the only timer of the next slot, the following occupied slot is searched: one word for each
    /// 4,096 slots in a small wheel, two blocks of each level in a large one.
    #[inline(always)]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let (timer, emptied) = self.nodes.remove(id)?;
        self.unlinked(emptied, timer.deadline, timer.arrival);
        Some(timer.value)
    }

    /// The cost of [`cancel`](Timer::cancel) plus [`insert`](Timer::insert). The timer keeps its
    /// place in the array.
    #[inline(always)]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let Some((from, arrival, emptied)) = self.nodes.detach(id, deadline) else { return false };
        self.unlinked(emptied, from, arrival);
        self.link(id.index(), deadline, |nodes, links| nodes.set_links(id.index(), links));
        true
    }

    /// O(1): it only writes the deadline. The timer moves when its former slot is due, at most once
    /// after each insertion, reschedule or move.
    #[inline(always)]
    fn postpone(&mut self, id: TimerId, deadline: Tick) -> bool {
        self.nodes.postpone(id, deadline) || self.reschedule(id, deadline)
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.nodes.get(id).map(|timer| timer.deadline)
    }

    /// O(1). Exact if the earliest timer is on level 0. Otherwise the first tick of its slot, or in
    /// a large wheel the tick at which older timers have to move.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        if self.nodes.len() == 0 {
            return None;
        }
        let next = self.earliest();
        Some(if self.is_large() { next.min(self.next_move()) } else { next })
    }

    /// O(1) amortised; the worst case is that of [`advance`](Timer::advance).
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        if self.now < self.due {
            // No occupied slot starts at or before `now`, so the hand may move there.
            self.hand = self.now;
            return None;
        }
        self.pop_due()
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        if self.now < self.due {
            self.hand = self.now;
            return 0;
        }
        let mut fired = 0;
        while let Some(expired) = self.pop_due() {
            self.meter.tally(Work::Comparison, 1);
            fired += 1;
            on_expiry(expired);
        }
        fired
    }
}
