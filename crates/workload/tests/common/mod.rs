//! The oracle, with counts of its calls.

use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_oracle::Oracle;

#[derive(Default)]
pub(crate) struct Map {
    oracle: Oracle<u64>,
    /// Cancellations of a live timer.
    pub(crate) cancelled: u64,
    /// Reschedules of a live timer.
    pub(crate) moved: u64,
    /// The most timers that were live at a time.
    pub(crate) peak: usize,
}

impl Timer<u64> for Map {
    fn now(&self) -> Tick {
        self.oracle.now()
    }

    fn len(&self) -> usize {
        self.oracle.len()
    }

    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        let id = self.oracle.insert(deadline, value);
        self.peak = self.peak.max(self.oracle.len());
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        let value = self.oracle.cancel(id)?;
        self.cancelled += 1;
        Some(value)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let moved = self.oracle.reschedule(id, deadline);
        self.moved += u64::from(moved);
        moved
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.oracle.deadline(id)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        self.oracle.next_wakeup()
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>> {
        self.oracle.pop_expired(now)
    }
}
