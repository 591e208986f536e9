//! B3, B9, C04, C38, C39, E13: deadlines finer than a tick: which tick, and how far off.
//!
//! Time runs in thousandths of a tick. A deadline is made a tick by one of three rules:
//!
//! | rule | a deadline e fires at | who |
//! |---|---|---|
//! | floor | ⌊e⌋ | S3; S4's "at 1 s" |
//! | ceiling | ⌈e⌉ | what this project asks of a caller |
//! | next tick | ⌊e⌋ + 1 | Netty, Linux in slots of each level, and S0 for whole seconds |

use super::drive::tick_by_tick;
use super::models::kafka::Port;
use super::models::rounds::{S0, ticks_of};
use crate::count::random;
use crate::thresholds::Threshold::Milliseconds;
use crate::{By, Evidence, Experiment, Lab, Test};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};

pub(super) const DIRECTION: Experiment = Experiment {
    name: "rounding-direction",
    about: "100,000 deadlines finer than a tick under three rules; delays below a tick on every \
        structure; S3's test for what has expired, at every phase; 1.2 s and 1.5 s",
    run: direction,
};

/// Parts of a tick: milliseconds of a second.
const PARTS: u64 = 1_000;

/// The tick of a deadline in thousandths.
type Rule = fn(u64) -> Tick;

const RULES: [(&str, Rule); 3] = [
    ("floor", |deadline| deadline / PARTS),
    ("ceiling", |deadline| deadline.div_ceil(PARTS)),
    ("next tick", |deadline| deadline / PARTS + 1),
];

fn direction(lab: &Lab, e: &mut Evidence) {
    precision(lab, e);
    expired(lab, e);
    let both = RULES.map(|(_, rule)| [1_200, 1_500].map(rule));
    let share = both.iter().all(|[one, other]| one == other);
    e.by(By::Arithmetic);
    e.holds(
        "C39.1",
        "With a second a slot, 1.2 s and 1.5 s share a slot.",
        share,
        "under each rule",
    );
    for (id, at, quote) in [
        ("C39.2", 0, "They run at 1 s: rounded down, as in S3."),
        ("C39.3", 1, "They run at 1 s: rounded up."),
        ("C39.4", 2, "They run at 1 s: at the next tick, as Netty and S0 have it."),
    ] {
        e.is(id, quote, [1, 1], both[at]);
    }
    e.is(
        "E13.1",
        "Tasks of 1.2 s and 1.5 s share a slot of 1 s, rounded down.",
        both[0][0],
        both[0][1],
    );
    e.is("E13.2", "They run at 1 s, which is early, rounded down.", [1, 1], both[0]);
    e.is("E13.3", "They run at 1 s, rounded up, so that none is early.", [1, 1], both[1]);
}

fn precision(lab: &Lab, e: &mut Evidence) {
    let mut random = random(lab.scale.seed());
    let deadlines: Vec<u64> =
        (0..100_000).map(|_| random.random_range(PARTS..=1_000 * PARTS)).collect();
    let mut widths = Vec::new();
    let rows = RULES.map(|(name, rule)| {
        let late: Vec<i64> =
            deadlines.iter().map(|at| (rule(*at) * PARTS) as i64 - *at as i64).collect();
        let (least, most) = (late.iter().min().unwrap_or(&0), late.iter().max().unwrap_or(&0));
        let mean = late.iter().sum::<i64>() as f64 / late.len() as f64;
        widths.push(most - least);
        [name.to_owned(), format!("{least:+}"), format!("{mean:+.1}"), format!("{most:+}")]
    });
    e.table("Lateness in thousandths of a tick", ["rule", "earliest", "mean", "latest"], rows);
    let narrowest = widths.iter().min().copied().unwrap_or(0);
    let quote = "The precision of a wheel is its tick: the error spans a whole tick.";
    let number = format!("{narrowest} of 1,000 parts, under each rule");
    e.holds("C04.1", quote, narrowest >= PARTS as i64 - 1, number);
    let delays: Vec<u64> = (1..PARTS).step_by(37).collect();
    let fire = lab.each(delays.len() as u64, |timer| {
        let now = 5 * PARTS + 250;
        timer.fired(now / PARTS);
        delays
            .iter()
            .for_each(|delay| _ = timer.insert((now + delay).div_ceil(PARTS), now + delay));
        let fired = tick_by_tick(timer, now / PARTS, now / PARTS + 3);
        let late = |(tick, at): &(Tick, u64)| (tick * PARTS).wrapping_sub(*at);
        fired.iter().filter(|it| late(it) < PARTS).count()
    });
    let quote = "Tasks finer than one tick cannot be scheduled.";
    let all = fire.iter().all(|(_, fire)| *fire == delays.len());
    let number = format!("{} of {} fire, under a tick late", fire[0].1, delays.len());
    e.holds("C04.2", quote, !all, number);
}

/// S3's test, `expiration < currentTime + tick`, with the current time cut to the tick: over every
/// phase of the clock.
fn expired(lab: &Lab, e: &mut Evidence) {
    let [mut overdue, mut overdue_run, mut ahead_run, mut earliest] = [0_u64; 4];
    for now in 7_000..8_000 {
        let mut port = Port::new(PARTS, 10, now);
        for deadline in now - 1_000..=now + 1_000 {
            let runs = port.add(deadline, 0).is_none();
            overdue += u64::from(deadline <= now);
            overdue_run += u64::from(deadline <= now && runs);
            ahead_run += u64::from(deadline > now && runs);
            earliest = earliest.max(if runs { deadline.saturating_sub(now) } else { 0 });
        }
    }
    e.by(By::Arithmetic);
    e.is("C38.1", "A task that is already expired is run at once.", overdue, overdue_run);
    let quote = "Only such a task is: none whose deadline is to come.";
    e.holds("C38.2", quote, ahead_run == 0, format!("run up to {earliest} ms early"));
    let ours = lab.each(60, |timer| {
        timer.fired(7_400);
        (6_400..9_400).step_by(50).for_each(|deadline| _ = timer.insert(deadline, deadline));
        timer.fired(7_400).iter().filter(|(deadline, _)| *deadline > 7_400).count()
    });
    let quote = "Ours run at once what is due, and nothing sooner.";
    e.by(By::Counts).everywhere("C38.3", quote, 0, &ours);
}

pub(super) const B9: Experiment = Experiment {
    name: "bug-b9",
    about: "100,000 deadlines in ms on slots of a second: S3's code, which rounds down, and every \
        structure behind a conversion that rounds up",
    run: rounded_down,
};

fn rounded_down(lab: &Lab, e: &mut Evidence) {
    let (mut random, mut port) = (random(lab.scale.seed()), Port::new(PARTS, 20, 0));
    // Not before the first slot that is not run at once.
    (0..100_000).for_each(|name| _ = port.add(random.random_range(PARTS..1_000 * PARTS), name));
    let polls = port.drain();
    let early: Vec<i64> = polls
        .iter()
        .flat_map(|poll| poll.ran.iter().map(|(at, _)| *at as i64 - poll.expiry as i64))
        .collect();
    let ends = (early.iter().min().copied().unwrap_or(0), early.iter().max().copied().unwrap_or(0));
    let mean = early.iter().sum::<i64>() as f64 / early.len() as f64;
    e.by(By::Arithmetic);
    e.is("B9.1", "With a tick of 1 s S3's timers fire from 0 to 999 ms early.", (0, 999), ends);
    let quote = "They fire 502 ms early on average.";
    let test = Test::Within(vec![(mean, 502.0)], Milliseconds);
    e.say("B9.2", quote, test, format!("{mean:.1} ms"));
    let ours = lab.each(1_000, |timer| wrong(timer, PARTS, 1_000 * PARTS));
    let quote = "Ours, rounded up, are never early, and late by less than a tick.";
    e.by(By::Counts).everywhere("B9.3", quote, 0, &ours);
}

/// Random deadlines in ms behind a conversion that rounds up to ticks of so many: those not within
/// the tick after.
fn wrong(timer: &mut impl Timer<u64>, interval: u64, longest: u64) -> usize {
    let mut random = random(interval);
    for _ in 0..500 {
        let deadline = random.random_range(1..=longest);
        timer.insert(deadline.div_ceil(interval), deadline);
    }
    let fired = tick_by_tick(timer, 1, longest / interval + 1);
    let off = |(tick, at): &&(Tick, u64)| (tick * interval).wrapping_sub(*at) >= interval;
    500 - fired.len() + fired.iter().filter(off).count()
}

pub(super) const B3: Experiment = Experiment {
    name: "bug-b3",
    about: "durations that are no whole seconds: S0's code, which cuts them, and every structure \
        behind a conversion that rounds up",
    run: cut_durations,
};

/// S0's slot and circle of a delay on 12 slots, both in ms and cut to whole seconds; none where the
/// code divides by zero.
fn cut(delay: u64, interval: u64) -> Option<(u64, u64)> {
    let (delay, interval) = (delay / 1_000, interval / 1_000);
    Some((delay.checked_div(interval)? % 12, delay / (12 * interval)))
}

fn cut_durations(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    let quote = "S0 cuts durations: 1999 ms goes where 1000 ms goes.";
    e.is(
        "B3.1",
        quote,
        cut(1_000, 1_000).unwrap_or_default(),
        cut(1_999, 1_000).unwrap_or_default(),
    );
    // It may come at any microsecond between two ticks.
    let fires = ticks_of(S0, 12, 1, 1, 24).first().map_or(0, |tick| tick * 1_000_000) as i64;
    let early = (0..1_000_000).map(|phase| 1_999_000 - (fires - phase)).max().unwrap_or(0) as f64;
    let quote = "It fires up to 0.999 s early.";
    let early = early / 1e3;
    let test = Test::Within(vec![(early, 999.0)], Milliseconds);
    e.say("B3.2", quote, test, format!("{early:.3} ms"));
    let quote = "An interval of 1.5 s counts as 1 s: 15 s goes to slot 3, circle 1.";
    e.is("B3.3", quote, (3, 1), cut(15_000, 1_500).unwrap_or_default());
    let quote = "An interval below 1 s divides by zero.";
    e.holds("B3.4", quote, cut(15_000, 500).is_none(), "at 500 ms");
    e.by(By::Counts);
    for (id, quote, interval) in [
        ("B3.5", "Ours, with a tick of 500 ms, fire within the tick after the deadline.", 500),
        ("B3.6", "They do with a tick of 1500 ms.", 1_500),
    ] {
        e.everywhere(id, quote, 0, &lab.each(500, |timer| wrong(timer, interval, 60_000)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_differ_on_and_off_a_tick() {
        let ticks = |deadline| RULES.map(|(_, rule)| rule(deadline));
        assert_eq!((ticks(1_000), ticks(1_001), ticks(1_999)), ([1, 1, 2], [1, 2, 2], [1, 2, 2]));
    }

    #[test]
    fn s0_cuts_to_seconds() {
        assert_eq!(cut(1_999, 1_000), Some((1, 0)));
        assert_eq!((cut(15_000, 1_500), cut(15_000, 500)), (Some((3, 1)), None));
    }
}
