//! Slips in the worked examples of S1 and S4.

use crate::count::AnyTimer;
use crate::experiment::Experiment;
use crate::experiments::models::checks::{Checks, shown};
use crate::experiments::models::laps::S1_FROM_ONE;
use crate::experiments::models::structures::{each, tick_by_tick};
use crate::experiments::port::{Poll, Port};
use crate::{Evidence, Scale};
use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, date};
use wheelhouse_core::{Tick, Timer};

pub(super) const B13: Experiment = Experiment {
    name: "bug-b13",
    about: "S1's three tasks from Tuesday 2018-09-11, 10 o'clock: laps counted both ways, the Tuesday task in a day wheel, and the delays on every structure",
    run: mixed_laps,
};

pub(super) const B15: Experiment = Experiment {
    name: "bug-b15",
    about: "500 s on three levels of 8 slots from each of 512 starts, in Kafka's wheel: when it is demoted and what is left, and the firing on every structure",
    run: demotions,
};

/// The article's now: a Tuesday.
const TODAY: Date = date(2018, 9, 11);
/// Next Tuesday, Thursday and the 12th, each at nine.
const DAYS: [(&str, Date); 3] = [
    ("Tuesday", date(2018, 9, 18)),
    ("Thursday", date(2018, 9, 13)),
    ("the 12th", date(2018, 9, 12)),
];
/// What the article prints for them.
const PRINTED: [u64; 3] = [7, 3, 2];

fn now() -> DateTime {
    TODAY.at(10, 0, 0, 0)
}

/// Hours from now to nine o'clock of a day.
fn hours_to(day: Date) -> Tick {
    day.at(9, 0, 0, 0).duration_since(now()).as_hours() as Tick
}

fn mixed_laps(_: &Scale) -> Evidence {
    let delays = DAYS.map(|(_, day)| hours_to(day));
    // The wheel passes slot 9 of 24, from slot 10: in which lap the task fires.
    let from_now =
        delays.map(|delay| S1_FROM_ONE.run(24, 10, [delay], delay)[0].passed.len() as u64 + 1);
    // Today is the first lap, tomorrow the second.
    let by_day = DAYS.map(|(_, day)| day.duration_since(TODAY).as_hours() as u64 / 24 + 1);
    let mut checks = Checks::new(
        "Next Tuesday, Thursday and the 12th, each at nine, from Tuesday the 11th at ten",
    );
    checks.is("laps counted from now", [7, 2, 1], from_now);
    checks.is("laps counted by calendar days", [8, 3, 2], by_day);
    let neither = PRINTED != from_now && PRINTED != by_day;
    checks.holds("the printed 7, 3, 2 are neither", neither, shown(&PRINTED));
    let from_each = [from_now.contains(&PRINTED[0]), PRINTED[1..] == by_day[1..]];
    checks.is(
        "the first of them is counted one way and the others the other way",
        [true, true],
        from_each,
    );
    // A day wheel visits slot 9 at the next nine o'clock, whatever the day.
    let wrong = (1..=24).find(|hour| (10 + *hour) % 24 == 9).unwrap_or(0);
    let wrong = now() + SignedDuration::from_hours(wrong);
    checks.is(
        "the Tuesday task in the day wheel fires on",
        "Wednesday".to_owned(),
        wrong.strftime("%A").to_string(),
    );
    let outcomes = each(3, |timer| fired_after(timer, delays));
    checks.everywhere("ours: hours after which the three fire", [167, 47, 23], &outcomes);
    let after = outcomes.first().map_or(0, |(_, after)| after[0]);
    let tuesday = now() + SignedDuration::from_hours(after as i64);
    checks.is(
        "ours: the Tuesday task fires on",
        "Tuesday 18, 09:00".to_owned(),
        tuesday.strftime("%A %-d, %H:%M").to_string(),
    );
    checks.evidence(
        "B13",
        format!(
            "laps {} from now, {} by days; in the day wheel Tuesday's task fires on {}",
            shown(&from_now),
            shown(&by_day),
            wrong.strftime("%A")
        ),
    )
}

/// After how many hours timers of three delays fire.
fn fired_after(timer: &mut AnyTimer, delays: [Tick; 3]) -> [Tick; 3] {
    let now = 24 + 10;
    timer.fired(now);
    for (value, delay) in (0..).zip(delays) {
        timer.insert(now + delay, value);
    }
    let mut after = [0; 3];
    for (tick, value) in tick_by_tick(timer, now + 1, now + 300) {
        after[value as usize] = tick - now;
    }
    after
}

/// A demotion: how long after the start, what is left then, and the width of the slot that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Demotion {
    passed: Tick,
    left: Tick,
    width: Tick,
}

/// The demotions of a timer of 500 s, three levels of 8 slots.
fn demotions_from(start: Tick) -> Vec<Demotion> {
    let mut port = Port::new(1, 8, start);
    port.add(start + 500, 0);
    let of_poll = |poll: &Poll| {
        poll.moved.first().map(|(deadline, ..)| Demotion {
            passed: poll.expiry - start,
            left: deadline - poll.expiry,
            width: 8_u64.pow(poll.from.level as u32 - 1),
        })
    };
    port.drain().iter().filter_map(of_poll).collect()
}

fn demotions(_: &Scale) -> Evidence {
    let mut checks = Checks::new("500 s on levels of 8 slots, aligned as Kafka's");
    let aligned: Vec<_> = demotions_from(0).iter().map(|at| (at.passed, at.left)).collect();
    checks.is(
        "demoted, from 0, after so many seconds with so many left",
        vec![(448, 52), (496, 4)],
        aligned.clone(),
    );
    let all: Vec<Vec<Demotion>> = (0..512).map(demotions_from).collect();
    let narrow = all.iter().flatten().filter(|at| at.left < at.width).count();
    checks.is(
        "demotions from 512 starts with less left than the slot was wide: all",
        all.iter().flatten().count(),
        narrow,
    );
    let pair =
        |at: &&Vec<Demotion>| at.windows(2).any(|pair| (pair[0].left, pair[1].left) == (64, 8));
    checks.is(
        "starts of 512 from which 64 s and then 8 s are left, as the text has it",
        0,
        all.iter().filter(pair).count(),
    );
    let outcomes =
        each(1, |timer| (0..512).filter(|phase| !fires_after_500(timer, *phase)).count());
    checks.everywhere("ours: starts of 512 from which it does not fire after 500 s", 0, &outcomes);
    checks.evidence(
        "B15",
        format!(
            "from 0 demoted at (s, s left) {}; of {narrow} demotions none with (64, 8)",
            shown(&aligned)
        ),
    )
}

/// Whether a timer of 500 s fires after 500 s and not before, from a phase of the 512 s of three levels.
fn fires_after_500(timer: &mut AnyTimer, phase: Tick) -> bool {
    let start = (timer.now() / 512 + 1) * 512 + phase;
    timer.fired(start);
    timer.insert(start + 500, 0);
    // Also where the article demotes, and where it is demoted.
    let early: usize =
        [436, 448, 492, 496, 499].map(|passed| timer.fired(start + passed).len()).into_iter().sum();
    early == 0 && timer.fired(start + 500) == [(start + 500, 0)]
}
