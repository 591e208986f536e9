//! Faults that tests inject into structures, to see whether the claims notice them.

use crate::count::{AnyTimer, Probe, Steps};
use wheelhouse_core::meter::{CountingMeter, Meter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A fault of the structure with a given name.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Another structure is used under its name.
    Instead {
        /// The name.
        of: &'static str,
        /// The structure that is used instead.
        comes: &'static str,
    },
    /// An operation takes more steps, and counts them.
    Dearer {
        /// The structure.
        of: &'static str,
        /// The operation.
        on: Operation,
        /// The number of additional steps, with n timers.
        by: fn(n: u64) -> u64,
    },
    /// Work of one kind is not counted.
    Silent {
        /// The structure.
        of: &'static str,
        /// The kind.
        work: Work,
    },
    /// Work of one kind is counted several times.
    Counted {
        /// The structure.
        of: &'static str,
        /// The kind.
        work: Work,
        /// How many times.
        times: u64,
    },
    /// Timers fire a tick late.
    Late {
        /// The structure.
        of: &'static str,
    },
}

/// An operation that a fault can affect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
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
            Self::Instead { of, comes } if *of == name => Some(comes),
            _ => None,
        }
    }

    /// Returns `true` if the fault is in the operations of the structure called `name`.
    pub(crate) fn is_in(&self, name: &str) -> bool {
        match self {
            Self::Instead { .. } => false,
            Self::Dearer { of, .. }
            | Self::Silent { of, .. }
            | Self::Counted { of, .. }
            | Self::Late { of } => *of == name,
        }
    }
}

/// A structure with a fault.
pub(crate) struct Faulty {
    inner: Probe<AnyTimer>,
    fault: Fault,
    meter: CountingMeter,
}

impl Faulty {
    pub(crate) fn put_into(inner: Probe<AnyTimer>, fault: Fault) -> Probe<AnyTimer> {
        let faulty = Self { inner, fault, meter: CountingMeter::default() };
        Probe::new(faulty, |it| &it.meter).any()
    }

    /// Calls `act` and counts its work as the fault demands.
    fn act<R>(&mut self, on: Option<Operation>, act: impl FnOnce(&mut AnyTimer) -> R) -> R {
        let n = self.inner.timer.len() as u64;
        let (steps, result) = self.inner.work(act);
        self.count(&steps);
        if let Fault::Dearer { on: dearer, by, .. } = self.fault
            && on == Some(dearer)
        {
            self.meter.tally(Work::EntryScan, by(n));
        }
        result
    }

    fn count(&self, steps: &Steps) {
        for kind in Work::ALL {
            let times = match self.fault {
                Fault::Silent { work, .. } if work == kind => 0,
                Fault::Counted { work, times, .. } if work == kind => times,
                _ => 1,
            };
            self.meter.tally(kind, times * steps.of(kind));
        }
    }

    /// The tick that is passed to the structure.
    fn told(&self, now: Tick) -> Tick {
        if matches!(self.fault, Fault::Late { .. }) { now.saturating_sub(1) } else { now }
    }
}

impl Timer<u64> for Faulty {
    fn now(&self) -> Tick {
        self.inner.timer.now()
    }

    fn len(&self) -> usize {
        self.inner.timer.len()
    }

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.act(Some(Operation::Insert), |timer| timer.insert(deadline, value))
    }

    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        self.act(Some(Operation::Cancel), |timer| timer.cancel(id))
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
        next.map(|tick| if self.told(1) == 0 { tick.saturating_add(1) } else { tick })
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>> {
        let now = self.told(now);
        self.act(Some(Operation::Fire), |timer| timer.pop_expired(now))
    }

    fn advance(&mut self, now: Tick, on_expiry: impl FnMut(Expired<u64>)) -> usize {
        let now = self.told(now);
        self.act(Some(Operation::Fire), |timer| timer.advance(now, on_expiry))
    }

    fn compact(&mut self) {
        self.act(None, Timer::compact);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lab, Scale};

    fn steps(fault: Fault) -> u64 {
        let lab = Lab { faults: vec![fault], ..Lab::new(&Scale::REDUCED) };
        let mut probe = lab.make("binary-heap");
        probe.fill([3, 2, 1]);
        probe.steps().total()
    }

    #[test]
    fn a_fault_is_in_what_it_names_and_nowhere_else() {
        let of = "list-wheel";
        let sound = steps(Fault::Late { of });
        let (of, on) = ("binary-heap", Operation::Insert);
        assert_eq!(steps(Fault::Dearer { of, on, by: |n| n }), sound + 3);
        assert!(steps(Fault::Silent { of, work: Work::Comparison }) < sound);
        assert_ne!(steps(Fault::Instead { of, comes: "unordered-list" }), sound);
    }
}
