//! Every short sequence of calls, compared with the oracle.
//!
//! A few calls on a few timers reveal most faults of a timer structure, if they are the right
//! calls. Random sequences find the right calls only with luck. This check plays all of them.

use crate::script::{Pair, Step, When};
use crate::suite::message;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use wheelhouse_core::backend::Precision;
use wheelhouse_core::{Tick, Timer};

/// The borders of wheels with 2 and 4 slots, for [`exhaustive`].
pub const BORDERS: [Tick; 4] = [2, 4, 16, 1 << 16];

/// Plays every sequence of up to `calls` calls on a structure and on the [`Oracle`](crate::Oracle),
/// and compares all results. Returns the number of sequences played.
///
/// `make` returns an empty structure. Its clock may start at any tick. `borders` are four numbers,
/// in ascending order: the first ticks of slots are multiples of them. [`BORDERS`] are those of
/// wheels with 2 and 4 slots. Configure a wheel with few slots, so that a sequence of a few calls
/// reaches several levels.
///
/// # Enumerated calls
///
/// Each call of a sequence is one of these. Calls that are equal at the current clock count once.
///
/// * `insert` with a deadline of `now - 1`, `now`, `now + 1`, the next multiple of each border, or
///   one tick after that of the second or third.
/// * `cancel` of each live timer, and of the newest that is not live.
/// * `reschedule` of each live timer to each of these deadlines, and of the newest that is not
///   live.
/// * `postpone` of each live timer to `now`, and to the next multiple of the second and fourth
///   border and one tick after that of the third.
/// * `advance` to `now`, `now + 1`, `now` plus the third border, the next multiple of the second or
///   fourth, and to the tick that `next_wakeup` returns.
/// * `pop_expired`, once, at `now - 1`, which counts as `now`, and at the next multiple of the
///   second or fourth border.
///
/// All ticks saturate at both ends of the range.
///
/// # Compared results
///
/// After each call: the return value, each timer that fires with its handle, deadline and value, in
/// order, the length, the clock, the deadline of every handle, and the wake-up, which must not be
/// after the earliest deadline.
///
/// After each sequence, every stale handle is cancelled, rescheduled and postponed. Then all timers
/// fire: the clock goes from wake-up to wake-up, by `pop_expired` if that was the last call of the
/// sequence, otherwise by `advance`. More than 64 wake-ups in a row at which nothing fires are a
/// failure.
///
/// No sequence is skipped because of the state it leads to: two sequences with the same results may
/// leave a structure in different states. `compact`, panicking callbacks, and older stale handles
/// in the middle of a sequence are left to
/// [`property_any_sequence`](crate::property_any_sequence).
///
/// # Cost
///
/// With l live timers there are up to 14 l + 19 calls to choose from. From tick 0, there are 385
/// sequences of up to 2 calls, 10,847 of up to 3, and 357,219 of up to 4; a structure with inexact
/// wake-ups has a few more or fewer. A sequence takes some microseconds in a release build. It
/// clones the structure once, because sequences share their common beginning, so a structure of
/// hundreds of kilobytes takes longer.
///
/// # Panics
///
/// At the first difference, or if the structure panics. The message has the calls as a
/// [script](crate::script). A structure that never returns from a call hangs the check.
///
/// # Examples
///
/// ```
/// use wheelhouse_conformance::{BORDERS, Oracle, exhaustive};
///
/// let played = exhaustive(Oracle::new, BORDERS, 2); // or your own structure
/// assert_eq!(played, 385);
/// ```
pub fn exhaustive<T: Timer<u64> + Clone>(
    make: impl Fn() -> T,
    borders: [Tick; 4],
    calls: usize,
) -> u64 {
    let pair = Pair::with(make(), Precision::Exact, 0);
    let (start, mut search) = (pair.now, Search { borders, path: Vec::new(), played: 0 });
    let outcome = catch_unwind(AssertUnwindSafe(|| search.visit(pair, calls)));
    let panics = |payload: Box<dyn Any + Send>| Err(format!("panics: {}", message(&*payload)));
    if let Err(what) = outcome.unwrap_or_else(panics) {
        panic!("{what}\nin this sequence, from tick {start}: {:?}", search.path);
    }
    search.played
}

/// The most wake-ups in a row that may fire nothing: the number of levels of a wheel with two slots
/// a level.
const MAX_VAIN: usize = 64;

/// A depth-first search over all sequences.
struct Search {
    borders: [Tick; 4],
    /// The sequence that is being played.
    path: Vec<Step>,
    played: u64,
}

impl Search {
    /// Plays a call and compares all results. Returns how many timers fired.
    fn play<T: Timer<u64>>(&mut self, call: Step, pair: &mut Pair<T>) -> Result<usize, String> {
        self.path.push(call);
        let fired = pair.play(call).map_err(|divergence| divergence.what)?;
        pair.compare_deadlines()?;
        pair.wakeup()?;
        Ok(fired)
    }

    /// Plays all sequences that begin with the current one, with up to `left` more calls.
    fn visit<T: Timer<u64> + Clone>(&mut self, pair: Pair<T>, left: usize) -> Result<(), String> {
        self.played += 1;
        if left > 0 {
            for call in calls(&pair, self.borders) {
                let mut longer = pair.clone();
                self.play(call, &mut longer)?;
                self.visit(longer, left - 1)?;
                self.path.pop();
            }
        }
        self.finish(pair)
    }

    /// Uses every stale handle, then fires all timers, from wake-up to wake-up.
    fn finish<T: Timer<u64>>(&mut self, mut pair: Pair<T>) -> Result<(), String> {
        let played = self.path.len();
        let pops = matches!(self.path.last(), Some(Step::Pop(_)));
        let at_wakeup = if pops { Step::Pop } else { Step::Advance };
        for stale in timers(&pair, false) {
            self.play(Step::Cancel(stale), &mut pair)?;
            self.play(Step::Reschedule(stale, When::In(0)), &mut pair)?;
            self.play(Step::Postpone(stale, When::In(0)), &mut pair)?;
        }
        let mut vain = 0;
        while let Some(wakeup) = pair.timer.next_wakeup() {
            let fired = self.play(at_wakeup(When::At(wakeup)), &mut pair)?;
            vain = if fired > 0 { 0 } else { vain + 1 };
            if vain > MAX_VAIN {
                return Err(format!("more than {MAX_VAIN} wake-ups in a row fire nothing"));
            }
        }
        self.path.truncate(played);
        Ok(())
    }
}

/// The timers that are live, or those that are not.
fn timers<T: Timer<u64>>(pair: &Pair<T>, live: bool) -> Vec<u16> {
    (0..pair.inserted() as u16).filter(|timer| pair.is_live(*timer) == live).collect()
}

/// The next multiple of `n` after `now`; `Tick::MAX` if there is none.
fn border(now: Tick, n: u64) -> Tick {
    (now / n + 1).saturating_mul(n)
}

fn each_once(mut ticks: Vec<Tick>) -> Vec<When> {
    ticks.sort_unstable();
    ticks.dedup();
    ticks.into_iter().map(When::At).collect()
}

/// The calls to choose from, each once.
fn calls<T: Timer<u64>>(pair: &Pair<T>, borders: [Tick; 4]) -> Vec<Step> {
    let now = pair.now;
    let after = |tick: Tick| tick.saturating_add(1);
    let (before, next, turn) = (now.saturating_sub(1), after(now), now.saturating_add(borders[2]));
    let [near, low, high, far] = borders.map(|n| border(now, n));
    let deadlines =
        each_once(vec![before, now, next, near, low, after(low), high, after(high), far]);
    let postponed = each_once(vec![now, low, after(high), far]);
    let mut calls: Vec<_> = deadlines.iter().copied().map(Step::Insert).collect();
    for timer in timers(pair, true) {
        calls.push(Step::Cancel(timer));
        calls.extend(deadlines.iter().map(|deadline| Step::Reschedule(timer, *deadline)));
        calls.extend(postponed.iter().map(|deadline| Step::Postpone(timer, *deadline)));
    }
    if let Some(stale) = timers(pair, false).pop() {
        calls.extend([Step::Cancel(stale), Step::Reschedule(stale, When::At(low))]);
    }
    let advances = [now, next, low, turn, far].into_iter().chain(pair.timer.next_wakeup());
    let pops = [before, low, far];
    let advances = advances.map(When::At).map(Step::Advance);
    for call in advances.chain(pops.map(When::At).map(Step::Pop)) {
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    calls
}
