//! A timer is started and stopped at once, while many others wait.

use super::Phases;
use crate::Measure;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

struct State {
    background: Tick,
    delay: Tick,
    label: u32,
    steps_per_tick: u64,
}

pub(crate) fn phases(background: Tick, delay: Tick, laps: u32, ticks: u32, n: u32) -> Phases {
    let steps = u64::from(n) * u64::from(laps);
    let steps_per_tick = (steps / u64::from(ticks.max(1))).max(1);
    let state = State { background, delay, label: n, steps_per_tick };
    let stages = vec![
        Stage::prepare(u64::from(n), wait),
        Stage::timer_ops(Measure::Mix, steps, start_and_stop),
    ];
    Box::new(Script::new(state, stages))
}

fn wait(state: &mut State, step: u64, sink: &mut Sink) {
    sink.insert_after(step as u32, step % state.background.max(1));
}

fn start_and_stop(state: &mut State, step: u64, sink: &mut Sink) {
    sink.insert_after(state.label, state.delay);
    sink.cancel(state.label);
    if (step + 1) % state.steps_per_tick == 0 {
        sink.advance(sink.now() + 1);
    }
}
