//! The code that all wheels share whose timers are in an [`Arena`].
//!
//! The deadline and the link of a timer determine its slot, which is mostly a linked list: the
//! timer's node in the [`Lists`](crate::lists::Lists) has the same index. So a wheel only has to
//! implement how a timer is added to a slot and removed from it.

use crate::arena::{Arena, Link};
use crate::{Expired, Tick};

/// The entry of a timer in the arena.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    /// The tick at which the timer is due.
    pub deadline: Tick,
    /// The value passed to [`Timer::insert`](crate::Timer::insert).
    pub value: T,
}

impl<T> Arena<Entry<T>, Link> {
    /// Removes the timer at a place, which fires. The caller has removed it from its list already.
    #[inline]
    pub fn expire(&mut self, place: u32) -> Option<Expired<T>> {
        debug_assert!(self.at(place).is_some(), "a timer in a list is live");
        let (id, Entry { deadline, value }) = self.remove_at(place)?;
        Some(Expired { id, deadline, value })
    }
}

/// Defines [`now`](crate::Timer::now) and [`len`](crate::Timer::len) of a structure that has a
/// field `now: Tick` and, in the named field, an [`Arena`](crate::arena::Arena) of its timers. Both
/// are O(1).
#[macro_export]
macro_rules! now_and_len {
    ($timers:ident) => {
        #[inline]
        fn now(&self) -> $crate::Tick {
            self.now
        }

        #[inline]
        fn len(&self) -> usize {
            self.$timers.len()
        }
    };
}

/// Defines the methods of [`Timer`](crate::Timer) that are the same in all these wheels: `now`,
/// `len`, `deadline`, and the three named in the arguments, each preceded by the documentation of
/// its cost.
///
/// The wheel has the fields `now: Tick` and `timers: Arena<Entry<T>, Link>`, and two methods.
/// `link` adds the timer at a place to the slot of a deadline, and returns the timer's link.
/// `unlink` removes the timer at a place from its slot, which the link and the deadline determine.
/// `wheelhouse-hashed-wheel` is an example.
#[macro_export]
macro_rules! linked_timers {
    (
        $(#[$insert:meta])* insert;
        $(#[$cancel:meta])* cancel;
        $(#[$reschedule:meta])* reschedule;
    ) => {
        $crate::now_and_len!(timers);

        $(#[$insert])*
        fn insert(&mut self, deadline: $crate::Tick, value: T) -> $crate::TimerId {
            // `next_id` panics if the arena is full, before the slot has changed.
            let link = self.link(self.timers.next_id().index(), deadline);
            self.timers.insert_linked(link, $crate::linked::Entry { deadline, value })
        }

        $(#[$cancel])*
        fn cancel(&mut self, id: $crate::TimerId) -> Option<T> {
            let (link, entry) = self.timers.remove(id)?;
            self.unlink(id.index(), link, entry.deadline);
            Some(entry.value)
        }

        $(#[$reschedule])*
        fn reschedule(&mut self, id: $crate::TimerId, deadline: $crate::Tick) -> bool {
            let Some((link, entry)) = self.timers.get_mut(id) else { return false };
            // The former deadline determines the slot that the timer leaves.
            let (link, from) = (*link, ::core::mem::replace(&mut entry.deadline, deadline));
            self.unlink(id.index(), link, from);
            let to = self.link(id.index(), deadline);
            self.timers.set_link(id.index(), to);
            true
        }

        /// O(1). The exact deadline, as passed to `insert` or `reschedule`.
        fn deadline(&self, id: $crate::TimerId) -> Option<$crate::Tick> {
            self.timers.get(id).map(|entry| entry.deadline)
        }
    };
}

/// Defines [`pop_expired`](crate::Timer::pop_expired), whose cost precedes the argument, and
/// [`advance`](crate::Timer::advance) of a wheel with linked lists that stores the next tick at
/// which a slot is due.
///
/// In addition to the fields of [`linked_timers!`](crate::linked_timers) the wheel has `next:
/// Tick`, before which no slot needs a visit, `hand: Tick`, the tick up to which all slots were
/// visited, `overdue: Overdue<M>` and `meter: M`. Its method `take_due` removes the earliest timer
/// that is due at `now` from its list, and returns its place. Overdue timers are not considered.
#[macro_export]
macro_rules! linked_expiry {
    ($(#[$pop_expired:meta])* pop_expired) => {
        $(#[$pop_expired])*
        fn pop_expired(&mut self, now: $crate::Tick) -> Option<$crate::Expired<T>> {
            self.now = self.now.max(now);
            self.meter.tally($crate::meter::Work::Comparison, 1);
            let Some(place) = self.overdue.pop().or_else(|| self.take_due()) else {
                self.hand = self.now;
                return None;
            };
            self.timers.expire(place)
        }

        /// The cost of one [`pop_expired`](Self::pop_expired) for each timer that fires; one
        /// comparison if no timer is due.
        #[inline]
        fn advance(
            &mut self,
            now: $crate::Tick,
            on_expiry: impl FnMut($crate::Expired<T>),
        ) -> usize {
            self.now = self.now.max(now);
            if self.now >= self.next || !self.overdue.is_empty() {
                return $crate::fire_due(self, on_expiry);
            }
            self.meter.tally($crate::meter::Work::Comparison, 1);
            // No slot up to `now` needs a visit, because `now` is before `next`.
            self.hand = self.now;
            0
        }
    };
}
