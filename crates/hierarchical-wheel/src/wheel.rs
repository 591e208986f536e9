//! The wheel itself: where timers go and how they fire, over either kind of storage.

use crate::arrears::{Arrears, Owed};
use crate::levels::Levels;
use crate::nodes::{Armed, Links, Nodes, Place};
use crate::store::Store;
use wheelhouse_core::arena::Link;
use wheelhouse_core::geometry::Geometry;
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::overdue::{Arrivals, Overdue};
use wheelhouse_core::{Expired, Tick, TimerId};

/// All of a wheel but its nodes, of which there are two kinds.
#[derive(Clone, Debug)]
pub(crate) struct Wheel<M> {
    /// The slots. The hand is never after `now`, and behind it only while timers are due.
    levels: Levels,
    /// Timers that are still to be taken out of their lists. None in a wheel of few.
    arrears: Arrears,
    /// Timers whose deadline was before the hand when they came.
    overdue: Overdue<M>,
    pub(crate) now: Tick,
    pub(crate) meter: M,
}

impl<M: Meter> Wheel<M> {
    pub(crate) fn new<S: Store>(
        geometry: Geometry,
        start: Tick,
        nodes: &mut Nodes<S>,
        meter: M,
    ) -> Self {
        let levels = Levels::new(geometry, start, nodes);
        Self { levels, arrears: Arrears::NONE, overdue: Overdue::new(), now: start, meter }
    }

    /// Links a timer where its deadline belongs, and has it written there.
    #[inline(always)]
    fn link<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        at: u32,
        deadline: Tick,
        write: impl FnOnce(&mut Nodes<S>, Links),
    ) {
        if deadline < self.levels.hand() {
            write(nodes, Links { prev: 0, next: 0 });
            return self.link_overdue(nodes, at, deadline);
        }
        self.levels.link(nodes, at, deadline, &self.meter, write);
    }

    #[cold]
    fn link_overdue<S: Store>(&mut self, nodes: &mut Nodes<S>, at: u32, deadline: Tick) {
        let arrival = self.overdue.insert(nodes, deadline, at, &self.meter);
        nodes.set_arrival(at, arrival);
    }

    /// Takes a timer out of where it is linked.
    #[inline(always)]
    fn unlink<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        links: Links,
        place: Place,
        deadline: Tick,
    ) {
        if place == Place::Overdue {
            return self.unlink_overdue(links.prev, deadline);
        }
        self.levels.unlink(nodes, links, &self.meter);
    }

    #[cold]
    fn unlink_overdue(&mut self, arrival: u32, deadline: Tick) {
        if let Some(arrival) = Link::new(arrival) {
            self.overdue.remove(deadline, arrival, &self.meter);
        }
    }

    /// Unlinks and moves what is owed.
    #[inline(always)]
    pub(crate) fn settle<S: Store>(&mut self, nodes: &mut Nodes<S>) {
        if S::IS_LARGE && self.arrears.is_any() {
            self.levels.settle(nodes, &mut self.arrears, &self.meter);
        }
    }

    /// How many of the timers that are still linked were cancelled.
    #[inline]
    pub(crate) fn owed(&self) -> usize {
        self.arrears.cancelled()
    }

    /// Starts a timer at the place that was reserved for it.
    #[inline(always)]
    pub(crate) fn insert<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        id: TimerId,
        deadline: Tick,
        value: S::Value,
    ) -> TimerId {
        if S::IS_LARGE && self.arrears.is_any_moving() {
            self.settle(nodes);
        }
        self.link(nodes, id.index(), deadline, |nodes, links| {
            nodes.put(id, links, deadline, value)
        });
        id
    }

    /// See [`Timer::cancel`](wheelhouse_core::Timer::cancel).
    #[inline(always)]
    pub(crate) fn cancel<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        id: TimerId,
    ) -> Option<S::Value> {
        if S::IS_LARGE {
            let armed = nodes.get(id)?;
            let is_listed = armed.place == Place::Listed;
            // What would be settled at once, and alone, takes the short way.
            let alone =
                !self.arrears.is_any() && self.levels.concerns_next(armed.deadline, Tick::MAX);
            if is_listed && !alone {
                return self.cancel_later(nodes, id);
            }
            self.settle(nodes);
        }
        let (links, armed) = nodes.remove(id)?;
        self.unlink(nodes, links, armed.place, armed.deadline);
        Some(armed.value)
    }

    /// Cancels a timer, and owes it to its slot.
    #[inline(always)]
    fn cancel_later<S: Store>(&mut self, nodes: &mut Nodes<S>, id: TimerId) -> Option<S::Value> {
        let armed = nodes.take(id)?;
        let is_full = self.arrears.owe(Owed { at: id.index(), cancelled: Some(id) });
        if is_full || self.levels.concerns_next(armed.deadline, Tick::MAX) {
            self.settle(nodes);
        }
        Some(armed.value)
    }

    /// See [`Timer::reschedule`](wheelhouse_core::Timer::reschedule).
    #[inline(always)]
    pub(crate) fn reschedule<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        id: TimerId,
        deadline: Tick,
    ) -> bool {
        let hand = self.levels.hand();
        let Some((links, armed)) = nodes.get_mut(id) else { return false };
        let (place, from) = (armed.place, armed.deadline);
        let may_wait = place == Place::Listed && deadline >= hand;
        if S::IS_LARGE && !may_wait && self.arrears.is_any() {
            self.settle(nodes);
            return self.reschedule(nodes, id, deadline);
        }
        armed.deadline = deadline;
        if S::IS_LARGE && may_wait {
            armed.place = Place::Moving;
            let is_full = self.arrears.owe(Owed { at: id.index(), cancelled: None });
            if is_full || self.levels.concerns_next(from, deadline) {
                self.settle(nodes);
            }
            return true;
        }
        armed.place = Place::Listed;
        self.unlink(nodes, links, place, from);
        self.link(nodes, id.index(), deadline, |nodes, links| nodes.set_links(id.index(), links));
        true
    }

    #[inline]
    pub(crate) fn next_wakeup(&self) -> Option<Tick> {
        let next = self.levels.is_any_occupied().then(|| self.levels.next_start());
        self.overdue.earliest().or(next)
    }

    /// Whether nothing is due at a tick; the clock is moved there in any case.
    #[inline(always)]
    pub(crate) fn is_nothing_due(&mut self, now: Tick) -> bool {
        self.now = self.now.max(now);
        let is_nothing = self.now < self.levels.next_start() && self.overdue.is_empty();
        if is_nothing {
            // No occupied slot starts at or before `now`: the hand may follow.
            self.levels.set_hand(self.now);
        }
        is_nothing
    }

    #[inline]
    pub(crate) fn pop_expired<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        now: Tick,
    ) -> Option<Expired<S::Value>> {
        self.meter.tally(Work::Comparison, 1);
        if self.is_nothing_due(now) {
            return None;
        }
        self.settle(nodes);
        let (id, armed) = match self.overdue.first() {
            Some(at) => self.pop_overdue(nodes, at)?,
            None => self.pop_due(nodes)?,
        };
        Some(Expired { id, deadline: armed.deadline, value: armed.value })
    }

    #[cold]
    fn pop_overdue<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        at: u32,
    ) -> Option<(TimerId, Armed<S::Value>)> {
        let (id, links, armed) = nodes.remove_at(at)?;
        self.unlink_overdue(links.prev, armed.deadline);
        Some((id, armed))
    }

    #[inline(always)]
    fn pop_due<S: Store>(&mut self, nodes: &mut Nodes<S>) -> Option<(TimerId, Armed<S::Value>)> {
        while self.levels.next_start() <= self.now && self.levels.is_any_occupied() {
            let popped = self.levels.pop(nodes, self.now, &self.meter);
            if popped.is_some() {
                return popped;
            }
            self.levels.cascade(nodes, &self.meter);
        }
        self.levels.set_hand(self.now);
        None
    }
}

#[cfg(test)]
impl<M: Meter> Wheel<M> {
    /// Checks all slots, and that every timer is in one or overdue.
    pub(crate) fn check<S: Store>(&mut self, nodes: &mut Nodes<S>) {
        self.settle(nodes);
        let timers = self.levels.check(nodes);
        assert!(timers == nodes.len() || !self.overdue.is_empty() && timers < nodes.len());
    }

    pub(crate) fn rings_in_use(&self) -> usize {
        self.levels.rings_in_use()
    }

    pub(crate) fn read_ahead(&self) -> usize {
        self.levels.read_ahead_so_far()
    }
}
