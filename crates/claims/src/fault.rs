//! Faults that tests inject into structures, to see whether the claims notice them.

use crate::count::{AnyTimer, CountedTimer, Steps};
use wheelhouse_core::meter::{CountingMeter, Meter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A fault of the structure with a given name.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Another structure is used under its name.
    Replaced {
        /// The name.
        name: &'static str,
        /// The structure that is used instead.
        by: &'static str,
    },
    /// An operation takes more steps, and counts them.
    Costlier {
        /// The structure.
        name: &'static str,
        /// The operation.
        operation: AffectedOperation,
        /// The number of additional steps, with n timers.
        extra_steps: fn(n: u64) -> u64,
    },
    /// Work of one kind is not counted.
    Uncounted {
        /// The structure.
        name: &'static str,
        /// The kind.
        work: Work,
    },
    /// Work of one kind is counted several times.
    Overcounted {
        /// The structure.
        name: &'static str,
        /// The kind.
        work: Work,
        /// How many times.
        times: u64,
    },
    /// Timers fire a tick late.
    Late {
        /// The structure.
        name: &'static str,
    },
}

/// An operation that a fault can affect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffectedOperation {
    /// Starting a timer.
    Insert,
    /// Stopping a timer.
    Cancel,
    /// Advancing, or popping a timer that is due.
    Fire,
}

impl Fault {
    /// Returns the name of the structure to build instead of `name`, if there is one.
    pub(crate) fn replacement(&self, name: &str) -> Option<&'static str> {
        match self {
            Self::Replaced { name: replaced, by } if *replaced == name => Some(by),
            _ => None,
        }
    }

    /// Returns `true` if the fault is in the operations of the structure called `name`.
    pub(crate) fn is_in(&self, name: &str) -> bool {
        match self {
            Self::Replaced { .. } => false,
            Self::Costlier { name: faulty, .. }
            | Self::Uncounted { name: faulty, .. }
            | Self::Overcounted { name: faulty, .. }
            | Self::Late { name: faulty } => *faulty == name,
        }
    }
}

/// A structure with a fault.
pub(crate) struct FaultyTimer {
    inner: CountedTimer,
    fault: Fault,
    meter: CountingMeter,
}

impl FaultyTimer {
    pub(crate) fn inject(inner: CountedTimer, fault: Fault) -> CountedTimer {
        let faulty = Self { inner, fault, meter: CountingMeter::default() };
        CountedTimer::new(faulty, |it| &it.meter).boxed()
    }

    /// Calls `act` and counts its work as the fault demands.
    fn act<R>(
        &mut self,
        called: Option<AffectedOperation>,
        act: impl FnOnce(&mut AnyTimer) -> R,
    ) -> R {
        let n = self.inner.timer.len() as u64;
        let (steps, result) = self.inner.work(act);
        self.count(&steps);
        if let Fault::Costlier { operation, extra_steps, .. } = self.fault
            && called == Some(operation)
        {
            self.meter.tally(Work::EntryScan, extra_steps(n));
        }
        result
    }

    fn count(&self, steps: &Steps) {
        for kind in Work::ALL {
            let times = match self.fault {
                Fault::Uncounted { work, .. } if work == kind => 0,
                Fault::Overcounted { work, times, .. } if work == kind => times,
                _ => 1,
            };
            self.meter.tally(kind, times * steps.of(kind));
        }
    }

    /// The tick that is passed to the structure.
    fn passed_tick(&self, now: Tick) -> Tick {
        if matches!(self.fault, Fault::Late { .. }) { now.saturating_sub(1) } else { now }
    }
}

impl Timer<u64> for FaultyTimer {
    fn now(&self) -> Tick {
        self.inner.timer.now()
    }

    fn len(&self) -> usize {
        self.inner.timer.len()
    }

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.act(Some(AffectedOperation::Insert), |timer| timer.insert(deadline, value))
    }

    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        self.act(Some(AffectedOperation::Cancel), |timer| timer.cancel(id))
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        self.act(None, |timer| timer.reschedule(id, deadline))
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.inner.timer.deadline(id)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        let before = self.inner.steps();
        let next = self.inner.timer.next_wakeup();
        self.count(&self.inner.steps().since(&before));
        // A structure that is a tick late also wakes a tick late.
        next.map(|tick| if self.passed_tick(1) == 0 { tick.saturating_add(1) } else { tick })
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>> {
        let now = self.passed_tick(now);
        self.act(Some(AffectedOperation::Fire), |timer| timer.pop_expired(now))
    }

    fn advance(&mut self, now: Tick, on_expiry: impl FnMut(Expired<u64>)) -> usize {
        let now = self.passed_tick(now);
        self.act(Some(AffectedOperation::Fire), |timer| timer.advance(now, on_expiry))
    }

    fn compact(&mut self) {
        self.act(None, Timer::compact);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scale, Setup};

    fn steps(fault: Fault) -> u64 {
        let setup = Setup { faults: vec![fault], ..Setup::new(&Scale::REDUCED) };
        let mut counted = setup.build("binary-heap");
        counted.fill([3, 2, 1]);
        counted.steps().total()
    }

    #[test]
    fn a_fault_affects_only_the_structure_that_it_names() {
        let sound = steps(Fault::Late { name: "list-wheel" });
        let (name, operation) = ("binary-heap", AffectedOperation::Insert);
        assert_eq!(steps(Fault::Costlier { name, operation, extra_steps: |n| n }), sound + 3);
        assert!(steps(Fault::Uncounted { name, work: Work::Comparison }) < sound);
        assert_ne!(steps(Fault::Replaced { name, by: "unordered-list" }), sound);
    }
}
