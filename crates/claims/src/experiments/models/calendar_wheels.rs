//! S1's month wheel, week wheel and day wheel, turned hour by hour through two years.
//!
//! ```text
//!  month wheel  [1][2] .. [12] .. [31]    a slot a day ──╮  at midnight, what is in the slot of the day
//!  week wheel   [Mo][Tu][We][Th] .. [Su]  a slot a day ──┤
//!  day wheel    [0][1] .. [9] .. [23]     a slot an hour ◀╯  at its hour it runs, and stays where it came from
//! ```

use super::checks::Checks;
use super::structures::each;
use crate::count::AnyTimer;
use crate::experiment::Experiment;
use crate::{Evidence, Scale, Table};
use jiff::SignedDuration;
use jiff::civil::{DateTime, Weekday, date};
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "calendar-wheels",
    about: "S1's month, week and day wheels turned hour by hour from September 2018 for 24 months, against the next deadline put into every structure",
    run,
};

/// A task runs at nine.
const HOUR: i8 = 9;

/// The article's three tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Tuesdays,
    Thursdays,
    Twelfths,
}

const TASKS: [Task; 3] = [Task::Tuesdays, Task::Thursdays, Task::Twelfths];

/// (hours since the start, task) of a firing.
type Firing = (Tick, Task);

impl Task {
    fn name(self) -> &'static str {
        match self {
            Self::Tuesdays => "every Tuesday at 9",
            Self::Thursdays => "every Thursday at 9",
            Self::Twelfths => "every 12th at 9",
        }
    }

    /// Whether it is to run on a day.
    fn is_on(self, day: DateTime) -> bool {
        match self {
            Self::Tuesdays => day.weekday() == Weekday::Tuesday,
            Self::Thursdays => day.weekday() == Weekday::Thursday,
            Self::Twelfths => day.day() == 12,
        }
    }
}

/// The article's now: Tuesday, 11 September 2018, 10 o'clock.
fn start() -> DateTime {
    date(2018, 9, 11).at(10, 0, 0, 0)
}

/// So many hours later. Civil time, in which each day has 24.
fn at(hour: Tick) -> DateTime {
    start() + SignedDuration::from_hours(hour as i64)
}

/// Hours to the same day and hour 24 months later.
fn horizon() -> Tick {
    date(2020, 9, 11).at(10, 0, 0, 0).duration_since(start()).as_hours() as Tick
}

fn run(_: &Scale) -> Evidence {
    let by_calendar = by_calendar();
    let printed = turned(true, month_slot);
    let mended = turned(false, month_slot);
    let thirty = turned(false, |_, day| day % 30);
    let mut table = Table::new(
        "Firings in 24 months from 11 September 2018, 10 o'clock",
        ["way", "Tuesdays", "Thursdays", "12ths", "at a wrong hour", "missed", "hand-overs"],
    );
    for (name, (fired, handed)) in [
        ("the calendar, day by day", &(by_calendar.clone(), 0)),
        ("three wheels, the Tuesdays first in the day wheel, as line 47 has it", &printed),
        ("three wheels, the Tuesdays in the week wheel, as line 49 has it", &mended),
        ("the same, the month wheel with 30 slots and no calendar", &thirty),
    ] {
        let count = |task| fired.iter().filter(|(_, of)| *of == task).count();
        let (wrong, missed) = (without(fired, &by_calendar), without(&by_calendar, fired));
        let counts = TASKS.map(count).into_iter().chain([wrong, missed, *handed]);
        table.row(std::iter::once(name.to_owned()).chain(counts.map(|count| count.to_string())));
    }
    let mut checks = Checks::new("Three wheels against the calendar");
    checks.is(
        "firings at a wrong hour or missed, each task where the article first puts it",
        0,
        faults(&printed.0, &by_calendar),
    );
    checks.is(
        "firings at a wrong hour or missed, the Tuesdays in the week wheel",
        0,
        faults(&mended.0, &by_calendar),
    );
    checks.is("hand-overs to the day wheel, one for each firing", mended.0.len(), mended.1);
    let outcomes = each(TASKS.len() as u64, |timer| faults(&by_next_deadline(timer), &by_calendar));
    let worst = outcomes.iter().map(|(_, faults)| *faults).max().unwrap_or(0);
    let what = format!(
        "the same for the next deadline, put into {} structures: most on any",
        outcomes.len()
    );
    checks.beside(what, worst.to_string());
    let first = printed.0.first().map_or_else(String::new, |(hour, task)| {
        format!("{} runs first on {}", task.name(), at(*hour))
    });
    let figure = format!(
        "{} firings, all right with the Tuesdays in the week wheel; in the day wheel {first}",
        mended.0.len()
    );
    let (finding, detail) = checks.into_parts("C64", figure);
    Evidence { findings: vec![finding], tables: vec![table, detail], charts: Vec::new() }
}

/// What the calendar says, hour by hour.
fn by_calendar() -> Vec<Firing> {
    let due = |hour: Tick| {
        let now = at(hour);
        TASKS.into_iter().filter(move |task| now.hour() == HOUR && task.is_on(now))
    };
    (1..=horizon()).flat_map(|hour| due(hour).map(move |task| (hour, task))).collect()
}

/// The slot of the month wheel at a day: its number in the month.
fn month_slot(now: DateTime, _: usize) -> usize {
    now.day() as usize
}

/// Turns the three wheels: the firings, and how many tasks were handed to the day wheel. `printed` puts the Tuesdays into the day wheel first, from where
/// they go to the week wheel once they have run; `month` is the slot of the month wheel at a day, of which so many have begun.
fn turned(printed: bool, month: fn(DateTime, usize) -> usize) -> (Vec<Firing>, usize) {
    let mut day: [Vec<Task>; 24] = Default::default();
    let mut week: [Vec<Task>; 8] = Default::default();
    week[Weekday::Thursday.to_monday_one_offset() as usize].push(Task::Thursdays);
    if printed {
        day[HOUR as usize].push(Task::Tuesdays);
    } else {
        week[Weekday::Tuesday.to_monday_one_offset() as usize].push(Task::Tuesdays);
    }
    // A wheel without calendar has the twelfth a day ahead of the eleventh, where it begins.
    let twelfth = month(start() + SignedDuration::from_hours(24), 1);
    let (mut fired, mut handed, mut days) = (Vec::new(), 0, 0);
    for hour in 1..=horizon() {
        let now = at(hour);
        if now.hour() == 0 {
            days += 1;
            let of_month = (month(now, days) == twelfth).then_some(Task::Twelfths);
            let of_day =
                week[now.weekday().to_monday_one_offset() as usize].iter().copied().chain(of_month);
            handed += of_day.clone().count();
            day[HOUR as usize].extend(of_day);
        }
        for task in std::mem::take(&mut day[now.hour() as usize]) {
            fired.push((hour, task));
            let home = &mut week[Weekday::Tuesday.to_monday_one_offset() as usize];
            if task == Task::Tuesdays && home.is_empty() {
                home.push(task);
            }
        }
    }
    (sorted(fired), handed)
}

/// The next deadline of each task, put into a structure when it has run.
fn by_next_deadline(timer: &mut AnyTimer) -> Vec<Firing> {
    (0..TASKS.len()).for_each(|value| put(timer, value, 0));
    let mut fired = Vec::new();
    while let Some(hour) = timer.next_wakeup().filter(|hour| *hour <= horizon()) {
        while let Some((deadline, value)) = timer.pop(hour) {
            fired.push((hour, TASKS[value as usize]));
            put(timer, value as usize, deadline);
        }
    }
    sorted(fired)
}

/// Puts a task into a structure, at its first hour after another.
fn put(timer: &mut AnyTimer, value: usize, after: Tick) {
    let is_on = |hour: &Tick| {
        let now = at(*hour);
        now.hour() == HOUR && TASKS[value].is_on(now)
    };
    if let Some(hour) = (after + 1..).find(is_on) {
        timer.insert(hour, value as u64);
    }
}

fn sorted(mut fired: Vec<Firing>) -> Vec<Firing> {
    fired.sort_unstable();
    fired
}

/// How many of the first are not in the second.
fn without(these: &[Firing], those: &[Firing]) -> usize {
    these.iter().filter(|firing| !those.contains(firing)).count()
}

fn faults(fired: &[Firing], expected: &[Firing]) -> usize {
    without(fired, expected) + without(expected, fired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_article_counts_from_a_tuesday() {
        assert_eq!((start().weekday(), start().hour()), (Weekday::Tuesday, 10));
        // Two years are 731 days here: 104 Tuesdays, one Thursday more, 24 twelfths.
        let count = |task| by_calendar().iter().filter(|(_, of)| *of == task).count();
        assert_eq!(TASKS.map(count), [104, 105, 24]);
        assert_eq!(horizon(), (365 + 366) * 24);
    }

    #[test]
    fn in_the_day_wheel_the_tuesday_runs_on_a_wednesday() {
        let (fired, _) = turned(true, month_slot);
        assert_eq!(fired[0], (23, Task::Tuesdays));
        assert_eq!(at(23).weekday(), Weekday::Wednesday);
    }
}
