//! Patterns that are worst cases of particular structures.

use super::Phases;
use crate::Measure;
use crate::random::Random;
use crate::script::{Script, Sink, Stage};
use wheelhouse_core::Tick;

struct SameSlot {
    random: Random,
    offset: Tick,
    modulus: Tick,
    laps: u32,
}

/// Every deadline is `offset` modulo `modulus`, in one of `laps` laps. Then the clock passes the
/// laps tick by tick.
pub(crate) fn same_slot(offset: Tick, modulus: Tick, laps: u32, n: u32, random: Random) -> Phases {
    fn insert(state: &mut SameSlot, step: u64, sink: &mut Sink) {
        let lap = state.random.below(u64::from(state.laps));
        sink.insert(step as u32, lap * state.modulus + state.offset);
    }
    fn lap(state: &mut SameSlot, _: u64, sink: &mut Sink) {
        sink.ticks(state.modulus as u32);
    }
    let state = SameSlot { random, offset, modulus, laps };
    let stages = vec![
        Stage::timer_ops(Measure::Mix, u64::from(n), insert),
        Stage::timer_ops(Measure::Mix, u64::from(laps), lap),
    ];
    Box::new(Script::new(state, stages))
}

/// Each inserted timer is due before all others. Then each timer, beginning with the latest, is
/// moved before all others.
pub(crate) fn descending(n: u32) -> Phases {
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
    Box::new(Script::new(count, stages))
}

struct CascadeStorm {
    random: Random,
    start: Tick,
    width: Tick,
}

/// All deadlines are within one slot of a high level. The clock jumps to the edge of the slot and
/// passes it tick by tick.
pub(crate) fn cascade_storm(start: Tick, width: Tick, n: u32, random: Random) -> Phases {
    fn insert(state: &mut CascadeStorm, step: u64, sink: &mut Sink) {
        sink.insert(step as u32, state.start + state.random.below(state.width));
    }
    fn storm(state: &mut CascadeStorm, _: u64, sink: &mut Sink) {
        sink.advance(state.start - 1);
        sink.ticks(state.width as u32);
    }
    let state = CascadeStorm { random, start, width };
    let stages = vec![
        Stage::timer_ops(Measure::Mix, u64::from(n), insert),
        Stage::fire(Measure::Mix, 0, storm),
    ];
    Box::new(Script::new(state, stages))
}

struct CancelStorm {
    random: Random,
    far: Tick,
    pause: Tick,
    order: Vec<u32>,
}

/// All timers are started far ahead, and all are cancelled before any is due. This is repeated.
pub(crate) fn cancel_storm(
    far: Tick,
    pause: Tick,
    rounds: u32,
    n: u32,
    mut random: Random,
) -> Phases {
    fn insert(state: &mut CancelStorm, step: u64, sink: &mut Sink) {
        let delay = state.random.between(state.far, 2 * state.far);
        sink.insert_after(step as u32, delay);
    }
    fn cancel(state: &mut CancelStorm, step: u64, sink: &mut Sink) {
        if step == 0 {
            state.random.shuffle(&mut state.order);
        }
        sink.cancel(state.order[step as usize]);
        if step as usize + 1 == state.order.len() {
            sink.advance(sink.now() + state.pause);
        }
    }
    let order = random.permutation(n);
    let state = CancelStorm { random, far, pause, order };
    let round = || {
        let insert = Stage::timer_ops(Measure::Mix, u64::from(n), insert);
        [insert, Stage::timer_ops(Measure::Mix, u64::from(n), cancel)]
    };
    Box::new(Script::new(state, (0..rounds).flat_map(|_| round()).collect()))
}
