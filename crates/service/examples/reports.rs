//! Reports by the calendar: weekly on Mondays at 09:00, monthly on the 12th at 09:00, and a backup
//! each night at 02:30; in Berlin, where clocks are set forward in March and back in October. On a
//! manual clock, through a whole year.
//!
//! Nine in the morning stays nine in the morning: the Monday after the change comes an hour sooner
//! in spring and an hour later in autumn. The backup runs exactly once each night, also on the
//! night that skips 02:30 and on the night that repeats it.
//!
//! ```sh
//! cargo run --release -p wheelhouse-service --features cron --example reports
//! ```

use std::error::Error;
use std::time::Duration;
use wheelhouse_service::cron::Cron;
use wheelhouse_service::cron::jiff::civil::date;
use wheelhouse_service::cron::jiff::tz::TimeZone;
use wheelhouse_service::cron::jiff::{SignedDuration, Timestamp, ToSpan, Zoned};
use wheelhouse_service::crossbeam_channel::{Sender, unbounded};
use wheelhouse_service::{Handle, ManualClock, Moment, Run, Scheduler};

/// Name and time of each of the jobs.
pub(crate) const PLAN: [(&str, &str); 3] = [
    ("weekly report", "0 9 * * MON"),
    ("monthly report", "0 9 12 * *"),
    ("nightly backup", "30 2 * * *"),
];

/// A job that was done, and the local time.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) what: &'static str,
    pub(crate) at: Zoned,
}

/// The current rules of Berlin, without the tables of the operating system, which
/// [`TimeZone::get`] reads.
fn berlin() -> Result<TimeZone, Box<dyn Error>> {
    Ok(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3")?)
}

/// Schedules all jobs of the plan.
fn schedule(timers: &Handle, done: &Sender<Done>) -> Result<(), Box<dyn Error>> {
    for (what, line) in PLAN {
        let (done, clock) = (done.clone(), timers.clone());
        let job = move |_: &Run<'_>| {
            if let (Ok(now), Ok(zone)) = (Timestamp::try_from(clock.clock().wall()), berlin()) {
                // If the receiver is gone, there is nothing to do.
                done.send(Done { what, at: now.to_zoned(zone) }).unwrap_or_default();
            }
        };
        timers.on(Cron::new(line, berlin()?)?).named(what).run(job)?;
    }
    Ok(())
}

/// Everything that is done in a year, in order.
pub(crate) fn a_year(year: i16) -> Result<Vec<Done>, Box<dyn Error>> {
    let begin = date(year, 1, 1).to_zoned(berlin()?)?;
    let end = begin.checked_add(1.year())?;
    let clock = ManualClock::with_wall(begin.timestamp().into());
    let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
    let (sender, done) = unbounded();
    schedule(&scheduler.handle(), &sender)?;
    let length = Duration::try_from(begin.duration_until(&end))?;
    scheduler.play(&clock, Moment::ORIGIN.saturating_add(length - Duration::from_millis(1)));
    Ok(done.try_iter().collect())
}

/// The times of one of the jobs, except the first, each with the distance from the one before.
pub(crate) fn times_of<'a>(done: &'a [Done], what: &str) -> Vec<(&'a Zoned, SignedDuration)> {
    let times: Vec<_> = done.iter().filter(|done| done.what == what).map(|done| &done.at).collect();
    times.windows(2).map(|pair| (pair[1], pair[0].duration_until(pair[1]))).collect()
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let done = a_year(2026)?;
    for (what, line) in PLAN {
        let times = times_of(&done, what);
        println!("{what} ({line}): {} in the year", times.len() + 1);
        // Only the times around a clock change are shown.
        for pair in times.windows(2).filter(|pair| pair[0].0.offset() != pair[1].0.offset()) {
            for (at, distance) in pair {
                println!(
                    "    {}, {distance:#} after the one before",
                    at.strftime("%a %F %H:%M %z")
                );
            }
        }
    }
    Ok(())
}
