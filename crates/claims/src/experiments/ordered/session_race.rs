//! The session of the article, as a model: a map of tokens, and a timer for each whose callback deletes the token.
//!
//! The callback is run by another goroutine and waits for the lock, so there is a moment in which the timer has fired and the token is still there. Who refreshes it then moves a timer
//! that is gone, hears nothing of it, since the outcome of the update is not looked at, and loses the token to the callback. The guarded session differs in two
//! lines: a refresh that finds the timer gone starts another, and a callback deletes the token only if it is that of the token's own timer.

use crate::Table;
use crate::count::random;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

const SECOND: Tick = 1_000;
const HOUR: Tick = 3_600 * SECOND;
const DAY: Tick = 24 * HOUR;

/// How long the model runs, in ticks.
const TICKS: Tick = 20_000;
/// Of the tokens whose timer has fired, one in so many is refreshed before the callback has the lock.
const LAST_MOMENT: u32 = 8;

/// How long a session of the article's mix lives.
pub(super) fn time_to_live(random: &mut Pcg64Mcg) -> Tick {
    match random.random_range(0..100) {
        0 => random.random_range(SECOND..=10 * SECOND),
        1..=10 => random.random_range(DAY..=21 * DAY),
        _ => 2 * HOUR,
    }
}

/// What both sessions came to.
pub(super) struct Race {
    pub(super) printed: Outcome,
    pub(super) guarded: Outcome,
}

/// What refreshes came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) refreshed: u64,
    /// Of these, those of a token that was there and its timer gone: between the firing and the callback.
    pub(super) met: u64,
    /// Tokens that were deleted before the time that their last refresh gave them.
    pub(super) lost: u64,
    /// Tokens that were there after that time.
    pub(super) left: u64,
}

impl Race {
    pub(super) fn table(&self) -> Table {
        let columns = [
            "session",
            "refreshes",
            "between firing and callback",
            "tokens lost",
            "tokens left over",
        ];
        let mut table = Table::new(
            "The printed session and a guarded one: refreshes that meet the firing",
            columns,
        );
        for (name, outcome) in [("as printed", self.printed), ("guarded", self.guarded)] {
            let Outcome { refreshed, met, lost, left } = outcome;
            table.row([
                name.to_owned(),
                refreshed.to_string(),
                met.to_string(),
                lost.to_string(),
                left.to_string(),
            ]);
        }
        table
    }
}

pub(super) fn run(tokens: u64) -> Race {
    let of = |guard| Session::new(tokens, guard).run();
    Race { printed: of(Guard::None), guarded: of(Guard::Timer) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    None,
    /// The callback must be that of the token's own timer.
    Timer,
}

/// A token in the map.
#[derive(Clone, Copy)]
struct Token {
    job: TimerId,
    /// When it is to be deleted, as its last refresh said.
    until: Tick,
}

struct Session {
    clock: HierarchicalWheel<usize>,
    cache: Vec<Option<Token>>,
    lives: Vec<Tick>,
    guard: Guard,
    random: Pcg64Mcg,
    outcome: Outcome,
}

impl Session {
    fn new(tokens: u64, guard: Guard) -> Self {
        let mut random = random(3);
        let lives: Vec<_> = (0..tokens).map(|_| time_to_live(&mut random)).collect();
        let (clock, cache, outcome) =
            (HierarchicalWheel::new(), vec![None; lives.len()], Outcome::default());
        let mut session = Self { clock, cache, lives, guard, random, outcome };
        for token in 0..session.lives.len() {
            let left = session.random.random_range(1..=session.lives[token]);
            session.add(token, left);
        }
        session.outcome = Outcome::default();
        session
    }

    fn run(mut self) -> Outcome {
        for now in 1..=TICKS {
            let mut fired = Vec::new();
            self.clock.advance(now, |it| fired.push((it.value, it.id)));
            // The goroutines of the callbacks are started; before they have the lock others may.
            let anyone = self.random.random_range(0..self.lives.len());
            self.add(anyone, self.lives[anyone]);
            for &(token, _) in &fired {
                if self.random.random_range(0..LAST_MOMENT) == 0 {
                    self.add(token, self.lives[token]);
                }
            }
            for (token, job) in fired {
                self.remove(token, job, now);
            }
        }
        let late = |token: &&Token| token.until <= TICKS;
        self.outcome.left = self.cache.iter().flatten().filter(late).count() as u64;
        self.outcome
    }

    /// `AddToken`: moves the timer of a token that is there, starts one for a token that is not.
    fn add(&mut self, token: usize, life: Tick) {
        let (until, found) = (self.clock.now() + life, self.cache[token]);
        let is_moved = found.is_some_and(|it| self.clock.reschedule(it.job, until));
        self.outcome.refreshed += 1;
        self.outcome.met += u64::from(found.is_some() && !is_moved);
        let job = match found {
            Some(it) if is_moved || self.guard == Guard::None => it.job,
            _ => self.clock.insert(until, token),
        };
        self.cache[token] = Some(Token { job, until });
    }

    /// `RemoveToken`, which the timer of a token calls. Who is thrown out comes again.
    fn remove(&mut self, token: usize, job: TimerId, now: Tick) {
        let Some(found) = self.cache[token] else { return };
        if self.guard == Guard::Timer && found.job != job {
            return;
        }
        self.outcome.lost += u64::from(found.until > now);
        self.cache[token] = None;
        self.add(token, self.lives[token]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token for 5 ticks, refreshed at the tick of its firing for 5 more: who is there at 9?
    fn refreshed_at_the_last_moment(guard: Guard) -> (bool, u64) {
        let mut session = Session::new(0, guard);
        (session.cache, session.lives) = (vec![None], vec![5]);
        session.add(0, 5);
        let mut fired = Vec::new();
        session.clock.advance(5, |it| fired.push((it.value, it.id)));
        session.add(0, 5);
        let job = session.cache[0].map(|token| token.job);
        fired.into_iter().for_each(|(token, job)| session.remove(token, job, 5));
        // A token that was deleted is added again by `remove`, under another timer.
        (session.cache[0].map(|token| token.job) == job, session.outcome.lost)
    }

    #[test]
    fn the_printed_session_loses_a_token_that_is_refreshed_at_the_last_moment() {
        assert_eq!(refreshed_at_the_last_moment(Guard::None), (false, 1));
        assert_eq!(refreshed_at_the_last_moment(Guard::Timer), (true, 0));
    }

    #[test]
    fn a_refresh_before_the_firing_keeps_the_token_in_both() {
        for guard in [Guard::None, Guard::Timer] {
            let mut session = Session::new(0, guard);
            (session.cache, session.lives) = (vec![None], vec![5]);
            session.add(0, 5);
            session.clock.advance(4, |_| ());
            session.add(0, 5);
            assert_eq!(session.clock.advance(8, |_| ()), 0);
            assert_eq!(session.clock.advance(9, |_| ()), 1);
        }
    }

    #[test]
    fn a_guard_loses_nothing_and_leaves_nothing() {
        let Race { printed, guarded } = run(20_000);
        assert!(printed.met > 20 && printed.lost >= printed.met / 2, "{printed:?}");
        assert_eq!((guarded.lost, guarded.left), (0, 0), "{guarded:?}");
    }
}
