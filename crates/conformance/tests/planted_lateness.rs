//! Tests that the suite for structures that are late by design finds faults. Faults are planted
//! into a structure that rounds deadlines up, one at a time. The check that is meant for a fault
//! must fail. Without a fault the structure passes all checks.

use std::cell::Cell;
use std::collections::HashMap;
use std::thread;
use wheelhouse_conformance::{Oracle, OracleDefinition, approximate_checks};
use wheelhouse_core::backend::{Backend, Info, Precision};
use wheelhouse_core::meter::Meter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
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
    static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
}

fn has(fault: Fault) -> bool {
    FAULT.get() == fault
}

/// Rounds deadlines up to slots of eight ticks. Its bound allows one slot more.
struct Rounding;

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

struct Rounded<T> {
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

mod without_a_fault {
    wheelhouse_conformance::approximate_suite!(super::Rounding);
}

/// Plants a fault and runs the check whose name starts with `prefix`. Returns its message if it
/// fails.
fn failure(fault: Fault, prefix: &str) -> Option<String> {
    let checks = approximate_checks::<Rounding>();
    let check = checks
        .iter()
        .find(|check| check.name.starts_with(prefix))
        .expect("a check has this name")
        .check;
    let run = move || {
        FAULT.set(fault);
        check();
    };
    let panic = thread::spawn(run).join().err()?;
    let written = panic.downcast_ref::<String>().map(String::as_str);
    written.or_else(|| panic.downcast_ref::<&str>().copied()).map(str::to_owned)
}

/// Defines a test for each fault, with the check that is meant for it, the promise that the message
/// names, and the long run if that finds the fault too.
macro_rules! faults {
    ($(
        $test:ident: $fault:ident fails $check:literal by $contract:literal $(and $run:ident)?;
    )+) => {
        $(
            #[test]
            fn $test() {
                let missed = concat!(stringify!($fault), " is not caught");
                let message = failure(Fault::$fault, $check).expect(missed);
                let number = format!("contract {}", $contract);
                assert!(message.contains(&number), "does not name the promise: {message}");
                $(
                    let message = failure(Fault::$fault, stringify!($run));
                    assert!(message.is_some(), concat!(stringify!($run), " does not catch it"));
                )?
            }
        )+
    };
}

faults! {
    early: Early fails "approximate_02" by 2 and approximate_long_run;
    beyond_the_bound: BeyondTheBound fails "approximate_02" by 2 and approximate_long_run;
    capped: Capped fails "approximate_02" by 2 and approximate_long_run;
    keeps_wide_slots: KeepsWideSlots fails "approximate_02" by 2 and approximate_long_run;
    forgets_deadlines: ForgetsDeadlines fails "approximate_02" by 2 and approximate_long_run;
    ties_out_of_order: TiesOutOfOrder fails "approximate_03" by 3;
    jumps_reversed: JumpsReversed fails "approximate_03" by 3;
    overdue_waits: OverdueWaits fails "approximate_04" by 2 and approximate_long_run;
    hand_of_the_run: HandOfTheRun fails "approximate_04" by 2 and approximate_long_run;
    wakeup_too_late: WakeupTooLate fails "approximate_07" by 7 and approximate_long_run;
    wakeup_at_every_tick: WakeupAtEveryTick fails "approximate_07" by 7 and approximate_long_run;
    wakeup_of_nothing: WakeupOfNothing fails "approximate_07" by 7 and approximate_long_run;
    panic_loses_others: PanicLosesOthers fails "approximate_09" by 9 and approximate_long_run;
    end_wraps: EndWraps fails "approximate_10" by 2 and approximate_long_run;
}
