//! How slots change their shape: a queue that has grown large is split, a ring that has become thin is joined, holes are dropped.
//!
//! Each is paid for by the insertions or cancellations since the last time: a slot is split after as many insertions as it then has timers,
//! joined after most of them were cancelled, and rid of its holes when they are four of five positions.

use super::{Entries, Levels};
use crate::queue::{Pool, Slot};
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work};

/// A slot that is split is joined when it is down to this part of the limit.
const JOIN_BELOW: u32 = 4;

impl Levels {
    /// Drops the holes of the slot of a deadline, and what is not needed on the way there.
    #[inline(never)]
    pub(super) fn tidy<T>(&mut self, entries: &mut Entries<T>, at: u32, deadline: Tick, meter: &impl Meter) {
        self.drop_holes(entries, at, meter);
        let (level, at) = self.current_slot_of(deadline);
        if self.thin_out(entries, (level, at), deadline, meter) {
            self.vacate(level, at);
        }
    }

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

    /// Moves the timers of a slot that is more hole than timer together. If four of five positions are holes, it reads five positions for four
    /// timers that were cancelled since the last time, and moves one timer for each four of them.
    fn drop_holes<T>(&mut self, entries: &mut Entries<T>, at: u32, meter: &impl Meter) {
        let mut old = core::mem::replace(self.rings.slot(at), Slot::EMPTY);
        meter.tally(Work::EntryScan, u64::from(old.len()));
        let slot = self.rings.slot(at);
        slot.live = old.live;
        if slot.live == 0 {
            self.pool.clear(&mut old);
            return;
        }
        append(&mut self.pool, entries, old, slot);
    }

    /// Gives a slot that has grown large a ring of its own, and moves its timers there in order.
    pub(super) fn split<T>(&mut self, entries: &mut Entries<T>, level: u32, at: u32, meter: &impl Meter) {
        let below = self.rings.allocate();
        let mut old = core::mem::replace(self.rings.slot(at), Slot::split(below));
        meter.tally(Work::CascadeMove, u64::from(old.len()));
        while let Some(batch) = self.pool.pop_batch(&mut old) {
            for index in batch.timers() {
                let Some((link, entry)) = entries.at_mut(index) else { continue };
                let to = below + self.geometry.digit_of(entry.deadline, self.geometry.below(level));
                let slot = self.rings.slot(to);
                slot.live += 1;
                *link = self.pool.push(slot, index);
                if slot.live == 1 {
                    self.rings.occupy(to);
                }
            }
        }
    }

    /// Joins what is split on the way from a slot to a deadline and no longer worth a ring. Says whether no timer is left in the slot.
    fn thin_out<T>(&mut self, entries: &mut Entries<T>, slot: (u32, u32), deadline: Tick, meter: &impl Meter) -> bool {
        let (level, at) = slot;
        if let Some(ring) = self.rings.slot(at).ring() {
            let level = self.geometry.below(level);
            let below = ring + self.geometry.digit_of(deadline, level);
            if self.thin_out(entries, (level, below), deadline, meter) {
                self.rings.vacate(below);
            }
            if !self.is_thin(ring) {
                return false;
            }
            self.join(entries, at, ring, meter);
        }
        self.rings.slot(at).live == 0
    }

    /// Whether a ring has so few timers, in so few slots, that a queue is better.
    fn is_thin(&mut self, ring: u32) -> bool {
        let mut live = 0;
        self.rings.count(ring) <= self.geometry.slots().div_ceil(JOIN_BELOW)
            && self.rings.all(ring, |slot| {
                live += slot.live;
                slot.ring().is_none() && live <= self.limit / JOIN_BELOW
            })
    }

    /// Makes a slot that is split a queue again. Timers of one deadline are in one slot of the ring, so that they keep their order; that of
    /// others does not matter in a slot above level 0.
    fn join<T>(&mut self, entries: &mut Entries<T>, at: u32, ring: u32, meter: &impl Meter) {
        let mut queue = Slot::EMPTY;
        while let Some(below) = self.rings.first(ring) {
            let old = core::mem::replace(self.rings.slot(below), Slot::EMPTY);
            self.rings.vacate(below);
            queue.live += old.live;
            meter.tally(Work::CascadeMove, u64::from(old.len()));
            append(&mut self.pool, entries, old, &mut queue);
        }
        self.rings.release(ring);
        *self.rings.slot(at) = queue;
    }
}

/// Moves all timers of a queue behind those of another. Who keeps count of the live is the caller.
fn append<T>(pool: &mut Pool, entries: &mut Entries<T>, mut from: Slot, to: &mut Slot) {
    while let Some(batch) = pool.pop_batch(&mut from) {
        for index in batch.timers() {
            entries.set_link(index, pool.push(to, index));
        }
    }
}
