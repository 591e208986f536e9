//! All timers are started at once, with the same deadline.

use super::Phases;
use crate::Measure;
use crate::random::{PER_MILLE, Random};
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

struct State {
    delay: Tick,
    /// Labels of the timers that are cancelled before they are due, at equal distances.
    cancelled: Vec<u32>,
}

pub(crate) fn phases(delay: Tick, cancelled: u32, n: u32, mut random: Random) -> Phases {
    let mut labels = random.permutation(n);
    labels.truncate((u64::from(n) * u64::from(cancelled) / PER_MILLE) as usize);
    let cancellations = labels.len() as u64;
    let state = State { delay, cancelled: labels };
    let stages = vec![
        Stage::timer_ops(Measure::Mix, u64::from(n), insert),
        Stage::timer_ops(Measure::Mix, cancellations, cancel),
        // The cost of an expiry counts for its insertion, as in every mix.
        Stage::fire(Measure::Mix, 0, fire),
    ];
    Box::new(Script::new(state, stages))
}

fn insert(state: &mut State, step: u64, sink: &mut Sink) {
    sink.insert(step as u32, state.delay);
}

/// Cancellations are evenly spread over the time until the deadline.
fn cancel(state: &mut State, step: u64, sink: &mut Sink) {
    let so_far = u128::from(state.delay) * u128::from(step) / (state.cancelled.len() as u128 + 1);
    sink.advance(so_far as Tick);
    sink.cancel(state.cancelled[step as usize]);
}

fn fire(state: &mut State, _: u64, sink: &mut Sink) {
    sink.advance(state.delay);
}
