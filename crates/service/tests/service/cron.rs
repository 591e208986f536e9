//! Cron lines, as the documentation describes them. The times of runs are tested in
//! `tests/service/calendar.rs`.

use std::time::{Duration, SystemTime};
use wheelhouse_service::cron::Cron;
use wheelhouse_service::cron::jiff::civil::DateTime;
use wheelhouse_service::cron::jiff::tz::TimeZone;
use wheelhouse_service::cron::jiff::{self, Timestamp};
use wheelhouse_service::{ManualClock, Reason, Rule, Scheduler};

fn instant(text: &str) -> SystemTime {
    text.parse::<Timestamp>().unwrap().into()
}

#[test]
fn what_is_shown_of_a_line_is_the_line_and_the_zone() {
    let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let cron = Cron::new("0 9 * * mon", berlin).unwrap();
    assert_eq!(cron.line(), "0 9 * * mon");
    let shown = format!("{cron:?}");
    assert!(
        shown.contains("\"0 9 * * mon\"") && shown.contains("CET-1CEST") && shown.len() < 120,
        "{shown}"
    );
}

#[test]
fn a_line_whose_years_have_passed_is_read_and_refused_when_it_is_scheduled() {
    let passed = Cron::new("0 0 9 * * MON 2020", TimeZone::UTC).unwrap();
    let refused_at = |wall: &str| {
        let scheduler =
            Scheduler::builder().clock(ManualClock::with_wall(instant(wall))).build().unwrap();
        scheduler.handle().on(passed.clone()).run(|_| ()).err().map(|rejected| rejected.reason)
    };
    assert_eq!(refused_at("2026-01-01T00:00:00Z"), Some(Reason::NoOccurrence));
    assert_eq!(refused_at("2020-12-28T08:59:00Z"), None, "a minute before the last");
    assert!(
        passed.clone().next(instant("2020-12-28T09:00:00Z") + Duration::from_millis(1)).is_none()
    );
}

fn berlin() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

/// The times of a line in Berlin on a day, as local times with their offsets.
fn runs_on(line: &str, day: &str) -> Vec<String> {
    let zone = berlin();
    let start: DateTime = format!("{day}T00:00:00").parse().unwrap();
    let start = start.to_zoned(zone.clone()).unwrap();
    let (begin, end) = (start.timestamp(), start.tomorrow().unwrap().timestamp());
    let mut cron = Cron::new(line, zone.clone()).unwrap();
    let before = SystemTime::from(begin) - Duration::from_nanos(1);
    let times = std::iter::successors(Some(before), |after| cron.next(*after)).skip(1);
    let times = times.map(|time| Timestamp::try_from(time).unwrap()).take_while(|time| *time < end);
    times.map(|time| time.to_zoned(zone.clone()).strftime("%H:%M %z").to_string()).collect()
}

/// Fault: a list or range of minutes or hours lost runs when the clocks went forward, and had some
/// runs twice when they went back.
#[test]
fn lists_and_ranges_run_once_at_each_time_they_name_when_the_clocks_are_changed() {
    let (spring, autumn) = ("2026-03-29", "2026-10-25");
    assert_eq!(runs_on("0,30 2 * * *", spring), ["03:00 +0200"], "both at the end of the gap");
    assert_eq!(runs_on("0,30 2 * * *", autumn), ["02:00 +0200", "02:30 +0200"]);
    assert_eq!(runs_on("30 2,3 * * *", spring), ["03:00 +0200", "03:30 +0200"]);
    assert_eq!(runs_on("30 2,3 * * *", autumn), ["02:30 +0200", "03:30 +0100"]);
    assert_eq!(runs_on("30 1-3 * * *", spring), ["01:30 +0100", "03:00 +0200", "03:30 +0200"]);
    assert_eq!(runs_on("30 1-3 * * *", autumn), ["01:30 +0200", "02:30 +0200", "03:30 +0100"]);
    assert_eq!(runs_on("0 30 2 * * *", spring), ["03:00 +0200"], "with seconds");
    assert_eq!(runs_on("30 * * * *", spring).len(), 23);
    assert_eq!(runs_on("30 * * * *", autumn).len(), 25);
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
        assert!(took < Duration::from_millis(500), "'{line:.40}' takes {took:?}");
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

/// An independent calculation: minute by minute, by the time that the clock shows.
mod against_another_calculation {
    use super::*;
    use crate::common::Random;
    use std::collections::BTreeSet;

    /// Zones whose clocks change at other hours, by half an hour, at midnight, by five hours, or
    /// whose standard time is in summer (Ireland); and one without changes.
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

    impl Random {
        /// A field, and the values that it matches.
        fn cron_field(&mut self, least: u64, most: u64) -> (String, BTreeSet<u64>) {
            let count = most - least + 1;
            let (from, step) = (least + self.below(count), 1 + self.below(count / 2));
            let to = from + self.below(most - from + 1);
            // A range that wraps around.
            let last = least + self.below(from - least + 1);
            let around = || (from..=most).chain(least..=last);
            match self.below(8) {
                0 => ("*".to_owned(), (least..=most).collect()),
                1 => (format!("*/{step}"), (least..=most).step_by(step as usize).collect()),
                2 => (format!("{from}"), [from].into()),
                3 => (format!("{from}-{to}"), (from..=to).collect()),
                4 => (format!("{from}-{to}/{step}"), (from..=to).step_by(step as usize).collect()),
                5 if last < from => (format!("{from}-{last}"), around().collect()),
                6 if last < from => {
                    let values = around().step_by(step as usize);
                    (format!("{from}-{last}/{step}"), values.collect())
                }
                _ => {
                    let all: BTreeSet<_> =
                        (0..=self.below(5)).map(|_| least + self.below(count)).collect();
                    (all.iter().map(u64::to_string).collect::<Vec<_>>().join(","), all)
                }
            }
        }
    }

    /// Each minute of some days, with the local time.
    fn minutes(zone: &TimeZone, from: &str) -> Vec<(Timestamp, DateTime)> {
        let begin = from.parse::<Timestamp>().unwrap().as_second();
        let minute = |n: i64| Timestamp::from_second(begin + n * 60).unwrap();
        (0..4 * 1440).map(minute).map(|time| (time, zone.to_datetime(time))).collect()
    }

    fn expected(
        shown: &[(Timestamp, DateTime)],
        minutes: &BTreeSet<u64>,
        hours: &BTreeSet<u64>,
        elapsed: bool,
    ) -> Vec<Timestamp> {
        let names = |time: &DateTime| {
            minutes.contains(&(time.minute() as u64)) && hours.contains(&(time.hour() as u64))
        };
        if elapsed {
            return shown
                .iter()
                .filter(|(_, time)| names(time))
                .map(|(instant, _)| *instant)
                .collect();
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

    #[test]
    fn a_thousand_lines_run_when_they_should_over_the_changes_of_eight_zones() {
        let mut random = Random(17);
        // Two days before the changes of the year in each zone.
        let starts = [
            "2026-03-06",
            "2026-03-27",
            "2026-04-03",
            "2026-09-04",
            "2026-09-25",
            "2026-10-02",
            "2026-10-23",
            "2026-10-30",
        ];
        for number in 0..1_000 {
            let zone = TimeZone::posix(ZONES[number % ZONES.len()]).unwrap();
            let ((minute, minutes_of), (hour, hours_of)) =
                (random.cron_field(0, 59), random.cron_field(0, 23));
            let line = format!("{minute} {hour} * * *");
            let elapsed = line.split(' ').take(2).any(|field| field.contains('*'));
            let start = starts[random.below(starts.len() as u64) as usize];
            let shown = minutes(&zone, &format!("{start}T00:00:00Z"));
            let mut cron = Cron::new(&line, zone.clone()).unwrap();
            let (first, last) = (shown[0].0, shown[shown.len() - 1].0);
            let runs =
                std::iter::successors(Some(SystemTime::from(first)), |after| cron.next(*after))
                    .skip(1);
            let runs = runs
                .map(|time| Timestamp::try_from(time).unwrap())
                .take_while(|time| *time <= last);
            let expected = expected(&shown, &minutes_of, &hours_of, elapsed);
            let expected: Vec<_> = expected.into_iter().filter(|time| *time > first).collect();
            assert_eq!(runs.collect::<Vec<_>>(), expected, "'{line}' in {zone:?} from {start}");
        }
    }
}
