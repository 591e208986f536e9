//! A backend and the oracle, which play the same steps.

use super::{Divergence, Step, When};
use crate::{Oracle, fresh};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The number of handles that are remembered. Beyond that, each new handle replaces an old one.
const HANDLES: usize = 4096;

/// The payload of deliberate panics in the callback. It distinguishes them from panics of the
/// structure.
struct Deliberate;

/// A backend and the oracle, which play the same steps.
pub struct Pair<B: Backend> {
    timer: B::Timer<u64, NoMeter>,
    /// The oracle. Its values are the backend's handle and value.
    oracle: Oracle<(TimerId, u64)>,
    /// The handles of each remembered timer: the backend's and the oracle's.
    handles: Vec<(TimerId, TimerId)>,
    inserted: u64,
    played: usize,
}

impl<B: Backend> Default for Pair<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B: Backend> fmt::Debug for Pair<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { oracle, inserted, played, .. } = self;
        write!(
            f,
            "{} after {played} steps: {} live of {inserted}, now {}",
            B::INFO.name,
            oracle.len(),
            oracle.now()
        )
    }
}

/// Returns `Ok` if both results are equal, otherwise a message with both.
fn same<A: PartialEq + fmt::Debug>(what: &str, backend: A, oracle: A) -> Result<(), String> {
    if backend == oracle {
        Ok(())
    } else {
        Err(format!("{what}: {backend:?}, expected {oracle:?}"))
    }
}

/// Handle, deadline and value of a timer that the backend fired.
fn sides(expired: Expired<u64>) -> (TimerId, Tick, u64) {
    (expired.id, expired.deadline, expired.value)
}

/// Handle, deadline and value of a timer that the oracle fired, with the backend's handle.
fn oracle_side(
    Expired { deadline, value: (id, value), .. }: Expired<(TimerId, u64)>,
) -> (TimerId, Tick, u64) {
    (id, deadline, value)
}

impl<B: Backend> Pair<B> {
    /// Two empty structures.
    pub fn new() -> Self {
        let (timer, oracle) = (fresh::<B, u64>(), Oracle::new());
        Self { timer, oracle, handles: Vec::new(), inserted: 0, played: 0 }
    }

    /// The number of live timers.
    pub fn live(&self) -> usize {
        self.oracle.len()
    }

    /// Returns `true` if a timer, numbered as in a [`Step`], is live.
    pub fn is_live(&self, timer: u16) -> bool {
        self.index(timer).is_some_and(|index| self.oracle.deadline(self.handles[index].1).is_some())
    }

    /// The clock.
    pub fn now(&self) -> Tick {
        self.oracle.now()
    }

    /// Plays one step and compares the results, the clocks, and the numbers of live timers.
    ///
    /// # Errors
    ///
    /// The difference.
    pub fn play(&mut self, step: Step) -> Result<(), Divergence> {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.apply(step)));
        let outcome = outcome
            .unwrap_or_else(|payload| Err(format!("panics: {}", crate::guard::message(&*payload))));
        let compared = outcome.and_then(|()| {
            same("len", self.timer.len(), self.oracle.len())?;
            same("is_empty", self.timer.is_empty(), self.oracle.is_empty())?;
            same("now", self.timer.now(), self.oracle.now())
        });
        let at = self.played;
        self.played += 1;
        compared.map_err(|what| Divergence { at, step, what })
    }

    /// Checks the wake-up: it must be `None` if and only if no timer is live, and never after a
    /// deadline.
    ///
    /// # Errors
    ///
    /// A [`Divergence`] if the wake-up is wrong. `step` is the step that was just played.
    pub fn compare_wakeup(&self, step: Step) -> Result<(), Divergence> {
        let what = match (self.timer.next_wakeup(), self.oracle.next_wakeup()) {
            (None, None) => return Ok(()),
            (Some(wakeup), Some(deadline)) if wakeup <= deadline => return Ok(()),
            (wakeup, deadline) => {
                format!("next_wakeup: {wakeup:?}, but the earliest deadline is {deadline:?}")
            }
        };
        Err(Divergence { at: self.played.saturating_sub(1), step, what })
    }

    /// Compares the deadlines of all remembered handles, then fires all timers.
    ///
    /// # Errors
    ///
    /// The difference.
    pub fn finish(&mut self) -> Result<(), Divergence> {
        let last = Step::Advance(When::At(Tick::MAX));
        for index in 0..self.handles.len() {
            self.compare_deadline(index).map_err(|what| Divergence {
                at: self.played,
                step: last,
                what,
            })?;
        }
        self.play(last)
    }

    fn apply(&mut self, step: Step) -> Result<(), String> {
        let now = self.oracle.now();
        match step {
            Step::Insert(when) => self.insert(when.tick(now)),
            Step::Cancel(timer) => self.cancel(timer),
            Step::Reschedule(timer, when) => self.reschedule(timer, when.tick(now)),
            Step::Advance(when) => self.advance(when.tick(now)).map(|_| ()),
            Step::Pop(when) => {
                let popped = self.timer.pop_expired(when.tick(now)).map(sides);
                same(
                    "pop_expired",
                    popped,
                    self.oracle.pop_expired(when.tick(now)).map(oracle_side),
                )
            }
            Step::Wake => self.wake(),
            Step::Compact => {
                self.timer.compact();
                Ok(())
            }
            Step::Panic(when, nth) => self.panic(when.tick(now), nth.into()),
        }
    }

    fn insert(&mut self, deadline: Tick) -> Result<(), String> {
        let value = self.inserted;
        let id = self.timer.insert(deadline, value);
        let pair = (id, self.oracle.insert(deadline, (id, value)));
        if self.handles.len() < HANDLES {
            self.handles.push(pair);
        } else {
            self.handles[value as usize % HANDLES] = pair;
        }
        self.inserted += 1;
        same("deadline of the new timer", self.timer.deadline(id), Some(deadline))
    }

    fn cancel(&mut self, timer: u16) -> Result<(), String> {
        let Some(index) = self.index(timer) else { return Ok(()) };
        let (id, oracle_id) = self.handles[index];
        same(
            "cancel",
            self.timer.cancel(id),
            self.oracle.cancel(oracle_id).map(|(_, value)| value),
        )?;
        self.compare_deadline(index)
    }

    fn reschedule(&mut self, timer: u16, deadline: Tick) -> Result<(), String> {
        let Some(index) = self.index(timer) else { return Ok(()) };
        let (id, oracle_id) = self.handles[index];
        let moved = self.timer.reschedule(id, deadline);
        same("reschedule", moved, self.oracle.reschedule(oracle_id, deadline))?;
        self.compare_deadline(index)
    }

    fn index(&self, timer: u16) -> Option<usize> {
        usize::from(timer).checked_rem(self.handles.len())
    }

    fn compare_deadline(&self, index: usize) -> Result<(), String> {
        let (id, oracle_id) = self.handles[index];
        same("deadline", self.timer.deadline(id), self.oracle.deadline(oracle_id))
    }

    fn advance(&mut self, to: Tick) -> Result<usize, String> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let count = self.timer.advance(to, |expired| ours.push(sides(expired)));
        self.oracle.advance(to, |expired| theirs.push(oracle_side(expired)));
        compare_runs(&ours, &theirs)?;
        same("advance returns", count, theirs.len())?;
        Ok(count)
    }

    fn wake(&mut self) -> Result<(), String> {
        for _ in 0..=B::INFO.max_idle_wakeups {
            let Some(wakeup) = self.timer.next_wakeup() else {
                return same("live", 0, self.oracle.len());
            };
            if self.advance(wakeup)? > 0 {
                return Ok(());
            }
        }
        Err(format!(
            "more than {} wake-ups in vain on the way to one deadline",
            B::INFO.max_idle_wakeups
        ))
    }

    /// Advances with a callback that panics at expiry number `nth`. The timers up to that one have
    /// fired in both structures. The others are compared later.
    fn panic(&mut self, to: Tick, nth: usize) -> Result<(), String> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let caught = catch_unwind(AssertUnwindSafe(|| {
            self.timer.advance(to, |expired| {
                ours.push(sides(expired));
                if ours.len() > nth {
                    resume_unwind(Box::new(Deliberate)); // unlike panic!, prints nothing
                }
            });
        }));
        if let Err(payload) = caught {
            if !payload.is::<Deliberate>() {
                resume_unwind(payload);
            }
        }
        let due = std::iter::from_fn(|| self.oracle.pop_expired(to)).map(oracle_side);
        theirs.extend(due.take(nth + 1));
        compare_runs(&ours, &theirs)
    }
}

/// Compares two sequences of timers that fired. The message names the first difference.
fn compare_runs(
    ours: &[(TimerId, Tick, u64)],
    theirs: &[(TimerId, Tick, u64)],
) -> Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    let first = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    same(
        &format!("expiry {first} of the call (handle, deadline, value)"),
        ours.get(first),
        theirs.get(first),
    )
}
