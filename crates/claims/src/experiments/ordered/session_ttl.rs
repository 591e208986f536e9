//! Sessions that expire: half a million and a million of them, refreshed a thousand times a second and more, on a virtual clock of milliseconds.
//!
//! The mix is the article's: a few sessions live for seconds, most for two hours, some for days or weeks. One that expires is followed by another of the same kind, so that as many stay.
//! Every firing is held to what was promised last: its tick is the deadline of the last refresh, neither before nor after.
//!
//! Work that a structure puts off is counted where it is done: hierarchical-wheel tells its slots of what was moved when the clock goes on, so that its refreshes cost nothing and its
//! ticks more.
//!
//! What 100 ms allow is a matter of the machine; here a step counts as 100 ns, which is a miss of all caches and so the dearest a step can be.

use super::session_race::{self, Race, time_to_live};
use crate::count::{AnyTimer, Probe, Tally, random};
use crate::experiment::Experiment;
use crate::{Evidence, Finding, Part, Scale, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_baselines::{
    RedBlackTreeDefinition, SortedListDefinition, SortedSliceDefinition, UnorderedListDefinition,
};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_registry::Visitor;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "session-ttl",
    about: "500,000 and 1,000,000 sessions refreshed and expired on every structure: steps of a refresh and of a tick, lateness; a model of the printed session",
    run,
};

/// The capacity that the article asks for.
const CAPACITY: u64 = 500_000;
/// The number of sessions that it calls very simple.
const MILLION: u64 = 1_000_000;
/// Of a structure that does work in proportion to n, so many refreshes are enough.
const FEW: u64 = 64;

/// 1,000 refreshes a second, in steps of 100 ns, for 500,000 sessions: for fewer, in proportion.
const fn affordable_mean(sessions: u64) -> f64 {
    sessions as f64 * 10_000.0 / CAPACITY as f64
}

/// A tenth of 100 ms, likewise.
const fn affordable_at_once(sessions: u64) -> f64 {
    10.0 * affordable_mean(sessions)
}

/// What came of the sessions on one structure.
struct Outcome {
    name: &'static str,
    refresh: Tally,
    tick: Tally,
    fired: u64,
    /// Ticks of the latest firing.
    lateness: Tick,
    /// Sessions that were removed at another tick than the last refresh promised, or should be gone and are not.
    wrong: u64,
}

impl Outcome {
    /// The dearest call.
    fn dearest(&self) -> u64 {
        self.refresh.max().max(self.tick.max())
    }
}

fn run(scale: &Scale) -> Evidence {
    let (half, whole) = (CAPACITY.min(scale.largest()), MILLION.min(scale.largest()));
    let mut visit = Every { sessions: half, outcomes: Vec::new() };
    wheelhouse_registry::visit(&mut visit);
    let fast = visit.outcomes;
    let slow = [
        Sessions::of::<UnorderedListDefinition>(half, 1).run(FEW),
        Sessions::of::<SortedListDefinition>(half, 1).run(FEW),
        Sessions::of::<SortedSliceDefinition>(half, 1).run(FEW),
    ];
    let million = [
        Sessions::of::<RedBlackTreeDefinition>(whole, 2).run(whole / 8),
        Sessions::of::<wheelhouse_binary_heap::Definition>(whole, 2).run(whole / 8),
        Sessions::of::<wheelhouse_hierarchical_wheel::Definition>(whole, 2).run(whole / 8),
    ];
    let race = session_race::run(whole);
    let tables = vec![
        table(half, "every structure that is meant for as many", &fast),
        table(half, "structures of linear cost", &slow),
        table(whole, "three of them", &million),
        race.table(),
    ];
    Evidence {
        findings: vec![needs(half, &fast, &slow), million_sessions(whole, &million, &race)],
        tables,
        charts: Vec::new(),
    }
}

/// C23: what the business needs.
fn needs(sessions: u64, fast: &[Outcome], slow: &[Outcome]) -> Finding {
    let (mean, at_once) = (affordable_mean(sessions), affordable_at_once(sessions));
    let lateness = fast.iter().chain(slow).map(|it| it.lateness).max().unwrap_or_default();
    let refresh = |of: &[Outcome]| of.iter().map(|it| it.refresh.mean()).fold(0.0, f64::max);
    let (dearest, who) = fast.iter().map(|it| (it.dearest(), it.name)).max().unwrap_or_default();
    let parts = [
        Part::new(
            "every timer of every structure fires at its own tick",
            lateness == 0 && fast.iter().chain(slow).all(|it| it.wrong == 0),
        ),
        Part::new(
            format!(
                "the structures that are meant for {sessions} take {mean:.0} steps for a refresh or fewer, on average"
            ),
            refresh(fast) <= mean,
        ),
        Part::new(
            format!("none of their calls takes more than {at_once:.0} steps"),
            dearest as f64 <= at_once,
        ),
        Part::new(
            format!(
                "a list in no order, a list in order and a slice take {mean:.0} steps for a refresh or fewer, too"
            ),
            refresh(slow) <= mean,
        ),
        Part::new(
            format!("none of their calls takes more than {at_once:.0} steps"),
            slow.iter().all(|it| it.dearest() as f64 <= at_once),
        ),
    ];
    let figure = format!(
        "{sessions} sessions: latest firing {lateness} ticks late; a refresh takes {:.1} steps at most on {} structures, {:.0} on lists and slices; dearest call {dearest} steps, of {who}",
        refresh(fast),
        fast.len(),
        refresh(slow)
    );
    Finding::new("C23", figure, parts)
}

/// C31: a million sessions are very simple.
fn million_sessions(sessions: u64, outcomes: &[Outcome], race: &Race) -> Finding {
    let mean = affordable_mean(MILLION);
    let refresh = outcomes.iter().map(|it| it.refresh.mean()).fold(0.0, f64::max);
    let wrong: u64 = outcomes.iter().map(|it| it.wrong).sum();
    let parts = [
        Part::new(
            format!("a refresh of one of {sessions} sessions takes {mean:.0} steps or fewer"),
            refresh <= mean,
        ),
        Part::new(
            "no session is removed early, late or not at all where no refresh meets its firing",
            wrong == 0,
        ),
        Part::new("as printed, none is where one does", race.printed.lost == 0),
    ];
    let figure = format!(
        "{refresh:.1} steps for a refresh of one of {sessions}; of {} refreshes that met the firing the printed code lost {}, a guarded one {}",
        race.printed.met, race.printed.lost, race.guarded.lost
    );
    Finding::new("C31", figure, parts)
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
    /// So many sessions, each somewhere in its life. They are put in from the latest to the earliest, which is cheap for lists.
    fn of<B: Backend + 'static>(sessions: u64, seed: u64) -> Self {
        let mut random = random(seed);
        let lives: Vec<_> = (0..sessions).map(|_| time_to_live(&mut random)).collect();
        let until: Vec<_> = lives.iter().map(|life| random.random_range(1..=*life)).collect();
        let mut order: Vec<_> = (0..sessions).collect();
        order.sort_by_key(|session| std::cmp::Reverse(until[*session as usize]));
        let mut probe = Probe::of::<B>();
        let mut ids = vec![None; sessions as usize];
        for session in order {
            ids[session as usize] = Some(probe.timer.insert(until[session as usize], session));
        }
        let ids = ids.into_iter().flatten().collect();
        Sessions { name: B::INFO.name, probe, ids, lives, until, random }
    }
}

impl Sessions {
    /// Lets the clock go on for so many ticks, with a refresh in each.
    fn run(mut self, ticks: u64) -> Outcome {
        let (name, refresh, tick) = (self.name, Tally::default(), Tally::default());
        let mut outcome = Outcome { name, refresh, tick, fired: 0, lateness: 0, wrong: 0 };
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
        let (steps, is_live) = self.probe.work(|timer| timer.reschedule(id, until));
        assert!(is_live, "{}: a session that was not removed has its timer", self.name);
        steps.total()
    }
}

/// Runs the sessions on every structure that is meant for as many as the article asks for.
struct Every {
    sessions: u64,
    outcomes: Vec<Outcome>,
}

impl Visitor for Every {
    fn visit<B: Backend + 'static>(&mut self) {
        if u64::from(B::INFO.most) >= CAPACITY {
            // So many that a structure which leaves behind what is moved tidies up at least once.
            let ticks = self.sessions + self.sessions / 8;
            self.outcomes.push(Sessions::of::<B>(self.sessions, 1).run(ticks));
        }
    }
}

fn table(sessions: u64, title: &str, outcomes: &[Outcome]) -> Table {
    let columns = [
        "structure",
        "refreshes",
        "mean steps",
        "p99",
        "max",
        "mean steps of a tick",
        "max",
        "fired",
        "latest",
        "wrong",
    ];
    let mut table =
        Table::new(format!("{sessions} sessions, a refresh a millisecond: {title}"), columns);
    for it in outcomes {
        table.row([
            it.name.to_owned(),
            it.refresh.len().to_string(),
            format!("{:.2}", it.refresh.mean()),
            it.refresh.quantile(0.99).to_string(),
            it.refresh.max().to_string(),
            format!("{:.2}", it.tick.mean()),
            it.tick.max().to_string(),
            it.fired.to_string(),
            it.lateness.to_string(),
            it.wrong.to_string(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_is_removed_when_its_last_refresh_said() {
        let outcome = Sessions::of::<RedBlackTreeDefinition>(2_000, 3).run(30_000);
        assert!(outcome.fired > 50, "{}", outcome.fired);
        assert_eq!((outcome.lateness, outcome.wrong, outcome.refresh.len()), (0, 0, 30_000));
    }

    #[test]
    fn a_session_that_is_removed_at_another_tick_is_seen() {
        let mut sessions = Sessions::of::<RedBlackTreeDefinition>(2_000, 3);
        let (first, until) = sessions
            .until
            .iter()
            .copied()
            .enumerate()
            .min_by_key(|(_, until)| *until)
            .expect("there are sessions");
        sessions.probe.timer.reschedule(sessions.ids[first], until + 1);
        let outcome = sessions.run(until + 1);
        assert_eq!((outcome.wrong, outcome.lateness), (1, 0));
    }
}
