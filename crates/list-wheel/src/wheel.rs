//! The wheel: where timers go, how they cascade, how they fire.

use crate::builder::{Builder, DEFAULT_SLOTS};
use crate::nodes::Nodes;
use wheelhouse_core::arena::Link;
use wheelhouse_core::bitmap::Bitmap;
use wheelhouse_core::geometry::Geometry;
use wheelhouse_core::lists::{LINKS_IN, LINKS_OUT};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::overdue::{Arrivals, Overdue};
use wheelhouse_core::{Expired, SlotCount, Tick, Timer, TimerId};

/// A hierarchical wheel of linked lists. See the [crate's page](crate) for what it costs.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see
/// [`TimerId`].
#[derive(Clone, Debug)]
pub struct ListWheel<T, M = NoMeter> {
    geometry: Geometry,
    /// The timers, and the slots: that of a digit at a level is `level.first + digit`.
    nodes: Nodes<T>,
    occupied: Bitmap,
    /// The tick that slots are chosen from. No occupied slot starts before it, and it is behind
    /// `now` only while timers are due.
    hand: Tick,
    now: Tick,
    /// The earliest occupied slot.
    next: Next,
    /// Timers whose deadline was before the hand when they came.
    overdue: Overdue<M>,
    /// Before this tick there is nothing to do: the start of `next`, or earlier if one is overdue.
    due: Tick,
    meter: M,
}

/// An occupied slot and its first tick.
#[derive(Clone, Copy, Debug)]
struct Next {
    start: Tick,
    slot: u32,
}

/// There is none.
const NONE: Next = Next { start: Tick::MAX, slot: u32::MAX };

impl<T> ListWheel<T> {
    /// An empty wheel with 256 slots a level, its clock at 0.
    pub fn new() -> Self {
        Self::with_meter(NoMeter)
    }

    /// Chooses the number of slots, the first tick, the capacity or a meter.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }
}

impl<T> Default for ListWheel<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, M: Meter> ListWheel<T, M> {
    pub(crate) fn with_meter(meter: M) -> Self {
        const DEFAULT: SlotCount = match SlotCount::new(DEFAULT_SLOTS) {
            Ok(slots) => slots,
            Err(_) => panic!("the default is valid"),
        };
        Self::with_parts(DEFAULT, 0, 0, meter)
    }

    pub(crate) fn with_parts(slots: SlotCount, start: Tick, capacity: usize, meter: M) -> Self {
        let geometry = Geometry::new(slots);
        Self {
            nodes: Nodes::new(geometry.levels() * geometry.slots(), capacity),
            occupied: Bitmap::new(geometry.levels() * geometry.slots()),
            geometry,
            hand: start,
            now: start,
            next: NONE,
            overdue: Overdue::new(),
            due: Tick::MAX,
            meter,
        }
    }

    /// What counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    /// Puts a timer into the slot of its deadline.
    #[inline(always)]
    fn link(&mut self, at: u32, deadline: Tick) {
        if deadline < self.hand {
            return self.link_overdue(at, deadline);
        }
        self.meter.tally(Work::SlotVisit, 1);
        self.meter.tally(Work::Link, LINKS_IN);
        let level = self.geometry.level_of(deadline, self.hand);
        let slot = level.first + self.geometry.digit_of(deadline, level);
        if self.nodes.append(slot, at) {
            self.occupy(slot, deadline >> level.shift << level.shift);
        }
    }

    #[cold]
    fn link_overdue(&mut self, at: u32, deadline: Tick) {
        let arrival = self.overdue.insert(&mut self.nodes, deadline, at, &self.meter);
        self.nodes.set_arrival(at, arrival);
        self.due = self.due.min(deadline);
    }

    /// A timer has left its list; which slot has none left, and where it was among the overdue.
    #[inline(always)]
    fn unlinked(&mut self, emptied: Option<u32>, deadline: Tick, arrival: Option<Link>) {
        self.meter.tally(Work::Link, LINKS_OUT);
        if let Some(arrival) = arrival {
            self.unlinked_overdue(deadline, arrival);
        } else if let Some(slot) = emptied {
            self.vacate(slot);
        }
    }

    #[cold]
    fn unlinked_overdue(&mut self, deadline: Tick, arrival: Link) {
        self.overdue.remove(deadline, arrival, &self.meter);
        self.due = self.overdue.earliest().unwrap_or(self.next.start);
    }

    /// A slot that starts at a tick has its first timer.
    #[inline]
    fn occupy(&mut self, slot: u32, start: Tick) {
        self.occupied.insert(slot);
        // Slots are numbered in the order of time.
        if slot < self.next.slot {
            self.next = Next { start, slot };
            self.due = self.due.min(start);
        }
    }

    /// A slot has lost its last timer.
    #[inline]
    fn vacate(&mut self, slot: u32) {
        self.occupied.remove(slot);
        if self.next.slot == slot {
            self.find_next();
        }
    }

    #[inline]
    fn find_next(&mut self) {
        self.next = self.occupied.first(&self.meter).map_or(NONE, |slot| {
            let level = self.geometry.level_of_slot(slot);
            Next { start: self.geometry.start_of(level, slot - level.first, self.hand), slot }
        });
        self.due = self.overdue.earliest().unwrap_or(self.next.start);
    }

    /// The place of the earliest timer that is due.
    #[inline]
    fn first_due(&mut self) -> Option<u32> {
        if let Some(first) = self.overdue.first() {
            return Some(first);
        }
        while self.next.start <= self.now && self.next.slot != NONE.slot {
            self.hand = self.next.start;
            if self.next.slot < self.geometry.slots() {
                return Some(self.nodes.first(self.next.slot));
            }
            self.cascade();
        }
        self.hand = self.now;
        None
    }

    /// Moves the timers of the next slot down, in order. The hand is at the first tick of the slot,
    /// so all of them go to lower levels, which are empty: the order of insertion is kept.
    fn cascade(&mut self) {
        let slot = self.next.slot;
        self.meter.tally(Work::SlotVisit, 1);
        self.occupied.remove(slot);
        let mut at = self.nodes.empty(slot);
        while at != slot {
            let (next, deadline) = self.nodes.next(at);
            self.meter.tally(Work::CascadeMove, 1);
            let level = self.geometry.level_of(deadline, self.hand);
            let to = level.first + self.geometry.digit_of(deadline, level);
            if self.nodes.append(to, at) {
                self.occupied.insert(to);
            }
            at = next;
        }
        self.find_next();
    }
}

/// [`advance`](Timer::advance): O(1) for each timer that fires and O(1) amortised for each call; at
/// worst O(k) in a tick at which a slot of k timers cascades, and the next level's slot with it.
impl<T, M: Meter> Timer<T> for ListWheel<T, M> {
    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn len(&self) -> usize {
        self.nodes.len()
    }

    /// O(1), and a move to come for each level between the hand and the deadline. At worst O(n),
    /// when the array of n timers is full and grows.
    #[inline(always)]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = self.nodes.allocate(deadline, value);
        self.link(id.index(), deadline);
        id
    }

    /// O(1); O(log j) if it is one of j that were overdue when they came. If it was the only one of
    /// the next slot, a word is read for each 4,096 slots.
    #[inline(always)]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let (armed, emptied) = self.nodes.remove(id)?;
        self.unlinked(emptied, armed.deadline, armed.arrival);
        Some(armed.value)
    }

    /// As [`cancel`](Timer::cancel) and [`insert`](Timer::insert) together, in the same place.
    #[inline(always)]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let Some(armed) = self.nodes.get_mut(id) else { return false };
        let from = core::mem::replace(&mut armed.deadline, deadline);
        let arrival = armed.arrival.take();
        let emptied = self.nodes.unlink(id.index());
        self.unlinked(emptied, from, arrival);
        self.link(id.index(), deadline);
        true
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.nodes.get(id).map(|armed| armed.deadline)
    }

    /// O(1). Exact for the timers of level 0, else the first tick of the slot of the earliest.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        if self.nodes.len() == 0 { None } else { Some(self.due) }
    }

    /// O(1) amortised; at worst O(k), when a slot of k timers cascades.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        if self.now < self.due {
            // No occupied slot starts at or before `now`: the hand may follow.
            self.hand = self.now;
            return None;
        }
        let at = self.first_due()?;
        let (id, armed, emptied) = self.nodes.remove_at(at)?;
        self.unlinked(emptied, armed.deadline, armed.arrival);
        Some(Expired { id, deadline: armed.deadline, value: armed.value })
    }
}
