//! A structure and the oracle, which play the same steps.

use crate::Oracle;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use wheelhouse_core::backend::Precision;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The payload of deliberate panics in the callback. It distinguishes them from panics of the
/// structure.
struct Deliberate;

/// A structure and the oracle, which play the same calls. Each call compares all results, and its
/// error names the promise that is broken. Timers are numbered in order of insertion, from 0. The
/// value of a timer is its number.
#[derive(Clone)]
pub(crate) struct Pair<T> {
    pub(crate) timer: T,
    /// The values of the oracle are the structure's handle and the number.
    oracle: Oracle<(TimerId, u64)>,
    pub(super) handles: Vec<Handles>,
    /// The live timers of a structure that is late by design: the latest tick at which each may
    /// fire, and its number.
    latest: BTreeSet<(Tick, u64)>,
    /// The live timers that were postponed since they were inserted or last moved.
    postponed: BTreeSet<u64>,
    pub(crate) now: Tick,
    pub(super) played: usize,
    precision: Precision,
    max_idle_wakeups: u32,
}

#[derive(Clone, Copy)]
pub(super) struct Handles {
    timer: TimerId,
    oracle: TimerId,
    /// The latest tick at which it may fire, if the structure is late by design.
    latest: Tick,
}

/// A timer that fired: handle, deadline and number.
type Fired = (TimerId, Tick, u64);

/// Returns `Ok` if both results are equal, otherwise a message with both.
fn same<A: PartialEq + fmt::Debug>(
    what: impl fmt::Display,
    ours: A,
    expected: A,
) -> Result<(), String> {
    if ours == expected { Ok(()) } else { Err(format!("{what}: {ours:?}, expected {expected:?}")) }
}

impl<T: Timer<u64>> Pair<T> {
    /// An empty structure with its clock at any tick, and the oracle.
    pub(crate) fn with(timer: T, precision: Precision, max_idle_wakeups: u32) -> Self {
        let (mut oracle, now) = (Oracle::new(), timer.now());
        oracle.advance(now, |_| ());
        let (handles, latest, postponed) = Default::default();
        Self {
            timer,
            oracle,
            handles,
            latest,
            postponed,
            now,
            played: 0,
            precision,
            max_idle_wakeups,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.oracle.is_empty()
    }

    pub(crate) fn inserted(&self) -> u64 {
        self.handles.len() as u64
    }

    pub(crate) fn forget_if_empty(&mut self) {
        if self.is_empty() {
            self.handles.clear();
        }
    }

    /// The earliest deadline of a live timer.
    pub(crate) fn earliest(&self) -> Option<Tick> {
        self.oracle.next_wakeup()
    }

    pub(crate) fn deadline(&self, number: u64) -> Option<Tick> {
        self.oracle.deadline(self.handles[number as usize].oracle)
    }

    /// Starts a timer and returns its number.
    pub(crate) fn insert(&mut self, deadline: Tick) -> Result<u64, String> {
        let number = self.inserted();
        let timer = self.timer.insert(deadline, number);
        let oracle = self.oracle.insert(deadline, (timer, number));
        self.handles.push(Handles { timer, oracle, latest: 0 });
        self.note_latest(number, deadline);
        self.compare_timer(number)?;
        Ok(number)
    }

    /// Stops a timer. Returns `true` if it was live.
    pub(crate) fn cancel(&mut self, number: u64) -> Result<bool, String> {
        let expected = self.forget(number).then_some(number);
        let cancelled = self.timer.cancel(self.handles[number as usize].timer);
        same(format_args!("contract 5: cancel of timer {number}"), cancelled, expected)?;
        self.compare_timer(number)?;
        Ok(expected.is_some())
    }

    /// Moves a timer. Returns `true` if it is live.
    pub(crate) fn reschedule(&mut self, number: u64, deadline: Tick) -> Result<bool, String> {
        self.postponed.remove(&number);
        let moved = self.timer.reschedule(self.handles[number as usize].timer, deadline);
        self.compare_move(number, deadline, moved)
    }

    /// Postpones a timer. Its order among timers with the same deadline is then not defined.
    /// Returns `true` if it is live.
    pub(crate) fn postpone(&mut self, number: u64, deadline: Tick) -> Result<bool, String> {
        let moved = self.timer.postpone(self.handles[number as usize].timer, deadline);
        let is_live = self.compare_move(number, deadline, moved)?;
        if is_live {
            self.postponed.insert(number);
        }
        Ok(is_live)
    }

    fn compare_move(&mut self, number: u64, deadline: Tick, moved: bool) -> Result<bool, String> {
        let Handles { oracle, latest, .. } = self.handles[number as usize];
        self.latest.remove(&(latest, number));
        let expected = self.oracle.reschedule(oracle, deadline);
        if expected {
            self.note_latest(number, deadline);
        }
        same(format_args!("contract 5: move of timer {number}"), moved, expected)?;
        self.compare_timer(number)?;
        Ok(expected)
    }

    /// The timers that one `advance` fires, in order.
    pub(crate) fn advance(&mut self, to: Tick) -> Result<Vec<u64>, String> {
        let mut fired = Vec::new();
        let count = self.timer.advance(to, |expired| fired.push(expired));
        same("advance returns how many timers fired", count, fired.len())?;
        self.compare_fired(to, fired, true)
    }

    /// Returns the timer that `pop_expired` fires.
    pub(crate) fn pop(&mut self, to: Tick) -> Result<Option<u64>, String> {
        let popped = self.timer.pop_expired(to);
        let is_last = popped.is_none();
        Ok(self.compare_fired(to, Vec::from_iter(popped), is_last)?.pop())
    }

    /// Advances with a callback that panics at the timer with number `nth` of the call, from 0.
    pub(crate) fn panic(&mut self, to: Tick, nth: usize) -> Result<Vec<u64>, String> {
        let mut fired = Vec::new();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            self.timer.advance(to, |expired| {
                fired.push(expired);
                if fired.len() > nth {
                    resume_unwind(Box::new(Deliberate)); // unlike panic!, prints nothing
                }
            });
        }));
        let is_complete = caught.is_ok();
        if let Err(payload) = caught {
            if !payload.is::<Deliberate>() {
                resume_unwind(payload);
            }
        }
        let after = |what| format!("contract 9, after a panic of the callback: {what}");
        self.compare_fired(to, fired, is_complete).map_err(after)
    }

    /// Advances from wake-up to wake-up until a timer fires. Returns the timers that fired.
    pub(crate) fn wake(&mut self) -> Result<Vec<u64>, String> {
        // The former deadline of a postponed timer may add a wake-up.
        let most = self.max_idle_wakeups as usize + self.postponed.len();
        for _ in 0..=most {
            let Some(wakeup) = self.wakeup()? else { return Ok(Vec::new()) };
            let fired = self.advance(wakeup)?;
            if !fired.is_empty() {
                return Ok(fired);
            }
        }
        Err(format!("contract 7: more than {most} wake-ups in vain on the way to one deadline"))
    }

    /// Returns the wake-up after checking it.
    pub(crate) fn wakeup(&self) -> Result<Option<Tick>, String> {
        let wakeup = self.timer.next_wakeup();
        let last = match self.precision {
            Precision::Exact => self.earliest(),
            Precision::Late(_) => self.latest.first().map(|(latest, _)| self.now.max(*latest)),
        };
        if wakeup.is_some() == last.is_some() && wakeup <= last {
            return Ok(wakeup);
        }
        Err(format!("contract 7: next_wakeup: {wakeup:?}, but a timer must fire by {last:?}"))
    }

    /// Notes the latest tick at which a timer may fire that was inserted or moved now.
    fn note_latest(&mut self, number: u64, deadline: Tick) {
        if let Precision::Late(_) = self.precision {
            let latest = self.precision.latest(self.now, deadline);
            self.handles[number as usize].latest = latest;
            self.latest.insert((latest, number));
        }
    }

    /// Removes a timer from the oracle. Returns `true` if it was live.
    fn forget(&mut self, number: u64) -> bool {
        let Handles { oracle, latest, .. } = self.handles[number as usize];
        self.latest.remove(&(latest, number));
        self.postponed.remove(&number);
        self.oracle.cancel(oracle).is_some()
    }

    /// Compares the deadline of a timer, and the state of the structure.
    fn compare_timer(&self, number: u64) -> Result<(), String> {
        let ours = self.timer.deadline(self.handles[number as usize].timer);
        same(format_args!("contract 5: deadline of timer {number}"), ours, self.deadline(number))?;
        self.compare_state()
    }

    pub(crate) fn compare_deadlines(&self) -> Result<(), String> {
        (0..self.inserted()).try_for_each(|number| self.compare_timer(number))
    }

    /// Compares the deadlines of all handles, which must be different.
    pub(crate) fn compare_handles(&self) -> Result<(), String> {
        self.compare_deadlines()?;
        let different: HashSet<_> = self.handles.iter().map(|it| it.timer).collect();
        same("contract 5: different handles", different.len(), self.handles.len())
    }

    fn compare_state(&self) -> Result<(), String> {
        same("contract 1: len", self.timer.len(), self.oracle.len())?;
        same("contract 1: is_empty", self.timer.is_empty(), self.oracle.is_empty())?;
        same("contract 6: now", self.timer.now(), self.now)
    }

    /// Compares the timers that a call to a tick fired with those that it had to fire. If the call
    /// was not the last one to that tick, others may be due. Returns the numbers of the timers.
    fn compare_fired(
        &mut self,
        to: Tick,
        fired: Vec<Expired<u64>>,
        is_last: bool,
    ) -> Result<Vec<u64>, String> {
        self.now = self.now.max(to);
        let ours: Vec<Fired> = fired.iter().map(|it| (it.id, it.deadline, it.value)).collect();
        match self.precision {
            Precision::Exact => {
                let expected = ours.iter().map_while(|(.., number)| self.next_due(*number));
                let mut expected: Vec<Fired> = expected.collect();
                if is_last {
                    let rest = std::iter::from_fn(|| self.oracle.pop_expired(self.now));
                    expected.extend(rest.map(|it| (it.value.0, it.deadline, it.value.1)));
                }
                compare_runs(self.now, &ours, &expected)?;
            }
            Precision::Late(_) => self.compare_late(&ours, is_last)?,
        }
        for (id, ..) in ours {
            same("contract 5: deadline of a timer that fired", self.timer.deadline(id), None)?;
        }
        self.compare_state()?;
        Ok(fired.into_iter().map(|expired| expired.value).collect())
    }

    /// Removes the timer from the oracle that had to fire when timer `number` did. A postponed
    /// timer may fire before or after any timer with the same deadline.
    fn next_due(&mut self, number: u64) -> Option<Fired> {
        let first = self.earliest().filter(|it| *it <= self.now && !self.postponed.is_empty());
        let tie = first.filter(|_| self.deadline(number) == first);
        if self.postponed.contains(&number) && tie.is_some() {
            self.forget(number);
            return tie.map(|deadline| (self.handles[number as usize].timer, deadline, number));
        }
        let mut passed = Vec::new();
        let next = loop {
            let due = self.oracle.pop_expired(self.now)?;
            if tie != Some(due.deadline) || !self.postponed.contains(&due.value.1) {
                break due;
            }
            passed.push(due);
        };
        for Expired { deadline, value, .. } in passed {
            self.handles[value.1 as usize].oracle = self.oracle.insert(deadline, value);
        }
        Some((next.value.0, next.deadline, next.value.1))
    }

    /// Checks the timers that fired in a structure that is late by design. Their order is free.
    fn compare_late(&mut self, ours: &[Fired], is_last: bool) -> Result<(), String> {
        let now = self.now;
        for &(id, deadline, number) in ours {
            let expected = (self.handles[number as usize].timer, self.deadline(number));
            if !self.forget(number) {
                return Err(format!("contract 1: timer {number} fires, but is not live"));
            }
            same("contract 2: handle and deadline", (id, Some(deadline)), expected)?;
            if deadline > now {
                return Err(format!("contract 2, never early: due at {deadline}, fired at {now}"));
            }
        }
        match self.latest.first() {
            Some((latest, number)) if is_last && *latest <= now => Err(format!(
                "contract 2, never later than its bound: timer {number} must fire by {latest}, now \
                 is {now}"
            )),
            _ => Ok(()),
        }
    }
}

/// Compares two sequences of timers that fired. The message has the first difference.
fn compare_runs(now: Tick, ours: &[Fired], expected: &[Fired]) -> Result<(), String> {
    let at = ours.iter().zip(expected).take_while(|(ours, expected)| ours == expected).count();
    let (ours, expected) = (ours.get(at), expected.get(at));
    let promise = match (ours, expected) {
        (None, None) => return Ok(()),
        (None, Some(_)) => "contract 2, never late",
        (Some((_, deadline, _)), _) if *deadline > now => "contract 2, never early",
        (Some(_), None) => "contract 1",
        (Some(_), Some(_)) => "contract 3",
    };
    same(
        format_args!("{promise}: timer {at} of the call (handle, deadline, value)"),
        ours,
        expected,
    )
}
