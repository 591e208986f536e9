//! The titles of the tables: each experiment at a load.

use super::Experiment;
use super::{fires, periodic, server, sessions};
use crate::load::Load;
use wheelhouse_present::units;

fn count(number: u32) -> String {
    units::count(number.into())
}

/// The title of the experiment at this load.
pub(super) fn title(experiment: Experiment, load: &Load) -> String {
    use Experiment::*;
    match experiment {
        PairsAlone | PairsBeside | PairsWindow | PairsAcross | Producers => pairs(experiment, load),
        Schedule => format!("{} jobs, {} producers", count(load.pending), load.producers),
        Refresh => format!("{} sessions moved to later, {}", count(load.sessions), closed(load)),
        RefreshOpened => format!(
            "{} sessions that one thread has opened moved to later, {}",
            count(load.sessions),
            closed(load)
        ),
        Fires | Fires300k | SlowJobs | MillisecondJobs => fires_at_a_rate(experiment, load),
        Periodic => format!(
            "{} jobs with a period of {:?}, {} runs each",
            count(periodic::jobs(load)),
            load.period,
            periodic::times(load)
        ),
        Sessions => format!(
            "{} with a time to live of {:?}, {} opened or refreshed a second, open loop; how late \
             they expire",
            count(load.sessions),
            load.ttl,
            units::count(sessions::rate(load))
        ),
        Server => served(load),
        Audit => {
            format!("{} jobs due at one instant, {} producers", count(load.burst), load.producers)
        }
        Idle => format!("nothing due for {:?}", load.idle_time),
    }
}

/// A closed loop of the usual producers.
fn closed(load: &Load) -> String {
    format!("closed loop, {} producers for {:?}", load.producers, load.pairs_time)
}

fn pairs(experiment: Experiment, load: &Load) -> String {
    let closed = closed(load);
    let pending = format!("{} jobs pending", count(load.pending));
    let window = units::count(load.window as u64);
    match experiment {
        Experiment::PairsBeside => format!("schedule and cancel, {closed}, {pending}"),
        Experiment::PairsWindow => {
            format!("schedule one and cancel the oldest of {window}, {closed}, {pending}")
        }
        Experiment::PairsAcross => {
            format!("schedule {window} and cancel as many of another thread, {closed}, {pending}")
        }
        Experiment::Producers => format!(
            "schedule and cancel, closed loop, {} producers for {:?}, nothing else pending; how \
             long a call takes",
            load.crowd, load.pairs_time
        ),
        _ => format!("schedule and cancel, {closed}, nothing else pending"),
    }
}

fn fires_at_a_rate(experiment: Experiment, load: &Load) -> String {
    let open = |rate| format!("{} jobs a second for {:?}, open loop", count(rate), load.fires_time);
    let usual = |rate| format!("{}, delays of 10 ms to 1 s; how late they run", open(rate));
    match experiment {
        Experiment::Fires300k => usual(load.fast_rate),
        Experiment::SlowJobs => format!(
            "{}, one in {} sleeps for {:?}; how late the others run",
            open(load.slow_rate),
            fires::SLOW_EACH,
            fires::SLOW_TIME
        ),
        Experiment::MillisecondJobs => format!(
            "{}, each takes {:?} of processor time, {} % of all processors; how late they run",
            open(fires::Stream::of_milliseconds().rate),
            fires::MILLISECOND,
            fires::PERCENT
        ),
        _ => usual(load.rate),
    }
}

fn served(load: &Load) -> String {
    format!(
        "{} connections refreshed {} times a second, {} requests a second, 1 in {} times out, for \
         {:?}, open loop",
        count(load.connections),
        count(load.connections * server::REFRESHES),
        count(load.request_rate),
        server::UNANSWERED_EACH,
        load.fires_time
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_frame::Experiment as _;

    /// The titles of two loads differ, so that a reader sees the difference even where no bound
    /// applies.
    #[test]
    fn titles_of_different_loads_differ() {
        for it in Experiment::ALL {
            assert_ne!(it.title(&Load::quick()), it.title(&Load::whole()));
        }
    }

    #[test]
    fn titles_have_the_sizes_that_no_option_changes() {
        let title = |experiment| title(experiment, &Load::whole());
        assert!(title(Experiment::Fires300k).starts_with("300,000 jobs a second for 2s"));
        assert!(title(Experiment::SlowJobs).contains("one in 500 sleeps for 10ms"));
        assert!(title(Experiment::MillisecondJobs).contains("1ms of processor time, 80 % of"));
        assert!(title(Experiment::Producers).contains("64 producers for 500ms"));
        let server = title(Experiment::Server);
        assert!(server.starts_with("200,000 connections refreshed 1,000,000 times a second"));
    }
}
