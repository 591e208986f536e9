//! How long runs take, and how many jobs are leased because of that.

use crate::handlers::Lane;
use crate::store::{Kind, Kinds};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// A job is leased if the workers get to it within this time: others may have free workers.
const LEASED_AHEAD: u64 = 100_000_000;

/// The time that is assumed for a kind without any run that has ended, and the longest that is.
const UNKNOWN: u64 = 1_000_000_000;

/// A run that takes longer than the mean counts at most as this and a multiple of the mean.
const OUTLIER: u64 = 100_000;

/// How long runs take, in nanoseconds: 0 as long as that is not known.
#[derive(Default)]
struct Pace(AtomicU64);

impl Pace {
    fn nanos(&self) -> u64 {
        match self.0.load(Ordering::Relaxed) {
            0 => UNKNOWN,
            known => known,
        }
    }

    /// Follows longer runs faster than shorter ones: to begin too much ahead does harm, too little
    /// costs time. But one long run is not the rule, as a thread may have had to wait for its
    /// processor: it counts as some times the mean, so that it takes a few in a row.
    fn learn(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(UNKNOWN).clamp(1, UNKNOWN);
        let known = match self.0.load(Ordering::Relaxed) {
            0 => took,
            known if took > known => known + (took.min(16 * known + OUTLIER) - known) / 4,
            known => known - (known - took) / 8,
        };
        self.0.store(known.max(1), Ordering::Relaxed);
    }
}

/// The paces of all shards, which share the workers.
pub(crate) struct Paces {
    kinds: BTreeMap<Kind, Pace>,
    /// The mean of all kinds that run on threads.
    all: Pace,
    /// How many suspects wait, by [`Lane`].
    suspects: [AtomicUsize; 2],
}

impl Paces {
    pub(crate) fn new(kinds: &Kinds) -> Self {
        let kinds = kinds.iter().map(|kind| (kind.clone(), Pace::default())).collect();
        Self { kinds, all: Pace::default(), suspects: Default::default() }
    }

    /// How long a run of this kind takes, in nanoseconds.
    pub(super) fn nanos(&self, kind: &str) -> u64 {
        self.kinds.get(kind).map_or(UNKNOWN, Pace::nanos)
    }

    /// A job is leased, which may be a suspect.
    pub(super) fn add_suspect(&self, lane: Lane, is_suspect: bool) {
        self.suspects[lane as usize].fetch_add(usize::from(is_suspect), Ordering::SeqCst);
    }

    /// It waits no longer.
    pub(super) fn remove_suspect(&self, lane: Lane, is_suspect: bool) {
        let is_suspect = usize::from(is_suspect);
        let before = self.suspects[lane as usize].fetch_sub(is_suspect, Ordering::SeqCst);
        debug_assert!(before >= is_suspect, "each was counted as it came");
    }

    /// How many jobs of a lane may be leased if `at_once` of them run at a time. Suspects that wait
    /// for one another are not counted.
    pub(super) fn leased_ahead(&self, lane: Lane, at_once: usize) -> usize {
        let ahead = match lane {
            Lane::Threads => {
                usize::try_from(LEASED_AHEAD / self.all.nanos()).unwrap_or(usize::MAX - 1)
            }
            // They begin at once.
            Lane::Futures => 0,
        };
        let suspects = self.suspects[lane as usize].load(Ordering::SeqCst);
        at_once.saturating_mul(1 + ahead).saturating_add(suspects)
    }

    /// A run of this kind has ended on a thread.
    pub(super) fn learn(&self, kind: &str, took: Duration) {
        self.all.learn(took);
        self.kinds.get(kind).into_iter().for_each(|pace| pace.learn(took));
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiting::AHEAD;
    use super::*;

    #[test]
    fn a_pace_follows_runs_and_not_a_single_one() {
        let pace = Pace::default();
        assert_eq!(pace.nanos(), UNKNOWN);
        pace.learn(Duration::ZERO);
        assert_eq!(pace.nanos(), 1, "by a clock that stands still");
        let (fast, slow) = (Duration::from_micros(10), Duration::from_secs(3_600));
        (0..100).for_each(|_| pace.learn(fast));
        assert!((9_000..=10_000).contains(&pace.nanos()), "{}", pace.nanos());
        pace.learn(slow);
        assert!(pace.nanos() < AHEAD / 5, "an outlier: {}", pace.nanos());
        (0..3).for_each(|_| pace.learn(slow));
        assert!(pace.nanos() > AHEAD, "four in a row: {}", pace.nanos());
        (0..20).for_each(|_| pace.learn(slow));
        assert_eq!(pace.nanos() / (UNKNOWN / 100), 99);
    }
}
