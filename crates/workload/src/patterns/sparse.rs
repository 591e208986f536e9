//! A program that is nearly idle.

use super::{Pattern, Phases};
use crate::Measure;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// Rounds with very few timers over a very long time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sparse {
    /// The delay of a single timer.
    pub(crate) alone: Tick,
    /// The longest delay of two timers after it.
    pub(crate) pair_within: Tick,
    /// The time without live timers after them.
    pub(crate) idle: Tick,
    /// The delay of the last timer.
    pub(crate) soon: Tick,
}

impl Pattern for Sparse {
    fn labels(&self, _: u32) -> u64 {
        2
    }

    fn phases(&self, n: u32, random: Random) -> Phases {
        let rounds = u64::from(n.div_ceil(4)); // each starts four timers
        Script::phases((*self, random), vec![Stage::timer_ops(Measure::Mix, rounds, round)])
    }
}

fn round((sparse, random): &mut (Sparse, Random), _: u64, sink: &mut Sink) {
    sink.insert_after(0, sparse.alone);
    sink.wake(sink.now() + sparse.alone);

    let start = sink.now();
    let pair = [0, 1].map(|_| start + random.between(1, sparse.pair_within));
    sink.insert(0, pair[0]);
    sink.insert(1, pair[1]);
    sink.wake(pair[0].min(pair[1]));
    if pair[0] != pair[1] {
        sink.wake(pair[0].max(pair[1]));
    }

    sink.advance(sink.now() + sparse.idle);
    sink.insert_after(0, sparse.soon);
    sink.wake(sink.now() + sparse.soon);
}
