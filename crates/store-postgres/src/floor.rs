//! The floor: the time in the index where a claim begins to search, so that it does not walk over
//! the dead entries of earlier claims.
//!
//! A claimed row leaves a dead entry in the index. PostgreSQL removes it soon, unless a transaction
//! that stays open somewhere in the database could still see it. Then a claim from the beginning of
//! the index walks over all of these entries.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wheelhouse_durable::store::Kinds;

/// A search that takes longer has walked over many dead entries.
const LONG: Duration = Duration::from_millis(10);

/// Claims from the beginning take at most `1 / PART` of the time: after one that took long, the
/// next one follows after `PART` times its duration.
const PART: u32 = 10;

/// A commit usually becomes visible within this time after it has read the clock, in milliseconds.
/// The next claim from the beginning finds jobs that become visible later.
const SLACK: i64 = 200;

/// The floor of a claim from the beginning.
pub(crate) const NONE: i64 = -1;

/// The most floors that are kept. A program claims the kinds of closures and those of async
/// handlers in turn.
const MOST_FLOORS: usize = 2;

/// Where the next claims begin. The two sessions of a store share it.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Floors>>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Floors> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A floor for each set of kinds that was claimed last, since a claim has not searched for jobs of
/// other kinds.
#[derive(Default)]
pub(crate) struct Floors {
    /// At most [`MOST_FLOORS`], the most recently used first.
    floors: Vec<Floor>,
    pace: Pace,
}

/// How long claims take that delay the next ones, and for how long.
#[derive(Clone, Copy)]
struct Pace {
    long: Duration,
    part: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { long: LONG, part: PART }
    }
}

impl Floors {
    /// Lets only the first claim of each set of kinds begin from the beginning, even if that is
    /// fast.
    #[cfg(test)]
    pub(crate) fn use_always(&mut self) {
        self.pace = Pace { long: Duration::ZERO, part: 1_000_000 };
    }

    /// Returns the floor of the claims of these kinds. If it is new, the least recently used one is
    /// dropped.
    pub(crate) fn of(&mut self, kinds: &Kinds) -> &mut Floor {
        if let Some(place) = self.floors.iter().position(|floor| floor.kinds == *kinds) {
            self.floors[..=place].rotate_right(1);
        } else {
            // Its first claim is from the beginning. If that exceeds the timeout, the next one
            // begins where the claims of other kinds ended.
            let known = self.floors.iter().map(|floor| floor.at).filter(|at| *at != NONE);
            let at = known.min().unwrap_or(NONE);
            self.floors.truncate(MOST_FLOORS - 1);
            self.floors.insert(0, Floor::new(kinds.clone(), at, self.pace));
        }
        &mut self.floors[0]
    }

    /// Records that this store has committed a row with this `visible_at`.
    pub(crate) fn wrote(&mut self, visible_at: i64) {
        self.floors.iter_mut().for_each(|floor| floor.wrote(visible_at));
    }

    /// Where a search for rows of the returned kinds can begin, without a claim: the lowest floor
    /// in use, and the kinds of all floors in use. Claims of other kinds are fast from the
    /// beginning, or there are none.
    pub(crate) fn search_start(&self, now: Instant) -> (i64, Kinds) {
        let in_use = || self.floors.iter().filter(|floor| floor.is_in_use(now));
        let lowest = in_use().map(Floor::earliest).min().unwrap_or(NONE);
        (lowest, Kinds::new(in_use().flat_map(|floor| floor.kinds.iter().cloned())))
    }
}

/// Where the next claim of a set of kinds begins.
pub(crate) struct Floor {
    /// Where the last claim ended, in milliseconds; [`NONE`] before that.
    at: i64,
    /// When a claim begins from the beginning again; `None` if every claim does.
    next_full: Option<Instant>,
    /// The earliest `visible_at` that this store has written since the last claim began.
    written: Option<i64>,
    /// When a claim may begin at `written` again, after such a claim took long.
    next_early: Option<Instant>,
    /// The kinds of its claims.
    kinds: Kinds,
    pace: Pace,
}

/// The range and the duration of the search of a claim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClaimStats {
    /// Where it began.
    pub(crate) floor: i64,
    /// How long the server took to find the jobs.
    pub(crate) took: Duration,
    /// The present of the claim, in milliseconds.
    pub(crate) now: i64,
    /// The `visible_at` of the last job that it found, if more jobs may be due after it.
    pub(crate) last: Option<i64>,
}

impl ClaimStats {
    /// The claim has found all jobs that are visible before this time.
    pub(crate) fn end(self) -> i64 {
        self.last.unwrap_or(self.now).min(self.now) - SLACK
    }
}

impl Floor {
    fn new(kinds: Kinds, at: i64, pace: Pace) -> Self {
        Self { at, next_full: None, written: None, next_early: None, kinds, pace }
    }

    /// Returns `true` if the next claim does not begin from the beginning.
    fn is_in_use(&self, now: Instant) -> bool {
        self.next_full.is_some_and(|full| now < full)
    }

    /// The floor, or the earliest row that was written before it.
    fn earliest(&self) -> i64 {
        self.written.unwrap_or(self.at).min(self.at)
    }

    /// Where the next claim begins, in milliseconds.
    pub(crate) fn next(&mut self, now: Instant) -> i64 {
        if !self.is_in_use(now) {
            self.written = None;
            return NONE;
        }
        if self.next_early.is_some_and(|back| now < back) {
            return self.at;
        }
        // The row in `written` is committed, so the claim sees it. The claim may miss a row that is
        // written from here on, so that row stays for the next claim.
        let start = self.earliest();
        self.written = None;
        start
    }

    fn wrote(&mut self, visible_at: i64) {
        self.written = Some(self.written.unwrap_or(visible_at).min(visible_at));
    }

    pub(crate) fn record_success(&mut self, stats: ClaimStats, now: Instant) {
        debug_assert!(
            stats.last.is_none_or(|last| stats.floor <= last && last <= stats.now),
            "a search finds rows from the floor up to the present: {stats:?}"
        );
        self.record_duration(stats.floor, stats.took, now);
        self.at = stats.end();
    }

    /// Records a claim that began at `floor` and exceeded the timeout after `took`. If it was from
    /// the beginning, the next claims begin where the last successful one ended: otherwise every
    /// claim would be from the beginning, and fail.
    pub(crate) fn record_timeout(&mut self, floor: i64, took: Duration, now: Instant) {
        self.record_duration(floor, took.max(LONG * 2), now);
    }

    /// Sets the pause after a claim that began before the end of the last one and took long, so
    /// that such claims take at most a part of the time.
    fn record_duration(&mut self, floor: i64, took: Duration, now: Instant) {
        let took = took.max(Duration::from_millis(1));
        let pause = (took > self.pace.long).then(|| now + took * self.pace.part);
        if floor == NONE {
            self.next_full = pause;
        } else if floor < self.at && took > LONG {
            self.next_early = pause;
        }
    }

    /// Returns `true` if the next claim must not begin from the beginning, but no claim has ended
    /// before, so there is no other place to begin.
    pub(crate) fn is_unknown(&self, now: Instant) -> bool {
        self.at == NONE && self.is_in_use(now)
    }

    /// Lets the next claim begin at the present, in milliseconds.
    pub(crate) const fn begin_at(&mut self, present: i64) {
        self.at = present - SLACK;
    }
}

#[cfg(test)]
mod tests {
    use super::{ClaimStats, Floor, Floors, LONG, NONE, PART, Pace, SLACK};
    use std::time::{Duration, Instant};
    use wheelhouse_durable::store::Kinds;

    fn new() -> Floor {
        Floor::new(Kinds::default(), NONE, Pace::default())
    }

    #[test]
    fn claims_read_all_unless_that_takes_long() {
        let (mut floor, begun) = (new(), Instant::now());
        let stats = |floor, took| ClaimStats { floor, took, now: 5_000, last: None };
        assert_eq!(floor.next(begun), NONE);
        floor.record_success(stats(NONE, LONG), begun);
        assert_eq!(floor.next(begun), NONE, "the claim was fast");
        let took = LONG * 2;
        floor.record_success(stats(NONE, took), begun);
        assert_eq!(floor.next(begun), 5_000 - SLACK);
        // This claim is fast because it began at the floor, so the next does not begin earlier.
        floor.record_success(stats(5_000 - SLACK, Duration::ZERO), begun);
        assert_eq!(floor.next(begun + took * PART - LONG), 5_000 - SLACK);
        assert_eq!(floor.next(begun + took * PART), NONE);
        // More jobs are due: the next claim continues where this one ended.
        floor.record_success(ClaimStats { last: Some(4_000), ..stats(NONE, took) }, begun);
        assert_eq!(floor.next(begun), 4_000 - SLACK);
    }

    #[test]
    fn a_claim_from_the_beginning_that_timed_out_is_delayed() {
        let (mut floor, begun) = (new(), Instant::now());
        floor.record_success(ClaimStats { floor: NONE, took: LONG, now: 5_000, last: None }, begun);
        assert_eq!(floor.next(begun), NONE, "the claim was fast");
        let took = Duration::from_secs(10);
        floor.record_timeout(NONE, took, begun);
        assert_eq!(floor.next(begun), 5_000 - SLACK);
        // A claim that began at the floor does not delay the next one from the beginning.
        floor.record_timeout(5_000 - SLACK, took, begun + took);
        assert_eq!(floor.next(begun + took * PART - LONG), 5_000 - SLACK);
        assert_eq!(floor.next(begun + took * PART), NONE);
        assert!(!floor.is_unknown(begun));
    }

    #[test]
    fn kinds_that_alternate_keep_their_floors() {
        let (mut floors, begun) = (Floors::default(), Instant::now());
        let [closures, futures, other] = ["a/1", "b/1", "c/1"].map(|kind| Kinds::new([kind]));
        for (kinds, now) in [(&closures, 5_000), (&futures, 6_000)] {
            assert_eq!(floors.of(kinds).next(begun), NONE);
            let stats = ClaimStats { floor: NONE, took: LONG * 2, now, last: None };
            floors.of(kinds).record_success(stats, begun);
        }
        for _ in 0..2 {
            assert_eq!(floors.of(&closures).next(begun), 4_800);
            assert_eq!(floors.of(&futures).next(begun), 5_800);
        }
        assert_eq!(floors.search_start(begun), (4_800, Kinds::new(["a/1", "b/1"])));
        floors.wrote(3_000);
        assert_eq!(floors.search_start(begun).0, 3_000);
        assert_eq!([&closures, &futures].map(|kinds| floors.of(kinds).next(begun)), [3_000; 2]);
        // The least recently used floor is dropped.
        assert_eq!(floors.of(&other).next(begun), NONE);
        assert_eq!(floors.of(&futures).next(begun), 5_800);
        assert_eq!(floors.of(&closures).next(begun), NONE);
        assert_eq!(floors.search_start(begun), (5_800, futures));
        floors.of(&closures).record_timeout(NONE, LONG * 2, begun);
        assert_eq!(floors.of(&closures).next(begun), 4_800, "where those of other kinds ended");
    }

    #[test]
    fn a_claim_begins_at_an_earlier_row_that_this_store_has_written() {
        let (mut floor, begun, took) = (new(), Instant::now(), LONG * 2);
        floor.record_success(ClaimStats { floor: NONE, took, now: 5_000, last: None }, begun);
        [3_000, 2_000, 9_000].into_iter().for_each(|at| floor.wrote(at));
        assert_eq!(floor.earliest(), 2_000);
        assert_eq!(floor.next(begun), 2_000);
        // Written during that claim, which may miss it.
        floor.wrote(4_000);
        floor.record_success(ClaimStats { floor: 2_000, took, now: 5_100, last: None }, begun);
        // That claim took long, so the next one does not begin earlier; one after a pause does.
        assert_eq!(floor.next(begun), 4_900);
        floor.next_full = Some(begun + took * PART * 2);
        assert_eq!(floor.next(begun + took * PART), 4_000);
        assert_eq!(floor.next(begun + took * PART), 4_900);
    }
}
