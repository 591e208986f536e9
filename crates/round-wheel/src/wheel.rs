//! The wheel itself: where timers go and how the hand visits them.

use crate::builder::{Builder, DEFAULT_SLOTS};
use crate::slots::Slots;
use alloc::vec::Vec;
use wheelhouse_core::arena::{Arena, Reference};
use wheelhouse_core::due::DueQueue;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, SlotCount, Tick, Timer, TimerId};

/// Stale references are tolerated up to as many as there are live timers plus this.
const STALE_SLACK: usize = 256;

/// One timing wheel with rounds. See the [crate's page](crate) for what it is and what it costs.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see [`TimerId`].
#[derive(Clone, Debug)]
pub struct RoundWheel<T, M = NoMeter> {
    arena: Arena<Entry<T>>,
    /// Timers whose deadline is after `now`.
    slots: Slots,
    /// All others: taken out of their slots, or due when they were inserted.
    due: DueQueue,
    /// The slots' references on their way to `due`; empty between calls, kept for its memory.
    collected: Vec<Reference>,
    now: Tick,
    /// References in slots that are not current.
    stale: usize,
    meter: M,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    deadline: Tick,
    value: T,
}

impl<T> RoundWheel<T> {
    /// An empty wheel of 16,384 slots, its clock at 0.
    pub fn new() -> Self {
        Self::with_meter(NoMeter)
    }

    /// Chooses the number of slots, the first tick, the capacity or a meter.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }
}

impl<T> Default for RoundWheel<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, M: Meter> RoundWheel<T, M> {
    pub(crate) fn with_meter(meter: M) -> Self {
        const DEFAULT: SlotCount = match SlotCount::new(DEFAULT_SLOTS) {
            Ok(slots) => slots,
            Err(_) => panic!("the default is valid"),
        };
        Self::with_parts(DEFAULT, 0, 0, meter)
    }

    pub(crate) fn with_parts(slots: SlotCount, start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            arena: Arena::with_capacity(capacity),
            slots: Slots::new(slots),
            due: DueQueue::new(),
            collected: Vec::new(),
            now: start,
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
        if reference.deadline > self.now {
            self.meter.tally(Work::SlotVisit, 1);
            self.slots.push(reference);
        } else {
            self.meter.tally(Work::Comparison, self.due.depth());
            self.due.push(reference);
        }
    }

    /// Accounts for a reference that has just gone stale.
    #[inline]
    fn unlink(&mut self, deadline: Tick) {
        if deadline <= self.now {
            self.meter.tally(Work::Comparison, self.due.depth());
            self.due.forget(&self.arena);
            self.limit_stale(); // there is one live timer less
            return;
        }
        self.meter.tally(Work::SlotVisit, 1);
        let at = self.slots.of(deadline);
        let slot = self.slots.get_mut(at);
        slot.live -= 1;
        self.stale += 1;
        if slot.live == 0 {
            self.vacate(at);
        }
        self.limit_stale();
    }

    /// Empties a slot that has no live timer left.
    fn vacate(&mut self, at: usize) {
        self.stale -= self.slots.get(at).references.len();
        self.slots.clear(at);
    }

    /// Keeps stale references from outnumbering the live timers. Clearing away `s` of them reads fewer than `2 s + n`
    /// references, and M / 64 words to find the slots; the `s` cancellations before it pay for them.
    #[inline]
    fn limit_stale(&mut self) {
        if self.stale > self.arena.len() + STALE_SLACK {
            self.sweep();
        }
    }

    /// Drops every stale reference from the slots.
    #[cold]
    fn sweep(&mut self) {
        let count = self.slots.count();
        let mut from = 0;
        while let Some((at, _)) = self.slots.next_occupied(from, count - from) {
            from = at + 1;
            self.meter.tally(Work::SlotVisit, 1);
            let slot = self.slots.get_mut(at);
            if slot.stale() > 0 {
                self.meter.tally(Work::EntryScan, slot.references.len() as u64);
                slot.references.retain(|reference| reference.is_current(&self.arena));
                slot.earliest = slot.references.iter().map(|reference| reference.deadline).min().unwrap_or(Tick::MAX);
                slot.shrink();
            }
        }
        self.stale = 0;
    }

    /// Moves the hand to `now` and collects what is due.
    #[inline]
    fn turn(&mut self, now: Tick) {
        if now <= self.now {
            return;
        }
        let distance = now - self.now;
        let turn = self.slots.count();
        let mut left = usize::try_from(distance).map_or(turn, |distance| distance.min(turn));
        let mut from = self.slots.of(self.now.wrapping_add(1));
        self.now = now;
        while let Some((at, passed)) = self.slots.next_occupied(from, left) {
            self.collect(at);
            left -= passed + 1;
            from = (at + 1) & (turn - 1);
        }
        self.meter.tally(Work::Comparison, 1);
        if !self.collected.is_empty() {
            self.hand_over(distance > turn as u64);
        }
    }

    /// Takes what is due out of a slot, keeping the order.
    fn collect(&mut self, at: usize) {
        self.meter.tally(Work::SlotVisit, 1);
        let slot = self.slots.get_mut(at);
        if slot.earliest > self.now {
            return; // it has rounds to go
        }
        self.meter.tally(Work::EntryScan, slot.references.len() as u64);
        let (before, mut earliest) = (self.collected.len(), Tick::MAX);
        slot.references.retain(|reference| {
            if reference.deadline > self.now {
                earliest = earliest.min(reference.deadline);
                return true;
            }
            if reference.is_current(&self.arena) {
                self.collected.push(*reference);
            } else {
                self.stale -= 1;
            }
            false
        });
        slot.earliest = earliest;
        slot.live -= self.collected.len() - before;
        if slot.live == 0 {
            self.vacate(at);
        } else {
            slot.shrink();
        }
    }

    /// Lines up what was collected. Within a turn the slots were visited in the order of the deadlines; timers of one
    /// deadline share a slot, so that a stable sort keeps their order of insertion.
    fn hand_over(&mut self, more_than_a_turn: bool) {
        if more_than_a_turn {
            let count = self.collected.len() as u64;
            self.meter.tally(Work::Comparison, count * u64::from(count.checked_ilog2().unwrap_or(0) + 1));
            self.collected.sort_by_key(|reference| reference.deadline);
        }
        self.collected.drain(..).for_each(|reference| self.due.push(reference));
        self.collected.shrink_to(1024);
    }
}

impl<T, M: Meter> Timer<T> for RoundWheel<T, M> {
    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn len(&self) -> usize {
        self.arena.len()
    }

    /// O(1) amortised; O(n) when storage grows.
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
            self.due.sweep(&self.arena);
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

    /// Exact. O(1 + n / M) where a timer is due in most of the ticks ahead; O(n + M) at worst.
    fn next_wakeup(&self) -> Option<Tick> {
        if !self.due.is_empty() {
            return self.due.earliest();
        }
        let turn = self.slots.count();
        let first = self.slots.of(self.now.wrapping_add(1));
        let (mut best, mut distance) = (None, 0);
        while let Some((at, passed)) = self.slots.next_occupied((first + distance) & (turn - 1), turn - distance) {
            distance += passed;
            // From here on, no deadline is before the tick at which the hand gets here.
            if best.is_some_and(|best| best <= self.now.saturating_add(1 + distance as u64)) {
                break;
            }
            let slot = self.slots.get(at);
            self.meter.tally(Work::SlotVisit, 1);
            if best.is_none_or(|best| slot.earliest < best) {
                self.meter.tally(Work::EntryScan, slot.references.len() as u64);
                let current = slot.references.iter().filter(|reference| reference.is_current(&self.arena));
                best = best.into_iter().chain(current.map(|reference| reference.deadline)).min();
            }
            distance += 1;
        }
        best
    }

    /// O(1 + n / M) amortised for a tick, O(n) at worst; the jump that comes before a run of calls pays for all of it.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.turn(now);
        self.limit_stale();
        if self.due.is_empty() {
            return None;
        }
        self.meter.tally(Work::Comparison, self.due.depth());
        self.due.pop(&mut self.arena, |entry| entry.value)
    }

    /// O(1 + n / M) amortised for a tick; O(n + M + k log k) for a jump of more than a turn in which k fire.
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        let mut fired = 0;
        while let Some(expired) = self.pop_expired(now) {
            fired += 1;
            on_expiry(expired);
        }
        fired
    }
}

#[cfg(test)]
#[path = "wheel_tests.rs"]
mod tests;
