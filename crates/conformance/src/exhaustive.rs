//! Every short sequence of calls, compared with the oracle.
//!
//! A few calls on a few timers reveal most faults of a timer structure, if they are the right
//! calls. Random sequences find the right calls only with luck. This check plays all of them.

mod calls;
#[cfg(test)]
mod tests;

use crate::{Oracle, guard};
use calls::{Answer, Call, Side, same};
use std::panic::{AssertUnwindSafe, catch_unwind};
use wheelhouse_core::{Tick, Timer};

/// Plays every sequence of up to `calls` calls on a structure and on the [`Oracle`], and compares
/// all results. Returns the number of sequences played.
///
/// `make` returns an empty structure. Its clock may start at any tick. The borders below are those
/// of wheels with 2, 4 and 16 slots, so configure a wheel with 2 or 4 slots: then a sequence of a
/// few calls reaches several levels.
///
/// # Enumerated calls
///
/// Each call of a sequence is one of these. Calls that are equal at the current clock count once.
///
/// * `insert` with a deadline of `now - 1`, `now`, `now + 1`, the next multiple of 2, of 4, of 16
///   and of 65,536, or one tick after that of 4 or 16.
/// * `cancel` of each live timer.
/// * `reschedule` of each live timer to each of these deadlines.
/// * `advance` to `now`, `now + 1`, `now + 16`, the next multiple of 4 or 65,536, and to the tick
///   that `next_wakeup` returns.
/// * `pop_expired`, once, at `now - 1`, which counts as `now`, and at the next multiple of 4 or
///   65,536.
///
/// All ticks saturate at both ends of the range.
///
/// # Compared results
///
/// After each call: the return value, each timer that fires with its handle, deadline and value, in
/// order, the length, the clock, the deadline of every handle, and the wake-up, which must not be
/// after the earliest deadline.
///
/// After each sequence, every stale handle is cancelled and rescheduled. Then all timers fire: the
/// clock goes from wake-up to wake-up, by `pop_expired` if that was the last call of the sequence,
/// otherwise by `advance`. More than 64 wake-ups in a row at which nothing fires are a failure.
///
/// # Calls that are not played
///
/// Two sequences with the same results may leave a structure in different states, so no sequence is
/// skipped because of the state it leads to. Stale handles are used only after a sequence: they
/// change nothing, and would multiply the number of sequences. If a stale handle damages the
/// structure, its result or the firing from wake-up to wake-up differs. `compact` and panicking
/// callbacks are played in the random sequences of
/// [`property_any_sequence`](crate::property_any_sequence).
///
/// # Cost
///
/// With l live timers there are up to 9 l + 17 calls to choose from. From tick 0, the following
/// number of sequences is played; a structure with inexact wake-ups has a few more or fewer:
///
/// | calls | sequences |
/// |---|---|
/// | 1 | 17 |
/// | 2 | 353 |
/// | 3 | 8,625 |
/// | 4 | 239,186 |
/// | 5 | 7,383,918 |
///
/// A sequence takes one to three microseconds in a release build and about ten in a test. It clones
/// the structure once, because sequences share their common beginning, so a structure of hundreds
/// of kilobytes takes longer. The oracle cannot be cloned: each sequence repeats its calls on a new
/// one.
///
/// # Panics
///
/// At the first difference, or if the structure panics. The message lists the calls. A structure
/// that never returns from a call hangs the check.
///
/// # Examples
///
/// ```
/// use wheelhouse_conformance::exhaustive;
/// # mod wheelhouse_heap {
/// #     use std::collections::BTreeSet;
/// #     use wheelhouse_core::meter::Meter;
/// #     use wheelhouse_core::ordered::{Key, Ordered, Queue};
/// #     #[derive(Clone)]
/// #     pub struct Set(BTreeSet<(Key, u32)>);
/// #     impl<M: Meter> Queue<M> for Set {
/// #         const EMPTY: Self = Self(BTreeSet::new());
/// #         fn insert(&mut self, key: Key, place: u32, _: &M) { self.0.insert((key, place)); }
/// #         fn remove(&mut self, key: Key, place: u32, _: &M) { self.0.remove(&(key, place)); }
/// #         fn first(&self) -> Option<u64> { self.0.first().map(|(key, _)| key.deadline) }
/// #         fn pop(&mut self, _: &M) -> Option<u32> { self.0.pop_first().map(|(_, place)| place) }
/// #     }
/// #     pub type Heap<T> = Ordered<T, Set>;
/// # }
/// use wheelhouse_heap::Heap;
///
/// let played = exhaustive(|| Heap::<u8>::new(), 2);
/// assert_eq!(played, 353);
/// ```
pub fn exhaustive<T: Timer<u8> + Clone>(make: impl Fn() -> T, calls: usize) -> u64 {
    let ours = Side { timer: make(), ids: Vec::new() };
    let mut search = Search { start: ours.timer.now(), path: Vec::new(), played: 0 };
    let theirs = search.oracle();
    let visit = AssertUnwindSafe(|| search.visit(ours, theirs, calls));
    let outcome = catch_unwind(visit)
        .unwrap_or_else(|payload| Err(format!("panics: {}", guard::message(&*payload))));
    if let Err(what) = outcome {
        panic!("{what}\n{}", search.sequence());
    }
    search.played
}

/// The most wake-ups in a row that may fire nothing: the number of levels of a wheel with two slots
/// a level.
const MAX_VAIN: usize = 64;

/// A depth-first search over all sequences.
struct Search {
    start: Tick,
    /// The sequence that is being played.
    path: Vec<Call>,
    played: u64,
}

impl Search {
    /// An oracle that has played the sequence.
    fn oracle(&self) -> Side<Oracle<u8>> {
        let mut oracle = Side { timer: Oracle::new(), ids: Vec::new() };
        oracle.play(Call::Advance(self.start));
        for call in &self.path {
            oracle.play(*call);
        }
        oracle
    }

    /// Plays a call on both and compares.
    fn play<T: Timer<u8>>(
        &mut self,
        call: Call,
        ours: &mut Side<T>,
        theirs: &mut Side<Oracle<u8>>,
    ) -> Result<Answer, String> {
        self.path.push(call);
        let answer = ours.play(call);
        same("the last call", &answer, &theirs.play(call))?;
        ours.compare(theirs)?;
        Ok(answer)
    }

    /// Plays all sequences that begin with the current one, with up to `left` more calls.
    fn visit<T: Timer<u8> + Clone>(
        &mut self,
        ours: Side<T>,
        theirs: Side<Oracle<u8>>,
        left: usize,
    ) -> Result<(), String> {
        self.played += 1;
        if left > 0 {
            for call in theirs.calls(ours.timer.next_wakeup()) {
                let (mut ours, mut theirs) = (ours.clone(), self.oracle());
                self.play(call, &mut ours, &mut theirs)?;
                self.visit(ours, theirs, left - 1)?;
                self.path.pop();
            }
        }
        self.finish(ours, theirs)
    }

    /// Uses every stale handle, then fires all timers, from wake-up to wake-up.
    fn finish<T: Timer<u8>>(
        &mut self,
        mut ours: Side<T>,
        mut theirs: Side<Oracle<u8>>,
    ) -> Result<(), String> {
        let played = self.path.len();
        let pops = matches!(self.path.last(), Some(Call::Pop(_)));
        let at_wakeup = if pops { Call::Pop } else { Call::Advance };

        let now = theirs.timer.now();
        for stale in theirs.stale() {
            self.play(Call::Cancel(stale), &mut ours, &mut theirs)?;
            self.play(Call::Reschedule(stale, now), &mut ours, &mut theirs)?;
        }
        let mut vain = 0;
        while let Some(wakeup) = ours.timer.next_wakeup() {
            let answer = self.play(at_wakeup(wakeup), &mut ours, &mut theirs)?;
            vain = if answer.is_an_expiry() { 0 } else { vain + 1 };
            if vain > MAX_VAIN {
                return Err(format!("more than {MAX_VAIN} wake-ups in a row fire nothing"));
            }
        }
        self.path.truncate(played);
        Ok(())
    }

    /// The sequence as a list of calls.
    fn sequence(&self) -> String {
        let mut list = format!("in this sequence, from tick {}:", self.start);
        let mut inserted = 0;
        for call in &self.path {
            list += &format!("\n    {}", call.text(inserted));
            inserted += usize::from(matches!(call, Call::Insert(_)));
        }
        list
    }
}
