//! How slots change their shape: a queue that has grown large is split, a ring that has become thin is joined, holes are dropped.
//!
//! Each is paid for by the insertions or cancellations since the last time: a slot is split after as many insertions as it then has timers,
//! joined after three quarters of these were cancelled; chunks are merged when most of their timers have left.

use super::{Entries, JOIN_BELOW, Levels, deadline_of};
use crate::queue::{Pool, Slot};
use wheelhouse_core::Tick;
use wheelhouse_core::arena::Link;
use wheelhouse_core::meter::{Meter, Work};

impl Levels {
    /// Drops all holes of all slots.
    pub(crate) fn compact<T>(&mut self, entries: &mut Entries<T>, meter: &impl Meter) {
        self.settle(entries, meter);
        for at in 0..self.rings.end() {
            let slot = self.rings.slot(at);
            if slot.len() > slot.live {
                self.drop_holes(entries, at, meter);
            }
        }
    }

    /// Moves the timers of a slot together. If four of five positions are holes, that is to read five positions for four timers that have left
    /// since the last time, and to move one timer for each four of them.
    #[inline(never)]
    pub(super) fn drop_holes<T>(&mut self, entries: &mut Entries<T>, at: u32, meter: &impl Meter) {
        let slot = self.rings.slot(at);
        let old = core::mem::replace(slot, Slot::EMPTY);
        slot.live = old.live;
        meter.tally(Work::EntryScan, u64::from(old.len()));
        meter.tally(Work::ElementMove, u64::from(old.live));
        append(&mut self.pool, old, slot);
        self.pool.for_each(slot, |index, link| entries.set_link(index, link));
    }

    /// Merges the chunk of a timer that has left with another.
    #[inline(never)]
    pub(super) fn merge<T>(&mut self, entries: &mut Entries<T>, at: u32, link: Link, meter: &impl Meter) {
        let read = self.pool.merge(self.rings.slot(at), link, |index, to| {
            meter.tally(Work::ElementMove, 1);
            entries.set_link(index, to);
        });
        meter.tally(Work::EntryScan, u64::from(read));
    }

    /// Gives up what is not needed on the way to the slot of a deadline: a queue without timers, rings with few.
    #[inline(never)]
    pub(super) fn thin_out<T>(&mut self, entries: &mut Entries<T>, at: u32, deadline: Tick, meter: &impl Meter) {
        let slot = self.rings.slot(at);
        if slot.live == 0 {
            self.pool.clear(slot);
        }
        let (level, at) = self.current_slot_of(deadline);
        if self.join_thin(entries, (level, at), deadline, meter) {
            self.vacate(level, at);
        }
    }

    /// Joins what is split on the way from a slot to a deadline and no longer worth a ring. Says whether no timer is left in the slot.
    fn join_thin<T>(&mut self, entries: &mut Entries<T>, slot: (u32, u32), deadline: Tick, meter: &impl Meter) -> bool {
        let (level, at) = slot;
        if let Some(ring) = self.rings.slot(at).ring() {
            let level = self.geometry.below(level);
            let below = ring + self.geometry.digit_of(deadline, level);
            if self.join_thin(entries, (level, below), deadline, meter) {
                self.rings.vacate(below);
            }
            let live = self.rings.slot(at).live;
            if live == 0 || live <= self.limit / JOIN_BELOW && self.may_reshape() {
                let mut queue = Slot::EMPTY;
                self.join(ring, &mut queue, meter);
                self.pool.for_each(&queue, |index, link| entries.set_link(index, link));
                *self.rings.slot(at) = queue;
            }
        }
        self.rings.slot(at).live == 0
    }

    /// Whether a slot may be split, joined or tidied up at once; says so once while many timers are accounted for together.
    pub(super) fn may_reshape(&mut self) -> bool {
        let Some(left) = &mut self.reshapes else { return true };
        let may = *left > 0;
        *left = left.saturating_sub(1);
        may
    }

    /// Gives a slot that has grown large a ring of its own, and moves its timers there in order.
    pub(super) fn split<T>(&mut self, entries: &mut Entries<T>, level: u32, at: u32, meter: &impl Meter) {
        let below = self.rings.allocate();
        let slot = self.rings.slot(at);
        let split = Slot::split(below, slot.live);
        let mut old = core::mem::replace(slot, split);
        meter.tally(Work::EntryScan, u64::from(old.len()));
        meter.tally(Work::CascadeMove, u64::from(old.live));
        while let Some(batch) = self.pool.pop_batch(&mut old) {
            let deadlines = batch.ask(|index| deadline_of(entries, index));
            for (index, deadline) in batch.timers().zip(deadlines) {
                let to = below + self.geometry.digit_of(deadline, self.geometry.below(level));
                let slot = self.rings.slot(to);
                slot.live += 1;
                entries.set_link(index, self.pool.push(slot, index));
                if slot.live == 1 {
                    self.rings.occupy(to);
                }
            }
        }
    }

    /// Moves the timers of a ring, and of those of its slots that are split, to a queue. Timers of one deadline are in one slot, so that they
    /// keep their order; that of others does not matter in a slot above level 0. Who links them anew is the caller.
    fn join(&mut self, ring: u32, queue: &mut Slot, meter: &impl Meter) {
        while let Some(below) = self.rings.first(ring) {
            let old = core::mem::replace(self.rings.slot(below), Slot::EMPTY);
            self.rings.vacate(below);
            if let Some(nested) = old.ring() {
                self.join(nested, queue, meter);
                continue;
            }
            queue.live += old.live;
            meter.tally(Work::EntryScan, u64::from(old.len()));
            meter.tally(Work::CascadeMove, u64::from(old.live));
            append(&mut self.pool, old, queue);
        }
        self.rings.release(ring);
    }
}

/// Moves all timers of a queue behind those of another. Who keeps count of the live, and links them anew, is the caller.
fn append(pool: &mut Pool, mut from: Slot, to: &mut Slot) {
    while let Some(batch) = pool.pop_batch(&mut from) {
        batch.timers().for_each(|index| _ = pool.push(to, index));
    }
}
