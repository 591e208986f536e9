//! The experiments. Each plays once on one facility, started anew.

mod audit;
mod faults;
mod fires;
mod idle;
mod over;
mod pairs;
mod periodic;
mod producer;
mod refresh;
mod schedule;
mod sessions;

pub(crate) use fires::play_machine;

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
use wheelhouse_present::units;

/// What is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Pairs of schedule and cancel, with nothing else pending.
    PairsAlone,
    /// The same beside jobs that are far away.
    PairsBeside,
    /// Beside these, schedule one and cancel the oldest of a window.
    PairsWindow,
    /// Beside these, schedule a batch and cancel one that another thread has scheduled.
    PairsAcross,
    /// Scheduling alone.
    Schedule,
    /// Moving sessions to a later time.
    Refresh,
    /// The same of sessions that one thread has opened.
    RefreshOpened,
    /// Jobs that fire at a rate.
    Fires,
    /// Periodic jobs.
    Periodic,
    /// Sessions that are refreshed, until they are not.
    Sessions,
    /// Many jobs at one instant.
    Audit,
    /// Nothing that is due.
    Idle,
}

impl wheelhouse_frame::Experiment for Experiment {
    type Load = Load;

    const ALL: &'static [Self] = &[
        Self::PairsAlone,
        Self::PairsBeside,
        Self::PairsWindow,
        Self::PairsAcross,
        Self::Schedule,
        Self::Refresh,
        Self::RefreshOpened,
        Self::Fires,
        Self::Periodic,
        Self::Sessions,
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
            Self::Schedule => "schedule",
            Self::Refresh => "refresh",
            Self::RefreshOpened => "refresh-opened",
            Self::Fires => "fires",
            Self::Periodic => "periodic",
            Self::Sessions => "sessions",
            Self::Audit => "audit",
            Self::Idle => "idle",
        }
    }

    fn title(self, load: &Load) -> String {
        let count = |n: u32| units::count(n.into());
        let producers = format!("{} producers", load.producers);
        let beside = format!("{} jobs pending", count(load.pending));
        let window = units::count(load.window as u64);
        let closed = format!("closed loop, {producers} for {:?}", load.pairs_time);
        match self {
            Self::PairsAlone => format!("schedule and cancel, {closed}, nothing else pending"),
            Self::PairsBeside => format!("schedule and cancel, {closed}, {beside}"),
            Self::PairsWindow => {
                format!("schedule one and cancel the oldest of {window}, {closed}, {beside}")
            }
            Self::PairsAcross => format!(
                "schedule {window} and cancel as many of another thread, {closed}, {beside}"
            ),
            Self::Schedule => format!("{} jobs, {producers}", count(load.pending)),
            Self::Refresh => {
                format!("{} sessions moved to later, {closed}", count(load.sessions))
            }
            Self::RefreshOpened => format!(
                "{} sessions that one thread has opened moved to later, {closed}",
                count(load.sessions)
            ),
            Self::Fires => format!(
                "{} jobs a second for {:?}, open loop, delays of 10 ms to 1 s; how late they run",
                count(load.rate),
                load.fires_time
            ),
            Self::Periodic => format!(
                "{} jobs with a period of {:?}, {} runs each",
                count(periodic::jobs(load)),
                load.period,
                periodic::times(load)
            ),
            Self::Sessions => format!(
                "{} with a time to live of {:?}, {} opened or refreshed a second, open loop; how \
                 late they expire",
                count(load.sessions),
                load.ttl,
                units::count(sessions::rate(load))
            ),
            Self::Audit => format!("{} jobs due at one instant, {producers}", count(load.burst)),
            Self::Idle => format!("nothing due for {:?}", load.idle_time),
        }
    }

    fn notes(self) -> &'static [&'static str] {
        match self {
            Self::PairsAlone | Self::PairsBeside | Self::PairsWindow | Self::PairsAcross => {
                pairs::NOTES
            }
            Self::Schedule => schedule::NOTES,
            Self::Refresh | Self::RefreshOpened => refresh::NOTES,
            Self::Fires => fires::NOTES,
            Self::Periodic => periodic::NOTES,
            Self::Sessions => sessions::NOTES,
            Self::Audit => audit::NOTES,
            Self::Idle => idle::NOTES,
        }
    }

    fn expected(self, load: &Load) -> Duration {
        let each = |n: u32| Duration::from_micros(2) * n;
        match self {
            Self::PairsAlone => load.pairs_time,
            Self::PairsBeside | Self::PairsWindow | Self::PairsAcross => {
                load.pairs_time + each(load.pending)
            }
            Self::Schedule => each(load.pending),
            Self::Refresh | Self::RefreshOpened => load.pairs_time + each(load.sessions),
            Self::Fires => load.fires_time + Duration::from_secs(1),
            Self::Periodic => load.period * (periodic::times(load) + 1),
            Self::Sessions => load.ttl * 5 / 2,
            Self::Audit => each(load.burst) * 3 / 2,
            Self::Idle => load.idle_time,
        }
    }

    fn lacks(self, load: &Load) -> Vec<String> {
        let whole = Load::whole();
        let option =
            |lacks: bool, name: &str, value: f64| lacks.then(|| format!("--{name} {value}"));
        let producers =
            || option(load.producers < whole.producers, "producers", whole.producers as f64);
        let seconds =
            |time: Duration, asked: Duration| option(time < asked, "seconds", asked.as_secs_f64());
        let jobs = |jobs: u32, asked: u32| option(jobs < asked, "jobs", asked.into());
        let pending = || jobs(load.pending, whole.pending);
        let pairs_time = || seconds(load.pairs_time, whole.pairs_time);
        let rate = || option(load.rate < whole.rate, "rate", whole.rate.into());
        let fires_time = || seconds(load.fires_time, whole.fires_time);
        // No option makes the window smaller, so none makes it larger: only the load of tests has
        // another. So it is with what nothing is due for.
        let window =
            || (load.window < whole.window).then(|| format!("a window of {}", whole.window));
        let idle = (load.idle_time < whole.idle_time).then(|| format!("{:?}", whole.idle_time));
        let lacks = match self {
            Self::PairsAlone => vec![producers(), pairs_time()],
            Self::PairsBeside => vec![producers(), pending(), pairs_time()],
            Self::PairsWindow | Self::PairsAcross => {
                vec![producers(), pending(), window(), pairs_time()]
            }
            Self::Schedule => vec![producers(), pending()],
            Self::Refresh | Self::RefreshOpened => {
                vec![producers(), jobs(load.sessions, whole.sessions), pairs_time()]
            }
            Self::Fires => {
                let tick = whole.tick.as_secs_f64() * 1e3;
                vec![rate(), fires_time(), option(load.tick != whole.tick, "tick", tick)]
            }
            Self::Periodic => vec![rate(), fires_time()],
            Self::Sessions => {
                let enough = Load { sessions: load.sessions.max(whole.sessions), ..load.clone() };
                let lasting = sessions::rate(&enough) < sessions::rate(&whole);
                vec![
                    jobs(load.sessions, whole.sessions),
                    option(lasting, "ttl", whole.ttl.as_secs_f64()),
                ]
            }
            Self::Audit => vec![producers(), jobs(load.burst, whole.burst)],
            Self::Idle => vec![idle],
        };
        lacks.into_iter().flatten().collect()
    }

    fn at_a_glance(run: &Run<Self>) -> Option<Table> {
        glance::at_a_glance(run)
    }
}

impl Experiment {
    /// The options, of those that change the load, that change what is played.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            Self::PairsAlone => &["producers", "seconds"],
            Self::PairsBeside
            | Self::PairsWindow
            | Self::PairsAcross
            | Self::Refresh
            | Self::RefreshOpened => &["producers", "jobs", "seconds"],
            Self::Fires | Self::Periodic => &["rate", "seconds"],
            Self::Sessions => &["jobs", "ttl"],
            Self::Schedule | Self::Audit => &["producers", "jobs"],
            Self::Idle => &[],
        }
    }

    /// Plays it.
    ///
    /// # Errors
    ///
    /// If the facility cannot be started, or hangs.
    pub fn play<F: Facility>(self, start: &dyn Fn() -> Result<F>, load: &Load) -> Result<Played> {
        let pairs =
            |pending, cancels| start().and_then(|it| pairs::play(it, load, pending, cancels));
        match self {
            Self::PairsAlone => pairs(0, Cancels::AtOnce),
            Self::PairsBeside => pairs(load.pending, Cancels::AtOnce),
            Self::PairsWindow => pairs(load.pending, Cancels::Oldest),
            Self::PairsAcross => pairs(load.pending, Cancels::Others),
            Self::Schedule => schedule::play(start()?, load),
            Self::Refresh => refresh::play(start, load, Opens::Each),
            Self::RefreshOpened => refresh::play(start, load, Opens::One),
            Self::Fires => fires::play(start()?, load),
            Self::Periodic => periodic::play(start()?, load),
            Self::Sessions => sessions::play(start()?, load),
            Self::Audit => audit::play(start, load),
            Self::Idle => idle::play(start, load),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_frame::Experiment as _;

    /// Where nothing is judged, a reader compares the head of the table with that of another: what
    /// makes the difference is in it.
    #[test]
    fn the_title_tells_less_from_as_much_as_is_asked() {
        for it in Experiment::ALL {
            assert_ne!(it.title(&Load::quick()), it.title(&Load::whole()));
        }
    }

    #[test]
    fn what_is_less_than_asked_is_lacking_where_it_is_played_and_nowhere_else() {
        use Experiment::*;
        let whole = Load::whole;
        let pairs = [PairsAlone, PairsBeside, PairsWindow, PairsAcross];
        let refreshes = [Refresh, RefreshOpened];
        let shorter = Load { pairs_time: whole().pairs_time / 2, ..whole() };
        let less = [
            (
                Load { producers: 1, ..whole() },
                [&pairs[..], &[Schedule], &refreshes, &[Audit]].concat(),
            ),
            (shorter, [&pairs[..], &refreshes].concat()),
            (Load { pending: whole().pending - 1, ..whole() }, [&pairs[1..], &[Schedule]].concat()),
            (Load { window: whole().window - 1, ..whole() }, vec![PairsWindow, PairsAcross]),
            (Load { rate: whole().rate - 1, ..whole() }, vec![Fires, Periodic]),
            (Load { fires_time: whole().fires_time / 2, ..whole() }, vec![Fires, Periodic]),
            (Load { tick: whole().tick * 2, ..whole() }, vec![Fires]),
            (
                Load { sessions: whole().sessions - 1, ..whole() },
                vec![Refresh, RefreshOpened, Sessions],
            ),
            (Load { ttl: whole().ttl * 2, ..whole() }, vec![Sessions]),
            (Load { burst: 9, ..whole() }, vec![Audit]),
            (Load { idle_time: Duration::ZERO, ..whole() }, vec![Idle]),
            (whole(), vec![]),
            (Load::quick(), Experiment::ALL.to_vec()),
        ];
        for (load, lacking) in less {
            let lacks = Experiment::ALL.iter().filter(|it| !it.lacks(&load).is_empty());
            assert_eq!(lacks.copied().collect::<Vec<_>>(), lacking, "{load:?}");
        }
    }
}
