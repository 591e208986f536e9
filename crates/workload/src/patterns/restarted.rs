//! Timers that are inserted again when they fire.

use super::{Pattern, Phases};
use crate::Measure;
use crate::queue::Queue;
use crate::random::{Delay, Random};
use crate::script::{Script, Sink, Stage};
use std::collections::VecDeque;
use wheelhouse_core::Tick;

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

struct HoldState {
    random: Random,
    increment: Delay,
    pending: Queue<u32>,
    /// Labels of the timers that fired in the last wake-up and were not inserted again yet.
    fired: VecDeque<u32>,
}

impl Pattern for Hold {
    fn phases(&self, n: u32, random: Random) -> Phases {
        let (pending, fired) = (Queue::new(), VecDeque::new());
        let state = HoldState { random, increment: self.increment, pending, fired };
        let (count, laps) = (u64::from(n), u64::from(self.laps));
        let stages = vec![
            Stage::prepare(count, hold_first),
            Stage::steps(Measure::Hold, count * laps, hold),
        ];
        Script::phases(state, stages)
    }
}

fn hold_first(state: &mut HoldState, step: u64, sink: &mut Sink) {
    let deadline = state.increment.draw_remaining(&mut state.random);
    state.pending.push(deadline, step as u32);
    sink.insert(step as u32, deadline);
}

fn hold(state: &mut HoldState, _: u64, sink: &mut Sink) {
    if state.fired.is_empty() {
        state.wake(sink);
    }
    let Some(label) = state.fired.pop_front() else { return };
    let deadline = sink.now().saturating_add(state.increment.draw(&mut state.random));
    state.pending.push(deadline, label);
    sink.insert(label, deadline);
}

impl HoldState {
    /// Fires all timers that are due together.
    fn wake(&mut self, sink: &mut Sink) {
        let Some(tick) = self.pending.next_tick() else { return };
        sink.wake(tick);
        while let Some((_, label)) = self.pending.pop_due(tick) {
            self.fired.push_back(label);
        }
    }
}

/// Timers that are inserted again when they fire, one period after their deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Periodic {
    /// The i-th timer has kind i modulo the number of kinds.
    pub(crate) kinds: &'static [Period],
    /// Expiries for each timer.
    pub(crate) laps: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    /// The distribution of periods. Each timer draws its period once.
    pub(crate) period: Delay,
    /// If `true`, the phases are aligned: all deadlines are multiples of the period. Otherwise each
    /// timer has a random phase.
    pub(crate) aligned: bool,
}

struct State {
    random: Random,
    kinds: &'static [Period],
    periods: Vec<Tick>,
    pending: Queue<u32>,
}

impl Pattern for Periodic {
    fn phases(&self, n: u32, random: Random) -> Phases {
        let kinds = self.kinds;
        let state = State { random, kinds, periods: Vec::new(), pending: Queue::new() };
        let (count, laps) = (u64::from(n), u64::from(self.laps));
        let restart = Stage::timer_ops(Measure::Mix, count * laps, restart);
        Script::phases(state, vec![Stage::prepare(count, start), restart])
    }
}

fn start(state: &mut State, step: u64, sink: &mut Sink) {
    let kind = &state.kinds[step as usize % state.kinds.len()];
    let period = kind.period.draw(&mut state.random);
    let first = if kind.aligned {
        period
    } else {
        Delay::Constant(period).draw_remaining(&mut state.random)
    };
    state.periods.push(period);
    state.pending.push(first, step as u32);
    sink.insert(step as u32, first);
}

/// Counts the period from the last deadline, not from the clock, so that it does not drift.
fn restart(state: &mut State, _: u64, sink: &mut Sink) {
    let Some((deadline, label)) = state.pending.pop() else { return };
    sink.advance(deadline);
    let next = deadline.saturating_add(state.periods[label as usize]);
    state.pending.push(next, label);
    sink.insert(label, next);
}
