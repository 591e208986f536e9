//! One scenario on every structure of the registry.
//!
//! [`Timer`] is generic in its callback and cannot stand behind a pointer. [`Facility`] can: the same operations, on numbers. With it a scenario
//! is a closure, written once, and a structure that joins the registry is in every experiment that calls [`each`].

use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_registry::{Visitor, visit};

/// A [`Timer`] that holds numbers, whichever it is.
pub(crate) trait Facility {
    fn now(&self) -> Tick;

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId;

    fn cancel(&mut self, id: TimerId) -> Option<u64>;

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool;

    fn next_wakeup(&self) -> Option<Tick>;

    /// Moves the clock and fires the earliest timer that is due, if any: (deadline, value).
    fn pop(&mut self, now: Tick) -> Option<(Tick, u64)>;

    /// Moves the clock and fires all that is due: (deadline, value) of each, in order.
    fn advance(&mut self, now: Tick) -> Vec<(Tick, u64)>;
}

impl<T: Timer<u64>> Facility for T {
    fn now(&self) -> Tick {
        Timer::now(self)
    }

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        Timer::insert(self, deadline, value)
    }

    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        Timer::cancel(self, id)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        Timer::reschedule(self, id, deadline)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        Timer::next_wakeup(self)
    }

    fn pop(&mut self, now: Tick) -> Option<(Tick, u64)> {
        self.pop_expired(now).map(|Expired { deadline, value, .. }| (deadline, value))
    }

    fn advance(&mut self, now: Tick) -> Vec<(Tick, u64)> {
        let mut fired = Vec::new();
        Timer::advance(self, now, |Expired { deadline, value, .. }| fired.push((deadline, value)));
        fired
    }
}

/// What came of a scenario, by the name of the structure.
pub(crate) type Outcomes<R> = Vec<(&'static str, R)>;

/// Runs a scenario of so many timers on every structure that takes as many, each empty and at tick 0.
pub(crate) fn each<R>(timers: u64, scenario: impl FnMut(&mut dyn Facility) -> R) -> Outcomes<R> {
    let mut each = Each { timers, scenario, outcomes: Vec::new() };
    visit(&mut each);
    each.outcomes
}

struct Each<S, R> {
    timers: u64,
    scenario: S,
    outcomes: Outcomes<R>,
}

impl<R, S: FnMut(&mut dyn Facility) -> R> Visitor for Each<S, R> {
    fn visit<B: Backend + 'static>(&mut self) {
        if self.timers <= u64::from(B::INFO.most) {
            let mut timer = B::build::<u64, NoMeter>();
            self.outcomes.push((B::INFO.name, (self.scenario)(&mut timer)));
        }
    }
}

/// Calls the structure at each tick from one to another: (tick of firing, value).
pub(crate) fn tick_by_tick(timer: &mut dyn Facility, from: Tick, to: Tick) -> Vec<(Tick, u64)> {
    (from..=to).flat_map(|tick| timer.advance(tick).into_iter().map(move |(_, value)| (tick, value))).collect()
}

/// Calls the structure at each of its wake-ups until no timer is live: the ticks of the calls, and (tick of firing, value).
pub(crate) fn by_wakeups(timer: &mut dyn Facility) -> (Vec<Tick>, Vec<(Tick, u64)>) {
    let (mut calls, mut fired) = (Vec::new(), Vec::new());
    while let Some(tick) = timer.next_wakeup() {
        calls.push(tick);
        fired.extend(timer.advance(tick).into_iter().map(|(_, value)| (tick, value)));
    }
    (calls, fired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_structure_of_the_registry_is_asked_if_it_takes_as_many() {
        let names: Vec<_> = each(1, |_| ()).into_iter().map(|(name, ())| name).collect();
        let all: Vec<_> = wheelhouse_registry::all().iter().map(|info| info.name).collect();
        assert_eq!(names, all);
        assert!(each(u64::MAX, |_| ()).is_empty());
    }

    #[test]
    fn a_driver_by_ticks_and_one_by_wakeups_see_the_same() {
        let scenario = |timer: &mut dyn Facility| [7, 3, 300].map(|deadline| timer.insert(deadline, deadline));
        let ticking = each(3, |timer| {
            scenario(timer);
            tick_by_tick(timer, 1, 300)
        });
        let waking = each(3, |timer| {
            scenario(timer);
            by_wakeups(timer).1
        });
        assert_eq!(ticking, waking);
        assert!(ticking.iter().all(|(_, fired)| *fired == [(3, 3), (7, 7), (300, 300)]));
    }
}
