use super::*;
use std::collections::BTreeMap;
use wheelhouse_core::ordered::{Key, Ordered, Queue};
use wheelhouse_core::{Expired, TimerId};

/// An ordered map, which can be cloned, unlike the oracle.
#[derive(Clone)]
struct Map(BTreeMap<Key, u32>);

impl<M: wheelhouse_core::meter::Meter> Queue<M> for Map {
    const EMPTY: Self = Self(BTreeMap::new());

    fn insert(&mut self, key: Key, place: u32, _: &M) {
        self.0.insert(key, place);
    }

    fn remove(&mut self, key: Key, _: u32, _: &M) {
        self.0.remove(&key);
    }

    fn first(&self) -> Option<Tick> {
        self.0.first_key_value().map(|(key, _)| key.deadline)
    }

    fn pop(&mut self, _: &M) -> Option<u32> {
        self.0.pop_first().map(|(_, place)| place)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// A stale handle reaches the timer that uses its place now.
    StaleCancelReachesAnother,
    /// A call that advances to a multiple of 4 does not fire the timers due at that tick.
    LateAtABorder,
    /// A reschedule to the same deadline keeps the old order.
    MoveKeepsItsOrder,
    /// The wake-up ignores overdue timers.
    NoWakeupForOverdue,
    /// The wake-up is never after `now`.
    WakeupIsAlwaysNow,
    /// The clock moves back to a tick in the past.
    TimeRunsBack,
    /// The insertion of a third timer panics.
    PanicsWithThree,
}

/// An ordered map with a fault.
#[derive(Clone)]
struct Faulty {
    timer: Ordered<u8, Map>,
    now: Tick,
    /// The last handle of each place.
    last: BTreeMap<u32, TimerId>,
    fault: Fault,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        Self { timer: Ordered::new(), now: 0, last: BTreeMap::new(), fault }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }
}

impl Timer<u8> for Faulty {
    fn now(&self) -> Tick {
        self.now
    }

    fn len(&self) -> usize {
        self.timer.len()
    }

    fn insert(&mut self, deadline: Tick, value: u8) -> TimerId {
        assert!(!self.has(Fault::PanicsWithThree) || self.len() < 2, "no room");
        let id = self.timer.insert(deadline, value);
        self.last.insert(id.index(), id);
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<u8> {
        let aliasing = self.has(Fault::StaleCancelReachesAnother);
        self.timer.cancel(if aliasing { self.last[&id.index()] } else { id })
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let keeps = self.has(Fault::MoveKeepsItsOrder);
        keeps && self.deadline(id) == Some(deadline) || self.timer.reschedule(id, deadline)
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timer.deadline(id)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        let first = self.timer.next_wakeup()?;
        if self.has(Fault::NoWakeupForOverdue) && first < self.now {
            return None;
        }
        Some(if self.has(Fault::WakeupIsAlwaysNow) { first.min(self.now) } else { first })
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u8>> {
        let crosses = now > self.now && now % 4 == 0;
        self.now = if self.has(Fault::TimeRunsBack) { now } else { now.max(self.now) };
        let late = self.has(Fault::LateAtABorder) && crosses;
        self.timer.pop_expired(if late { now - 1 } else { now })
    }
}

fn play(fault: Fault, calls: usize) -> u64 {
    exhaustive(|| Faulty::new(fault), calls)
}

#[test]
fn without_a_fault_every_sequence_is_played() {
    let played: Vec<_> = (0..4).map(|calls| play(Fault::None, calls)).collect();
    assert_eq!(played, [1, 17, 353, 8_625]);
}

/// Saturated ticks are equal, so two deadlines, one `advance` and two `pop_expired` are left.
#[test]
fn at_the_last_tick_fewer_calls_are_left() {
    let at_the_end = || {
        let mut timer = Faulty::new(Fault::None);
        timer.advance(Tick::MAX, |_| ());
        timer
    };
    assert_eq!(exhaustive(at_the_end, 1), 1 + 2 + 3);
}

#[test]
#[should_panic(expected = "the last call: Cancelled(Some(1)), expected Cancelled(None)
in this sequence, from tick 0:
    t0 = insert(0)
    cancel(t0)
    t1 = insert(0)
    cancel(t0)")]
fn a_stale_handle_that_reaches_another_timer() {
    play(Fault::StaleCancelReachesAnother, 3);
}

#[test]
#[should_panic(
    expected = "the last call: Advanced(0, []), expected Advanced(1, [(Some(0), 4, 0)])"
)]
fn a_timer_that_is_late_at_a_border() {
    play(Fault::LateAtABorder, 1);
}

#[test]
#[should_panic(expected = "in this sequence, from tick 0:
    t0 = insert(0)
    t1 = insert(0)
    reschedule(t0, 0)")]
fn a_reschedule_that_keeps_the_order() {
    play(Fault::MoveKeepsItsOrder, 3);
}

/// The fault is visible only if two timers have the same deadline, so two calls are not enough.
#[test]
fn a_fault_that_takes_three_calls_is_not_seen_in_two() {
    play(Fault::MoveKeepsItsOrder, 2);
}

#[test]
#[should_panic(expected = "next_wakeup: None, but the earliest deadline is Some(0)")]
fn an_overdue_timer_without_a_wakeup() {
    play(Fault::NoWakeupForOverdue, 2);
}

#[test]
#[should_panic(expected = "more than 64 wake-ups in a row fire nothing")]
fn a_wakeup_that_leads_nowhere() {
    play(Fault::WakeupIsAlwaysNow, 1);
}

#[test]
#[should_panic(expected = "now: 0, expected 1")]
fn a_clock_that_runs_back() {
    play(Fault::TimeRunsBack, 2);
}

#[test]
#[should_panic(expected = "panics: no room
in this sequence, from tick 0:
    t0 = insert(0)
    t1 = insert(0)
    t2 = insert(0)")]
fn a_structure_that_panics() {
    play(Fault::PanicsWithThree, 3);
}
