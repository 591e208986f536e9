//! A constant number of live timers, most of which are cancelled before they are due.

use super::Phases;
use crate::Measure;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

struct State {
    random: Random,
    n: u32,
    longest: Tick,
    steps_per_tick: u64,
}

pub(crate) fn phases(longest: Tick, churn: u32, laps: u32, n: u32, random: Random) -> Phases {
    let (count, steps) = (u64::from(n), u64::from(n) * u64::from(laps));
    // The clock moves one tick after a whole number of steps. The delays are adapted so that the
    // same share of timers fires for every n: they are a little longer with many timers. With few
    // timers they are shorter, since the clock moves by at most one tick per step.
    let steps_within = (count * u64::from(churn) / 100).max(1);
    let steps_per_tick = (steps_within / longest).max(1);
    let longest = steps_within / steps_per_tick;
    let state = State { random, n, longest, steps_per_tick };
    let stages = vec![Stage::prepare(count, insert), Stage::steps(Measure::Steady, steps, replace)];
    Box::new(Script::new(state, stages))
}

fn insert(state: &mut State, step: u64, sink: &mut Sink) {
    sink.insert_after(step as u32, state.random.between(1, state.longest));
}

fn replace(state: &mut State, step: u64, sink: &mut Sink) {
    let label = state.random.below(u64::from(state.n)) as u32;
    sink.cancel(label); // the timer may have fired: then the cancel has no effect, but is timed
    sink.insert_after(label, state.random.between(1, state.longest));
    if (step + 1) % state.steps_per_tick == 0 {
        sink.advance(sink.now() + 1);
    }
}
