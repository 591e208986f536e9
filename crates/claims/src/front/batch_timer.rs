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

/// A structure, and the function that returns its steps so far.
struct Batched<T, S> {
    timer: T,
    steps: S,
}

/// A structure that counts its steps.
pub(super) fn metered(counted: CountedTimer) -> Box<dyn BatchTimer> {
    Box::new(Batched { timer: counted, steps: |timer: &CountedTimer| timer.steps().total() })
}

/// A structure without a meter, as programs use it.
pub(super) fn unmetered<B: Backend + 'static>() -> Box<dyn BatchTimer> {
    Box::new(Batched { timer: B::build::<u64, NoMeter>(), steps: |_: &_| 0 })
}

impl<T: Timer<u64>, S: Fn(&T) -> u64> BatchTimer for Batched<T, S> {
    fn insert(&mut self, deadlines: &[Tick]) -> Vec<TimerId> {
        deadlines.iter().map(|deadline| self.timer.insert(*deadline, *deadline)).collect()
    }

    fn cancel(&mut self, ids: &[TimerId]) {
        ids.iter().for_each(|id| _ = black_box(self.timer.cancel(*id)));
        self.timer.compact();
    }

    fn ticks(&mut self, count: Tick) -> usize {
        let now = self.timer.now();
        let advance = |tick| self.timer.advance(tick, |it| _ = black_box(it));
        (now + 1..=now + count).map(advance).sum()
    }

    fn fire(&mut self) -> (usize, Tick) {
        let (mut fired, start) = (0, self.timer.now());
        while let Some(tick) = self.timer.next_wakeup() {
            fired += self.timer.advance(tick, |it| _ = black_box(it));
        }
        (fired, self.timer.now() - start)
    }

    fn steps(&self) -> u64 {
        (self.steps)(&self.timer)
    }
}
