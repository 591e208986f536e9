//! The times of cron lines, also around changes of clocks. `cron_lines.rs` tests their syntax.

use crate::common::{HOUR, Log, Rig};
use crate::cron_lines::{cron_field, times};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};
use wheelhouse_service::cron::Cron;
use wheelhouse_service::cron::jiff::civil::DateTime;
use wheelhouse_service::cron::jiff::tz::TimeZone;
use wheelhouse_service::cron::jiff::{self, Timestamp};
use wheelhouse_service::{Clock, Reason, Rule};

fn instant(text: &str) -> SystemTime {
    text.parse::<Timestamp>().unwrap().into()
}

fn berlin() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

/// The first two times of a line after an instant.
fn first_two(line: &str, zone: &TimeZone, after: &str) -> Vec<String> {
    let cron = Cron::new(line, zone.clone()).unwrap();
    let all = times(cron, zone, after.parse().unwrap()).take(2);
    all.map(|time| time.strftime("%a %F %H:%M").to_string()).collect()
}

#[test]
fn a_line_whose_years_have_passed_is_read_and_refused_when_it_is_scheduled() {
    let passed = Cron::new("0 0 9 * * MON 2020", TimeZone::UTC).unwrap();
    let refused_at = |wall: &str| {
        let rig = Rig::starting(instant(wall));
        rig.timers.on(passed.clone()).run(|_| ()).err().map(|rejected| rejected.reason)
    };
    assert_eq!(refused_at("2026-01-01T00:00:00Z"), Some(Reason::NoOccurrence));
    assert_eq!(refused_at("2020-12-28T08:59:00Z"), None, "a minute before the last");
    assert_eq!(refused_at("2020-12-28T09:00:00Z"), Some(Reason::NoOccurrence));
}

/// Example E5 and E6 of the articles: it is Tuesday, 2018-09-11, 10:00. (Bug B13: "every Tuesday"
/// fires on a Wednesday.)
#[test]
fn weekly_and_monthly_reports_come_on_their_days() {
    for (line, expected) in [
        ("0 9 * * MON", ["Mon 2018-09-17 09:00", "Mon 2018-09-24 09:00"]),
        ("0 9 * * TUE", ["Tue 2018-09-18 09:00", "Tue 2018-09-25 09:00"]),
        ("0 9 * * WED", ["Wed 2018-09-12 09:00", "Wed 2018-09-19 09:00"]),
        ("0 9 12 * *", ["Wed 2018-09-12 09:00", "Fri 2018-10-12 09:00"]),
        ("0 0 L * *", ["Sun 2018-09-30 00:00", "Wed 2018-10-31 00:00"]),
    ] {
        assert_eq!(first_two(line, &berlin(), "2018-09-11T08:00:00Z"), expected, "{line}");
    }
}

/// The runs of a job on a scheduler in the two days after an instant.
fn runs_of_two_days(line: &str, zone: &TimeZone, after: &str) -> Vec<String> {
    let (mut rig, runs) = (Rig::starting(instant(after)), Log::default());
    let (wall, its) = (rig.clock.clone(), zone.clone());
    let job = runs.job(move |_| {
        let time = Timestamp::try_from(wall.wall()).unwrap().to_zoned(its.clone());
        time.strftime("%a %F %H:%M").to_string()
    });
    rig.timers.on(Cron::new(line, zone.clone()).unwrap()).run(job).unwrap();
    rig.pass(48 * HOUR);
    runs.take()
}

/// 02:30 is skipped in one night of the year, and occurs twice in another.
#[test]
fn a_time_that_is_skipped_or_repeated_has_one_run() {
    let nightly = |after| {
        let times = first_two("30 2 * * *", &berlin(), after);
        assert_eq!(runs_of_two_days("30 2 * * *", &berlin(), after), times, "on a scheduler");
        times
    };
    let spring = ["Sun 2026-03-29 03:00", "Mon 2026-03-30 02:30"];
    assert_eq!(nightly("2026-03-28T12:00:00Z"), spring);
    let autumn = ["Sun 2026-10-25 02:30", "Mon 2026-10-26 02:30"];
    assert_eq!(nightly("2026-10-24T12:00:00Z"), autumn);
}

/// Samoa skipped 30 December 2011. Here each March has a gap of five hours.
#[test]
fn a_gap_of_many_hours_ends_no_job() {
    let zone = TimeZone::posix("AAA0BBB-5,M3.5.0,M10.5.0").unwrap();
    let from = |line| first_two(line, &zone, "2026-03-28T12:00:00Z");
    assert_eq!(from("0 3 29 3 *"), ["Sun 2026-03-29 07:00", "Mon 2027-03-29 03:00"]);
    assert_eq!(from("0 0 3 29 3 * 2026"), ["Sun 2026-03-29 07:00"], "and no other follows");
    let next_to_the_gap = ["Sun 2026-03-29 01:00", "Mon 2026-03-30 01:00"];
    assert_eq!(from("0 1 * * *"), next_to_the_gap);
}

/// Fault: lines that never match took seconds in zones with clock changes, and a line with an empty
/// element took minutes.
#[test]
fn no_line_takes_long_to_be_read_or_refused() {
    let minutes = (0..60).map(|minute| minute.to_string()).collect::<Vec<_>>().join(",");
    let lines = [
        "0 0 30 2 *".to_owned(),
        "0 0 31 2,4,6,9,11 *".to_owned(),
        ", * * * *".to_owned(),
        "* * * * ,".to_owned(),
        "0 0 0 30 2 * 1970-5000".to_owned(),
        "0 0 0 31 2,4,6,9,11 * 1970-5000".to_owned(),
        "0 0 29 2 +MON#5".to_owned(),
        "0 0 30 2 +FRI#L".to_owned(),
        // Thousands of clock changes come before it.
        "* * * 1 1 * 4999".to_owned(),
        format!("{minutes} * 29 2 +MON"),
        "0,".repeat(1_000_000),
        " ".repeat(1_000_000),
    ];
    let takes = |line: &str| {
        let begin = cpu_time();
        let _ = Cron::new(line, berlin()).map(|mut cron| {
            let next = cron.next(instant("2026-03-28T12:00:00Z"));
            assert!(cron.next(next.unwrap()) != next);
        });
        cpu_time() - begin
    };
    for line in lines {
        // Unoptimised code may take ten times as long.
        let took = takes(&line);
        assert!(took < Duration::from_millis(100), "'{line:.40}' takes {took:?}");
    }
}

/// The processor time of this thread, which other programs do not affect. On systems other than
/// Linux, the time of day.
fn cpu_time() -> Duration {
    let nanos = std::fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|stat| {
        let field = stat.split_ascii_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(field))
    });
    nanos.unwrap_or_else(|| SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default())
}

/// Zones whose clocks change at other hours, by half an hour, at midnight, by five hours, or whose
/// standard time is in summer (Ireland); and one without changes.
const ZONES: [&str; 8] = [
    "CET-1CEST,M3.5.0,M10.5.0/3",
    "EST5EDT,M3.2.0,M11.1.0",
    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "<-04>4<-03>,M9.1.6/24,M4.1.6/24",
    "IST-1GMT0,M10.5.0,M3.5.0/1",
    "AAA0BBB-5,M3.5.0,M10.5.0",
    "NZST-12NZDT,M9.5.0,M4.1.0/3",
    "IST-5:30",
];

/// Two days before the changes of the year 2026 in these zones: months and days.
const STARTS: [(u8, u8); 8] =
    [(3, 6), (3, 27), (4, 3), (9, 4), (9, 25), (10, 2), (10, 23), (10, 30)];

/// The times of a line with these minutes and hours, by the time that a clock shows each minute.
fn expected(
    shown: &[(Timestamp, DateTime)],
    minutes: &BTreeSet<u16>,
    hours: &BTreeSet<u16>,
    elapsed: bool,
) -> Vec<Timestamp> {
    let names = |time: &DateTime| {
        minutes.contains(&time.minute().unsigned_abs().into())
            && hours.contains(&time.hour().unsigned_abs().into())
    };
    if elapsed {
        return shown.iter().filter(|(_, time)| names(time)).map(|(instant, _)| *instant).collect();
    }
    // Each time of the line, even if no clock shows it: it runs at the first instant at which
    // the time has come.
    let (mut latest, mut runs) = (shown[0].1, Vec::new());
    for (instant, time) in &shown[1..] {
        let mut its = latest;
        let mut comes = false;
        while its < *time {
            its = its.checked_add(jiff::SignedDuration::from_mins(1)).unwrap();
            comes |= names(&its);
        }
        latest = latest.max(*time);
        runs.extend(comes.then_some(*instant));
    }
    runs
}

/// An independent calculation: minute by minute, for four days. (Fault: lists and ranges of minutes
/// or hours lost runs when the clocks went forward, and had some twice when they went back.)
#[test]
fn a_thousand_lines_run_when_they_should_over_the_changes_of_eight_zones() {
    let mut random = Rng::with_seed(17);
    let [sixty, day] = [60, 24].map(|count| (0..count).collect::<Vec<u16>>());
    for number in 0..1_000 {
        let zone = TimeZone::posix(ZONES[number % ZONES.len()]).unwrap();
        let (minute, minutes) = cron_field(&mut random, &sixty, |value| value.to_string());
        let (hour, hours) = cron_field(&mut random, &day, |value| value.to_string());
        let seconds = ["", "0 "][random.usize(..2)];
        let line = format!("{seconds}{minute} {hour} * * *");
        let elapsed = minute.contains('*') || hour.contains('*');
        let (month, date) = STARTS[random.usize(..8)];
        let first = format!("2026-{month:02}-{date:02}T00:00:00Z").parse::<Timestamp>().unwrap();
        let instants = (0..4 * 1440).map(|n| first + jiff::SignedDuration::from_mins(n));
        let shown: Vec<_> = instants.map(|time| (time, zone.to_datetime(time))).collect();
        let last = shown[shown.len() - 1].0;
        let cron = Cron::new(&line, zone.clone()).unwrap();
        let runs = times(cron, &zone, first).map(|time| time.timestamp());
        let runs: Vec<_> = runs.take_while(|time| *time <= last).collect();
        let mut expected = expected(&shown, &minutes, &hours, elapsed);
        expected.retain(|time| *time > first);
        assert_eq!(runs, expected, "'{line}' in {zone:?} from {first}");
    }
}
