//! The counters of the models, and keys that count when a library compares them.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::Work;

/// Steps of each kind.
pub(crate) type Steps = [u64; Work::ALL.len()];

thread_local! {
    static STEPS: RefCell<Steps> = RefCell::default();
}

pub(crate) fn steps(kind: Work, count: u64) {
    STEPS.with_borrow_mut(|steps| steps[kind as usize] += count);
}

pub(crate) fn step(kind: Work) {
    steps(kind, 1);
}

/// The steps that were counted since the last call.
pub(crate) fn take_steps() -> Steps {
    STEPS.take()
}

/// A timer, by its deadline and the number of its insertion. Comparing two keys is a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key(pub(crate) Tick, pub(crate) u64);

impl Key {
    /// The same pair, which compares without a count.
    pub(crate) fn pair(self) -> (Tick, u64) {
        (self.0, self.1)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        step(Work::Comparison);
        self.pair().cmp(&other.pair())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

/// Removes the first key of a set if it is due at a tick. Returns its number.
pub(crate) fn pop_due(set: &mut BTreeSet<Key>, now: Tick) -> Option<u64> {
    set.first().filter(|first| first.0 <= now)?;
    set.pop_first().map(|first| first.1)
}

/// How far the first occupied slot is after slot `from`, on a wheel of `slots` slots, if that is
/// less than `count`. Each word of 64 slots that has to be read is a step: one at the start, and
/// one wherever a word begins.
pub(crate) fn next_occupied(
    slots: u64,
    from: u64,
    count: u64,
    is_occupied: impl Fn(u64) -> bool,
) -> Option<u64> {
    (0..count).find(|passed| {
        let at = (from + passed) % slots;
        if *passed == 0 || at % 64 == 0 {
            step(Work::SlotVisit);
        }
        is_occupied(at)
    })
}
