//! A structure, and a record of its timers.

use crate::{fresh_at, latest};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The expected state of a timer.
struct Live {
    deadline: Tick,
    /// The latest tick at which it may fire.
    latest: Tick,
}

/// A structure of which every result is checked. Timers are numbered in order of insertion, from 0.
/// The value of a timer is its number.
pub(super) struct Watched<B: Backend> {
    timer: B::Timer<u64, NoMeter>,
    /// The handles of all timers that were inserted.
    handles: Vec<TimerId>,
    live: BTreeMap<u64, Live>,
    /// The live timers, by the latest tick at which each may fire.
    latest: BTreeSet<(Tick, u64)>,
    now: Tick,
}

impl<B: Backend> Watched<B> {
    /// An empty structure, its clock at `start`.
    pub(super) fn new(start: Tick) -> Self {
        let timer = fresh_at::<B, u64>(start);
        Self {
            timer,
            handles: Vec::new(),
            live: BTreeMap::new(),
            latest: BTreeSet::new(),
            now: start,
        }
    }

    pub(super) fn now(&self) -> Tick {
        self.now
    }

    /// The number of timers that were inserted.
    pub(super) fn inserted(&self) -> u64 {
        self.handles.len() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// The deadline of a live timer.
    pub(super) fn deadline(&self, timer: u64) -> Option<Tick> {
        self.live.get(&timer).map(|live| live.deadline)
    }

    /// The earliest deadline of a live timer.
    pub(super) fn earliest(&self) -> Option<Tick> {
        self.live.values().map(|live| live.deadline).min()
    }

    /// Starts a timer and returns its number.
    pub(super) fn insert(&mut self, deadline: Tick) -> u64 {
        let timer = self.inserted();
        self.handles.push(self.timer.insert(deadline, timer));
        self.enter(timer, deadline);
        timer
    }

    /// Stops a timer, if it is live.
    pub(super) fn cancel(&mut self, timer: u64) {
        let expected = self.strike(timer).map(|_| timer);
        assert_eq!(
            self.timer.cancel(self.handles[timer as usize]),
            expected,
            "contracts 1 and 5: cancel of {timer}"
        );
    }

    /// Moves a timer, if it is live.
    pub(super) fn reschedule(&mut self, timer: u64, deadline: Tick) {
        let expected = self.strike(timer).is_some();
        let moved = self.timer.reschedule(self.handles[timer as usize], deadline);
        assert_eq!(moved, expected, "contracts 1 and 5: reschedule of {timer} to {deadline}");
        if moved {
            self.enter(timer, deadline);
        }
    }

    /// The timers that one `advance` fires, in order.
    pub(super) fn advance(&mut self, to: Tick) -> Vec<u64> {
        let mut seen = Vec::new();
        let count = self.timer.advance(to, |expired| seen.push(expired));
        assert_eq!(count, seen.len(), "advance returns how many timers fired");
        let fired = self.fired(to, seen);
        self.assert_none_is_too_late();
        fired
    }

    /// The timer that `pop_expired` returns.
    pub(super) fn pop(&mut self, to: Tick) -> Option<u64> {
        let popped = self.timer.pop_expired(to);
        let fired = self.fired(to, popped).pop();
        if fired.is_none() {
            self.assert_none_is_too_late();
        }
        fired
    }

    /// Advances with a callback that panics at the timer with number `nth`, counted from 0.
    pub(super) fn panic(&mut self, to: Tick, nth: usize) {
        let mut seen = Vec::new();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.timer.advance(to, |expired| {
                seen.push(expired);
                if seen.len() > nth {
                    resume_unwind(Box::new("a callback's panic")); // unlike panic!, prints nothing
                }
            })
        }));
        let all_fired = match outcome {
            Ok(_) => true,
            Err(payload) if seen.len() <= nth => resume_unwind(payload), // a panic of the structure
            Err(_) => false,
        };
        self.fired(to, seen);
        if all_fired {
            self.assert_none_is_too_late();
        }
    }

    /// Returns the wake-up, and checks that there is one if and only if a timer is live, and that
    /// it is not after the latest tick at which a live timer may fire.
    pub(super) fn wakeup(&self) -> Option<Tick> {
        let wakeup = self.timer.next_wakeup();
        assert_eq!(
            wakeup.is_none(),
            self.is_empty(),
            "contract 7: None if and only if nothing is live: {wakeup:?}"
        );
        if let (Some(tick), Some((latest, _))) = (wakeup, self.latest.first()) {
            let last = self.now.max(*latest);
            assert!(tick <= last, "contract 7: wake-up {tick}, but a timer must fire by {last}");
        }
        wakeup
    }

    /// Advances from wake-up to wake-up until a timer fires. Returns the timers that fired.
    pub(super) fn wake(&mut self) -> Vec<u64> {
        for _ in 0..=B::INFO.max_idle_wakeups {
            let Some(tick) = self.wakeup() else { return Vec::new() };
            let fired = self.advance(tick);
            if !fired.is_empty() {
                return fired;
            }
        }
        panic!(
            "contract 7: more than {} wake-ups in vain on the way to one timer",
            B::INFO.max_idle_wakeups
        );
    }

    fn enter(&mut self, timer: u64, deadline: Tick) {
        let handle = self.handles[timer as usize];
        assert_eq!(
            self.timer.deadline(handle),
            Some(deadline),
            "contract 2: {timer} has its own deadline"
        );
        let live = Live { deadline, latest: latest::<B>(self.now, deadline) };
        self.latest.insert((live.latest, timer));
        self.live.insert(timer, live);
    }

    fn strike(&mut self, timer: u64) -> Option<Live> {
        let live = self.live.remove(&timer)?;
        self.latest.remove(&(live.latest, timer));
        Some(live)
    }

    /// Checks each timer that fired in a call, and removes it from the record.
    fn fired(&mut self, to: Tick, seen: impl IntoIterator<Item = Expired<u64>>) -> Vec<u64> {
        self.now = self.now.max(to);
        let now = self.now;
        let mut fired = Vec::new();
        for expired in seen {
            let timer = expired.value;
            let Some(live) = self.strike(timer) else {
                panic!("contract 1: {timer} fires at {now}, but is not live")
            };
            let (answered, expected) =
                ((expired.id, expired.deadline), (self.handles[timer as usize], live.deadline));
            assert_eq!(
                answered, expected,
                "contract 2: {timer} is reported with its own handle and deadline"
            );
            assert!(
                live.deadline <= now,
                "contract 2, never early: due at {}, fired at {now}",
                live.deadline
            );
            assert_eq!(
                self.timer.deadline(expired.id),
                None,
                "contract 5: the handle of {timer} is stale"
            );
            fired.push(timer);
        }
        assert_eq!(self.timer.now(), now, "contract 6: after a call to {to}");
        assert_eq!(self.timer.len(), self.live.len(), "contract 1: len counts the live timers");
        fired
    }

    fn assert_none_is_too_late(&self) {
        let late = self.latest.first().filter(|(latest, _)| *latest <= self.now);
        if let Some((latest, timer)) = late {
            let deadline = self.deadline(*timer);
            panic!(
                "contract 2, late within the bound: {timer} is due at {deadline:?}, by {latest}; \
                 now is {}",
                self.now
            );
        }
    }
}
