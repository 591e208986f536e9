//! Timers that are all due at the same tick.

use super::{Pattern, Phases};
use crate::Measure;
use crate::random::{PER_MILLE, Random};
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// The delay, and the labels in the order in which the timers are cancelled.
type State = (Tick, Vec<u32>);

fn insert((delay, _): &mut State, step: u64, sink: &mut Sink) {
    sink.insert(step as u32, *delay);
}

fn fire((delay, _): &mut State, _: u64, sink: &mut Sink) {
    sink.advance(*delay);
}

/// All timers in one burst, all due at the same tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    pub(crate) delay: Tick,
    /// How many in 1,000 are cancelled before they are due, evenly over the delay.
    pub(crate) cancelled: u32,
}

impl Pattern for Burst {
    fn phases(&self, n: u32, mut random: Random) -> Phases {
        fn cancel((delay, cancelled): &mut State, step: u64, sink: &mut Sink) {
            let at = u128::from(*delay) * u128::from(step) / (cancelled.len() as u128 + 1);
            sink.advance(at as Tick);
            sink.cancel(cancelled[step as usize]);
        }
        let mut cancelled = random.permutation(n);
        cancelled.truncate((u64::from(n) * u64::from(self.cancelled) / PER_MILLE) as usize);
        let stages = vec![
            Stage::timer_ops(Measure::Mix, u64::from(n), insert),
            Stage::timer_ops(Measure::Mix, cancelled.len() as u64, cancel),
            // The cost of an expiry counts for its insertion, as in every mix.
            Stage::fire(Measure::Mix, 0, fire),
        ];
        Script::phases((self.delay, cancelled), stages)
    }
}

/// Each operation separately, on timers that are all due at the same tick: insert all, start and
/// stop one more, cancel all in random order, insert all again, fire in one jump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SameDeadline {
    pub(crate) delay: Tick,
}

impl Pattern for SameDeadline {
    fn labels(&self, n: u32) -> u64 {
        u64::from(n) + 1
    }

    fn phases(&self, n: u32, mut random: Random) -> Phases {
        fn start_and_stop((delay, order): &mut State, _: u64, sink: &mut Sink) {
            let label = order.len() as u32;
            sink.insert(label, *delay);
            sink.cancel(label);
        }
        fn cancel((_, order): &mut State, step: u64, sink: &mut Sink) {
            sink.cancel(order[step as usize]);
        }
        let count = u64::from(n);
        let stages = vec![
            Stage::timer_ops(Measure::InsertCold, count, insert),
            Stage::steps(Measure::Steady, count, start_and_stop),
            Stage::timer_ops(Measure::Cancel, count, cancel),
            Stage::timer_ops(Measure::InsertWarm, count, insert),
            Stage::fire(Measure::FireJump, count, fire),
        ];
        Script::phases((self.delay, random.permutation(n)), stages)
    }
}
