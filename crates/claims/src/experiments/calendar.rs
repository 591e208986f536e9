//! B13, C64, E5, E6, E7: S1's hours, days, weeks and months; its three wheels, turned through two
//! years.
//!
//! ```text
//!  month wheel  [1][2] .. [12] .. [31]    a slot a day ──╮  at midnight, what is in the day's slot
//!  week wheel   [Mo][Tu][We][Th] .. [Su]  a slot a day ──┤
//!  day wheel    [0][1] .. [9] .. [23]     a slot an hour ◀╯  at its hour a task runs, and stays
//!                                                            where it came from
//! ```

use super::drive::{by_wakeups, fired_after, tick_by_tick};
use super::models::rounds::{Rounds, S1};
use crate::count::AnyTimer;
use crate::{By, Evidence, Experiment, Lab};
use jiff::SignedDuration;
use jiff::civil::{DateTime, Weekday, date};
use wheelhouse_core::{Tick, Timer};

pub(super) const WHEELS: Experiment = Experiment {
    name: "calendar-wheels",
    about: "S1's month, week and day wheels turned hour by hour from September 2018 for 24 months, \
        against the next deadline put into every structure",
    run: wheels,
};

/// The article's tasks all run at nine: every Tuesday, every Thursday, every 12th.
const HOUR: i8 = 9;
const TASKS: [fn(DateTime) -> bool; 3] = [
    |day| day.weekday() == Weekday::Tuesday,
    |day| day.weekday() == Weekday::Thursday,
    |day| day.day() == 12,
];
const TUESDAYS: usize = 0;
const TWELFTHS: usize = 2;

/// (hours since the start, task) of a firing.
type Firing = (Tick, usize);

/// The article's now, a Tuesday, and so many hours later: civil time, in which each day has 24.
fn at(hour: Tick) -> DateTime {
    date(2018, 9, 11).at(10, 0, 0, 0) + SignedDuration::from_hours(hour as i64)
}

/// Hours to the same day and hour 24 months later.
fn horizon() -> Tick {
    date(2020, 9, 11).at(10, 0, 0, 0).duration_since(at(0)).as_hours() as Tick
}

fn is_due(task: usize, hour: Tick) -> bool {
    at(hour).hour() == HOUR && TASKS[task](at(hour))
}

fn by_calendar() -> Vec<Firing> {
    let due = |hour| (0..3).filter(move |task| is_due(*task, hour)).map(move |task| (hour, task));
    (1..=horizon()).flat_map(due).collect()
}

/// Turns the three wheels: the firings, and how many tasks were handed to the day wheel. `printed`
/// puts the Tuesdays into the day wheel first, from where they go to the week wheel once they have
/// run.
fn turned(printed: bool) -> (Vec<Firing>, usize) {
    let [mut day, mut week] = [const { Vec::<usize>::new() }; 2].map(|slot| vec![slot; 24]);
    let slot = |day: DateTime| day.weekday().to_monday_one_offset() as usize;
    week[Weekday::Thursday.to_monday_one_offset() as usize].push(1);
    let tuesday = Weekday::Tuesday.to_monday_one_offset() as usize;
    if printed {
        day[HOUR as usize].push(TUESDAYS)
    } else {
        week[tuesday].push(TUESDAYS)
    }
    let (mut fired, mut handed) = (Vec::new(), 0);
    for hour in 1..=horizon() {
        let now = at(hour);
        if now.hour() == 0 {
            let of_month = TASKS[TWELFTHS](now).then_some(TWELFTHS);
            let of_day: Vec<usize> = week[slot(now)].iter().copied().chain(of_month).collect();
            handed += of_day.len();
            day[HOUR as usize].extend(of_day);
        }
        for task in std::mem::take(&mut day[now.hour() as usize]) {
            fired.push((hour, task));
            if task == TUESDAYS && week[tuesday].is_empty() {
                week[tuesday].push(task);
            }
        }
    }
    fired.sort_unstable();
    (fired, handed)
}

/// Firings in one and not in the other.
fn faults(fired: &[Firing], expected: &[Firing]) -> usize {
    let without =
        |these: &[Firing], those: &[Firing]| these.iter().filter(|it| !those.contains(it)).count();
    without(fired, expected) + without(expected, fired)
}

fn wheels(lab: &Lab, e: &mut Evidence) {
    let right = by_calendar();
    let ((printed, _), (mended, handed)) = (turned(true), turned(false));
    e.by(By::Arithmetic);
    let quote = "Three wheels suffice, each task where line 47 puts it: no firing is wrong.";
    e.is("C64.1", quote, 0, faults(&printed, &right));
    let quote = "They suffice with the Tuesdays in the week wheel, as line 49 has it.";
    e.is("C64.2", quote, 0, faults(&mended, &right));
    let quote = "Each firing takes one hand-over to the day wheel.";
    e.is("C64.3", quote, mended.len(), handed);
    let by_next = lab.each(3, |timer| faults(&by_next_deadline(timer), &right));
    let quote = "An ordinary wheel does, with the next deadline of each.";
    e.by(By::Counts).everywhere("C64.4", quote, 0, &by_next);
}

/// The next deadline of each task, put into a structure when it has run.
fn by_next_deadline(timer: &mut AnyTimer) -> Vec<Firing> {
    let put = |timer: &mut AnyTimer, task: usize, after: Tick| {
        let hour = (after + 1..).find(|hour| is_due(task, *hour));
        hour.into_iter().for_each(|hour| _ = timer.insert(hour, task as u64));
    };
    (0..3).for_each(|task| put(timer, task, 0));
    let mut fired = Vec::new();
    while let Some(hour) = timer.next_wakeup().filter(|hour| *hour <= horizon()) {
        while let Some((deadline, task)) = timer.pop(hour) {
            fired.push((hour, task as usize));
            put(timer, task as usize, deadline);
        }
    }
    fired.sort_unstable();
    fired
}

pub(super) const EXAMPLES: Experiment = Experiment {
    name: "examples-s1",
    about: "a clock face, a daily task, a week of 168 slots, three tasks on 24 slots from Tuesday \
        2018-09-11 10:00, two tasks in a month of 720 hours: slots, rounds, hours of firing on \
        every structure",
    run: examples,
};

const DAY: Tick = 24;
const WEEK: Tick = 7 * DAY;
const MONTH: Tick = 30 * DAY;
/// Tuesday at ten, in a week that begins on Monday at 0.
const NOW: Tick = DAY + 10;

fn examples(lab: &Lab, e: &mut Evidence) {
    week(lab, e);
    rounds(lab, e);
    e.by(By::Arithmetic);
    e.is("E7.1", "A week has 168 slots of an hour.", 168, WEEK);
    let moves = lab.each(2, |timer| {
        timer.insert(MONTH / 3, 0);
        timer.insert(MONTH, 1);
        (MONTH as usize, MONTH as usize - tick_by_tick(timer, 1, MONTH).len())
    });
    let quote = "A month with two tasks has 720 moves, of which 718 are useless.";
    e.by(By::Counts).everywhere("E7.2", quote, (720, 718), &moves);
    let calls = lab.each(2, |timer| {
        timer.insert(MONTH / 3, 0);
        timer.insert(MONTH, 1);
        by_wakeups(timer).0.len()
    });
    let most = calls.iter().map(|(_, calls)| *calls).max().unwrap_or(0);
    e.beside("calls from wake-up to wake-up, most on any structure", most);
    let quote = "In seconds the array is far larger: 2,592,000 slots.";
    e.by(By::Arithmetic).is("E7.3", quote, 2_592_000, MONTH * 3_600);
}

fn week(lab: &Lab, e: &mut Evidence) {
    let face = lab.each(3, |timer| fired_after(timer, 0, &[9, 3, 4]));
    e.everywhere("E5.1", "Tasks at 3, 4 and 9 o'clock fire at 3, 4 and 9.", vec![3, 4, 9], &face);
    let wait = (9 + DAY - 16) % DAY;
    let daily = lab.each(1, |timer| {
        timer.fired(16);
        timer.insert(16 + wait, 0);
        let mut hours = Vec::new();
        for hour in 17..=16 + 3 * DAY {
            while let Some((deadline, value)) = timer.pop(hour) {
                hours.push(hour % DAY);
                timer.insert(deadline + DAY, value);
            }
        }
        hours
    });
    let quote = "At 16:00 a task for 09:00 daily waits 17 h, and fires at nine each day.";
    e.everywhere("E5.2", quote, vec![9; 3], &daily);
    let (monday, wednesday) = (9, 2 * DAY + 9);
    let quote = "Of 168 slots Monday 09:00 is slot 9, Wednesday 09:00 slot 57.";
    e.by(By::Arithmetic).is("E5.3", quote, [9, 57], [monday % WEEK, wednesday % WEEK]);
    let delays = [monday + WEEK - NOW, wednesday - NOW];
    e.is("E5.4", "From Tuesday 10:00 they are due in 143 and 23 h.", [143, 23], delays);
    let after = lab.each(2, |timer| fired_after(timer, NOW, &delays));
    e.by(By::Counts).everywhere("E5.5", "They fire after these hours.", vec![23, 143], &after);
}

/// Next Tuesday, Thursday and the 12th, each at nine.
fn rounds(lab: &Lab, e: &mut Evidence) {
    let days = [date(2018, 9, 18), date(2018, 9, 13), date(2018, 9, 12)];
    let delays = days.map(|day| day.at(9, 0, 0, 0).duration_since(at(0)).as_hours() as Tick);
    let full = delays.map(|delay| delay / DAY);
    e.by(By::Arithmetic);
    e.is(
        "E6.1",
        "24 slots, from slot 10: all three tasks are in slot 9.",
        [9; 3],
        delays.map(|delay| (10 + delay) % DAY),
    );
    for (id, at, printed, quote) in [
        ("E6.2", 0, 7, "Next Tuesday at nine is in round 7, after 6 full ones."),
        ("E6.3", 1, 3, "Thursday at nine is in round 3, after 2 full ones."),
        ("E6.4", 2, 2, "The 12th at nine is in round 2, after 1 full one."),
    ] {
        e.is(id, quote, printed - 1, full[at]);
    }
    // The wheel passes slot 9 of 24, from slot 10: in which lap the task fires.
    let lap = |delay| {
        let mut wheel = Rounds::new(S1, 24, 10);
        wheel.add(0, delay, 1);
        1 + (0..delay).filter(|_| !wheel.tick().passed.is_empty()).count() as u64
    };
    let by_day = days.map(|day| day.duration_since(date(2018, 9, 11)).as_hours() as u64 / 24 + 1);
    e.is(
        "B13.1",
        "Counted from now the laps are 7, 2, 1, and not 7, 3, 2.",
        [7, 2, 1],
        delays.map(lap),
    );
    e.is("B13.2", "By calendar days they are 8, 3, 2.", [8, 3, 2], by_day);
    let wrong = (1..=24).find(|hour| (10 + *hour) % 24 == 9).unwrap_or(0);
    let quote = "The task of every Tuesday, in the day wheel, fires on Wednesday at 09:00.";
    e.is("B13.3", quote, "Wednesday 09:00".to_owned(), at(wrong).strftime("%A %H:%M").to_string());
    let ours = lab.each(3, |timer| fired_after(timer, NOW, &delays));
    e.by(By::Counts);
    e.everywhere("E6.5", "They fire after 167, 47 and 23 h, on ours.", vec![23, 47, 167], &ours);
    e.everywhere("B13.4", "Ours fire them after 167, 47 and 23 h.", vec![23, 47, 167], &ours);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_article_counts_from_a_tuesday() {
        assert_eq!((at(0).weekday(), at(0).hour()), (Weekday::Tuesday, 10));
        // Two years are 731 days here: 104 Tuesdays, one Thursday more, 24 twelfths.
        let count = |task| by_calendar().iter().filter(|(_, of)| *of == task).count();
        assert_eq!([0, 1, 2].map(count), [104, 105, 24]);
        assert_eq!((turned(true).0[0], at(23).weekday()), ((23, TUESDAYS), Weekday::Wednesday));
    }
}
