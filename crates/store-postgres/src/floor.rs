//! Where a claim begins to read, so that it does not walk over what earlier ones have left behind.
//!
//! A claimed row leaves a dead entry in the index. PostgreSQL removes it soon, unless a transaction
//! that stays open somewhere in the database could still see it. Then a claim that reads from the
//! beginning walks over all of them.

use std::time::{Duration, Instant};

/// A claim that takes longer to find its jobs has walked over many dead entries.
const LONG: Duration = Duration::from_millis(10);

/// A claim from the beginning takes at most this part of the time.
const PART: u32 = 10;

/// A commit is seen this long at most after it has read the clock, usually. A job that is seen
/// later is found by the next claim from the beginning.
const SLACK: i64 = 200;

/// Reads all.
const NONE: i64 = -1;

/// Where the next claim begins.
pub(crate) struct Floor {
    at: i64,
    /// When a claim reads from the beginning again; `None` if each does.
    full: Option<Instant>,
}

/// How a claim went.
#[derive(Clone, Copy)]
pub(crate) struct Course {
    /// Where it began.
    pub(crate) floor: i64,
    /// How long the server took to find the jobs.
    pub(crate) took: Duration,
    /// Its present, in milliseconds.
    pub(crate) now: i64,
    /// The last time that it found, if more may be due after that.
    pub(crate) last: Option<i64>,
}

impl Course {
    /// Jobs that are visible earlier have been found.
    pub(crate) fn end(self) -> i64 {
        self.last.unwrap_or(self.now).min(self.now) - SLACK
    }
}

impl Floor {
    pub(crate) const fn new() -> Self {
        Self { at: NONE, full: None }
    }

    /// From where to read: milliseconds.
    pub(crate) fn next(&self, now: Instant) -> i64 {
        if self.full.is_some_and(|full| now < full) { self.at } else { NONE }
    }

    pub(crate) fn went(&mut self, course: Course, now: Instant) {
        if course.floor == NONE {
            self.full = (course.took > LONG).then(|| now + course.took * PART);
        }
        self.at = course.end();
    }

    /// A claim that began at `floor` was given up after this long. The next ones begin where the
    /// last one ended, so that not every claim is one from the beginning that is given up.
    pub(crate) fn gave_up(&mut self, floor: i64, took: Duration, now: Instant) {
        if floor == NONE {
            self.full = Some(now + took * PART);
        }
    }

    /// Returns `true` if a claim must not read from the beginning, and none has ended before.
    pub(crate) fn is_unknown(&self, now: Instant) -> bool {
        self.at == NONE && self.full.is_some_and(|full| now < full)
    }

    /// Begins at the present, in milliseconds.
    pub(crate) const fn begin_at(&mut self, present: i64) {
        self.at = present - SLACK;
    }
}

#[cfg(test)]
mod tests {
    use super::{Course, Floor, LONG, NONE, PART, SLACK};
    use std::time::{Duration, Instant};

    #[test]
    fn claims_read_all_unless_that_takes_long() {
        let (mut floor, begun) = (Floor::new(), Instant::now());
        let course = |floor, took| Course { floor, took, now: 5_000, last: None };
        assert_eq!(floor.next(begun), NONE);
        floor.went(course(NONE, LONG), begun);
        assert_eq!(floor.next(begun), NONE, "it was fast");
        let took = LONG * 2;
        floor.went(course(NONE, took), begun);
        assert_eq!(floor.next(begun), 5_000 - SLACK);
        // One that is fast because it began there says nothing of one from the beginning.
        floor.went(course(5_000 - SLACK, Duration::ZERO), begun);
        assert_eq!(floor.next(begun + took * PART - LONG), 5_000 - SLACK);
        assert_eq!(floor.next(begun + took * PART), NONE);
        // More is due: it continues where it ended.
        floor.went(Course { last: Some(4_000), ..course(NONE, took) }, begun);
        assert_eq!(floor.next(begun), 4_000 - SLACK);
    }

    #[test]
    fn a_claim_from_the_beginning_that_was_given_up_is_put_off() {
        let (mut floor, begun) = (Floor::new(), Instant::now());
        floor.went(Course { floor: NONE, took: LONG, now: 5_000, last: None }, begun);
        assert_eq!(floor.next(begun), NONE, "it was fast");
        let took = Duration::from_secs(10);
        floor.gave_up(NONE, took, begun);
        assert_eq!(floor.next(begun), 5_000 - SLACK);
        // One that began there changes nothing: the next from the beginning is as far away.
        floor.gave_up(5_000 - SLACK, took, begun + took);
        assert_eq!(floor.next(begun + took * PART - LONG), 5_000 - SLACK);
        assert_eq!(floor.next(begun + took * PART), NONE);
        assert!(!floor.is_unknown(begun));
    }

    #[test]
    fn a_first_claim_that_was_given_up_lets_the_next_begin_at_the_present() {
        let (mut floor, begun) = (Floor::new(), Instant::now());
        assert!(!floor.is_unknown(begun), "all is read");
        floor.gave_up(NONE, LONG, begun);
        assert!(floor.is_unknown(begun));
        floor.begin_at(7_000);
        assert!(!floor.is_unknown(begun));
        assert_eq!(floor.next(begun), 7_000 - SLACK);
        assert_eq!(floor.next(begun + LONG * PART), NONE);
    }
}
