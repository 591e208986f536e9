//! The titles of the tables: each experiment at a load.

use super::Experiment::{self, *};
use super::{fires, periodic, server, sessions};
use crate::load::Load;
use wheelhouse_present::units;

fn count(number: u32) -> String {
    units::count(number.into())
}

pub(super) fn title(experiment: Experiment, load: &Load) -> String {
    let Load { producers, pairs_time, idle_time, .. } = load;
    let [pending, sessions, burst] = [load.pending, load.sessions, load.burst].map(count);
    let window = units::count(load.window as u64);
    let closed = format!("closed loop, {producers} producers for {pairs_time:?}");
    match experiment {
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
        _ => timed(experiment, load),
    }
}

/// The title of an experiment with planned times.
fn timed(experiment: Experiment, load: &Load) -> String {
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
