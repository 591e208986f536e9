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

pub(crate) fn phases(longest: Tick, laps: u32, n: u32, random: Random) -> Phases {
    let (count, steps) = (u64::from(n), u64::from(n) * u64::from(laps));
    // The run is to last as long as the longest delay. Where there are fewer steps than that has
    // ticks, the clock cannot go slower than a tick a step, and the delays shrink instead; the
    // share that fires stays the same.
    let steps_per_tick = (steps / longest).max(1);
    let longest = longest.min(steps);
    let state = State { random, n, longest, steps_per_tick };
    let stages = vec![Stage::prepare(count, insert), Stage::steps(Measure::Steady, steps, replace)];
    Box::new(Script::new(state, stages))
}

fn insert(state: &mut State, step: u64, sink: &mut Sink) {
    sink.insert_after(step as u32, state.random.between(1, state.longest));
}

fn replace(state: &mut State, step: u64, sink: &mut Sink) {
    let label = state.random.below(u64::from(state.n)) as u32;
    sink.cancel(label); // of one that has fired: harmless, and part of the work
    sink.insert_after(label, state.random.between(1, state.longest));
    if (step + 1) % state.steps_per_tick == 0 {
        sink.advance(sink.now() + 1);
    }
}
