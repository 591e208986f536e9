//! The wheel: the slots from the hand on, and the overflow lists of the timers past them.

use alloc::collections::btree_map::{BTreeMap, Entry as Turn};
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::linked::Entry;
use wheelhouse_core::lists::{Ends, LINKS_IN, LINKS_OUT, Lists};
use wheelhouse_core::meter::{Meter, Metered, NoMeter, Work};
use wheelhouse_core::occupied::SlotBitmap;
use wheelhouse_core::overdue::Overdue;
use wheelhouse_core::{SlotCount, Tick, Timer, TimerId};

/// The link of a timer in a slot.
const IN_SLOT: Link = Link::MIN;

/// The link of a timer in an overflow list. The link of an overdue timer is its arrival; its
/// deadline, which is before the hand, shows that it is overdue.
const IN_OVERFLOW: Link = Link::MAX;

/// One timing wheel without rounds. The [crate documentation](crate) describes the structure and
/// its costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see [`TimerId`].
#[derive(Clone)]
pub struct SingleWheel<T, M = NoMeter> {
    timers: Arena<Entry<T>, Link>,
    lists: Lists,
    /// The timers of each tick from the hand on: one slot per tick.
    slots: alloc::vec::Vec<Ends>,
    occupied: SlotBitmap,
    /// Timers that were a turn or more after the hand when they were inserted, by the first tick of
    /// the turn in which they are due.
    overflow: BTreeMap<Metered<Tick, M>, Overflow>,
    /// Timers whose deadline was before the hand when they were inserted or rescheduled.
    overdue: Overdue<M>,
    /// The tick of the first slot. No timer in a slot is due before it, and it is never after
    /// `now`.
    hand: Tick,
    /// Before this tick, no timer in a slot is due and no turn with an overflow list begins.
    next: Tick,
    now: Tick,
    pub(crate) meter: M,
}

/// The overflow list of one turn.
#[derive(Clone, Copy, Debug)]
struct Overflow {
    /// In order of insertion.
    timers: Ends,
    /// No timer of the list is due before this tick.
    earliest: Tick,
}

impl Overflow {
    const EMPTY: Self = Self { timers: Ends::EMPTY, earliest: Tick::MAX };
}

/// The next stop of the hand.
#[derive(Clone, Copy)]
enum Next {
    /// Timers are due at this tick, in the slot with this index.
    Slot(Tick, usize),
    /// A turn with an overflow list begins at this tick.
    Turn(Tick),
}

impl<T, M: Meter> SingleWheel<T, M> {
    pub(crate) fn with_parts(slots: SlotCount, start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            timers: Arena::with_capacity(capacity),
            lists: Lists::new(),
            slots: alloc::vec![Ends::EMPTY; slots.get()],
            occupied: SlotBitmap::new(slots),
            overflow: BTreeMap::new(),
            overdue: Overdue::new(),
            hand: start,
            next: Tick::MAX,
            now: start,
            meter,
        }
    }

    /// The range of the wheel in ticks: the number of slots.
    pub fn range(&self) -> Tick {
        self.slots.len() as Tick
    }

    /// Starts a timer like [`insert`](Timer::insert), but only if its deadline is in the range of
    /// the wheel: less than [`range`](Self::range) ticks after [`now`](Timer::now). While timers
    /// that are due have not fired yet, the range starts at the tick of the last timer that fired.
    /// So the timer is never in an overflow list: starting and stopping it is O(1), or O(log j) if
    /// it is one of j that are overdue.
    ///
    /// # Errors
    ///
    /// If the deadline is past the range. The error contains the value.
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

    fn link(&mut self, place: u32, deadline: Tick) -> Link {
        if deadline < self.hand {
            return self.overdue.insert(&mut self.timers, deadline, place, &self.meter);
        }
        self.meter.tally(Work::Link, LINKS_IN);
        if deadline - self.hand >= self.range() {
            self.overflow(place, deadline);
            return IN_OVERFLOW;
        }
        self.next = self.next.min(deadline);
        let at = self.slot_of(deadline);
        self.meter.tally(Work::SlotVisit, 1);
        self.occupied.set(at);
        self.lists.push_back(&mut self.slots[at], place);
        IN_SLOT
    }

    /// Adds a timer past the range to the overflow list of its turn.
    #[inline(never)]
    fn overflow(&mut self, place: u32, deadline: Tick) {
        let turn = self.turn_of(deadline);
        self.next = self.next.min(turn);
        let turn = Metered::new(turn, &self.meter);
        let overflow = self.overflow.entry(turn).or_insert(Overflow::EMPTY);
        overflow.earliest = overflow.earliest.min(deadline);
        self.lists.push_back(&mut overflow.timers, place);
    }

    #[inline(never)]
    fn leave_overflow(&mut self, place: u32, deadline: Tick) {
        // If the timer is between two others, the ends of the list do not change, so the list need
        // not be searched.
        if self.lists.before(place).is_some() && self.lists.behind(place).is_some() {
            let mut unknown = Ends::EMPTY;
            return self.lists.remove(&mut unknown, place);
        }
        let turn = Metered::new(self.turn_of(deadline), &self.meter);
        let entry = self.overflow.entry(turn);
        debug_assert!(matches!(entry, Turn::Occupied(_)), "the turn of a timer has a list");
        if let Turn::Occupied(mut overflow) = entry {
            self.lists.remove(&mut overflow.get_mut().timers, place);
            if overflow.get().timers.is_empty() {
                overflow.remove();
            }
        }
    }

    fn unlink(&mut self, place: u32, link: Link, deadline: Tick) {
        if deadline < self.hand {
            return self.overdue.remove(deadline, link, &self.meter);
        }
        self.meter.tally(Work::Link, LINKS_OUT);
        if link == IN_OVERFLOW {
            return self.leave_overflow(place, deadline);
        }
        let at = self.slot_of(deadline);
        self.lists.remove(&mut self.slots[at], place);
        self.vacate(at);
    }

    fn vacate(&mut self, at: usize) {
        if self.slots[at].is_empty() {
            self.occupied.clear(at);
        }
    }

    /// The tick of the next slot that has timers, from the hand on.
    fn next_slot(&self) -> Option<Tick> {
        let (from, count) = (self.slot_of(self.hand), self.slots.len());
        let distance = self.occupied.next(from, count, &self.meter)?;
        Some(self.hand + distance as Tick)
    }

    fn find_next(&self) -> Option<Next> {
        let slot = self.next_slot().map(|tick| Next::Slot(tick, self.slot_of(tick)));
        // A turn begins before the slots of its ticks are visited, so its list moves to the slots
        // before any timer of the turn fires.
        let Some((turn, _)) = self.overflow.first_key_value() else { return slot };
        slot.filter(|next| next.tick() < turn.key).or(Some(Next::Turn(turn.key)))
    }

    /// Moves the hand to the first tick of the first turn that has an overflow list, and moves the
    /// timers of the list to the slots.
    fn begin(&mut self, turn: Tick) {
        debug_assert!(turn >= self.hand && turn <= self.now, "the hand does not move back");
        self.hand = turn;
        let first = self.overflow.pop_first();
        debug_assert!(first.as_ref().is_some_and(|(first, _)| first.key == turn));
        let mut list = first.map_or(Ends::EMPTY, |(_, overflow)| overflow.timers);
        // From the last to the first, each to the front of its slot: the timers that are in the
        // slot already were inserted later.
        while let Some(place) = list.last() {
            self.meter.tally(Work::CascadeMove, 1);
            let timer = self.timers.at(place);
            debug_assert!(timer.is_some_and(|it| self.turn_of(it.deadline) == turn));
            let deadline = timer.map_or(turn, |entry| entry.deadline);
            let at = self.slot_of(deadline);
            self.lists.remove(&mut list, place);
            self.lists.push_front(&mut self.slots[at], place);
            self.occupied.set(at);
            self.timers.set_link(place, IN_SLOT);
        }
    }

    fn take_due(&mut self) -> Option<u32> {
        while self.next <= self.now {
            let next = self.find_next();
            self.next = next.map_or(Tick::MAX, Next::tick);
            match next.filter(|next| next.tick() <= self.now) {
                Some(Next::Turn(turn)) => self.begin(turn),
                Some(Next::Slot(tick, at)) => {
                    self.hand = tick;
                    self.meter.tally(Work::Link, LINKS_OUT);
                    let place = self.lists.pop_front(&mut self.slots[at]);
                    debug_assert!(place.is_some(), "an occupied slot has a timer");
                    self.vacate(at);
                    return place;
                }
                None => break,
            }
        }
        None
    }
}

/// A deadline is past the range of the wheel. Contains the value that was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange<T> {
    /// The deadline.
    pub deadline: Tick,
    /// The range: the number of ticks of the wheel.
    pub range: Tick,
    /// The value that was not inserted.
    pub value: T,
}

impl<T> core::fmt::Display for OutOfRange<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "a deadline of {} is past the {} ticks of the wheel: choose more slots, or use \
             `insert`, which stores it in an overflow list",
            self.deadline, self.range
        )
    }
}

impl<T: core::fmt::Debug> core::error::Error for OutOfRange<T> {}

impl Next {
    fn tick(self) -> Tick {
        let (Self::Slot(tick, _) | Self::Turn(tick)) = self;
        tick
    }
}

/// [`advance`](Timer::advance) is O(1) if nothing is due. It is O(M / 64) for each timer that
/// fires, and O(k) for each turn that begins with an overflow list of k timers.
impl<T, M: Meter> Timer<T> for SingleWheel<T, M> {
    wheelhouse_core::linked_timers! {
        /// O(1); past the range O(log t), with t turns that have an overflow list.
        insert;
        /// O(1); past the range O(log t); O(log j) if the timer is one of j that were overdue when
        /// they were inserted.
        cancel;
        /// The cost of [`cancel`](Timer::cancel) plus [`insert`](Timer::insert).
        reschedule;
    }

    /// O(M / 64). Exact, unless the earliest timer is in an overflow list from which an earlier
    /// timer was cancelled.
    fn next_wakeup(&self) -> Option<Tick> {
        let far = self.overflow.first_key_value().map(|(_, overflow)| overflow.earliest);
        self.overdue.earliest().or_else(|| self.next_slot().into_iter().chain(far).min())
    }

    wheelhouse_core::linked_expiry! {
        /// O(1) if nothing is due. Otherwise O(M / 64), and O(k) for each turn that begins with an
        /// overflow list of k timers.
        pop_expired
    }
}

#[cfg(test)]
mod tests;
