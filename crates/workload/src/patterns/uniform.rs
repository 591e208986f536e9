//! Each operation measured separately, on timers of random delays.

use super::{Pattern, Phases};
use crate::Measure;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// The smallest number of ticks of the tick-by-tick run.
const MIN_TICKS: u32 = 1024;

/// How many times each timer is rescheduled. A structure with lazy rescheduling has to remove its
/// stale entries now and then. A single lap would end before that, and the expiries would pay for
/// it.
const RESCHEDULE_LAPS: u64 = 4;

/// Each operation separately, on all timers in random order: insert, cancel, insert again,
/// reschedule (four times), fire in one jump; insert again, fire tick by tick.
///
/// Delays are uniform in 1..=`longest` for any number of timers, so that figures are comparable.
/// Only the tick-by-tick run depends on that number: its length is the number of timers, rounded up
/// to a power of two, and at least 1024 ticks, so that it measures expiries and not empty ticks.
/// Its delays are uniform over that length. With 1,000,000 timers both ranges are 2^20.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uniform {
    /// `None` is the number of timers, rounded up to a power of two.
    pub(crate) longest: Option<Tick>,
}

struct State {
    random: Random,
    n: u32,
    order: Vec<u32>,
    /// The longest delay of the operations and the jump.
    longest: Tick,
    /// The longest delay of the tick-by-tick run, and its number of ticks.
    ticks: u32,
}

impl Pattern for Uniform {
    fn phases(&self, n: u32, random: Random) -> Phases {
        let count = u64::from(n);
        let longest = self.longest.unwrap_or(count.next_power_of_two());
        let ticks = n.max(MIN_TICKS).next_power_of_two();
        let state = State { random, n, order: Vec::new(), longest, ticks };
        let stages = vec![
            Stage::timer_ops(Measure::InsertCold, count, insert),
            Stage::timer_ops(Measure::Cancel, count, cancel),
            Stage::timer_ops(Measure::InsertWarm, count, insert),
            Stage::timer_ops(Measure::Reschedule, RESCHEDULE_LAPS * count, reschedule),
            Stage::fire(Measure::FireJump, count, jump),
            Stage::prepare(count, insert_for_ticks),
            Stage::fire(Measure::FireTicks, count, tick_by_tick),
        ];
        Script::phases(state, stages)
    }
}

fn insert(state: &mut State, step: u64, sink: &mut Sink) {
    sink.insert_after(step as u32, state.random.between(1, state.longest));
}

fn cancel(state: &mut State, step: u64, sink: &mut Sink) {
    sink.cancel(state.next_of_all(step));
}

fn reschedule(state: &mut State, step: u64, sink: &mut Sink) {
    let label = state.next_of_all(step % u64::from(state.n));
    sink.reschedule_after(label, state.random.between(1, state.longest));
}

fn jump(state: &mut State, _: u64, sink: &mut Sink) {
    sink.advance(sink.now() + state.longest + 1);
}

fn insert_for_ticks(state: &mut State, step: u64, sink: &mut Sink) {
    sink.insert_after(step as u32, state.random.between(1, u64::from(state.ticks)));
}

fn tick_by_tick(state: &mut State, _: u64, sink: &mut Sink) {
    sink.ticks(state.ticks);
}

impl State {
    /// Returns every label once, in an order that is drawn at step 0.
    fn next_of_all(&mut self, step: u64) -> u32 {
        if step == 0 {
            self.order = self.random.permutation(self.n);
        }
        self.order[step as usize]
    }
}
