//! Timers that are stopped and started while others wait.

use super::{Pattern, Phases};
use crate::Measure;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// A constant number of timers. Each step cancels the timer of a random label and inserts it again,
/// with a delay uniform in 1..=`longest`. If the timer of the label has fired, the cancellation has
/// no effect, and the timer is inserted again.
///
/// The clock moves after a whole number of steps. The longest delay is adapted to that number, so
/// that the same share of timers fires for every `n`: it is a little longer with many timers. With
/// few timers it is shorter, since the clock moves by at most one tick per step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steady {
    pub(crate) longest: Tick,
    /// Steps per hundred timers while the clock moves by `longest`: the more steps, the fewer
    /// timers fire.
    pub(crate) churn: u32,
    pub(crate) laps: u32,
}

struct State {
    random: Random,
    n: u32,
    longest: Tick,
    steps_per_tick: u64,
}

impl Pattern for Steady {
    fn phases(&self, n: u32, random: Random) -> Phases {
        let (count, steps) = (u64::from(n), u64::from(n) * u64::from(self.laps));
        let steps_within = (count * u64::from(self.churn) / 100).max(1);
        let steps_per_tick = (steps_within / self.longest).max(1);
        let state = State { random, n, longest: steps_within / steps_per_tick, steps_per_tick };
        let replace = Stage::steps(Measure::Steady, steps, replace);
        Script::phases(state, vec![Stage::prepare(count, insert), replace])
    }
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

/// One timer is started and stopped at once, repeatedly, while others wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartStop {
    /// The i-th waiting timer is due at i modulo this.
    pub(crate) background: Tick,
    /// The delay of the timer that is started and stopped.
    pub(crate) delay: Tick,
    /// Pairs of start and stop for each waiting timer.
    pub(crate) laps: u32,
    /// The ticks that the clock moves in total, evenly, at most one per pair.
    pub(crate) ticks: u32,
}

impl Pattern for StartStop {
    fn labels(&self, n: u32) -> u64 {
        u64::from(n) + 1
    }

    fn phases(&self, n: u32, _: Random) -> Phases {
        // The pattern, the label of the one timer, and the steps per tick.
        type State = (StartStop, u32, u64);
        fn wait((pattern, ..): &mut State, step: u64, sink: &mut Sink) {
            sink.insert_after(step as u32, step % pattern.background.max(1));
        }
        fn start_and_stop(state: &mut State, step: u64, sink: &mut Sink) {
            let (pattern, label, steps_per_tick) = *state;
            sink.insert_after(label, pattern.delay);
            sink.cancel(label);
            if (step + 1) % steps_per_tick == 0 {
                sink.advance(sink.now() + 1);
            }
        }
        let steps = u64::from(n) * u64::from(self.laps);
        let steps_per_tick = (steps / u64::from(self.ticks.max(1))).max(1);
        let start_and_stop = Stage::timer_ops(Measure::Mix, steps, start_and_stop);
        let stages = vec![Stage::prepare(u64::from(n), wait), start_and_stop];
        Script::phases((*self, n, steps_per_tick), stages)
    }
}
