//! What the models count with: their own counters, and keys that count when a library compares
//! them.

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

/// Counts steps.
pub(crate) fn steps(kind: Work, count: u64) {
    STEPS.with_borrow_mut(|steps| steps[kind as usize] += count);
}

/// Counts one.
pub(crate) fn step(kind: Work) {
    steps(kind, 1);
}

/// All that was counted since the last call.
pub(crate) fn taken() -> Steps {
    STEPS.take()
}

/// A timer, by its deadline and the number of its insertion. To compare two is a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key(pub(crate) Tick, pub(crate) u64);

impl Key {
    /// The same without a count.
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

/// Takes the first key out of a set if it is due at a tick.
pub(crate) fn pop_due(set: &mut BTreeSet<Key>, now: Tick) -> Option<u64> {
    set.first().filter(|first| first.0 <= now)?;
    set.pop_first().map(|first| first.1)
}

/// How far after a slot the first occupied one is, round a wheel of so many and within `count`. A
/// step for each word of 64 slots that has to be read: at the start, and where a word begins.
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
