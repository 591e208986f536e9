//! The examples of S1: hours, days, weeks and a month.

use crate::count::AnyTimer;
use crate::experiment::Experiment;
use crate::experiments::models::checks::{Checks, shown};
use crate::experiments::models::structures::{by_wakeups, each, tick_by_tick};
use crate::{Evidence, Scale};
use jiff::civil::{Date, date};
use wheelhouse_core::{Tick, Timer};

pub(super) const E5: Experiment = Experiment {
    name: "example-e5",
    about: "a clock face, a daily task, and a week of 168 slots: slots by arithmetic, hours of firing on every structure",
    run: day_and_week,
};

pub(super) const E6: Experiment = Experiment {
    name: "example-e6",
    about: "Tuesday 2018-09-11, 10 o'clock, 24 slots: slots, full rounds and hours of firing of the three tasks",
    run: three_rounds,
};

pub(super) const E7: Experiment = Experiment {
    name: "example-e7",
    about: "two tasks in a month of 720 hours, on every structure driven tick by tick; the slots of a week, and of a month of seconds",
    run: moves_in_a_month,
};

/// Hours of a day, and of a week.
const DAY: Tick = 24;
const WEEK: Tick = 7 * DAY;

/// The hours after a start at which timers of these delays fire, in order of firing.
fn hours_of(timer: &mut AnyTimer, start: Tick, delays: &[Tick]) -> Vec<Tick> {
    timer.fired(start);
    for delay in delays {
        timer.insert(start + delay, *delay);
    }
    tick_by_tick(timer, start + 1, start + 2 * WEEK)
        .into_iter()
        .map(|(tick, _)| tick - start)
        .collect()
}

fn day_and_week(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Hours");
    checks.everywhere(
        "tasks of 3, 4 and 9 o'clock fire at",
        vec![3, 4, 9],
        &each(3, |timer| hours_of(timer, 0, &[9, 3, 4])),
    );
    let wait = (9 + DAY - 16) % DAY;
    checks.is("hours from 16:00 to 09:00", 17, wait);
    let daily = each(1, |timer| daily(timer, 16, wait));
    checks.everywhere("the daily task fires at hours of the day", vec![9; 3], &daily);
    // A week that begins on Monday at 0: Tuesday, ten o'clock, is now.
    let now = DAY + 10;
    let (monday, wednesday) = (9, 2 * DAY + 9);
    checks.is("slots of a week", 168, WEEK);
    checks.is("slots of Monday and Wednesday at nine", [9, 57], [monday % WEEK, wednesday % WEEK]);
    let delays = [monday + WEEK - now, wednesday - now];
    checks.is("hours to next Monday and this Wednesday", [143, 23], delays);
    let mut sorted = delays;
    sorted.sort_unstable();
    checks.everywhere(
        "they fire after",
        sorted.to_vec(),
        &each(2, |timer| hours_of(timer, now, &delays)),
    );
    checks.evidence(
        "E5",
        format!(
            "slots {monday} and {wednesday} of {WEEK}, after {} and {} h",
            delays[0], delays[1]
        ),
    )
}

/// The hours of the day at which a task fires that is put back a day later, three times.
fn daily(timer: &mut AnyTimer, start: Tick, wait: Tick) -> Vec<Tick> {
    timer.fired(start);
    timer.insert(start + wait, 0);
    let mut hours = Vec::new();
    for hour in start + 1..=start + 3 * DAY {
        while let Some((deadline, value)) = timer.pop(hour) {
            hours.push(hour % DAY);
            timer.insert(deadline + DAY, value);
        }
    }
    hours
}

fn three_rounds(_: &Scale) -> Evidence {
    const NOW: Date = date(2018, 9, 11);
    let days = [
        ("Tuesday", date(2018, 9, 18), 7),
        ("Thursday", date(2018, 9, 13), 3),
        ("the 12th", date(2018, 9, 12), 2),
    ];
    let hours =
        |day: Date| day.at(9, 0, 0, 0).duration_since(NOW.at(10, 0, 0, 0)).as_hours() as Tick;
    let mut checks = Checks::new("24 slots, from Tuesday the 11th at ten");
    let delays = days.map(|(_, day, _)| hours(day));
    checks.is("slots of the three", [9; 3], delays.map(|delay| (10 + delay) % DAY));
    for (name, day, printed) in days {
        let full = hours(day) / DAY;
        checks.is(format!("{name} at nine fires after full rounds"), printed - 1, full);
    }
    let mut sorted = delays;
    sorted.sort_unstable();
    checks.everywhere(
        "the three fire after hours",
        sorted.to_vec(),
        &each(3, |timer| hours_of(timer, DAY + 10, &delays)),
    );
    let full = delays.map(|delay| delay / DAY);
    checks
        .evidence("E6", format!("slot 9 after {} full rounds, {} h", shown(&full), shown(&delays)))
}

fn moves_in_a_month(_: &Scale) -> Evidence {
    const MONTH: Tick = 30 * DAY;
    let mut checks = Checks::new("Two tasks in a month");
    checks.is("slots of a week of hours", 168, WEEK);
    let moves = each(2, |timer| {
        timer.insert(MONTH / 3, 0);
        timer.insert(MONTH, 1);
        let vain = (1..=MONTH).filter(|hour| timer.fired(*hour).is_empty()).count();
        (MONTH as usize, vain)
    });
    checks.everywhere(
        "moves of a driver by the hour, and those that fire nothing",
        (720, 718),
        &moves,
    );
    checks.is("slots of a month of seconds", 2_592_000, MONTH * 3_600);
    let wakeups = each(2, |timer| {
        timer.insert(MONTH / 3, 0);
        timer.insert(MONTH, 1);
        by_wakeups(timer).0.len()
    });
    let most = wakeups.iter().map(|(_, calls)| *calls).max().unwrap_or(0);
    checks.beside(
        format!("calls from wake-up to wake-up, most on any of {} structures", wakeups.len()),
        most.to_string(),
    );
    let (moves, vain) = moves.first().map_or((0, 0), |(_, moves)| *moves);
    checks.evidence(
        "E7",
        format!(
            "{vain} of {moves} moves fire nothing; {most} calls at most from wake-up to wake-up"
        ),
    )
}
