//! A structure that is late by design, into which a fault can be planted.

use std::cell::Cell;
use std::collections::HashMap;
use wheelhouse_conformance::{Oracle, OracleDefinition};
use wheelhouse_core::backend::{Backend, Info, Precision};
use wheelhouse_core::meter::Meter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Deadlines are rounded down.
    Early,
    /// Timers go two slots too far.
    BeyondTheBound,
    /// One call fires at most ten timers.
    Capped,
    /// A timer that is moved gets a wide slot, whatever its delay is.
    KeepsWideSlots,
    /// Returns and reports the end of the slot instead of the deadline.
    ForgetsDeadlines,
    /// Every second timer goes one slot further, which the bound allows.
    TiesOutOfOrder,
    /// The timers that one call fires are in reverse order.
    JumpsReversed,
    OverdueWaits,
    /// In a run of pops, slots are chosen by the distance from the last timer that fired.
    HandOfTheRun,
    WakeupTooLate,
    WakeupAtEveryTick,
    WakeupOfNothing,
    /// All due timers are removed before the first callback.
    PanicLosesOthers,
    /// The end of the last slot overflows.
    EndWraps,
}

thread_local! {
    pub(crate) static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
}

fn has(fault: Fault) -> bool {
    FAULT.get() == fault
}

/// Rounds deadlines up to slots of eight ticks. Its bound allows one slot more.
pub(crate) struct Rounding;

impl Backend for Rounding {
    const INFO: Info = Info {
        name: "rounding",
        structure: "ordered map of rounded deadlines, with a fault",
        precision: Precision::Late(|delay| if delay < 64 { 0 } else { 15 }),
        ..OracleDefinition::INFO
    };

    type Timer<T, M: Meter> = Rounded<T>;

    fn build<T, M: Meter + Default>() -> Rounded<T> {
        Rounded { ends: Oracle::new(), deadlines: HashMap::new() }
    }

    fn meter<T, M: Meter>(_: &Rounded<T>) -> Option<&M> {
        None
    }
}

pub(crate) struct Rounded<T> {
    ends: Oracle<T>,
    deadlines: HashMap<TimerId, Tick>,
}

impl<T> Rounded<T> {
    /// The tick at which a timer fires, depending on the fault.
    fn end(&self, deadline: Tick, moved: bool) -> Tick {
        let now = self.ends.now();
        if deadline <= now {
            return if has(Fault::OverdueWaits) { now.saturating_add(1) } else { deadline };
        }
        let in_a_run = self.ends.next_wakeup().is_some_and(|tick| tick <= now);
        let width = match deadline - now {
            _ if has(Fault::KeepsWideSlots) && moved => 1_024,
            _ if has(Fault::HandOfTheRun) && in_a_run => 1_024,
            ..64 => 1,
            _ => 8,
        };
        let past_the_last = if has(Fault::EndWraps) { 0 } else { Tick::MAX };
        let up = deadline.checked_next_multiple_of(width).unwrap_or(past_the_last);
        match width {
            _ if has(Fault::Early) => deadline - deadline % width,
            8 if has(Fault::BeyondTheBound) => up.saturating_add(16),
            8 if has(Fault::TiesOutOfOrder) && self.deadlines.len() % 2 == 1 => {
                up.saturating_add(8)
            }
            _ => up,
        }
    }
}

impl<T> Timer<T> for Rounded<T> {
    fn now(&self) -> Tick {
        self.ends.now()
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = self.ends.insert(self.end(deadline, false), value);
        self.deadlines.insert(id, deadline);
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<T> {
        self.deadlines.remove(&id);
        self.ends.cancel(id)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let moved = self.ends.reschedule(id, self.end(deadline, true));
        if moved {
            self.deadlines.insert(id, deadline);
        }
        moved
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        if has(Fault::ForgetsDeadlines) {
            self.ends.deadline(id)
        } else {
            self.deadlines.get(&id).copied()
        }
    }

    fn next_wakeup(&self) -> Option<Tick> {
        match self.ends.next_wakeup() {
            Some(tick) if has(Fault::WakeupTooLate) => Some(tick.saturating_add(16)),
            Some(tick) if has(Fault::WakeupAtEveryTick) => {
                Some(tick.min(self.now().saturating_add(1)))
            }
            None if has(Fault::WakeupOfNothing) => Some(self.now()),
            wakeup => wakeup,
        }
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        let Expired { id, deadline: end, value } = self.ends.pop_expired(now)?;
        let deadline = self.deadlines.remove(&id).unwrap_or(end);
        Some(Expired { id, deadline, value })
    }

    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        if has(Fault::PanicLosesOthers) || has(Fault::JumpsReversed) {
            let mut due: Vec<_> = std::iter::from_fn(|| self.pop_expired(now)).collect();
            if has(Fault::JumpsReversed) {
                due.reverse();
            }
            return due.into_iter().map(on_expiry).count();
        }
        let most = if has(Fault::Capped) { 10 } else { usize::MAX };
        let mut fired = 0;
        while let Some(expired) = (fired < most).then(|| self.pop_expired(now)).flatten() {
            fired += 1;
            on_expiry(expired);
        }
        fired
    }
}
