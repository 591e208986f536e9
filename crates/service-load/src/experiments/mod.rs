//! The experiments. Each play starts the facility afresh.

mod audit;
mod end_of_play;
mod faults;
mod fires;
mod idle;
mod pairs;
mod periodic;
mod plan;
mod producer;
mod refresh;
mod schedule;
mod server;
mod sessions;
mod titles;

pub(crate) use fires::{Stream, play_machine};

use crate::facility::Facility;
use crate::glance;
use crate::load::Load;
use crate::targets::TARGETS;
use anyhow::Result;
use pairs::Cancels;
use refresh::Opens;
use std::time::Duration;
use wheelhouse_frame::run::Run;
use wheelhouse_frame::{Played, Target};
use wheelhouse_present::table::Table;

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

impl wheelhouse_frame::Experiment for Experiment {
    type Load = Load;

    const ALL: &'static [Self] = &[
        Self::PairsAlone,
        Self::PairsBeside,
        Self::PairsWindow,
        Self::PairsAcross,
        Self::Producers,
        Self::Schedule,
        Self::Refresh,
        Self::RefreshOpened,
        Self::Fires,
        Self::Fires300k,
        Self::SlowJobs,
        Self::MillisecondJobs,
        Self::Periodic,
        Self::Sessions,
        Self::Server,
        Self::Audit,
        Self::Idle,
    ];

    const TITLE: &'static str = "The service under load, compared with others";
    const METHOD: Option<&'static str> = Some("benches/SERVICE.md");
    const TARGETS: &'static [Target<Self>] = TARGETS;

    fn name(self) -> &'static str {
        match self {
            Self::PairsAlone => "pairs-alone",
            Self::PairsBeside => "pairs-beside",
            Self::PairsWindow => "pairs-window",
            Self::PairsAcross => "pairs-across",
            Self::Producers => "producers",
            Self::Schedule => "schedule",
            Self::Refresh => "refresh",
            Self::RefreshOpened => "refresh-opened",
            Self::Fires => "fires",
            Self::Fires300k => "fires-300k",
            Self::SlowJobs => "slow-jobs",
            Self::MillisecondJobs => "millisecond-jobs",
            Self::Periodic => "periodic",
            Self::Sessions => "sessions",
            Self::Server => "server",
            Self::Audit => "audit",
            Self::Idle => "idle",
        }
    }

    fn title(self, load: &Load) -> String {
        titles::title(self, load)
    }

    fn notes(self) -> &'static [&'static str] {
        match self {
            Self::PairsAlone | Self::PairsBeside | Self::PairsWindow | Self::PairsAcross => {
                pairs::NOTES
            }
            Self::Producers => pairs::NOTES_ON_CALLS,
            Self::Schedule => schedule::NOTES,
            Self::Refresh | Self::RefreshOpened => refresh::NOTES,
            Self::Fires | Self::Fires300k | Self::MillisecondJobs => fires::NOTES,
            Self::SlowJobs => fires::NOTES_ON_SLOW,
            Self::Periodic => periodic::NOTES,
            Self::Sessions => sessions::NOTES,
            Self::Server => server::NOTES,
            Self::Audit => audit::NOTES,
            Self::Idle => idle::NOTES,
        }
    }

    fn expected(self, load: &Load) -> Duration {
        let each = |n: u32| Duration::from_micros(2) * n;
        match self {
            Self::PairsAlone | Self::Producers => load.pairs_time,
            Self::PairsBeside | Self::PairsWindow | Self::PairsAcross => {
                load.pairs_time + each(load.pending)
            }
            Self::Schedule => each(load.pending),
            Self::Refresh | Self::RefreshOpened => load.pairs_time + each(load.sessions),
            Self::Fires | Self::Fires300k | Self::SlowJobs | Self::MillisecondJobs => {
                load.fires_time + Duration::from_secs(1)
            }
            Self::Periodic => load.period * (periodic::times(load) + 1),
            Self::Sessions => load.ttl * 5 / 2,
            Self::Server => load.fires_time + Duration::from_secs(1) + each(load.connections),
            Self::Audit => each(load.burst) * 3 / 2,
            Self::Idle => load.idle_time,
        }
    }

    fn options_for_bounds(self, load: &Load) -> Vec<String> {
        // All sizes are in the title, except the tick.
        let whole = Load::whole();
        let is_whole = self.title(load) == self.title(&whole) && load.tick == whole.tick;
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
        let fires = |stream| start().and_then(|it| fires::play(it, load, stream));
        match self {
            Self::PairsAlone => pairs(0, Cancels::AtOnce),
            Self::PairsBeside => pairs(load.pending, Cancels::AtOnce),
            Self::PairsWindow => pairs(load.pending, Cancels::Oldest),
            Self::PairsAcross => pairs(load.pending, Cancels::Others),
            Self::Producers => {
                let crowd = Load { producers: load.crowd, ..load.clone() };
                pairs::play(start()?, &crowd, 0, Cancels::AtOnceTimingCalls)
            }
            Self::Schedule => schedule::play(start()?, load),
            Self::Refresh => refresh::play(start, load, Opens::Each),
            Self::RefreshOpened => refresh::play(start, load, Opens::One),
            Self::Fires => fires(Stream::usual(load)),
            Self::Fires300k => fires(Stream::fast(load)),
            Self::SlowJobs => fires(Stream::with_slow_jobs(load)),
            Self::MillisecondJobs => fires(Stream::of_milliseconds()),
            Self::Periodic => periodic::play(start()?, load),
            Self::Sessions => sessions::play(start()?, load),
            Self::Server => server::play(start, load),
            Self::Audit => audit::play(start, load),
            Self::Idle => idle::play(start, load),
        }
    }
}
