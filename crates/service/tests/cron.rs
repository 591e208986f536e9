//! What the documentation says of cron lines, one by one. When the jobs run is seen in `tests/calendar.rs`.
#![cfg(feature = "cron")]

use std::time::{Duration, SystemTime};
use wheelhouse_service::cron::jiff::Timestamp;
use wheelhouse_service::cron::jiff::tz::TimeZone;
use wheelhouse_service::cron::{Cron, CronError};
use wheelhouse_service::{ManualClock, Reason, Rule, Scheduler};

fn instant(text: &str) -> SystemTime {
    text.parse::<Timestamp>().unwrap().into()
}

/// The first times of a line from Thursday, 2026-01-01, 00:30 on, in UTC.
fn times<const N: usize>(line: &str) -> [String; N] {
    let mut cron = Cron::new(line, TimeZone::UTC).unwrap_or_else(|error| panic!("{error}"));
    let mut last = instant("2026-01-01T00:30:00Z");
    [(); N].map(|()| {
        last = cron.next(last).unwrap();
        Timestamp::try_from(last).unwrap().strftime("%a %F %T").to_string()
    })
}

#[test]
fn the_names_of_periods_stand_for_all_fields() {
    assert_eq!(times("@hourly"), ["Thu 2026-01-01 01:00:00", "Thu 2026-01-01 02:00:00"]);
    assert_eq!(times("@daily"), ["Fri 2026-01-02 00:00:00", "Sat 2026-01-03 00:00:00"]);
    assert_eq!(times("@weekly"), ["Sun 2026-01-04 00:00:00", "Sun 2026-01-11 00:00:00"]);
    assert_eq!(times("@monthly"), ["Sun 2026-02-01 00:00:00", "Sun 2026-03-01 00:00:00"]);
    assert_eq!(times("@yearly"), ["Fri 2027-01-01 00:00:00", "Sat 2028-01-01 00:00:00"]);
    assert_eq!(times::<3>("@annually"), times("@yearly"));
    assert!(Cron::new("@fortnightly", TimeZone::UTC).is_err());
}

#[test]
fn days_can_be_named_by_their_place_in_the_month() {
    assert_eq!(times("0 9 L * ?"), ["Sat 2026-01-31 09:00:00", "Sat 2026-02-28 09:00:00"]);
    // The 15th of February and of March are Sundays, that of August a Saturday; so is the 1st of August.
    assert_eq!(
        times("0 9 15W 2,3,8 *"),
        ["Mon 2026-02-16", "Mon 2026-03-16", "Fri 2026-08-14"].map(at_nine)
    );
    assert_eq!(times("0 9 1W 8 *"), ["Mon 2026-08-03 09:00:00"], "in the same month");
    assert_eq!(times("0 9 ? * FRI#2"), ["Fri 2026-01-09", "Fri 2026-02-13"].map(at_nine));
    assert_eq!(times("0 9 * * FRI#L"), ["Fri 2026-01-30", "Fri 2026-02-27"].map(at_nine));
}

fn at_nine(day: &str) -> String {
    format!("{day} 09:00:00")
}

#[test]
fn of_two_days_either_will_do_and_with_a_plus_only_both() {
    assert_eq!(
        times("0 9 13 * FRI"),
        ["Fri 2026-01-02", "Fri 2026-01-09", "Tue 2026-01-13"].map(at_nine)
    );
    assert_eq!(
        times("0 9 13 * +FRI"),
        ["Fri 2026-02-13", "Fri 2026-03-13", "Fri 2026-11-13"].map(at_nine)
    );
}

#[test]
fn a_year_stands_behind_only_if_seconds_stand_in_front() {
    assert_eq!(times("30 0 9 * * MON"), ["Mon 2026-01-05 09:00:30"]);
    assert_eq!(times("30 0 9 * * MON 2027"), ["Mon 2027-01-04 09:00:30"]);
    let message = Cron::new("0 9 * * MON 2027", TimeZone::UTC).unwrap_err().to_string();
    let fields = "as in '0 9 * * MON'; six with seconds in front; seven with seconds in front and a year behind";
    assert!(message.ends_with(fields), "{message}");
}

#[test]
fn a_line_of_another_length_is_told_how_many_fields_it_has() {
    for (line, fields) in [("* * * *", 4), (" 0 0 9  * * MON 2027 x ", 8), ("@midnight", 1)] {
        let error = Cron::new(line, TimeZone::UTC).unwrap_err();
        let CronError::Invalid { reason, .. } = &error else { panic!("{error}") };
        assert_eq!(*reason, format!("it has {fields}, not between 5 and 7 fields"));
    }
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
