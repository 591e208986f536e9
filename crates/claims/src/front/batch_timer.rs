//! The interface of the sweep to a structure: batches of one operation, and a count of steps.

use crate::count::CountedTimer;
use std::hint::black_box;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer, TimerId};

/// A structure under the sweep. Each call is a whole batch, so that a measured time is that of the
/// structure and not of the dynamic call.
pub(super) trait BatchTimer {
    /// Starts a timer at each deadline.
    fn insert(&mut self, deadlines: &[Tick]) -> Vec<TimerId>;
    /// Cancels these timers and compacts, so that deferred work is included.
    fn cancel(&mut self, ids: &[TimerId]);
    /// Advances `count` ticks one at a time. Returns how many timers fired.
    fn ticks(&mut self, count: Tick) -> usize;
    /// Advances from wake-up to wake-up until no timer is left. Returns how many timers fired, and
    /// in how many ticks.
    fn fire(&mut self) -> (usize, Tick);
    /// The number of steps so far; 0 without a counting meter.
    fn steps(&self) -> u64;
}

/// Builds an empty structure.
pub(super) type Build<'a> = &'a dyn Fn() -> Box<dyn BatchTimer>;

/// A structure that counts its steps.
pub(super) fn metered(counted: CountedTimer) -> Box<dyn BatchTimer> {
    Box::new(counted)
}

/// A structure without a meter, as programs use it.
pub(super) fn unmetered<B: Backend + 'static>() -> Box<dyn BatchTimer> {
    Box::new(Unmetered(B::build::<u64, NoMeter>()))
}

struct Unmetered<T>(T);

impl BatchTimer for CountedTimer {
    fn insert(&mut self, deadlines: &[Tick]) -> Vec<TimerId> {
        insert(&mut self.timer, deadlines)
    }

    fn cancel(&mut self, ids: &[TimerId]) {
        cancel(&mut self.timer, ids);
    }

    fn ticks(&mut self, count: Tick) -> usize {
        ticks(&mut self.timer, count)
    }

    fn fire(&mut self) -> (usize, Tick) {
        fire(&mut self.timer)
    }

    fn steps(&self) -> u64 {
        CountedTimer::steps(self).total()
    }
}

impl<T: Timer<u64>> BatchTimer for Unmetered<T> {
    fn insert(&mut self, deadlines: &[Tick]) -> Vec<TimerId> {
        insert(&mut self.0, deadlines)
    }

    fn cancel(&mut self, ids: &[TimerId]) {
        cancel(&mut self.0, ids);
    }

    fn ticks(&mut self, count: Tick) -> usize {
        ticks(&mut self.0, count)
    }

    fn fire(&mut self) -> (usize, Tick) {
        fire(&mut self.0)
    }

    fn steps(&self) -> u64 {
        0
    }
}

fn insert(timer: &mut impl Timer<u64>, deadlines: &[Tick]) -> Vec<TimerId> {
    deadlines.iter().map(|deadline| timer.insert(*deadline, *deadline)).collect()
}

fn cancel(timer: &mut impl Timer<u64>, ids: &[TimerId]) {
    ids.iter().for_each(|id| _ = black_box(timer.cancel(*id)));
    timer.compact();
}

fn ticks(timer: &mut impl Timer<u64>, count: Tick) -> usize {
    let now = timer.now();
    (now + 1..=now + count).map(|tick| timer.advance(tick, |it| _ = black_box(it))).sum()
}

fn fire(timer: &mut impl Timer<u64>) -> (usize, Tick) {
    let (mut fired, start) = (0, timer.now());
    while let Some(tick) = timer.next_wakeup() {
        fired += timer.advance(tick, |it| _ = black_box(it));
    }
    (fired, timer.now() - start)
}
