use super::{Pattern, Phases};
use crate::Measure;
use crate::delay::Delay;
use crate::queue::Queue;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use std::collections::VecDeque;

/// Jones' hold model: take the earliest timer and insert it again after an increment. Timers that
/// are due together are taken together. At the start, each timer is at a random point of an
/// increment. With exponential increments the stream is in equilibrium from the start; with others
/// it reaches equilibrium later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    /// The time from one expiry of a timer to the next.
    pub(crate) increment: Delay,
    pub(crate) laps: u32,
}

struct State {
    random: Random,
    increment: Delay,
    pending: Queue<u32>,
    /// Labels of the timers that fired in the last wake-up and were not inserted again yet.
    fired: VecDeque<u32>,
}

impl Pattern for Hold {
    fn phases(&self, n: u32, random: Random) -> Phases {
        let (pending, fired) = (Queue::new(), VecDeque::new());
        let state = State { random, increment: self.increment, pending, fired };
        let (count, laps) = (u64::from(n), u64::from(self.laps));
        let stages =
            vec![Stage::prepare(count, insert), Stage::steps(Measure::Hold, count * laps, hold)];
        Script::phases(state, stages)
    }
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
