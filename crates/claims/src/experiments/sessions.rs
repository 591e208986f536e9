//! C23, C31: sessions that expire: half a million and a million, refreshed each millisecond.
//!
//! The mix is the article's: a few live for seconds, most for two hours, some for days or weeks.
//! One that expires is followed by another of the same kind. Every firing is held to what was
//! promised last: its tick is the deadline of the last refresh, neither before nor after.
//!
//! The article's session is a model: a map of tokens, and a timer for each whose callback deletes
//! the token. The callback waits for the lock, so there is a moment in which the timer has fired
//! and the token is still there. Who refreshes it then moves a timer that is gone and loses the
//! token to the callback. The guarded session differs in two lines: a refresh that finds the timer
//! gone starts another, and a callback deletes only the token of its own timer.

use crate::count::{AnyTimer, Probe, Tally, random};
use crate::growth::Growth::Logarithmic;
use crate::thresholds::Threshold::Nanoseconds;
use crate::{By, Evidence, Experiment, Lab, Sweep, Test};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_hierarchical_wheel::ListWheel;

pub(super) const SESSIONS: Experiment = Experiment {
    name: "session-ttl",
    about: "500,000 and 1,000,000 sessions refreshed and expired on every structure: steps of a \
        refresh and of a tick, lateness; a model of the printed session",
    run,
};

const SECOND: Tick = 1_000;
const HOUR: Tick = 3_600 * SECOND;
const DAY: Tick = 24 * HOUR;
/// The capacity that the article asks for, and the number that it calls very simple.
const CAPACITY: u64 = 500_000;
const MILLION: u64 = 1_000_000;
/// Of a structure that does work in proportion to n, so many refreshes are enough.
const FEW: u64 = 64;
/// What 1,000 refreshes a second leave for each, and what the article allows at once, in ns.
const EACH: f64 = 1e6;
const AT_ONCE: f64 = 1e8;

/// How long a session of the article's mix lives.
fn time_to_live(random: &mut Pcg64Mcg) -> Tick {
    match random.random_range(0..100) {
        0 => random.random_range(SECOND..=10 * SECOND),
        1..=10 => random.random_range(DAY..=21 * DAY),
        _ => 2 * HOUR,
    }
}

/// What came of the sessions on one structure.
#[derive(Default)]
struct Outcome {
    name: &'static str,
    refresh: Tally,
    tick: Tally,
    fired: u64,
    lateness: Tick,
    /// Sessions removed at another tick than the last refresh promised, or that should be gone and
    /// are not.
    wrong: u64,
}

impl Outcome {
    fn dearest(&self) -> f64 {
        self.refresh.max().max(self.tick.max()) as f64
    }
}

fn run(lab: &Lab, e: &mut Evidence) {
    let (half, whole) = (CAPACITY.min(lab.scale.largest()), MILLION.min(lab.scale.largest()));
    let seed = lab.scale.seed();
    let (mut fast, mut slow) = (Vec::new(), Vec::new());
    for info in wheelhouse_registry::all() {
        let sessions = Sessions::of(lab, info.name, half, seed);
        if u64::from(info.most) >= CAPACITY {
            // So many that a structure which leaves behind what is moved tidies up at least once.
            fast.push(sessions.run(half + half / 8));
        } else {
            slow.push(sessions.run(FEW));
        }
    }
    let all = || fast.iter().chain(&slow);
    let (late, wrong) = (all().map(|it| it.lateness).max(), all().map(|it| it.wrong).sum::<u64>());
    let quote = "No timer is late: each fires at its own tick, on every structure.";
    let number =
        format!("{} ticks late, {wrong} wrong, {} structures", late.unwrap_or(0), all().count());
    e.holds("C23.1", quote, late == Some(0) && wrong == 0, number);
    // Where n is smaller, what is linear must be so too.
    let share = half as f64 / CAPACITY as f64;
    let cost = |of: &[Outcome]| of.iter().map(|it| it.refresh.mean()).fold(0.0, f64::max);
    let most = |of: &[Outcome]| of.iter().map(Outcome::dearest).fold(0.0, f64::max);
    for (id, quote, steps, allowed) in [
        (
            "C23.2",
            "1,000 refreshes a second are met, on the structures meant for it.",
            cost(&fast),
            EACH,
        ),
        ("C23.3", "None of their calls lasts 100 ms.", most(&fast), AT_ONCE),
        ("C23.4", "A list or a slice meets 1,000 refreshes a second.", cost(&slow), EACH),
    ] {
        let test = Test::Exceeds(vec![(allowed * share / steps, 1.0)], Nanoseconds);
        e.say(id, quote, test, format!("{steps:.0} steps, of {half} sessions"));
    }
    million(lab, e, whole);
    table(e, format!("{half} sessions, a refresh a millisecond"), all());
}

fn million(lab: &Lab, e: &mut Evidence, whole: u64) {
    let names = ["red-black-tree", "binary-heap", "list-wheel"];
    let mut sweep = Sweep::over("sessions", "Refreshing a session", "steps of a refresh");
    let sizes = lab.ordered_sizes().into_iter().filter(|n| *n <= 1 << 17).collect::<Vec<_>>();
    let mut wrong = 0;
    for name in names {
        let curve = lab.curve(&sizes, |n, seed| {
            let outcome = Sessions::of(lab, name, n, seed).run((n / 4).max(1 << 10));
            wrong += outcome.wrong;
            outcome.refresh.mean()
        });
        sweep.add(name, curve);
    }
    let outcomes = names.map(|name| Sessions::of(lab, name, whole, 2).run(whole / 8));
    wrong += outcomes.iter().map(|it| it.wrong).sum::<u64>();
    let quote = "A refresh is O(log n) at most, on a tree, a heap and a wheel.";
    e.at_most("C31.1", quote, sweep.all(&[]), Logarithmic);
    let quote = "Of over a million sessions none is removed early, late or not at all.";
    e.holds(
        "C31.2",
        quote,
        wrong == 0,
        format!("{wrong} of {whole}, on {} structures", names.len()),
    );
    let [printed, guarded] = [false, true].map(|guards| Session::new(whole, guards).run());
    e.by(By::Arithmetic);
    let quote = "As printed, no session is lost whose refresh meets its firing.";
    let number = format!("{} of {} lost", printed.lost, printed.met);
    e.holds("C31.3", quote, printed.lost == 0, number);
    let number = format!("{} of {} lost, {} left over", guarded.lost, guarded.met, guarded.left);
    let quote = "With a guard by the timer's generation none is.";
    e.holds("C31.4", quote, (guarded.lost, guarded.left) == (0, 0), number);
    e.by(By::Counts).sweep(&sweep);
    table(e, format!("{whole} sessions, a refresh a millisecond"), outcomes.iter());
}

fn table<'a>(e: &mut Evidence, title: String, outcomes: impl Iterator<Item = &'a Outcome>) {
    let columns =
        ["structure", "refreshes", "mean steps", "p99", "max", "steps of a tick", "max ", "fired"];
    let row = |it: &Outcome| {
        let (refresh, tick) = (&it.refresh, &it.tick);
        let means = [refresh.mean(), tick.mean()].map(|mean| format!("{mean:.2}"));
        let [mean, of_tick] = means;
        let [len, p99, max, most, fired] =
            [refresh.len() as u64, refresh.quantile(0.99), refresh.max(), tick.max(), it.fired]
                .map(|count| count.to_string());
        [it.name.to_owned(), len, mean, p99, max, of_tick, most, fired]
    };
    e.table(title, columns, outcomes.map(row));
}

/// Sessions by their number, on a structure.
struct Sessions {
    name: &'static str,
    probe: Probe<AnyTimer>,
    ids: Vec<TimerId>,
    lives: Vec<Tick>,
    /// When each is to be removed.
    until: Vec<Tick>,
    random: Pcg64Mcg,
}

impl Sessions {
    /// So many sessions, each somewhere in its life. They are put in from the latest to the
    /// earliest, which is cheap for a list, or the other way round where it is searched from the
    /// rear.
    fn of(lab: &Lab, name: &'static str, sessions: u64, seed: u64) -> Self {
        let mut random = random(seed);
        let lives: Vec<_> = (0..sessions).map(|_| time_to_live(&mut random)).collect();
        let until: Vec<_> = lives.iter().map(|life| random.random_range(1..=*life)).collect();
        let mut order: Vec<_> = (0..sessions).collect();
        order.sort_by_key(|session| until[*session as usize]);
        if name != "sorted-list-rear" {
            order.reverse();
        }
        let mut probe = lab.make(name);
        let mut ids = vec![None; sessions as usize];
        for session in order {
            ids[session as usize] = Some(probe.timer.insert(until[session as usize], session));
        }
        let ids = ids.into_iter().flatten().collect();
        Self { name, probe, ids, lives, until, random }
    }

    /// Lets the clock go on for so many ticks, with a refresh in each.
    fn run(mut self, ticks: u64) -> Outcome {
        let mut outcome = Outcome { name: self.name, ..Outcome::default() };
        for now in 1..=ticks {
            let mut expired = Vec::new();
            let (steps, _) = self.probe.work(|timer| timer.advance(now, |it| expired.push(it)));
            outcome.tick.add(steps.total());
            expired.into_iter().for_each(|it| self.remove(it, now, &mut outcome));
            outcome.refresh.add(self.refresh(now));
        }
        outcome.wrong += self.until.iter().filter(|until| **until <= ticks).count() as u64;
        outcome
    }

    /// A session has expired; another takes its number.
    fn remove(&mut self, expired: Expired<u64>, now: Tick, outcome: &mut Outcome) {
        let session = expired.value as usize;
        outcome.fired += 1;
        outcome.lateness = outcome.lateness.max(now - expired.deadline);
        outcome.wrong += u64::from(self.until[session] != now);
        self.until[session] = now + self.lives[session];
        self.ids[session] = self.probe.timer.insert(self.until[session], expired.value);
    }

    /// Somebody comes back: the steps of one refresh.
    fn refresh(&mut self, now: Tick) -> u64 {
        let session = self.random.random_range(0..self.ids.len());
        let (id, until) = (self.ids[session], now + self.lives[session]);
        self.until[session] = until;
        self.probe.work(|timer| timer.reschedule(id, until)).0.total()
    }
}

/// How long the model of the printed session runs, in ticks, and one in how many tokens is
/// refreshed between its firing and the callback.
const TICKS: Tick = 20_000;
const LAST_MOMENT: u32 = 8;

/// What refreshes came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Race {
    /// Refreshes of a token that was there and its timer gone.
    met: u64,
    /// Tokens deleted before the time that their last refresh gave them, and there after it.
    lost: u64,
    left: u64,
}

/// A token in the map: its timer, and when it is to be deleted, as its last refresh said.
type Token = (TimerId, Tick);

struct Session {
    clock: ListWheel<usize>,
    cache: Vec<Option<Token>>,
    lives: Vec<Tick>,
    guards: bool,
    random: Pcg64Mcg,
    race: Race,
}

impl Session {
    fn new(tokens: u64, guards: bool) -> Self {
        let mut random = random(3);
        let lives: Vec<_> = (0..tokens).map(|_| time_to_live(&mut random)).collect();
        let (clock, cache) = (ListWheel::new(), vec![None; lives.len()]);
        let mut session = Self { clock, cache, lives, guards, random, race: Race::default() };
        for token in 0..session.lives.len() {
            let left = session.random.random_range(1..=session.lives[token]);
            session.add(token, left);
        }
        session
    }

    fn run(mut self) -> Race {
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
            fired.into_iter().for_each(|(token, timer)| self.remove(token, timer, now));
        }
        let late = self.cache.iter().flatten().filter(|(_, until)| *until <= TICKS);
        Race { left: late.count() as u64, ..self.race }
    }

    /// `AddToken`: moves the timer of a token that is there, starts one for a token that is not.
    fn add(&mut self, token: usize, life: Tick) {
        let (until, found) = (self.clock.now() + life, self.cache[token]);
        let is_moved = found.is_some_and(|(timer, _)| self.clock.reschedule(timer, until));
        self.race.met += u64::from(found.is_some() && !is_moved);
        let timer = match found {
            Some((timer, _)) if is_moved || !self.guards => timer,
            _ => self.clock.insert(until, token),
        };
        self.cache[token] = Some((timer, until));
    }

    /// `RemoveToken`, which the timer of a token calls. Who is thrown out comes again.
    fn remove(&mut self, token: usize, timer: TimerId, now: Tick) {
        let Some((of_token, until)) = self.cache[token] else { return };
        if self.guards && of_token != timer {
            return;
        }
        self.race.lost += u64::from(until > now);
        self.cache[token] = None;
        self.add(token, self.lives[token]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;
    use crate::fault::Fault;

    #[test]
    fn every_session_is_removed_when_its_last_refresh_said_and_a_wrong_tick_is_seen() {
        let sound = Lab::new(&Scale::REDUCED);
        let outcome = Sessions::of(&sound, "red-black-tree", 2_000, 3).run(30_000);
        assert!(outcome.fired > 50, "{}", outcome.fired);
        assert_eq!((outcome.lateness, outcome.wrong, outcome.refresh.len()), (0, 0, 30_000));
        let late = Lab { faults: vec![Fault::Late { of: "red-black-tree" }], ..sound };
        let outcome = Sessions::of(&late, "red-black-tree", 2_000, 3).run(30_000);
        assert!(outcome.lateness == 1 && outcome.wrong >= outcome.fired);
    }

    #[test]
    fn a_token_that_is_refreshed_at_the_last_moment_is_lost_without_a_guard() {
        for (guards, lost) in [(false, 1), (true, 0)] {
            let mut session = Session::new(0, guards);
            (session.cache, session.lives) = (vec![None], vec![5]);
            session.add(0, 5);
            let mut fired = Vec::new();
            session.clock.advance(5, |it| fired.push((it.value, it.id)));
            session.add(0, 5);
            fired.into_iter().for_each(|(token, timer)| session.remove(token, timer, 5));
            assert_eq!(session.race.lost, lost);
        }
    }
}
