//! Turns the steps of a pattern into phases, one at a time.

use crate::patterns::Phases;
use crate::{Measure, Op, Phase};
use std::mem;
use wheelhouse_core::Tick;

/// A phase is split here, so that operations in memory take about 64 MiB, for any number of timers.
const OPS_PER_PHASE: usize = 1 << 22;

/// Collects the operations of a pattern, and keeps the clock of the stream.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    ops: Vec<Op>,
    now: Tick,
    timer_ops: u64,
}

impl Sink {
    pub(crate) fn now(&self) -> Tick {
        self.now
    }

    pub(crate) fn insert(&mut self, label: u32, deadline: Tick) {
        self.timer_ops += 1;
        self.ops.push(Op::Insert { label, deadline });
    }

    pub(crate) fn insert_after(&mut self, label: u32, delay: Tick) {
        self.insert(label, self.now.saturating_add(delay));
    }

    pub(crate) fn cancel(&mut self, label: u32) {
        self.timer_ops += 1;
        self.ops.push(Op::Cancel { label });
    }

    pub(crate) fn reschedule(&mut self, label: u32, deadline: Tick) {
        self.timer_ops += 1;
        self.ops.push(Op::Reschedule { label, deadline });
    }

    pub(crate) fn reschedule_after(&mut self, label: u32, delay: Tick) {
        self.reschedule(label, self.now.saturating_add(delay));
    }

    /// Moves the clock in one jump. Does nothing if it is there already.
    pub(crate) fn advance(&mut self, to: Tick) {
        if to > self.now {
            self.now = to;
            self.ops.push(Op::Advance { to });
        }
    }

    pub(crate) fn ticks(&mut self, count: u32) {
        self.now = self.now.saturating_add(u64::from(count));
        self.ops.push(Op::Ticks { count, to: self.now });
    }

    /// Fires the next timer, which the pattern knows to be due at `deadline`.
    pub(crate) fn wake(&mut self, deadline: Tick) {
        self.now = self.now.max(deadline);
        self.ops.push(Op::Wake);
    }
}

/// How the operations of a phase are counted.
#[derive(Clone, Copy, Debug)]
enum Count {
    /// Insertions, cancellations and reschedules.
    TimerOps,
    /// Steps of the stage.
    Steps,
    /// A known number: that of the timers that fire.
    Known(u64),
}

/// Writes the operations of the step with this number.
type Step<S> = fn(&mut S, u64, &mut Sink);

/// A number of equal steps with one measure.
pub(crate) struct Stage<S> {
    measure: Option<Measure>,
    count: Count,
    steps: u64,
    step: Step<S>,
}

impl<S> Stage<S> {
    /// Preparation, which is played but not timed.
    pub(crate) fn prepare(steps: u64, step: Step<S>) -> Self {
        Self { measure: None, count: Count::TimerOps, steps, step }
    }

    /// Timed, and divided by the number of insertions, cancellations and reschedules.
    pub(crate) fn timer_ops(measure: Measure, steps: u64, step: Step<S>) -> Self {
        Self { measure: Some(measure), count: Count::TimerOps, steps, step }
    }

    /// Timed, and divided by the number of steps.
    pub(crate) fn steps(measure: Measure, steps: u64, step: Step<S>) -> Self {
        Self { measure: Some(measure), count: Count::Steps, steps, step }
    }

    /// A single step, timed and divided by the number of timers that fire in it.
    pub(crate) fn fire(measure: Measure, fired: u64, step: Step<S>) -> Self {
        Self { measure: Some(measure), count: Count::Known(fired), steps: 1, step }
    }
}

/// The stages of a stream and its progress: an iterator over its phases.
pub(crate) struct Script<S> {
    state: S,
    stages: Vec<Stage<S>>,
    stage: usize,
    done: u64,
    sink: Sink,
}

impl<S: 'static> Script<S> {
    pub(crate) fn phases(state: S, stages: Vec<Stage<S>>) -> Phases {
        Box::new(Self { state, stages, stage: 0, done: 0, sink: Sink::default() })
    }
}

impl<S> Iterator for Script<S> {
    type Item = Phase;

    fn next(&mut self) -> Option<Phase> {
        let stage = loop {
            let stage = self.stages.get(self.stage)?;
            if self.done < stage.steps {
                break stage;
            }
            self.stage += 1;
            self.done = 0;
        };
        let first = self.done;
        while self.done < stage.steps && self.sink.ops.len() < OPS_PER_PHASE {
            (stage.step)(&mut self.state, self.done, &mut self.sink);
            self.done += 1;
        }
        let timer_ops = mem::take(&mut self.sink.timer_ops);
        let operations = match stage.count {
            Count::TimerOps => timer_ops,
            Count::Steps => self.done - first,
            Count::Known(fired) => fired,
        };
        Some(Phase { measure: stage.measure, operations, ops: mem::take(&mut self.sink.ops) })
    }
}
