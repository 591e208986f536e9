//! How a pair plays the steps of a script.

use super::pair::Pair;
use super::{Divergence, Step, When};
use crate::fresh;
use std::panic::{AssertUnwindSafe, catch_unwind};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer};

/// The number of timers that a script can refer to: the last ones that were inserted.
const REMEMBERED: usize = 4096;

impl<T: Timer<u64>> Pair<T> {
    /// An empty structure in the configuration of a backend, and the oracle.
    pub(crate) fn new<B: Backend<Timer<u64, NoMeter> = T>>() -> Self {
        Self::with(fresh::<B, u64>(), B::INFO.precision, B::INFO.max_idle_wakeups)
    }

    /// Returns `true` if a timer, numbered as in a [`Step`], is live.
    pub(crate) fn is_live(&self, timer: u16) -> bool {
        self.number(timer).is_some_and(|number| self.deadline(number).is_some())
    }

    /// Plays one step and compares all results except the wake-up. Returns how many timers fired.
    pub(crate) fn play(&mut self, step: Step) -> Result<usize, Divergence> {
        let at = self.played;
        self.played += 1;
        catch_unwind(AssertUnwindSafe(|| self.apply(step)))
            .unwrap_or_else(|payload| Err(format!("panics: {}", crate::suite::message(&*payload))))
            .map_err(|what| Divergence { at, step, what })
    }

    pub(crate) fn compare_wakeup(&self, step: Step) -> Result<(), Divergence> {
        let at = self.played.saturating_sub(1);
        self.wakeup().map(drop).map_err(|what| Divergence { at, step, what })
    }

    /// Compares all handles, then fires all timers.
    pub(crate) fn finish(&mut self) -> Result<(), Divergence> {
        let last = Step::Advance(When::At(Tick::MAX));
        self.compare_handles().map_err(|what| Divergence { at: self.played, step: last, what })?;
        self.play(last).map(drop)
    }

    /// The number of the timer of a step.
    fn number(&self, timer: u16) -> Option<u64> {
        let remembered = self.handles.len().min(REMEMBERED);
        let at = usize::from(timer).checked_rem(remembered)?;
        Some((self.handles.len() - remembered + at) as u64)
    }

    fn apply(&mut self, step: Step) -> Result<usize, String> {
        let now = self.now;
        let tick = |when: When| when.tick(now);
        match step {
            Step::Insert(when) => self.insert(tick(when)).map(|_| 0),
            Step::Cancel(timer) => {
                self.number(timer).map_or(Ok(0), |number| self.cancel(number).map(|_| 0))
            }
            Step::Reschedule(timer, when) | Step::Postpone(timer, when) => {
                let Some(number) = self.number(timer) else { return Ok(0) };
                let is_reschedule = matches!(step, Step::Reschedule(..));
                let call = if is_reschedule { Self::reschedule } else { Self::postpone };
                call(self, number, tick(when)).map(|_| 0)
            }
            Step::Advance(when) => self.advance(tick(when)).map(|fired| fired.len()),
            Step::Pop(when) => self.pop(tick(when)).map(|popped| usize::from(popped.is_some())),
            Step::Wake => self.wake().map(|fired| fired.len()),
            Step::Compact => {
                self.timer.compact();
                Ok(0)
            }
            Step::Panic(when, nth) => self.panic(tick(when), nth.into()).map(|fired| fired.len()),
        }
    }
}
