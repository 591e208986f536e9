//! A structure as the sweep sees it: batches of one operation, and how many steps were counted.

use super::contestants::Contestant;
use std::hint::black_box;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::{CountingMeter, NoMeter};
use wheelhouse_core::{Tick, Timer, TimerId};

/// A structure under the sweep. Each call is a whole batch, so that a clock beside it measures the
/// structure and not the call through a pointer.
pub(super) trait Subject {
    /// Starts a timer at each deadline.
    fn insert(&mut self, deadlines: &[Tick]) -> Vec<TimerId>;
    /// Stops these, and tidies up: what a structure puts off is paid here.
    fn cancel(&mut self, ids: &[TimerId]);
    /// So many ticks, one at a time. How many timers fired.
    fn ticks(&mut self, count: Tick) -> usize;
    /// From wake-up to wake-up until nothing is left. How many timers fired.
    fn fire(&mut self) -> usize;
    /// Steps so far; 0 without a meter that counts.
    fn steps(&self) -> u64;
}

struct Of<T> {
    timer: T,
    steps: fn(&T) -> u64,
}

impl<T: Timer<u64>> Subject for Of<T> {
    fn insert(&mut self, deadlines: &[Tick]) -> Vec<TimerId> {
        deadlines.iter().map(|deadline| self.timer.insert(*deadline, *deadline)).collect()
    }

    fn cancel(&mut self, ids: &[TimerId]) {
        ids.iter().for_each(|id| _ = black_box(self.timer.cancel(*id)));
        self.timer.compact();
    }

    fn ticks(&mut self, count: Tick) -> usize {
        let now = self.timer.now();
        (now + 1..=now + count).map(|tick| self.timer.advance(tick, |it| _ = black_box(it))).sum()
    }

    fn fire(&mut self) -> usize {
        let mut fired = 0;
        while let Some(tick) = self.timer.next_wakeup() {
            fired += self.timer.advance(tick, |it| _ = black_box(it));
        }
        fired
    }

    fn steps(&self) -> u64 {
        (self.steps)(&self.timer)
    }
}

/// Makes an empty structure.
pub(super) type Build = fn() -> Box<dyn Subject>;

/// A structure that counts its steps.
pub(super) fn counting<B: Backend + 'static>() -> Box<dyn Subject> {
    let steps = |timer: &B::Timer<u64, CountingMeter>| {
        B::meter::<u64, CountingMeter>(timer).map_or(0, CountingMeter::total)
    };
    Box::new(Of { timer: B::build::<u64, CountingMeter>(), steps })
}

/// The same without a meter, as programs use it.
pub(super) fn plain<B: Backend + 'static>() -> Box<dyn Subject> {
    Box::new(Of { timer: B::build::<u64, NoMeter>(), steps: |_| 0 })
}

impl Contestant {
    /// A structure of this workspace.
    pub(super) const fn of<B: Backend + 'static>(linear: bool) -> Self {
        Self { name: B::INFO.name, linear, counting: counting::<B>, plain: plain::<B> }
    }
}
