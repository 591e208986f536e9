//! The mean times of runs, and how many jobs may be leased because of them.

use super::Lane;
use crate::store::Kind;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// A job is leased if a worker is expected to be free for it within this time, in nanoseconds.
/// Other programs may have free workers for the rest.
const LEASED_AHEAD: u64 = 100_000_000;

/// A run begins if a worker is expected to be free for it within this time, in nanoseconds.
pub(crate) const AHEAD: u64 = 1_000_000;

/// The assumed time of a run, in nanoseconds, if no run of its kind has ended. Also the longest
/// time that is assumed.
const UNKNOWN: u64 = 1_000_000_000;

/// A run longer than the mean counts as at most this plus a multiple of the mean, in nanoseconds.
const OUTLIER: u64 = 100_000;

/// The mean time of runs, in nanoseconds. 0: not known yet.
#[derive(Default)]
struct Pace(AtomicU64);

impl Pace {
    fn nanos(&self) -> u64 {
        match self.0.load(Ordering::Relaxed) {
            0 => UNKNOWN,
            known => known,
        }
    }

    /// Adapts to longer runs faster than to shorter ones: beginning too early does harm, beginning
    /// too late only costs time. A single long run may be an outlier, such as a thread that waited
    /// for its processor. It counts as a limited multiple of the mean, so only several in a row
    /// change the mean much.
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

/// The pace of each kind. All shards share one value, since they share the workers.
pub(crate) struct Paces {
    kinds: BTreeMap<Kind, Pace>,
    /// The pace of all kinds of [`Lane::Threads`] together.
    all: Pace,
    /// The number of suspects that wait, by [`Lane`].
    suspects: [AtomicUsize; 2],
}

impl Paces {
    pub(crate) fn new<'a>(kinds: impl Iterator<Item = &'a Kind>) -> Self {
        let kinds = kinds.map(|kind| (kind.clone(), Pace::default())).collect();
        Self { kinds, all: Pace::default(), suspects: Default::default() }
    }

    pub(crate) fn nanos(&self, kind: &str) -> u64 {
        self.kinds.get(kind).map_or(UNKNOWN, Pace::nanos)
    }

    /// Counts a job that waits from now on, if it is a suspect.
    pub(crate) fn add_suspect(&self, lane: Lane, is_suspect: bool) {
        self.suspects[lane as usize].fetch_add(usize::from(is_suspect), Ordering::SeqCst);
    }

    /// Undoes [`add_suspect`](Self::add_suspect) for a job that no longer waits.
    pub(crate) fn remove_suspect(&self, lane: Lane, is_suspect: bool) {
        let is_suspect = usize::from(is_suspect);
        let before = self.suspects[lane as usize].fetch_sub(is_suspect, Ordering::SeqCst);
        debug_assert!(before >= is_suspect, "each was counted as it came");
    }

    /// Returns how many jobs of a lane may be leased if `at_once` run at a time. Suspects that wait
    /// for one another are not counted.
    pub(crate) fn leased_ahead(&self, lane: Lane, at_once: usize) -> usize {
        let ahead = match lane {
            Lane::Threads => {
                usize::try_from(LEASED_AHEAD / self.all.nanos()).unwrap_or(usize::MAX - 1)
            }
            // Futures begin at once.
            Lane::Futures => 0,
        };
        let suspects = self.suspects[lane as usize].load(Ordering::SeqCst);
        at_once.saturating_mul(1 + ahead).saturating_add(suspects)
    }

    pub(crate) fn learn(&self, kind: &str, took: Duration) {
        self.all.learn(took);
        self.kinds.get(kind).into_iter().for_each(|pace| pace.learn(took));
    }
}

#[cfg(test)]
mod tests {
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
