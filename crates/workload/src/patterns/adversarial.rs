//! Patterns that are worst cases of particular structures.

use super::{Pattern, Phases};
use crate::Measure;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

/// All deadlines are `offset` modulo `modulus`, in one of `laps` laps. The clock passes the laps
/// tick by tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SameSlot {
    pub(crate) offset: Tick,
    pub(crate) modulus: Tick,
    pub(crate) laps: u32,
}

impl Pattern for SameSlot {
    fn phases(&self, n: u32, random: Random) -> Phases {
        fn insert((slot, random): &mut (SameSlot, Random), step: u64, sink: &mut Sink) {
            let lap = random.below(u64::from(slot.laps));
            sink.insert(step as u32, lap * slot.modulus + slot.offset);
        }
        fn lap((slot, _): &mut (SameSlot, Random), _: u64, sink: &mut Sink) {
            sink.ticks(slot.modulus as u32);
        }
        let stages = vec![
            Stage::timer_ops(Measure::Mix, u64::from(n), insert),
            Stage::timer_ops(Measure::Mix, u64::from(self.laps), lap),
        ];
        Script::phases((*self, random), stages)
    }
}

/// Each inserted timer is due before all others. Then each timer, beginning with the latest, is
/// moved before all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descending;

impl Pattern for Descending {
    fn phases(&self, n: u32, _: Random) -> Phases {
        fn insert(n: &mut u64, step: u64, sink: &mut Sink) {
            sink.insert(step as u32, 2 * *n - step);
        }
        fn to_the_front(n: &mut u64, step: u64, sink: &mut Sink) {
            sink.reschedule(step as u32, *n - step);
        }
        fn fire(n: &mut u64, _: u64, sink: &mut Sink) {
            sink.advance(2 * *n);
        }
        let count = u64::from(n);
        let stages = vec![
            Stage::timer_ops(Measure::Mix, count, insert),
            Stage::timer_ops(Measure::Mix, count, to_the_front),
            Stage::fire(Measure::Mix, 0, fire),
        ];
        Script::phases(count, stages)
    }
}

/// All deadlines are in one slot of a high level. The clock jumps to the edge of the slot and
/// passes it tick by tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CascadeStorm {
    /// The first tick of the slot, above 0.
    pub(crate) start: Tick,
    pub(crate) width: Tick,
}

impl Pattern for CascadeStorm {
    fn phases(&self, n: u32, random: Random) -> Phases {
        fn insert((slot, random): &mut (CascadeStorm, Random), step: u64, sink: &mut Sink) {
            sink.insert(step as u32, slot.start + random.below(slot.width));
        }
        fn storm((slot, _): &mut (CascadeStorm, Random), _: u64, sink: &mut Sink) {
            sink.advance(slot.start - 1);
            sink.ticks(slot.width as u32);
        }
        let stages = vec![
            Stage::timer_ops(Measure::Mix, u64::from(n), insert),
            Stage::fire(Measure::Mix, 0, storm),
        ];
        Script::phases((*self, random), stages)
    }
}

/// All timers are started, then all are cancelled in random order, long before they are due. This
/// is repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CancelStorm {
    /// The shortest delay; the longest is twice that.
    pub(crate) far: Tick,
    /// The time between the rounds.
    pub(crate) pause: Tick,
    pub(crate) rounds: u32,
}

struct Storm {
    random: Random,
    storm: CancelStorm,
    order: Vec<u32>,
}

impl Pattern for CancelStorm {
    fn phases(&self, n: u32, mut random: Random) -> Phases {
        fn insert(Storm { random, storm, .. }: &mut Storm, step: u64, sink: &mut Sink) {
            sink.insert_after(step as u32, random.between(storm.far, 2 * storm.far));
        }
        fn cancel(Storm { random, storm, order }: &mut Storm, step: u64, sink: &mut Sink) {
            if step == 0 {
                random.shuffle(order);
            }
            sink.cancel(order[step as usize]);
            if step as usize + 1 == order.len() {
                sink.advance(sink.now() + storm.pause);
            }
        }
        let order = random.permutation(n);
        let round = || {
            let insert = Stage::timer_ops(Measure::Mix, u64::from(n), insert);
            [insert, Stage::timer_ops(Measure::Mix, u64::from(n), cancel)]
        };
        let stages = (0..self.rounds).flat_map(|_| round()).collect();
        Script::phases(Storm { random, storm: *self, order }, stages)
    }
}
