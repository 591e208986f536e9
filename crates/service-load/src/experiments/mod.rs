//! The experiments. Each plays once on one facility, started anew.

mod audit;
mod fires;
mod over;
mod pairs;
mod sessions;

use crate::facility::Facility;
use crate::figures::Played;
use crate::load::Load;
use anyhow::Result;
use std::time::Duration;
use wheelhouse_present::units;
use wheelhouse_present::unknown;

/// What is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Pairs of schedule and cancel, with nothing else pending.
    PairsAlone,
    /// The same beside jobs that are far away.
    PairsBeside,
    /// Beside these, schedule one and cancel the oldest of a window.
    PairsWindow,
    /// Jobs that fire at a rate.
    Fires,
    /// Sessions that are refreshed, until they are not.
    Sessions,
    /// Many jobs at one instant.
    Audit,
}

impl Experiment {
    /// All of them, in the order of the report.
    pub const ALL: [Self; 6] = [
        Self::PairsAlone,
        Self::PairsBeside,
        Self::PairsWindow,
        Self::Fires,
        Self::Sessions,
        Self::Audit,
    ];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::PairsAlone => "pairs-alone",
            Self::PairsBeside => "pairs-beside",
            Self::PairsWindow => "pairs-window",
            Self::Fires => "fires",
            Self::Sessions => "sessions",
            Self::Audit => "audit",
        }
    }

    /// What was played, for the head of a table.
    pub fn title(self, load: &Load) -> String {
        let count = |n: u32| units::count(n.into());
        let producers = format!("{} producers", load.producers);
        let pairs = format!("closed loop, {producers} for {:?}", load.pairs_time);
        let beside = match self {
            Self::PairsAlone => "nothing else pending".to_owned(),
            _ => format!("{} jobs pending", count(load.pending)),
        };
        match self {
            Self::PairsAlone | Self::PairsBeside => {
                format!("{}: schedule and cancel, {pairs}, {beside}", self.name())
            }
            Self::PairsWindow => format!(
                "pairs-window: schedule one and cancel the oldest of {}, {pairs}, {beside}",
                units::count(load.window as u64)
            ),
            Self::Fires => format!(
                "fires: {} jobs a second for {:?}, open loop, delays of 10 ms to 1 s; how late \
                 they run",
                count(load.rate),
                load.fires_time
            ),
            Self::Sessions => format!(
                "sessions: {} with a time to live of {:?}, {} opened or refreshed a second, open \
                 loop; how late they expire",
                count(load.sessions),
                load.ttl,
                units::count(sessions::rate(load))
            ),
            Self::Audit => {
                format!("audit: {} jobs due at one instant, {producers}", count(load.burst))
            }
        }
    }

    /// What the columns say.
    pub fn notes(self) -> &'static [&'static str] {
        match self {
            Self::PairsAlone | Self::PairsBeside | Self::PairsWindow => pairs::NOTES,
            Self::Fires => fires::NOTES,
            Self::Sessions => sessions::NOTES,
            Self::Audit => audit::NOTES,
        }
    }

    /// About how long a play takes.
    pub(crate) fn expected(self, load: &Load) -> Duration {
        let each = |n: u32| Duration::from_micros(3) * n;
        match self {
            Self::PairsAlone => load.pairs_time,
            Self::PairsBeside | Self::PairsWindow => load.pairs_time + each(load.pending),
            Self::Fires => load.fires_time + Duration::from_secs(1),
            Self::Sessions => load.ttl * 5 / 2,
            Self::Audit => each(load.burst),
        }
    }

    /// What is asked of the service by this project: name of the figure, and the bound that it is
    /// to keep, above or below.
    pub fn asked(self, load: &Load) -> Vec<Asked> {
        let tick = load.tick.as_nanos() as f64;
        match self {
            Self::PairsAlone | Self::PairsBeside | Self::PairsWindow => {
                vec![
                    Asked { figure: "pairs/s", at_least: true, bound: 1e6 },
                    Asked { figure: "mean", at_least: false, bound: 1e4 },
                ]
            }
            Self::Fires => vec![Asked { figure: "p99.9", at_least: false, bound: tick + 1e6 }],
            Self::Sessions => vec![Asked { figure: "max", at_least: false, bound: 1e8 }],
            Self::Audit => Vec::new(),
        }
    }

    /// Whether as much is played as these bounds are asked of: a service that keeps them with a
    /// tenth of it may not with all.
    pub fn is_judged(self, load: &Load) -> bool {
        self.lacks(load).is_empty()
    }

    /// The options that make a load as large as these bounds are asked of.
    pub fn lacks(self, load: &Load) -> Vec<String> {
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
        // No option makes the window smaller, so none makes it larger: only the load of tests has
        // another.
        let window =
            || (load.window < whole.window).then(|| format!("a window of {}", whole.window));
        let lacks = match self {
            Self::PairsAlone => vec![producers(), pairs_time()],
            Self::PairsBeside => vec![producers(), pending(), pairs_time()],
            Self::PairsWindow => vec![producers(), pending(), window(), pairs_time()],
            Self::Fires => vec![
                option(load.rate < whole.rate, "rate", whole.rate.into()),
                seconds(load.fires_time, whole.fires_time),
            ],
            Self::Sessions => {
                let enough = Load { sessions: load.sessions.max(whole.sessions), ..load.clone() };
                let lasting = sessions::rate(&enough) < sessions::rate(&whole);
                vec![
                    jobs(load.sessions, whole.sessions),
                    option(lasting, "ttl", whole.ttl.as_secs_f64()),
                ]
            }
            Self::Audit => Vec::new(),
        };
        lacks.into_iter().flatten().collect()
    }

    /// The options, of those that change the load, that change what is played.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            Self::PairsAlone => &["producers", "seconds"],
            Self::PairsBeside | Self::PairsWindow => &["producers", "jobs", "seconds"],
            Self::Fires => &["rate", "seconds"],
            Self::Sessions => &["jobs", "ttl"],
            Self::Audit => &["producers", "jobs"],
        }
    }

    /// Plays it.
    ///
    /// # Errors
    ///
    /// If the facility cannot be started, or hangs.
    pub fn play<F: Facility>(self, start: &dyn Fn() -> Result<F>, load: &Load) -> Result<Played> {
        match self {
            Self::PairsAlone => pairs::play(start()?, load, 0, 0),
            Self::PairsBeside => pairs::play(start()?, load, load.pending, 0),
            Self::PairsWindow => pairs::play(start()?, load, load.pending, load.window),
            Self::Fires => fires::play(start()?, load),
            Self::Sessions => sessions::play(start()?, load),
            Self::Audit => audit::play(start, load),
        }
    }

    /// Those of these names, in the order of the report; all if none is named. `pairs` names three.
    ///
    /// # Errors
    ///
    /// If a name is unknown; the message has those that are known.
    pub fn select(names: &[String]) -> Result<Vec<Self>> {
        let is =
            |it: &Self, name: &str| it.name() == name || it.name().split('-').next() == Some(name);
        if let Some(name) = names.iter().find(|name| !Self::ALL.iter().any(|it| is(it, name))) {
            let known: Vec<_> = ["pairs"].into_iter().chain(Self::ALL.map(Self::name)).collect();
            return Err(unknown::error("experiment", name, &known));
        }
        Ok(Self::ALL
            .into_iter()
            .filter(|it| names.is_empty() || names.iter().any(|name| is(it, name)))
            .collect())
    }
}

/// A bound that this project sets for its own service.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The figure.
    pub figure: &'static str,
    /// Whether it is the least or the most.
    pub at_least: bool,
    /// In the unit of the figure.
    pub bound: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of which something is asked, and whether that is judged.
    fn judged(load: &Load) -> Vec<bool> {
        let asked = Experiment::ALL.into_iter().filter(|it| !it.asked(load).is_empty());
        asked.map(|it| it.is_judged(load)).collect()
    }

    /// Where nothing is judged, a reader compares the head of the table with that of another: what
    /// makes the difference is in it.
    #[test]
    fn the_title_tells_less_from_as_much_as_is_asked() {
        for it in Experiment::ALL {
            assert_ne!(it.title(&Load::quick()), it.title(&Load::whole()));
        }
    }

    #[test]
    fn what_is_asked_is_judged_where_as_much_is_played_and_nowhere_else() {
        assert_eq!(judged(&Load::whole()), [true; 5]);
        assert_eq!(judged(&Load::quick()), [false; 5]);
        assert_eq!(judged(&Load::tiny()), [false; 5]);
        let whole = Load::whole;
        let [alone, beside, window, fires, sessions] = [0, 1, 2, 3, 4];
        let less = [
            (Load { producers: 1, ..whole() }, vec![alone, beside, window]),
            (Load { pairs_time: whole().pairs_time / 2, ..whole() }, vec![alone, beside, window]),
            (Load { pending: whole().pending - 1, ..whole() }, vec![beside, window]),
            (Load { window: whole().window - 1, ..whole() }, vec![window]),
            (Load { rate: whole().rate - 1, ..whole() }, vec![fires]),
            (Load { fires_time: whole().fires_time / 2, ..whole() }, vec![fires]),
            (Load { sessions: whole().sessions - 1, ..whole() }, vec![sessions]),
            (Load { ttl: whole().ttl * 2, ..whole() }, vec![sessions]),
        ];
        for (load, left_out) in less {
            let expected: Vec<_> = (0..5).map(|it| !left_out.contains(&it)).collect();
            assert_eq!(judged(&load), expected, "{load:?}");
        }
    }
}
