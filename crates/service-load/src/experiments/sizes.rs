//! The options that change an experiment, and the options that make a load as large as the bounds
//! need it.

use super::{Experiment, sessions};
use crate::load::Load;
use std::fmt::Display;
use std::time::Duration;

/// The command-line options that change an experiment.
pub(super) fn options(experiment: Experiment) -> &'static [&'static str] {
    use Experiment::*;
    match experiment {
        PairsAlone => &["producers", "seconds"],
        PairsBeside | PairsWindow | PairsAcross | Refresh | RefreshOpened => {
            &["producers", "jobs", "seconds"]
        }
        Producers | Fires300k | SlowJobs | MillisecondJobs | Server => &["seconds"],
        Fires | Periodic => &["rate", "seconds"],
        Sessions => &["jobs", "ttl"],
        Schedule | Audit => &["producers", "jobs"],
        Idle => &[],
    }
}

/// The options that make a load as large as the bounds of an experiment need it.
pub(super) fn lacks(experiment: Experiment, load: &Load) -> Vec<String> {
    use Experiment::*;
    let it = Lacks { load, whole: Load::whole() };
    let lacks = match experiment {
        PairsAlone => vec![it.producers(), it.pairs_time()],
        PairsBeside => vec![it.producers(), it.pending(), it.pairs_time()],
        PairsWindow | PairsAcross => {
            vec![it.producers(), it.pending(), it.window(), it.pairs_time()]
        }
        Producers => vec![it.crowd(), it.pairs_time()],
        Schedule => vec![it.producers(), it.pending()],
        Refresh | RefreshOpened => vec![it.producers(), it.sessions(), it.pairs_time()],
        Fires => vec![it.rate(), it.fires_time(), it.tick()],
        Fires300k => {
            vec![it.fixed_rate(load.fast_rate, it.whole.fast_rate), it.fires_time(), it.tick()]
        }
        SlowJobs => {
            vec![it.fixed_rate(load.slow_rate, it.whole.slow_rate), it.fires_time(), it.tick()]
        }
        MillisecondJobs => vec![it.fires_time()],
        Periodic => vec![it.rate(), it.fires_time()],
        Sessions => vec![it.sessions(), it.ttl()],
        Server => vec![it.connections(), it.requests(), it.fires_time()],
        Audit => vec![it.producers(), it.burst()],
        Idle => vec![it.idle_time()],
    };
    lacks.into_iter().flatten().collect()
}

/// A load, and the one that the bounds are for. Each method compares one size. If the load is too
/// small, it returns the option that makes it large enough.
///
/// Some sizes cannot be changed by an option and differ in the load of tests only. For these the
/// required size is returned.
struct Lacks<'a> {
    load: &'a Load,
    whole: Load,
}

impl Lacks<'_> {
    fn producers(&self) -> Option<String> {
        let (producers, asked) = (self.load.producers, self.whole.producers);
        option(producers < asked, "producers", asked as f64)
    }

    fn pending(&self) -> Option<String> {
        jobs(self.load.pending, self.whole.pending)
    }

    fn sessions(&self) -> Option<String> {
        jobs(self.load.sessions, self.whole.sessions)
    }

    fn burst(&self) -> Option<String> {
        jobs(self.load.burst, self.whole.burst)
    }

    fn pairs_time(&self) -> Option<String> {
        seconds(self.load.pairs_time, self.whole.pairs_time)
    }

    fn fires_time(&self) -> Option<String> {
        seconds(self.load.fires_time, self.whole.fires_time)
    }

    fn rate(&self) -> Option<String> {
        option(self.load.rate < self.whole.rate, "rate", self.whole.rate.into())
    }

    /// The bounds hold at one tick only: a finer one is less late, a coarser one is cheaper.
    fn tick(&self) -> Option<String> {
        let (tick, asked) = (self.load.tick, self.whole.tick);
        option(tick != asked, "tick", asked.as_secs_f64() * 1e3)
    }

    /// A longer time to live makes fewer refreshes per second.
    fn ttl(&self) -> Option<String> {
        let sessions = self.load.sessions.max(self.whole.sessions);
        let enough = Load { sessions, ..self.load.clone() };
        let lasting = sessions::rate(&enough) < sessions::rate(&self.whole);
        option(lasting, "ttl", self.whole.ttl.as_secs_f64())
    }

    fn window(&self) -> Option<String> {
        let asked = self.whole.window;
        (self.load.window < asked).then(|| format!("a window of {asked}"))
    }

    fn crowd(&self) -> Option<String> {
        fewer(self.load.crowd, self.whole.crowd, "threads")
    }

    fn fixed_rate(&self, rate: u32, asked: u32) -> Option<String> {
        fewer(rate, asked, "jobs a second")
    }

    fn connections(&self) -> Option<String> {
        fewer(self.load.connections, self.whole.connections, "connections")
    }

    fn requests(&self) -> Option<String> {
        fewer(self.load.request_rate, self.whole.request_rate, "requests a second")
    }

    fn idle_time(&self) -> Option<String> {
        let asked = self.whole.idle_time;
        (self.load.idle_time < asked).then(|| format!("{asked:?}"))
    }
}

fn option(lacks: bool, name: &str, value: f64) -> Option<String> {
    lacks.then(|| format!("--{name} {value}"))
}

/// Compares a size that no option changes.
fn fewer<T: PartialOrd + Display>(there: T, asked: T, what: &str) -> Option<String> {
    (there < asked).then(|| format!("{asked} {what}"))
}

fn jobs(jobs: u32, asked: u32) -> Option<String> {
    option(jobs < asked, "jobs", asked.into())
}

fn seconds(time: Duration, asked: Duration) -> Option<String> {
    option(time < asked, "seconds", asked.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Experiment::*;
    use wheelhouse_frame::Experiment as _;

    /// Loads with one size below the bounds' size, and the experiments for which that size matters.
    fn less() -> Vec<(Load, Vec<Experiment>)> {
        let whole = Load::whole;
        let pairs = [PairsAlone, PairsBeside, PairsWindow, PairsAcross];
        let refreshes = [Refresh, RefreshOpened];
        let of_fires_time = vec![Fires, Fires300k, SlowJobs, MillisecondJobs, Periodic, Server];
        vec![
            (
                Load { producers: 1, ..whole() },
                [&pairs[..], &[Schedule], &refreshes, &[Audit]].concat(),
            ),
            (
                Load { pairs_time: whole().pairs_time / 2, ..whole() },
                [&pairs[..], &[Producers], &refreshes].concat(),
            ),
            (Load { pending: whole().pending - 1, ..whole() }, [&pairs[1..], &[Schedule]].concat()),
            (Load { window: whole().window - 1, ..whole() }, vec![PairsWindow, PairsAcross]),
            (Load { crowd: whole().crowd - 1, ..whole() }, vec![Producers]),
            (Load { rate: whole().rate - 1, ..whole() }, vec![Fires, Periodic]),
            (Load { fast_rate: whole().fast_rate - 1, ..whole() }, vec![Fires300k]),
            (Load { slow_rate: whole().slow_rate - 1, ..whole() }, vec![SlowJobs]),
            (Load { fires_time: whole().fires_time / 2, ..whole() }, of_fires_time),
            (Load { tick: whole().tick * 2, ..whole() }, vec![Fires, Fires300k, SlowJobs]),
            (
                Load { sessions: whole().sessions - 1, ..whole() },
                vec![Refresh, RefreshOpened, Sessions],
            ),
            (Load { ttl: whole().ttl * 2, ..whole() }, vec![Sessions]),
            (Load { connections: whole().connections - 1, ..whole() }, vec![Server]),
            (Load { request_rate: whole().request_rate - 1, ..whole() }, vec![Server]),
            (Load { burst: 9, ..whole() }, vec![Audit]),
            (Load { idle_time: Duration::ZERO, ..whole() }, vec![Idle]),
            (whole(), vec![]),
            (Load::quick(), Experiment::ALL.to_vec()),
        ]
    }

    #[test]
    fn a_smaller_size_is_lacking_only_in_the_experiments_that_use_it() {
        for (load, lacking) in less() {
            let lacks =
                Experiment::ALL.iter().filter(|it| !it.options_for_bounds(&load).is_empty());
            assert_eq!(lacks.copied().collect::<Vec<_>>(), lacking, "{load:?}");
        }
    }
}
