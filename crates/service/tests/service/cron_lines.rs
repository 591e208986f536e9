//! Cron lines as people write them: their meaning, or the message that refuses them. And random
//! lines against a day-by-day calculation.

use fastrand::Rng;
use std::collections::BTreeSet;
use std::time::SystemTime;
use wheelhouse_service::Rule;
use wheelhouse_service::cron::jiff::civil::Date;
use wheelhouse_service::cron::jiff::tz::TimeZone;
use wheelhouse_service::cron::jiff::{Timestamp, ToSpan, Zoned};
use wheelhouse_service::cron::{Cron, CronError};

/// The times of a cron line after an instant.
pub(crate) fn times(
    mut cron: Cron,
    zone: &TimeZone,
    after: Timestamp,
) -> impl Iterator<Item = Zoned> + use<> {
    let zone = zone.clone();
    let next = move |after: &SystemTime| cron.next(*after);
    let all = std::iter::successors(Some(SystemTime::from(after)), next).skip(1);
    all.map(move |time| Timestamp::try_from(time).unwrap().to_zoned(zone.clone()))
}

/// The first three times of a line from Thursday, 2026-01-01, 00:30 on, in UTC.
fn first_times(cron: &Cron) -> String {
    let begin = "2026-01-01T00:30:00Z".parse().unwrap();
    let shown = times(cron.clone(), &TimeZone::UTC, begin).take(3).map(|time| {
        let seconds = if time.second() == 0 { "" } else { ":%S" };
        time.strftime(&format!("%a %m-%d %H:%M{seconds}")).to_string()
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Lines, and their first times. The random lines below have lists, steps, names and ranges too.
const TAKEN: [(&str, &str); 25] = [
    // A field that begins with `*` or `?` does not restrict the days: both must match.
    ("0 0 ?/2 * MON", "Mon 01-05 00:00, Mon 01-19 00:00, Mon 02-09 00:00"),
    ("0 0 L * ?", "Sat 01-31 00:00, Sat 02-28 00:00, Tue 03-31 00:00"),
    // With a plus, both must match.
    ("30 0 9 13 * +FRI", "Fri 02-13 09:00:30, Fri 03-13 09:00:30, Fri 11-13 09:00:30"),
    // Ranges that wrap around.
    ("0 9 * * 7-2", "Sun 01-04 09:00, Mon 01-05 09:00, Tue 01-06 09:00"),
    ("0 9 * * 7-7", "Sun 01-04 09:00, Sun 01-11 09:00, Sun 01-18 09:00"),
    ("0 9 * * sun-SUN", "Sun 01-04 09:00, Sun 01-11 09:00, Sun 01-18 09:00"),
    ("0 9 * * SAT-MON#1", "Sat 01-03 09:00, Sun 01-04 09:00, Mon 01-05 09:00"),
    // Names.
    ("@hourly", "Thu 01-01 01:00, Thu 01-01 02:00, Thu 01-01 03:00"),
    ("@daily", "Fri 01-02 00:00, Sat 01-03 00:00, Sun 01-04 00:00"),
    ("@monthly", "Sun 02-01 00:00, Sun 03-01 00:00, Wed 04-01 00:00"),
    ("@annually", "Fri 01-01 00:00, Sat 01-01 00:00, Mon 01-01 00:00"),
    ("@midnight", "Fri 01-02 00:00, Sat 01-03 00:00, Sun 01-04 00:00"),
    ("0 9 * * FridayL", "Fri 01-30 09:00, Fri 02-27 09:00, Fri 03-27 09:00"),
    ("0 9 * * Friday#2", "Fri 01-09 09:00, Fri 02-13 09:00, Fri 03-13 09:00"),
    ("0 9 * * 0,7", "Sun 01-04 09:00, Sun 01-11 09:00, Sun 01-18 09:00"),
    // Comments and space.
    ("0 9 * * MON # the report", "Mon 01-05 09:00, Mon 01-12 09:00, Mon 01-19 09:00"),
    ("@weekly #backup", "Sun 01-04 00:00, Sun 01-11 00:00, Sun 01-18 00:00"),
    ("\t0  9 * *\tMON\n", "Mon 01-05 09:00, Mon 01-12 09:00, Mon 01-19 09:00"),
    // Seconds, years, and special days.
    ("*/20 30 9 * * *", "Thu 01-01 09:30, Thu 01-01 09:30:20, Thu 01-01 09:30:40"),
    ("0 0 9 1 1 * 2027,2030-2031", "Fri 01-01 09:00, Tue 01-01 09:00, Wed 01-01 09:00"),
    ("0 9 15W 2,3,8 *", "Mon 02-16 09:00, Mon 03-16 09:00, Fri 08-14 09:00"),
    ("0 9 1W 8 *", "Mon 08-03 09:00, Mon 08-02 09:00, Tue 08-01 09:00"),
    ("0 9 * * FRI#L", "Fri 01-30 09:00, Fri 02-27 09:00, Fri 03-27 09:00"),
    ("0 9 LW * *", "Fri 01-30 09:00, Fri 02-27 09:00, Tue 03-31 09:00"),
    ("007 9 * * *", "Thu 01-01 09:07, Fri 01-02 09:07, Sat 01-03 09:07"),
];

/// Other versions read stored lines, and know only the plain form.
#[test]
fn each_line_means_what_the_documentation_says_and_so_does_its_plain_form() {
    for (line, expected) in TAKEN {
        let cron = Cron::new(line, TimeZone::UTC).unwrap();
        assert_eq!(first_times(&cron), expected, "{line:?}");
        let read = Cron::from_plain(cron.plain(), TimeZone::UTC).unwrap();
        assert_eq!(first_times(&read), expected, "{line:?} as {}", read.plain());
        let again = Cron::new(cron.plain(), TimeZone::UTC).unwrap();
        assert_eq!([read.plain(), again.plain()], [cron.plain(); 2], "{line:?}");
    }
    // Nothing is rewritten without a reason, so that stored lines stay recognisable.
    for line in ["30 2 * * *", "0 9 * * MON-FRI", "*/10 8-18/2 1,L * sun,FRI#L", "0 0 9 15W * +mon"]
    {
        assert_eq!(Cron::new(line, TimeZone::UTC).unwrap().plain(), line);
    }
}

/// Lines, and what the message says.
const REFUSED: [(&str, &str); 32] = [
    ("", "it is empty; expected five fields: minute 0-59, hour 0-23, day 1-31, month 1-12 or JAN"),
    ("  # nothing", "it is empty; expected five fields"),
    ("* * * *", "it has 4, not between 5 and 7 fields: five fields: minute 0-59"),
    ("0 9 * * MON 2027", "a line with a year begins with seconds: write '0 0 9 * * MON 2027'"),
    ("@every 5m", "names a period, not calendar times: plan the job by `every(Duration)` instead"),
    ("@reboot", "schedule the job by `after(Duration::ZERO)` when the program starts"),
    ("@fortnightly", "'@fortnightly' is not known: use one of @hourly, @daily, @midnight, @weekly"),
    ("@daily /bin/backup", "nothing may follow '@daily'"),
    ("TZ=Europe/Berlin 0 9 * * *", "give the zone 'Europe/Berlin' as the second argument"),
    ("MAILTO=root", "sets a variable of a crontab: leave it out; expected five fields"),
    ("0 9 * * FRI #2", "write '# ' before a comment, and 'FRI#2' without a space for a weekday"),
    ("0 0 30 2 *", "the cron line '0 0 30 2 *' never matches"),
    // Steps.
    ("*/90 * * * *", "a step of 90 is larger than the field, which has 60 values"),
    ("0 9 * * 1-5/99999", "plan a period by `every(Duration)`, in the day of the week '1-5/99999'"),
    ("*/0 * * * *", "a step of 0 never reaches another value, in the minute '*/0'"),
    ("*/x * * * *", "the step 'x' is not a number, in the minute '*/x'"),
    ("/5 * * * *", "the step of '/5' has no range: write '*/5', in the minute '/5'"),
    ("5/15 * * * *", "the step of '5/15' has no range: write '5-59/15', in the minute '5/15'"),
    // Values.
    ("61 * * * *", "'61 * * * *' cannot be read: '61' is not between 0 and 59, in the minute '61'"),
    ("0 9 1-32 * *", "'32' is not between 1 and 31, in the day of the month '1-32'"),
    ("0 9 * 13 *", "'13' is not between 1 and 12, JAN-DEC, or a name in full, in the month '13'"),
    ("0 9 * * 8", "'8' is not between 0 and 7, SUN-SAT, or a name in full, in the day of the week"),
    ("0 ? * * *", "'?' is not between 0 and 23, in the hour '?'"),
    ("0 9 L-3 * *", "'L' is not between 1 and 31, in the day of the month 'L-3'"),
    ("0 9 1-15W * *", "'1-15' is not between 1 and 31, in the day of the month '1-15W'"),
    ("0 9 * * Mo\u{308}n", "'Mo\u{308}n' is not between 0 and 7, SUN-SAT, or a name in full"),
    ("0 9 * * FRI#6", "'#6' is not between '#1' and '#5', nor '#L'"),
    ("0 0 9 * * MON 2030-2027", "the range '2030-2027' ends before it begins, in the year"),
    // Lists.
    ("1,,2 * * * *", "a list has an empty element, in the minute '1,,2'"),
    ("0 9 +1 * MON", "a '+' may only precede a day of the week, in the day of the month '+1'"),
    ("0 9 L,LW * *", "'L' and 'LW' cannot be in one list: write two lines"),
    ("0 9 * * L", "write 'FRI#L' for the last Friday of a month, and 'L' as day of the month"),
];

#[test]
fn a_line_that_is_refused_is_told_what_to_write() {
    let long = "0,".repeat(600) + "0 22-2 * * *";
    let longer_in_full = format!("{} * * * *", vec!["59-58/1"; 20].join(","));
    let too_long = [&long, &longer_in_full].map(|line| (line.as_str(), "longer than 1000 bytes"));
    for (line, message) in REFUSED.into_iter().chain(too_long) {
        let error = Cron::new(line, TimeZone::UTC).unwrap_err().to_string();
        assert!(error.contains(message), "{line:?}: {error}\n  not: {message}");
    }
}

/// A program that reads a line from its user shows the reason next to the line.
#[test]
fn an_error_has_the_line_and_the_reason_as_fields() {
    let error = |line: &str| Cron::new(line, TimeZone::UTC).unwrap_err();
    let CronError::Invalid { line, reason } = error("61 * * * *") else {
        panic!("61 is no minute");
    };
    let expected = "'61' is not between 0 and 59, in the minute '61'";
    assert_eq!((line.as_str(), reason.as_str()), ("61 * * * *", expected));
    let line = "0 0 30 2 *".to_owned();
    assert_eq!(error(&line), CronError::NeverMatches { line });
}

/// Lines that older versions stored. Some of them are refused or have another meaning today.
#[test]
fn a_line_of_an_older_version_keeps_its_meaning() {
    for (line, expected) in [
        ("0 0 */1 * MON", "Fri 01-02 00:00, Sat 01-03 00:00, Sun 01-04 00:00"),
        ("0 0 */2 * MON", "Sat 01-03 00:00, Mon 01-05 00:00, Wed 01-07 00:00"),
        ("*/90 * * * *", "Thu 01-01 01:00, Thu 01-01 02:00, Thu 01-01 03:00"),
        ("0 MON * * *", "Thu 01-01 01:00, Fri 01-02 01:00, Sat 01-03 01:00"),
    ] {
        let read = Cron::from_plain(line, TimeZone::UTC);
        let found = read.map_or_else(|error| error.to_string(), |cron| first_times(&cron));
        assert_eq!(found, expected, "{line}");
    }
    for line in [", * * * *", "* , * * *", "* * * * L", "hello", "* * * * *\0", &"0,".repeat(900)] {
        let error = Cron::from_plain(line, TimeZone::UTC).unwrap_err().to_string();
        assert!(error.contains("plain form") || error.contains("never") || error.contains("long"));
    }
}

/// One element of a list, and the values that it matches. `all` are the values of the field, in
/// order.
fn element(random: &mut Rng, all: &[u16], name: impl Fn(u16) -> String) -> (String, Vec<u16>) {
    let count = all.len();
    let (from, mut some) = (random.usize(..count), || random.usize(1..=count));
    let (length, step) = (some(), some());
    // Wraps around, if the range is long enough.
    let cycle = || all.iter().cycle().skip(from).take(length).copied();
    let range = format!("{}-{}", name(all[from]), name(cycle().last().unwrap()));
    match random.u8(..5) {
        0 => ("*".to_owned(), all.to_vec()),
        1 => (format!("*/{step}"), all.iter().step_by(step).copied().collect()),
        2 => (range, cycle().collect()),
        3 => (format!("{range}/{step}"), cycle().step_by(step).collect()),
        _ => (name(all[from]), vec![all[from]]),
    }
}

/// A list, and the values that it matches.
pub(crate) fn cron_field(
    random: &mut Rng,
    all: &[u16],
    name: impl Fn(u16) -> String,
) -> (String, BTreeSet<u16>) {
    let elements: Vec<_> = (0..random.u8(1..=2)).map(|_| element(random, all, &name)).collect();
    let texts: Vec<_> = elements.iter().map(|(text, _)| text.clone()).collect();
    (texts.join(","), elements.into_iter().flat_map(|(_, values)| values).collect())
}

/// Days that few years or none have, in random years.
#[test]
fn a_line_is_refused_exactly_if_no_day_since_1970_matches() {
    let (mut random, mut taken) = (Rng::with_seed(11), 0);
    for _ in 0..400 {
        let (day, month, weekday) = (random.i8(29..=31), random.i8(1..=4), random.i8(0..=6));
        let (first, more) = (random.i16(1960..=2100), random.i16(0..=100));
        let line = format!("0 0 9 {day} {month} +{weekday}#5 {first}-{}", first + more);
        let is_its = |date: Date| date.weekday().to_sunday_zero_offset() == weekday;
        let has = |year| Date::new(year, month, day).is_ok_and(is_its);
        let expected = (first.max(1970)..=first + more).any(has);
        assert_eq!(Cron::new(&line, TimeZone::UTC).is_ok(), expected, "{line}");
        taken += u32::from(expected);
    }
    assert!((200..350).contains(&taken), "{taken} of 400");
}

/// Each day of four years, by the fields of a random line.
#[test]
fn a_thousand_lines_have_the_days_that_a_calculation_day_by_day_finds() {
    const MONTHS: [&str; 12] = [
        "Jan", "FEBRUARY", "mar", "April", "MAY", "june", "Jul", "AUGUST", "sep", "October", "NOV",
        "december",
    ];
    const WEEKDAYS: [&str; 7] = ["sun", "Monday", "TUE", "wednesday", "Thu", "FRIDAY", "sat"];
    let [days, months, weekdays] =
        [(1, 31), (1, 12), (0, 6)].map(|(least, most)| (least..=most).collect::<Vec<u16>>());
    let mut random = Rng::with_seed(5);
    for _ in 0..1_000 {
        let named = random.u64(..2) == 0;
        let name = |names: &'static [&'static str], least: u16| {
            move |value: u16| match named {
                true => names[usize::from(value - least)].to_owned(),
                false => value.to_string(),
            }
        };
        let (day, its_days) = cron_field(&mut random, &days, |value| value.to_string());
        let (month, its_months) = cron_field(&mut random, &months, name(&MONTHS, 1));
        let (weekday, its_weekdays) = cron_field(&mut random, &weekdays, name(&WEEKDAYS, 0));
        let plus = if random.u64(..8) == 0 { "+" } else { "" };
        let line = format!("30 9 {day} {month} {plus}{weekday}");
        let both = day.starts_with('*') || weekday.starts_with('*') || !plus.is_empty();
        let names = |date: &Date| {
            let is_day = its_days.contains(&date.day().unsigned_abs().into());
            let weekday = date.weekday().to_sunday_zero_offset().unsigned_abs();
            let is_weekday = its_weekdays.contains(&weekday.into());
            its_months.contains(&date.month().unsigned_abs().into())
                && if both { is_day && is_weekday } else { is_day || is_weekday }
        };
        let (first, last) = (Date::constant(2027, 1, 1), Date::constant(2030, 12, 31));
        let expected: Vec<_> =
            first.series(1.day()).take_while(|date| *date <= last).filter(names).collect();
        let Ok(cron) = Cron::new(&line, TimeZone::UTC) else {
            assert!(expected.is_empty(), "{line} is refused");
            continue;
        };
        let begin = first.to_zoned(TimeZone::UTC).unwrap().timestamp();
        let plain = Cron::from_plain(cron.plain(), TimeZone::UTC).unwrap();
        for cron in [cron, plain] {
            let its_line = cron.plain().to_owned();
            let dates = times(cron, &TimeZone::UTC, begin).map(|time| time.date());
            let found: Vec<_> = dates.take_while(|date| *date <= last).collect();
            assert_eq!(found, expected, "{line} as {its_line}");
        }
    }
}
