//! The calls of a sequence, and how a call is played.

use crate::Oracle;
use std::fmt::Debug;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A call. Timers are numbered in order of insertion, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Insert(Tick),
    Cancel(usize),
    Reschedule(usize, Tick),
    Advance(Tick),
    Pop(Tick),
}

impl Call {
    /// The call as text. `number` is the number of the timer if the call inserts one.
    pub(super) fn text(self, number: usize) -> String {
        match self {
            Self::Insert(deadline) => format!("t{number} = insert({deadline})"),
            Self::Cancel(which) => format!("cancel(t{which})"),
            Self::Reschedule(which, deadline) => format!("reschedule(t{which}, {deadline})"),
            Self::Advance(to) => format!("advance({to})"),
            Self::Pop(at) => format!("pop_expired({at})"),
        }
    }
}

/// A timer that fired: its number, found by its handle, its deadline, and its value.
pub(super) type Fired = (Option<usize>, Tick, u8);

/// The return value of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Inserted,
    Cancelled(Option<u8>),
    Rescheduled(bool),
    /// The return value of `advance`, and the timers that its callback received.
    Advanced(usize, Vec<Fired>),
    Popped(Option<Fired>),
}

impl Answer {
    /// Returns `true` if a timer fired.
    pub(super) fn is_an_expiry(&self) -> bool {
        matches!(self, Self::Advanced(1.., _) | Self::Popped(Some(_)))
    }
}

/// A structure and the handles that it returned, in order of insertion.
#[derive(Clone)]
pub(super) struct Side<T> {
    pub(super) timer: T,
    pub(super) ids: Vec<TimerId>,
}

/// The next multiple of `n` after `now`; `Tick::MAX` if there is none.
fn border(now: Tick, n: u64) -> Tick {
    (now / n + 1).saturating_mul(n)
}

/// The deadlines to choose from, each once.
fn deadlines(now: Tick) -> Vec<Tick> {
    let [two, four, sixteen, far] = [2, 4, 16, 1 << 16].map(|n| border(now, n));
    let after = |tick: Tick| tick.saturating_add(1);
    let before = now.saturating_sub(1);
    let mut ticks =
        vec![before, now, after(now), two, four, after(four), sixteen, after(sixteen), far];
    ticks.sort_unstable();
    ticks.dedup();
    ticks
}

impl<T: Timer<u8>> Side<T> {
    fn is_live(&self, timer: usize) -> bool {
        self.timer.deadline(self.ids[timer]).is_some()
    }

    /// The timers that have fired or were cancelled.
    pub(super) fn stale(&self) -> Vec<usize> {
        (0..self.ids.len()).filter(|timer| !self.is_live(*timer)).collect()
    }

    /// The calls to choose from, each once. `wakeup` is what the structure's `next_wakeup` returns.
    pub(super) fn calls(&self, wakeup: Option<Tick>) -> Vec<Call> {
        let now = self.timer.now();
        let deadlines = deadlines(now);
        let mut calls: Vec<_> = deadlines.iter().copied().map(Call::Insert).collect();
        for timer in (0..self.ids.len()).filter(|timer| self.is_live(*timer)) {
            calls.push(Call::Cancel(timer));
            calls.extend(deadlines.iter().map(|deadline| Call::Reschedule(timer, *deadline)));
        }
        let (four, far) = (border(now, 4), border(now, 1 << 16));
        let [next, turn] = [1, 16].map(|ticks| now.saturating_add(ticks));
        for to in [now, next, four, turn, far].into_iter().chain(wakeup).map(Call::Advance) {
            if !calls.contains(&to) {
                calls.push(to);
            }
        }
        for at in [now.saturating_sub(1), four, far].map(Call::Pop) {
            if !calls.contains(&at) {
                calls.push(at);
            }
        }
        calls
    }

    /// Makes a call. The value of a timer is its number.
    pub(super) fn play(&mut self, call: Call) -> Answer {
        let Self { timer, ids } = self;
        let number = |id| ids.iter().position(|other| *other == id);
        let fired = |Expired { id, deadline, value }| (number(id), deadline, value);
        match call {
            Call::Insert(deadline) => {
                let id = timer.insert(deadline, ids.len() as u8);
                ids.push(id);
                Answer::Inserted
            }
            Call::Cancel(which) => Answer::Cancelled(timer.cancel(ids[which])),
            Call::Reschedule(which, to) => Answer::Rescheduled(timer.reschedule(ids[which], to)),
            Call::Advance(to) => {
                let mut list = Vec::new();
                let count = timer.advance(to, |expired| list.push(fired(expired)));
                Answer::Advanced(count, list)
            }
            Call::Pop(at) => Answer::Popped(timer.pop_expired(at).map(fired)),
        }
    }

    /// Compares the results of all methods that change nothing.
    pub(super) fn compare(&self, theirs: &Side<Oracle<u8>>) -> Result<(), String> {
        let (timer, oracle) = (&self.timer, &theirs.timer);
        same("len", &timer.len(), &oracle.len())?;
        same("is_empty", &timer.is_empty(), &oracle.is_empty())?;
        same("now", &timer.now(), &oracle.now())?;
        for (which, (id, oracle_id)) in self.ids.iter().zip(&theirs.ids).enumerate() {
            let (deadline, expected) = (timer.deadline(*id), oracle.deadline(*oracle_id));
            if deadline != expected {
                same(&format!("deadline(t{which})"), &deadline, &expected)?;
            }
        }
        match (timer.next_wakeup(), oracle.next_wakeup()) {
            (None, None) => Ok(()),
            (Some(wakeup), Some(deadline)) if wakeup <= deadline => Ok(()),
            (wakeup, deadline) => {
                Err(format!("next_wakeup: {wakeup:?}, but the earliest deadline is {deadline:?}"))
            }
        }
    }
}

/// Returns `Ok` if both results are equal.
pub(super) fn same<A: PartialEq + Debug>(what: &str, ours: &A, theirs: &A) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: {ours:?}, expected {theirs:?}")) }
}
