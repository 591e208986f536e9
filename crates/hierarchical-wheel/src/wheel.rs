//! The wheel itself: where timers go, how they cascade, how they fire.

use crate::builder::{Builder, DEFAULT_SLOTS};
use crate::chunks::{ChunkPool, Slot};
use crate::geometry::Geometry;
use crate::occupancy::Occupancy;
use alloc::vec;
use alloc::vec::Vec;
use wheelhouse_core::arena::{Arena, Reference};
use wheelhouse_core::due::DueQueue;
use wheelhouse_core::meter::{Meter, NoMeter, Work};

use wheelhouse_core::{Expired, SlotCount, Tick, Timer, TimerId};

/// Stale references are tolerated up to as many as there are live timers plus this.
const STALE_SLACK: usize = 256;

/// A hierarchical timing wheel. See the [crate's page](crate) for what it is and what it costs.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see [`TimerId`].
#[derive(Clone, Debug)]
pub struct HierarchicalWheel<T, M = NoMeter> {
    arena: Arena<Entry<T>>,
    geometry: Geometry,
    slots: Vec<Slot>,
    /// A slot's bit is set if and only if a live timer is in it.
    occupancy: Occupancy,
    pool: ChunkPool,
    /// Timers whose deadline was before the hand when they were inserted.
    overdue: DueQueue,
    /// The tick that slots are chosen from. Never after `now`; behind it only while timers are due. No occupied slot
    /// starts before it, so that each reference is in the slot that [`Geometry::slot_of`] names, at all times.
    hand: Tick,
    now: Tick,
    /// The earliest occupied slot.
    next: Option<NextSlot>,
    /// References in slots that are not current.
    stale: usize,
    meter: M,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    deadline: Tick,
    value: T,
}

#[derive(Clone, Copy, Debug)]
struct NextSlot {
    start: Tick,
    slot: usize,
}

impl<T> HierarchicalWheel<T> {
    /// An empty wheel with 256 slots a level, its clock at 0.
    pub fn new() -> Self {
        Self::with_meter(NoMeter)
    }

    /// Chooses the number of slots, the first tick, the capacity or a meter.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }
}

impl<T> Default for HierarchicalWheel<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, M: Meter> HierarchicalWheel<T, M> {
    pub(crate) fn with_meter(meter: M) -> Self {
        const DEFAULT: SlotCount = match SlotCount::new(DEFAULT_SLOTS) {
            Ok(slots) => slots,
            Err(_) => panic!("the default is valid"),
        };
        Self::with_parts(DEFAULT, 0, 0, meter)
    }

    pub(crate) fn with_parts(slots: SlotCount, start: Tick, capacity: usize, meter: M) -> Self {
        let geometry = Geometry::new(slots);
        let levels = geometry.levels();
        Self {
            arena: Arena::with_capacity(capacity),
            slots: vec![Slot::EMPTY; levels * slots.get()],
            occupancy: Occupancy::new(levels, slots.get()),
            geometry,
            pool: ChunkPool::new(),
            overdue: DueQueue::new(),
            hand: start,
            now: start,
            next: None,
            stale: 0,
            meter,
        }
    }

    /// What counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    /// Puts the reference of a live timer where its deadline belongs.
    #[inline]
    fn link(&mut self, reference: Reference) {
        if reference.deadline < self.hand {
            self.meter.tally(Work::Comparison, self.overdue.depth());
            self.overdue.push(reference);
            return;
        }
        self.meter.tally(Work::SlotVisit, 1);
        let slot = self.geometry.slot_of(reference.deadline, self.hand);
        self.pool.push(&mut self.slots[slot], reference);
        self.slots[slot].live += 1;
        if self.slots[slot].live == 1 {
            self.occupancy.set(slot);
            // Slots are numbered so that the earliest has the lowest number.
            if self.next.is_none_or(|next| slot < next.slot) {
                self.next = Some(NextSlot { start: self.geometry.start_of(slot, self.hand), slot });
            }
        }
    }

    /// Accounts for a reference that has just gone stale.
    #[inline]
    fn unlink(&mut self, deadline: Tick) {
        if deadline < self.hand {
            self.meter.tally(Work::Comparison, self.overdue.depth());
            self.overdue.forget(&self.arena);
            self.limit_stale(); // there is one live timer less
            return;
        }
        self.meter.tally(Work::SlotVisit, 1);
        let at = self.geometry.slot_of(deadline, self.hand);
        self.slots[at].live -= 1;
        self.stale += 1;
        if self.slots[at].live == 0 {
            self.vacate(at);
        }
        self.limit_stale();
    }

    /// Empties a slot that has no live timer left.
    fn vacate(&mut self, at: usize) {
        self.stale -= self.slots[at].len();
        self.pool.clear(&mut self.slots[at]);
        self.occupancy.clear(at);
        if self.next.is_some_and(|next| next.slot == at) {
            self.find_next();
        }
    }

    #[inline]
    fn find_next(&mut self) {
        let start_of = |slot| NextSlot { start: self.geometry.start_of(slot, self.hand), slot };
        self.next = self.occupancy.first().map(start_of);
    }

    /// Keeps stale references from outnumbering the live timers. Clearing away `s` of them reads fewer than `2 s + n`
    /// references, which the `s` cancellations before it pay for.
    #[inline]
    fn limit_stale(&mut self) {
        if self.stale > self.arena.len() + STALE_SLACK {
            self.sweep();
        }
    }

    /// Drops every stale reference from the slots.
    #[cold]
    fn sweep(&mut self) {
        for at in self.occupancy.iter() {
            if self.slots[at].stale() == 0 {
                continue;
            }
            let mut old = core::mem::replace(&mut self.slots[at], Slot::EMPTY);
            let new = &mut self.slots[at];
            new.live = old.live;
            self.meter.tally(Work::EntryScan, old.len() as u64);
            while let Some(chunk) = self.pool.detach(&mut old) {
                for at in chunk.range() {
                    let reference = self.pool.reference(&chunk, at);
                    if reference.is_current(&self.arena) {
                        self.pool.push(new, reference);
                    }
                }
                self.pool.release(chunk);
            }
        }
        self.stale = 0;
    }

    /// Moves what is in a slot of a higher level to the lower levels, in order. The hand moves to the slot's first tick,
    /// so all of it goes to lower levels, which are empty.
    fn cascade(&mut self, NextSlot { start, slot: at }: NextSlot) {
        self.hand = start;
        let mut old = core::mem::replace(&mut self.slots[at], Slot::EMPTY);
        self.occupancy.clear(at);
        self.meter.tally(Work::SlotVisit, 1);
        self.meter.tally(Work::CascadeMove, old.len() as u64);
        let any_stale = old.stale() > 0;
        self.stale -= old.stale();
        while let Some(chunk) = self.pool.detach(&mut old) {
            for at in chunk.range() {
                let reference = self.pool.reference(&chunk, at);
                if any_stale && !reference.is_current(&self.arena) {
                    continue;
                }
                let to = self.geometry.slot_of(reference.deadline, start);
                self.pool.push(&mut self.slots[to], reference);
                self.slots[to].live += 1;
                if self.slots[to].live == 1 {
                    self.occupancy.set(to);
                }
            }
            self.pool.release(chunk);
        }
        self.find_next();
    }

    /// Takes the first timer out of a slot of level 0, in which a live one is.
    #[inline]
    fn fire(&mut self, NextSlot { start, slot: at }: NextSlot) -> Option<Expired<T>> {
        self.hand = start;
        while let Some(reference) = self.pool.pop(&mut self.slots[at]) {
            self.meter.tally(Work::EntryScan, 1);
            if !reference.is_current(&self.arena) {
                self.stale -= 1;
                continue;
            }
            let (id, entry) = self.arena.remove_at(reference.index)?;
            self.slots[at].live -= 1;
            if self.slots[at].live == 0 {
                self.vacate(at);
            }
            return Some(Expired { id, deadline: entry.deadline, value: entry.value });
        }
        None
    }

    /// Takes the earliest timer that is due. What it leaves behind is whole, so that a caller may do anything before
    /// the next.
    #[inline]
    fn take_due(&mut self) -> Option<Expired<T>> {
        if !self.overdue.is_empty() {
            self.meter.tally(Work::Comparison, self.overdue.depth());
            return self.overdue.pop(&mut self.arena, |entry| entry.value);
        }
        while let Some(next) = self.next.filter(|next| next.start <= self.now) {
            if self.geometry.level_of(next.slot) == 0 {
                return self.fire(next);
            }
            self.cascade(next);
        }
        // No occupied slot starts at or before `now`: the hand may follow.
        self.meter.tally(Work::Comparison, 1);
        self.hand = self.now;
        None
    }
}

impl<T, M: Meter> Timer<T> for HierarchicalWheel<T, M> {
    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn len(&self) -> usize {
        self.arena.len()
    }

    /// O(1), and a move to come for each level between the hand and the deadline; O(n) when the storage grows.
    #[inline]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = self.arena.insert(Entry { deadline, value });
        self.link(Reference { deadline, index: id.index(), stamp: id.generation() });
        id
    }

    /// O(1) amortised; O(n) when stale references are cleared away.
    #[inline]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let entry = self.arena.remove(id)?;
        self.unlink(entry.deadline);
        Some(entry.value)
    }

    /// O(1) amortised; O(n) when stale references are cleared away.
    #[inline]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let Some(entry) = self.arena.get_mut(id) else { return false };
        let old = core::mem::replace(&mut entry.deadline, deadline);
        let stamp = self.arena.restamp(id.index());
        self.unlink(old);
        let stamp = stamp.or_else(|| {
            // Once in two billion reschedules of one timer.
            self.sweep();
            self.overdue.sweep(&self.arena);
            self.arena.rewind(id.index())
        });
        self.link(Reference { deadline, index: id.index(), stamp: stamp.unwrap_or_default() });
        true
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.arena.get(id).map(|entry| entry.deadline)
    }

    /// O(1). Exact for the timers of level 0, else the first tick of the slot that the earliest timer is in.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        self.overdue.earliest().or(self.next.map(|next| next.start))
    }

    /// O(1) amortised; O(n) when a slot of a higher level cascades, whether anything fires or not.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        let expired = self.take_due();
        self.limit_stale();
        expired
    }

    /// O(1) amortised for each timer that fires and for each call; O(n) when a slot of a higher level cascades, whether
    /// anything fires or not.
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.now = self.now.max(now);
        let mut fired = 0;
        while let Some(expired) = self.take_due() {
            fired += 1;
            on_expiry(expired);
        }
        self.limit_stale();
        fired
    }
}

#[cfg(test)]
#[path = "wheel_tests.rs"]
mod tests;
