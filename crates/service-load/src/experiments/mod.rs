//! The experiments. Each play starts the facility afresh.

mod audit;
mod end_of_play;
mod fires;
mod idle;
mod open_loop;
mod pairs;
mod periodic;
mod prelude;
mod refresh;
mod schedule;
mod server;
mod sessions;

pub(crate) use fires::{Stream, play_machine};

use crate::facility::Facility;
use crate::glance;
use crate::load::Load;
use crate::targets::TARGETS;
use Experiment::*;
use anyhow::Result;
use pairs::Cancels;
use refresh::Opens;
use wheelhouse_frame::run::Run;
use wheelhouse_frame::{Played, Target};
use wheelhouse_present::table::Table;
use wheelhouse_present::units;

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Pairs of schedule and cancel, with nothing else pending.
    PairsAlone,
    /// The same while many far jobs are pending.
    PairsBeside,
    /// With these pending, schedule one job and cancel the oldest of a window.
    PairsWindow,
    /// With these pending, schedule a batch and cancel one that another thread has scheduled.
    PairsAcross,
    /// Pairs, with nothing else pending, by many more threads than there are processors.
    Producers,
    /// Scheduling alone.
    Schedule,
    /// Moving sessions to a later time.
    Refresh,
    /// The same, with sessions that one thread has opened.
    RefreshOpened,
    /// Jobs that fire at a rate.
    Fires,
    /// The same at a higher rate.
    Fires300k,
    /// Brief jobs that fire at a rate, with some that block their thread.
    SlowJobs,
    /// Jobs that each take a millisecond of processor time.
    MillisecondJobs,
    /// Periodic jobs.
    Periodic,
    /// Sessions that are refreshed for a while and then expire.
    Sessions,
    /// Idle timeouts of connections, and timeouts of requests.
    Server,
    /// Many jobs that are due at one instant.
    Audit,
    /// Pending jobs, none of which is due.
    Idle,
}

/// The experiments in the order of the report, each with its name and its notes.
const TABLE: [(Experiment, &str, &[&str]); 17] = [
    (PairsAlone, "pairs-alone", pairs::NOTES),
    (PairsBeside, "pairs-beside", pairs::NOTES),
    (PairsWindow, "pairs-window", pairs::NOTES),
    (PairsAcross, "pairs-across", pairs::NOTES),
    (Producers, "producers", pairs::NOTES_ON_CALLS),
    (Schedule, "schedule", schedule::NOTES),
    (Refresh, "refresh", refresh::NOTES),
    (RefreshOpened, "refresh-opened", refresh::NOTES),
    (Fires, "fires", fires::NOTES),
    (Fires300k, "fires-300k", fires::NOTES),
    (SlowJobs, "slow-jobs", fires::NOTES_ON_SLOW),
    (MillisecondJobs, "millisecond-jobs", fires::NOTES),
    (Periodic, "periodic", periodic::NOTES),
    (Sessions, "sessions", sessions::NOTES),
    (Server, "server", server::NOTES),
    (Audit, "audit", audit::NOTES),
    (Idle, "idle", idle::NOTES),
];

impl wheelhouse_frame::Experiment for Experiment {
    type Load = Load;

    const ALL: &'static [Self] = &{
        let (mut all, mut at) = ([Idle; TABLE.len()], 0);
        while at < TABLE.len() {
            all[at] = TABLE[at].0;
            assert!(all[at] as usize == at, "the order is that of the enum");
            at += 1;
        }
        all
    };

    const TITLE: &'static str = "The service under load, compared with others";
    const METHOD: Option<&'static str> = Some("benches/SERVICE.md");
    const TARGETS: &'static [Target<Self>] = TARGETS;

    fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    fn title(self, load: &Load) -> String {
        let Load { producers, pairs_time, idle_time, .. } = load;
        let [pending, sessions, burst] = [load.pending, load.sessions, load.burst].map(count);
        let window = units::count(load.window as u64);
        let closed = format!("closed loop, {producers} producers for {pairs_time:?}");
        match self {
            PairsAlone => format!("schedule and cancel, {closed}, nothing else pending"),
            PairsBeside => format!("schedule and cancel, {closed}, {pending} jobs pending"),
            PairsWindow => format!(
                "schedule one and cancel the oldest of {window}, {closed}, {pending} jobs pending"
            ),
            PairsAcross => format!(
                "schedule {window} and cancel as many of another thread, {closed}, {pending} jobs \
                 pending"
            ),
            Producers => format!(
                "schedule and cancel, closed loop, {} producers for {pairs_time:?}, nothing else \
                 pending; how long a call takes",
                load.crowd
            ),
            Schedule => format!("{pending} jobs, {producers} producers"),
            Refresh => format!("{sessions} sessions moved to later, {closed}"),
            RefreshOpened => {
                format!("{sessions} sessions that one thread has opened moved to later, {closed}")
            }
            Audit => format!("{burst} jobs due at one instant, {producers} producers"),
            Idle => format!("nothing due for {idle_time:?}"),
            _ => timed_title(self, load),
        }
    }

    fn notes(self) -> &'static [&'static str] {
        TABLE[self as usize].2
    }

    fn options_for_bounds(self, load: &Load) -> Vec<String> {
        // All sizes are in the title.
        let is_whole = self.title(load) == self.title(&Load::whole());
        if is_whole { Vec::new() } else { vec!["the default sizes".to_owned()] }
    }

    fn at_a_glance(run: &Run<Self>) -> Option<Table> {
        glance::at_a_glance(run)
    }
}

impl Experiment {
    /// Plays it once.
    ///
    /// # Errors
    ///
    /// If the facility cannot be started, or hangs.
    pub fn play<F: Facility>(self, start: &dyn Fn() -> Result<F>, load: &Load) -> Result<Played> {
        let pairs =
            |pending, cancels| start().and_then(|it| pairs::play(it, load, pending, cancels));
        match self {
            PairsAlone => pairs(0, Cancels::AtOnce),
            PairsBeside => pairs(load.pending, Cancels::AtOnce),
            PairsWindow => pairs(load.pending, Cancels::Oldest),
            PairsAcross => pairs(load.pending, Cancels::Others),
            Producers => {
                let crowd = Load { producers: load.crowd, ..load.clone() };
                pairs::play(start()?, &crowd, 0, Cancels::AtOnceTimingCalls)
            }
            Schedule => schedule::play(start()?, load),
            Refresh => refresh::play(start, load, Opens::Each),
            RefreshOpened => refresh::play(start, load, Opens::One),
            Fires | Fires300k | SlowJobs | MillisecondJobs => {
                fires::play(start()?, load, Stream::of(self, load))
            }
            Periodic => periodic::play(start()?, load),
            Sessions => sessions::play(start()?, load),
            Server => server::play(start, load),
            Audit => audit::play(start, load),
            Idle => idle::play(start, load),
        }
    }
}

fn count(number: u32) -> String {
    units::count(number.into())
}

/// The title of an experiment with planned times.
fn timed_title(experiment: Experiment, load: &Load) -> String {
    let Load { fires_time, period, ttl, .. } = load;
    let rate = count(fires::Stream::of(experiment, load).rate);
    let jobs = format!("{rate} jobs a second for {fires_time:?}, open loop");
    match experiment {
        SlowJobs => format!(
            "{jobs}, one in {} sleeps for {:?}; how late the others run",
            fires::SLOW_EACH,
            fires::SLOW_TIME
        ),
        MillisecondJobs => format!(
            "{jobs}, each takes {:?} of processor time, {} % of all processors; how late they run",
            fires::MILLISECOND,
            fires::PERCENT
        ),
        Periodic => format!(
            "{} jobs with a period of {period:?}, {} runs each",
            count(periodic::jobs(load)),
            periodic::times(load)
        ),
        Sessions => format!(
            "{} with a time to live of {ttl:?}, {} opened or refreshed a second, open loop; how \
             late they expire",
            count(load.sessions),
            units::count(sessions::rate(load))
        ),
        Server => format!(
            "{} connections refreshed {} times a second, {} requests a second, 1 in {} times out, \
             for {fires_time:?}, open loop",
            count(load.connections),
            count(load.connections * server::REFRESHES),
            count(load.request_rate),
            server::UNANSWERED_EACH
        ),
        _ => format!("{jobs}, delays of 10 ms to 1 s; how late they run"),
    }
}
