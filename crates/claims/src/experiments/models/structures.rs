//! One scenario on every structure of the registry.
//!
//! A scenario is a closure on [`AnyTimer`], written once, and a structure that joins the registry is in every experiment that calls [`each`].

use crate::count::{AnyTimer, Probe, fired};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_registry::{Visitor, visit};

/// What came of a scenario, by the name of the structure.
pub(crate) type Outcomes<R> = Vec<(&'static str, R)>;

/// Runs a scenario of so many timers on every structure that takes as many, each empty and at tick 0.
pub(crate) fn each<R>(timers: u64, scenario: impl FnMut(&mut AnyTimer) -> R) -> Outcomes<R> {
    let mut each = Each { timers, scenario, outcomes: Vec::new() };
    visit(&mut each);
    each.outcomes
}

struct Each<S, R> {
    timers: u64,
    scenario: S,
    outcomes: Outcomes<R>,
}

impl<R, S: FnMut(&mut AnyTimer) -> R> Visitor for Each<S, R> {
    fn visit<B: Backend + 'static>(&mut self) {
        if self.timers <= u64::from(B::INFO.most) {
            self.outcomes.push((B::INFO.name, (self.scenario)(&mut Probe::of::<B>().timer)));
        }
    }
}

/// Calls the structure at each tick from one to another: (tick of firing, value).
pub(crate) fn tick_by_tick(timer: &mut impl Timer<u64>, from: Tick, to: Tick) -> Vec<(Tick, u64)> {
    (from..=to)
        .flat_map(|tick| fired(timer, tick).into_iter().map(move |(_, value)| (tick, value)))
        .collect()
}

/// Calls the structure at each of its wake-ups until no timer is live: the ticks of the calls, and (tick of firing, value).
pub(crate) fn by_wakeups(timer: &mut impl Timer<u64>) -> (Vec<Tick>, Vec<(Tick, u64)>) {
    let (mut calls, mut all) = (Vec::new(), Vec::new());
    while let Some(tick) = timer.next_wakeup() {
        calls.push(tick);
        all.extend(fired(timer, tick).into_iter().map(|(_, value)| (tick, value)));
    }
    (calls, all)
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
        let scenario =
            |timer: &mut AnyTimer| [7, 3, 300].map(|deadline| timer.insert(deadline, deadline));
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
