//! Each operation separately, on timers that are all due at the same tick.

use super::Phases;
use crate::Measure;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

struct State {
    delay: Tick,
    order: Vec<u32>,
}

pub(crate) fn phases(delay: Tick, n: u32, mut random: Random) -> Phases {
    let state = State { delay, order: random.permutation(n) };
    let count = u64::from(n);
    let stages = vec![
        Stage::timer_ops(Measure::InsertCold, count, insert),
        Stage::steps(Measure::Steady, count, start_and_stop),
        Stage::timer_ops(Measure::Cancel, count, cancel),
        Stage::timer_ops(Measure::InsertWarm, count, insert),
        Stage::fire(Measure::FireJump, count, fire),
    ];
    Box::new(Script::new(state, stages))
}

fn insert(state: &mut State, step: u64, sink: &mut Sink) {
    sink.insert(step as u32, state.delay);
}

fn start_and_stop(state: &mut State, _: u64, sink: &mut Sink) {
    let label = state.order.len() as u32;
    sink.insert(label, state.delay);
    sink.cancel(label);
}

fn cancel(state: &mut State, step: u64, sink: &mut Sink) {
    sink.cancel(state.order[step as usize]);
}

fn fire(state: &mut State, _: u64, sink: &mut Sink) {
    sink.advance(state.delay);
}
