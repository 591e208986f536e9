//! The floor: the time in the index where a claim begins to search, so that it does not walk over
//! the dead entries of earlier claims.
//!
//! A claimed row leaves a dead entry in the index, over which a claim from the beginning of the
//! index walks. The next vacuum removes it, usually within a minute, unless a transaction that
//! stays open somewhere in the database could still see it.
//!
//! A claim also finds when the next job is visible. A leased job is visible again at the end of its
//! lease, so its ack leaves a dead entry there too. If no other job is due in the meantime, the
//! search for the next job walks over the entries of all leases of the last half minute. So it
//! begins at the job that the last search found. Before that there are only new leases, and rows
//! whose commits the store hears of or which wait behind such a row. Once a second the search
//! begins at the present, and finds the leases of dead programs.

use crate::row;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Kinds, Timestamp};

/// A search that takes longer has walked over many dead entries.
const LONG: Duration = Duration::from_millis(10);

/// The same for a store that is notified of earlier jobs, so that it can avoid shorter walks. Each
/// found row takes [`EACH`] longer.
const SHORT: Duration = Duration::from_micros(500);
const EACH: Duration = Duration::from_micros(20);

/// A store that is notified searches from the beginning after this pause, if that is not short.
/// Programs poll once a second: each poll is from the beginning.
const RECHECK: Duration = Duration::from_millis(900);

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
pub(crate) struct Floors {
    /// At most [`MOST_FLOORS`], the most recently used first.
    floors: Vec<Floor>,
    pace: Pace,
}

impl Default for Floors {
    fn default() -> Self {
        Self { floors: Vec::new(), pace: ALONE }
    }
}

/// How long claims from the beginning take that delay the next ones, and for how long at least.
#[derive(Clone, Copy, PartialEq)]
struct Pace {
    long: Duration,
    each: Duration,
    pause: Duration,
    /// Searches for the next row are delayed too.
    is_notified: bool,
}

/// The pace of a store that is not notified.
const ALONE: Pace =
    Pace { long: LONG, each: Duration::ZERO, pause: Duration::ZERO, is_notified: false };

/// The pace of a store that is notified.
const NOTIFIED: Pace = Pace { long: SHORT, each: EACH, pause: RECHECK, is_notified: true };

impl Floors {
    /// Lets only the first claim of each set of kinds begin from the beginning, even if that is
    /// fast. If `is_notified`, only its search for the next row begins at the present, too.
    #[cfg(test)]
    pub(crate) fn use_always(&mut self, is_notified: bool) {
        let pause = Duration::from_secs(10_000);
        self.pace = Pace { long: Duration::ZERO, each: Duration::ZERO, pause, is_notified };
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

    /// Records a notification that a row with this `visible_at` was committed. [`NONE`] says that
    /// others may have been committed.
    pub(crate) fn heard(&mut self, visible_at: i64) {
        if self.pace == ALONE {
            self.pace = NOTIFIED;
            self.floors.iter_mut().for_each(|floor| floor.pace = NOTIFIED);
        }
        self.wrote(visible_at);
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
    /// The first row that the last search for the next job found.
    first: i64,
    /// When the search for the next job begins at the present again; `None` if every search does.
    next_search: Option<Instant>,
    /// The kinds of its claims.
    kinds: Kinds,
    pace: Pace,
}

/// Where a claim begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Where its search for visible rows begins, in milliseconds.
    pub(crate) floor: i64,
    /// Where its search for the next row may begin: between the present and this there are only new
    /// leases. And after which duration a search must begin at the present again. `None` if this
    /// search must.
    pub(crate) first: Option<(i64, Duration)>,
    /// The row in [`Floor::written`] that `floor` considers.
    written: Option<i64>,
}

impl Default for Start {
    fn default() -> Self {
        Self { floor: NONE, first: None, written: None }
    }
}

/// The search of a claim for the next row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// It began at the present.
    pub(crate) is_full: bool,
    /// How long the server took for it.
    pub(crate) took: Duration,
    pub(crate) found: Option<Timestamp>,
}

/// The range and the duration of the search of a claim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClaimStats {
    /// Where it began.
    pub(crate) floor: i64,
    /// How long the server took to find the jobs.
    pub(crate) took: Duration,
    /// How many it found in this time.
    pub(crate) found: u32,
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
        let (written, next_early) = (None, None);
        let (first, next_search) = (i64::MAX, None);
        Self { at, next_full: None, written, next_early, first, next_search, kinds, pace }
    }

    /// Returns `true` if the next claim does not begin from the beginning.
    fn is_in_use(&self, now: Instant) -> bool {
        self.next_full.is_some_and(|full| now < full)
    }

    /// The floor, or the earliest row that was written before it.
    fn earliest(&self) -> i64 {
        self.written.unwrap_or(self.at).min(self.at)
    }

    /// Where the next claim begins.
    pub(crate) fn next(&mut self, now: Instant) -> Start {
        let pause = self.next_search.map(|full| full.saturating_duration_since(now));
        let at = self.written.unwrap_or(self.first).min(self.first);
        let first = pause.filter(|pause| !pause.is_zero()).map(|pause| (at, pause));
        if self.is_in_use(now) && self.next_early.is_some_and(|back| now < back) {
            return Start { floor: self.at, first, written: None };
        }
        let floor = if self.is_in_use(now) { self.earliest() } else { NONE };
        // The row in `written` is committed, so the claim sees it. The claim may miss a row that is
        // written from here on, so that row stays for the next claim.
        Start { floor, first, written: self.written.take() }
    }

    fn wrote(&mut self, visible_at: i64) {
        self.written = Some(self.written.unwrap_or(visible_at).min(visible_at));
    }

    pub(crate) fn record_success(&mut self, stats: ClaimStats, now: Instant) {
        debug_assert!(
            stats.last.is_none_or(|last| stats.floor <= last && last <= stats.now),
            "a search finds rows from the floor up to the present: {stats:?}"
        );
        self.record_duration(stats.floor, stats.took, stats.found, now);
        self.at = stats.end();
    }

    pub(crate) fn record_search(&mut self, search: Search, now: Instant) {
        self.first = search.found.map_or(i64::MAX, row::millis);
        if search.is_full {
            let Pace { long, pause, is_notified, .. } = self.pace;
            let pause = (search.took * PART).max(pause);
            self.next_search = (is_notified && search.took > long).then(|| now + pause);
        }
    }

    /// Records a claim that failed. It may have exceeded the timeout, after `took`. If it was
    /// from the beginning, the next claims begin where the last successful one ended, whatever was
    /// written before: otherwise every claim would be from the beginning, and fail.
    pub(crate) fn record_failure(&mut self, start: Start, took: Option<Duration>, now: Instant) {
        self.next_search = None;
        start.written.into_iter().for_each(|at| self.wrote(at));
        let Some(took) = took else { return };
        let took = took.max(LONG * 2);
        self.record_duration(start.floor, took, 0, now);
        if start.floor == NONE {
            self.next_early = self.next_full;
        }
    }

    /// Sets the pause after a claim that began before the end of the last one and took long, so
    /// that such claims take at most a part of the time.
    fn record_duration(&mut self, floor: i64, took: Duration, found: u32, now: Instant) {
        let Pace { long, each, pause, .. } = self.pace;
        // The server's clock has microseconds.
        let took = took.max(Duration::from_micros(1));
        if floor == NONE {
            let is_long = took > long + each * found;
            self.next_full = is_long.then(|| now + (took * PART).max(pause));
        } else if floor < self.at && took > LONG {
            self.next_early = Some(now + took * PART);
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
mod tests;
