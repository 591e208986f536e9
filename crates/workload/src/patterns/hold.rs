//! Jones' hold model: take the earliest timer, insert it again later.

use super::Phases;
use crate::Measure;
use crate::delay::Delay;
use crate::queue::Queue;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use std::collections::VecDeque;

struct State {
    random: Random,
    increment: Delay,
    pending: Queue<u32>,
    /// Labels of the timers that fired in the last wake-up and were not inserted again yet.
    fired: VecDeque<u32>,
}

pub(crate) fn phases(increment: Delay, laps: u32, n: u32, random: Random) -> Phases {
    let state = State { random, increment, pending: Queue::new(), fired: VecDeque::new() };
    let steps = u64::from(n) * u64::from(laps);
    let stages =
        vec![Stage::prepare(u64::from(n), insert), Stage::steps(Measure::Hold, steps, hold)];
    Box::new(Script::new(state, stages))
}

fn insert(state: &mut State, step: u64, sink: &mut Sink) {
    let deadline = state.increment.draw_remaining(&mut state.random);
    state.pending.push(deadline, step as u32);
    sink.insert(step as u32, deadline);
}

fn hold(state: &mut State, _: u64, sink: &mut Sink) {
    if state.fired.is_empty() {
        state.wake(sink);
    }
    let Some(label) = state.fired.pop_front() else { return };
    let deadline = sink.now().saturating_add(state.increment.draw(&mut state.random));
    state.pending.push(deadline, label);
    sink.insert(label, deadline);
}

impl State {
    /// Fires all timers that are due together.
    fn wake(&mut self, sink: &mut Sink) {
        let Some(tick) = self.pending.next_tick() else { return };
        sink.wake(tick);
        while let Some((_, label)) = self.pending.pop_due(tick) {
            self.fired.push_back(label);
        }
    }
}
