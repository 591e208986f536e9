//! Timers that restart when they fire.

use super::Phases;
use crate::Measure;
use crate::delay::Delay;
use crate::queue::Queue;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// A kind of periodic timers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Period {
    /// The distribution of periods. Each timer draws its period once.
    pub period: Delay,
    /// If `true`, the phases are aligned: all deadlines are multiples of the period. Otherwise each
    /// timer has a random phase.
    pub aligned: bool,
}

struct State {
    random: Random,
    kinds: &'static [Period],
    periods: Vec<Tick>,
    pending: Queue<u32>,
}

pub(crate) fn phases(kinds: &'static [Period], laps: u32, n: u32, random: Random) -> Phases {
    let state = State { random, kinds, periods: Vec::new(), pending: Queue::new() };
    let steps = u64::from(n) * u64::from(laps);
    let stages =
        vec![Stage::prepare(u64::from(n), start), Stage::timer_ops(Measure::Mix, steps, restart)];
    Box::new(Script::new(state, stages))
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
