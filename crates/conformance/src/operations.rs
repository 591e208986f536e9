//! Random operations with a check of the internal state, for the unit tests of a structure.

use crate::random::Random;
use wheelhouse_core::Timer;

const OPERATIONS: u64 = 5_000;
/// The number of operations between two checks.
const BETWEEN: u64 = 10;

/// Plays 5,000 random operations on an empty structure, and calls `check` after every tenth. Half
/// of the operations insert. The others cancel, reschedule, pop a timer or advance. Deadlines have
/// random distances of up to `bits` bits, each number of bits with the same probability. One in
/// sixteen is before the clock. The clock moves by up to half as many bits, so that timers
/// accumulate.
///
/// The [suites](crate::suite) check the results of a structure. Use this function to check its
/// internal invariants.
///
/// ```
/// use wheelhouse_conformance::{OracleDefinition, check_random_operations};
/// use wheelhouse_core::{Timer, backend::Backend, meter::NoMeter};
///
/// let mut oracle = OracleDefinition::build::<u64, NoMeter>();
/// check_random_operations(&mut oracle, 1, 12, |it| {
///     assert_eq!(it.is_empty(), it.next_wakeup().is_none());
/// });
/// ```
pub fn check_random_operations<T: Timer<u64>>(
    timer: &mut T,
    seed: u64,
    bits: u32,
    mut check: impl FnMut(&mut T),
) {
    let (mut ids, mut random) = (Vec::new(), Random::new(seed));
    for operation in 0..OPERATIONS {
        let (now, distance) = (timer.now(), random.of_any_scale(bits));
        let is_past = random.one_in(16);
        let tick =
            if is_past { now.saturating_sub(distance) } else { now.saturating_add(distance) };
        let clock = now.saturating_add(random.of_any_scale(bits / 2));
        match random.below(8) {
            0..4 => ids.push(timer.insert(tick, operation)),
            4 if !ids.is_empty() => _ = timer.cancel(ids.swap_remove(random.index(ids.len()))),
            5 if !ids.is_empty() => _ = timer.reschedule(ids[random.index(ids.len())], tick),
            6 => _ = timer.pop_expired(clock),
            _ => _ = timer.advance(clock, |_| ()),
        }
        if operation % BETWEEN == 0 {
            check(timer);
        }
    }
}
