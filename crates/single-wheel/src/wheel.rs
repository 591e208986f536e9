//! The wheel itself: slots ahead of the hand, and the list of what lies beyond them.

use crate::builder::{Builder, DEFAULT_SLOTS};
use core::fmt;
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::lists::{Ends, LINKS_IN, LINKS_OUT, Lists};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::occupied::Occupied;
use wheelhouse_core::overdue::Overdue;
use wheelhouse_core::{Expired, SlotCount, Tick, Timer, TimerId};

/// The link of a timer in a slot.
const IN_SLOT: Link = Link::MIN;

/// The link of a timer in the overflow list. One that is overdue has its arrival there; which of the two it is says the deadline.
const IN_OVERFLOW: Link = Link::MAX;

/// One timing wheel without rounds. See the [crate's page](crate) for what it is and what it costs.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see [`TimerId`].
#[derive(Clone, Debug)]
pub struct SingleWheel<T, M = NoMeter> {
    timers: Arena<Entry<T>, Link>,
    lists: Lists,
    /// The timers of each tick from the hand on: one slot, one tick.
    slots: alloc::vec::Vec<Ends>,
    occupied: Occupied,
    /// Timers that were a turn or more ahead of the hand when they came, in order of insertion.
    overflow: Ends,
    /// None of them is due before this tick; the last of all if there are none.
    overflow_earliest: Tick,
    /// Timers whose deadline was before the hand when they came.
    overdue: Overdue,
    /// The tick that slots are counted from. No timer in a slot is due before it, and it is never after `now`.
    hand: Tick,
    now: Tick,
    meter: M,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    deadline: Tick,
    value: T,
}

/// What is next for the hand.
#[derive(Clone, Copy)]
enum Next {
    /// Timers due at this tick, in the slot of this number.
    Slot(Tick, usize),
    /// A turn that begins at this tick, and timers of the overflow list are due in it.
    Turn(Tick),
}

impl<T> SingleWheel<T> {
    /// An empty wheel of 4,096 slots, its clock at 0.
    pub fn new() -> Self {
        Self::with_meter(NoMeter)
    }

    /// Chooses the number of slots, the first tick, the capacity or a meter.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }
}

impl<T> Default for SingleWheel<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, M: Meter> SingleWheel<T, M> {
    pub(crate) fn with_meter(meter: M) -> Self {
        const DEFAULT: SlotCount = match SlotCount::new(DEFAULT_SLOTS) {
            Ok(slots) => slots,
            Err(_) => panic!("the default is valid"),
        };
        Self::with_parts(DEFAULT, 0, 0, meter)
    }

    pub(crate) fn with_parts(slots: SlotCount, start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            timers: Arena::with_capacity(capacity),
            lists: Lists::new(),
            slots: alloc::vec![Ends::EMPTY; slots.get()],
            occupied: Occupied::new(slots),
            overflow: Ends::EMPTY,
            overflow_earliest: Tick::MAX,
            overdue: Overdue::new(),
            hand: start,
            now: start,
            meter,
        }
    }

    /// What counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    /// How many ticks lie ahead of the hand in slots: the number of slots.
    pub fn range(&self) -> Tick {
        self.slots.len() as Tick
    }

    /// Starts a timer as [`insert`](Timer::insert) does, but only if its deadline lies in the range of the wheel: less than [`range`](Self::range)
    /// ticks after [`now`](Timer::now), or, while something due has yet to fire, after the tick of that. So it never waits in the overflow list:
    /// to start and to stop it is O(1), or O(log j) if it is one of j that are overdue.
    ///
    /// # Errors
    ///
    /// If the deadline lies beyond; the error gives the value back.
    ///
    /// ```
    /// use wheelhouse_single_wheel::{SingleWheel, Timer};
    ///
    /// let mut wheel = SingleWheel::builder().slots(64).build()?;
    /// wheel.insert_within(63, "in range").map_err(|error| error.to_string())?;
    /// let refused = wheel.insert_within(64, "beyond").unwrap_err();
    /// assert_eq!((refused.deadline, refused.range, refused.value), (64, 64, "beyond"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_within(&mut self, deadline: Tick, value: T) -> Result<TimerId, OutOfRange<T>> {
        let range = self.range();
        if deadline.saturating_sub(self.hand) < range {
            Ok(self.insert(deadline, value))
        } else {
            Err(OutOfRange { deadline, range, value })
        }
    }

    fn slot_of(&self, deadline: Tick) -> usize {
        deadline as usize & (self.slots.len() - 1)
    }

    /// The first tick of the turn of a deadline.
    fn turn_of(&self, deadline: Tick) -> Tick {
        deadline & !(self.range() - 1)
    }

    /// Puts the timer at a place of the arena where its deadline belongs; returns its link.
    fn link(&mut self, place: u32, deadline: Tick) -> Link {
        if deadline < self.hand {
            self.meter.tally(Work::Comparison, self.overdue.depth());
            return self.overdue.insert(&mut self.timers, deadline, place);
        }
        self.meter.tally(Work::Link, LINKS_IN);
        if deadline - self.hand >= self.range() {
            self.overflow_earliest = self.overflow_earliest.min(deadline);
            self.lists.push_back(&mut self.overflow, place);
            return IN_OVERFLOW;
        }
        let at = self.slot_of(deadline);
        self.occupied.set(at);
        self.lists.push_back(&mut self.slots[at], place);
        IN_SLOT
    }

    /// Takes a timer out of where its deadline put it.
    fn unlink(&mut self, place: u32, link: Link, deadline: Tick) {
        if deadline < self.hand {
            self.meter.tally(Work::Comparison, self.overdue.depth());
            return self.overdue.remove(deadline, link);
        }
        self.meter.tally(Work::Link, LINKS_OUT);
        if link == IN_OVERFLOW {
            self.lists.remove(&mut self.overflow, place);
            if self.overflow.is_empty() {
                self.overflow_earliest = Tick::MAX;
            }
            return;
        }
        let at = self.slot_of(deadline);
        self.lists.remove(&mut self.slots[at], place);
        self.vacate(at);
    }

    /// Notes that a slot has no timer left, if so.
    fn vacate(&mut self, at: usize) {
        if self.slots[at].is_empty() {
            self.occupied.clear(at);
        }
    }

    /// The tick of the next slot that holds timers, that of the hand included.
    fn next_slot(&self) -> Option<Tick> {
        let distance = self.occupied.next(self.slot_of(self.hand), self.slots.len())?;
        Some(self.hand + distance as Tick)
    }

    /// What the hand comes to next.
    fn next(&self) -> Option<Next> {
        let slot = self.next_slot().map(|tick| Next::Slot(tick, self.slot_of(tick)));
        if self.overflow.is_empty() {
            return slot;
        }
        // The timers of the list come to the slots when the turn begins that the first of them is due in: before any of that turn fires, and after
        // the last tick at which one of the same deadline could have gone to a slot before them.
        let turn = self.turn_of(self.overflow_earliest);
        slot.filter(|next| next.tick() < turn).or(Some(Next::Turn(turn)))
    }

    /// Moves the hand to the begin of a turn, and to the slots what is due in it of the overflow list.
    fn begin(&mut self, turn: Tick) {
        self.hand = turn;
        self.overflow_earliest = Tick::MAX;
        // From the rear, each put before those that are there: all of them came before any timer that went to the slot at once.
        let mut next = self.overflow.last();
        while let Some(place) = next {
            next = self.lists.before(place);
            self.meter.tally(Work::EntryScan, 1);
            let deadline = self.timers.at(place).map_or(turn, |entry| entry.deadline);
            if deadline - turn >= self.range() {
                self.overflow_earliest = self.overflow_earliest.min(deadline);
                continue;
            }
            self.meter.tally(Work::CascadeMove, 1);
            let at = self.slot_of(deadline);
            self.lists.remove(&mut self.overflow, place);
            self.lists.push_front(&mut self.slots[at], place);
            self.occupied.set(at);
            self.timers.set_link(place, IN_SLOT);
        }
    }

    /// The place of the earliest timer that is due, taken out of where it is.
    fn take_due(&mut self) -> Option<u32> {
        if !self.overdue.is_empty() {
            self.meter.tally(Work::Comparison, self.overdue.depth());
            return self.overdue.pop();
        }
        loop {
            let next = self.next();
            let passed = next.map_or(self.range(), |next| (next.tick() - self.hand).min(self.range()));
            self.meter.tally(Work::SlotVisit, Occupied::words(passed as usize));
            match next.filter(|next| next.tick() <= self.now) {
                Some(Next::Turn(turn)) => self.begin(turn),
                Some(Next::Slot(tick, at)) => {
                    self.hand = tick;
                    self.meter.tally(Work::Link, LINKS_OUT);
                    let place = self.lists.pop_front(&mut self.slots[at]);
                    self.vacate(at);
                    return place;
                }
                None => {
                    self.hand = self.now;
                    return None;
                }
            }
        }
    }
}

impl Next {
    fn tick(self) -> Tick {
        let (Self::Slot(tick, _) | Self::Turn(tick)) = self;
        tick
    }
}

/// [`advance`](Timer::advance): O(M / 64) for each timer that fires, and for the call; O(k) for each turn that begins with timers of an overflow list of k due in it.
impl<T, M: Meter> Timer<T> for SingleWheel<T, M> {
    fn now(&self) -> Tick {
        self.now
    }

    fn len(&self) -> usize {
        self.timers.len()
    }

    /// O(1); and a step for each turn until it is due, of those in which the overflow list is looked through.
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let link = self.link(self.timers.next_id().index(), deadline);
        self.timers.insert_linked(link, Entry { deadline, value })
    }

    /// O(1); O(log j) if it is one of j that came when they were overdue.
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let (link, entry) = self.timers.remove(id)?;
        self.unlink(id.index(), link, entry.deadline);
        Some(entry.value)
    }

    /// O(1), as [`cancel`](Timer::cancel) and [`insert`](Timer::insert).
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let Some((link, entry)) = self.timers.get_mut(id) else { return false };
        let (link, from) = (*link, core::mem::replace(&mut entry.deadline, deadline));
        self.unlink(id.index(), link, from);
        let to = self.link(id.index(), deadline);
        self.timers.set_link(id.index(), to);
        true
    }

    /// O(1).
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timers.get(id).map(|entry| entry.deadline)
    }

    /// O(M / 64). Exact, but where the earliest timer is in the overflow list, and one before it has been cancelled there.
    fn next_wakeup(&self) -> Option<Tick> {
        let far = (!self.overflow.is_empty()).then_some(self.overflow_earliest);
        self.overdue.earliest().or_else(|| self.next_slot().into_iter().chain(far).min())
    }

    /// O(M / 64), and O(k) for each turn that begins with timers of an overflow list of k due in it.
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        let place = self.take_due()?;
        let (id, entry) = self.timers.remove_at(place)?;
        Some(Expired { id, deadline: entry.deadline, value: entry.value })
    }
}

/// A deadline that lies past the range of a wheel, with the value that was to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange<T> {
    /// The deadline.
    pub deadline: Tick,
    /// How many ticks the wheel has.
    pub range: Tick,
    /// What was to be inserted.
    pub value: T,
}

impl<T> fmt::Display for OutOfRange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a deadline of {} lies past the {} ticks of the wheel: choose more slots, or `insert`, which keeps it in the overflow list",
            self.deadline, self.range
        )
    }
}

impl<T: fmt::Debug> core::error::Error for OutOfRange<T> {}

#[cfg(test)]
#[path = "wheel_tests.rs"]
mod tests;
