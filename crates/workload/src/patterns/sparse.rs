//! Very few timers over a very long time.

use super::Phases;
use crate::Measure;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// The number of labels.
pub(crate) const LABELS: u32 = 2;

struct State {
    random: Random,
    alone: Tick,
    pair_within: Tick,
    idle: Tick,
    soon: Tick,
}

pub(crate) fn phases(
    alone: Tick,
    pair_within: Tick,
    idle: Tick,
    soon: Tick,
    n: u32,
    random: Random,
) -> Phases {
    let state = State { random, alone, pair_within, idle, soon };
    let rounds = u64::from(n.div_ceil(4)); // each starts four timers
    Box::new(Script::new(state, vec![Stage::timer_ops(Measure::Mix, rounds, round)]))
}

fn round(state: &mut State, _: u64, sink: &mut Sink) {
    sink.insert_after(0, state.alone);
    sink.wake(sink.now() + state.alone);

    let start = sink.now();
    let pair = [0, 1].map(|_| start + state.random.between(1, state.pair_within));
    sink.insert(0, pair[0]);
    sink.insert(1, pair[1]);
    sink.wake(pair[0].min(pair[1]));
    if pair[0] != pair[1] {
        sink.wake(pair[0].max(pair[1]));
    }

    sink.advance(sink.now() + state.idle);
    sink.insert_after(0, state.soon);
    sink.wake(sink.now() + state.soon);
}
