//! What a stop does in all shards, and how it waits.

use super::core::{Core, Stage, Task};
use super::{House, Taken};
use crate::job::Ending;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often it is looked whether a drain is over. The end of a run is told; that somebody has
/// cancelled the last job is not, so that cancelling need not ask for it.
const LOOK: Duration = Duration::from_millis(20);

impl<W: Task + ?Sized> Core<W> {
    /// Takes no more jobs, and takes out those that would never end.
    fn drain(&mut self) -> Vec<Taken<W>> {
        self.stage = Stage::Draining;
        let mut endless = Vec::new();
        for (index, slot) in self.slots.iter() {
            if let Some(life) = slot.life()
                && let Some(life) = self.lives.get_mut(life)
                && life.repeat.as_ref().is_some_and(|repeat| repeat.times.is_none())
            {
                if life.is_running() {
                    life.end_after(Ending::Stopped);
                } else {
                    endless.push(index);
                }
            }
        }
        endless.into_iter().filter_map(|index| self.take(index, Ending::Stopped)).collect()
    }

    /// How many jobs are not over; what tasks wait for is none.
    fn jobs(&self) -> usize {
        self.slots.len() - self.wakers.len()
    }
}

impl<W: Task + ?Sized> House<W> {
    /// Takes no more jobs, and takes back those that would never end.
    pub(crate) fn drain(&self) -> Vec<Taken<W>> {
        let mut taken = Vec::new();
        self.with_all(|core| taken.extend(core.drain()));
        taken.iter().for_each(|taken| self.free_key(taken.info.as_deref(), taken.id));
        taken
    }

    /// Waits until all jobs are over but so many, at most so long in real time.
    pub(crate) fn wait_for_drain(&self, longest: Duration, own: usize) {
        let until = Instant::now().checked_add(longest);
        let over = || {
            let mut jobs = 0;
            self.with_all(|core| jobs += core.jobs());
            jobs <= own
        };
        let mut gate = self.gate.0.lock();
        while !over() {
            let now = Instant::now();
            if until.is_some_and(|until| until <= now) {
                return;
            }
            let look = until.map_or(now + LOOK, |until| until.min(now + LOOK));
            self.gate.1.wait_while_until(&mut gate, |()| !over(), look);
        }
    }

    /// Takes back what is pending, and with `due` what was handed out and has not begun; from here
    /// on nothing is scheduled.
    pub(crate) fn take_back(&self, due: bool, stage: Stage) -> Vec<Taken<W>> {
        self.closed.store(true, Ordering::SeqCst);
        let (mut taken, mut wheels) = (Vec::new(), Vec::new());
        self.with_all(|core| {
            let (jobs, wheel) = core.take_back(due, stage);
            taken.extend(jobs);
            wheels.push(wheel);
        });
        taken.iter().for_each(|taken| self.free_key(taken.info.as_deref(), taken.id));
        taken
    }

    /// Waits until no run is in flight, at most so long in real time. Who is in runs himself waits
    /// for those that have begun, and for his own not. Whether that was reached.
    pub(crate) fn wait(&self, longest: Duration, own: usize) -> bool {
        let over = || {
            let (in_flight, begun) = self.runs();
            if own > 0 { begun <= own } else { in_flight == 0 }
        };
        let mut gate = self.gate.0.lock();
        match Instant::now().checked_add(longest) {
            Some(until) => {
                self.gate.1.wait_while_until(&mut gate, |()| !over(), until);
            }
            None => self.gate.1.wait_while(&mut gate, |()| !over()),
        }
        over()
    }
}
