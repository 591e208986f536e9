//! Sessions that are used by Zipf's law: a few are used often, most are used rarely.

use super::Phases;
use crate::Measure;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

struct State {
    random: Random,
    ttl: Tick,
    uses: u32,
    /// The label of each rank, in random order, so that sessions that are used often are scattered
    /// in memory.
    label_of_rank: Vec<u32>,
    /// When each session expires.
    deadlines: Vec<Tick>,
}

pub(crate) fn phases(ttl: Tick, uses: u32, laps: u32, n: u32, mut random: Random) -> Phases {
    let label_of_rank = random.permutation(n);
    let state = State { random, ttl, uses, label_of_rank, deadlines: Vec::new() };
    let count = u64::from(n);
    let stages = vec![
        Stage::prepare(count, resume),
        Stage::timer_ops(Measure::Mix, count * u64::from(laps), next_use),
    ];
    Box::new(Script::new(state, stages))
}

/// Starts the timer of a session that was last used some time ago.
fn resume(state: &mut State, step: u64, sink: &mut Sink) {
    let deadline = state.random.between(1, state.ttl);
    state.deadlines.push(deadline);
    sink.insert(step as u32, deadline);
}

fn next_use(state: &mut State, step: u64, sink: &mut Sink) {
    let in_a_ttl = state.label_of_rank.len() as u128 * u128::from(state.uses.max(1));
    sink.advance((u128::from(state.ttl) * u128::from(step) / in_a_ttl) as Tick);
    let rank = state.random.zipf(state.label_of_rank.len() as u64);
    let label = state.label_of_rank[rank as usize];
    let deadline = &mut state.deadlines[label as usize];
    let is_live = *deadline > sink.now();
    *deadline = sink.now() + state.ttl;
    if is_live { sink.reschedule(label, *deadline) } else { sink.insert(label, *deadline) }
}
