//! B9, C04, C38, C39: deadlines finer than a tick: at which tick they fire, and with what error.
//!
//! Time is in thousandths of a tick. One of three rules turns a deadline into a tick:
//!
//! | rule | a deadline e fires at | used by |
//! |---|---|---|
//! | floor | ⌊e⌋ | S3; S4's "at 1 s" |
//! | ceiling | ⌈e⌉ | callers of this project, by its contract |
//! | next tick | ⌊e⌋ + 1 | Netty, Linux in slots of each level, and S0 for whole seconds |

use super::drive::advance_by_ticks;
use super::models::kafka::KafkaModel;
use crate::count::random;
use crate::{Evidence, EvidenceKind, Experiment, Setup};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};

pub(super) const DIRECTION: Experiment = Experiment {
    name: "rounding-direction",
    about: "100,000 deadlines finer than a tick under three rules; delays below a tick on every \
        structure; S3's test for what has expired, at every phase; 1.2 s and 1.5 s",
    run: direction,
};

/// Parts of a tick, such as the milliseconds of a second.
const PARTS: u64 = 1_000;

/// Returns the tick of a deadline in thousandths.
type Rule = fn(u64) -> Tick;

const RULES: [(&str, Rule); 3] = [
    ("floor", |deadline| deadline / PARTS),
    ("ceiling", |deadline| deadline.div_ceil(PARTS)),
    ("next tick", |deadline| deadline / PARTS + 1),
];

fn direction(setup: &Setup, e: &mut Evidence) {
    precision(setup, e);
    expired(setup, e);
    let both = RULES.map(|(_, rule)| [1_200, 1_500].map(rule));
    let share = both.iter().all(|[one, other]| one == other);
    e.decide_by(EvidenceKind::Arithmetic);
    e.holds(
        "C39.1",
        "With a second a slot, 1.2 s and 1.5 s share a slot.",
        share,
        "under each rule",
    );
    let quote = "They run at 1 s, where delays are rounded down as in S3.";
    e.equals("C39.2", quote, [1, 1], both[0]);
}

fn precision(setup: &Setup, e: &mut Evidence) {
    let mut random = random(setup.scale.seed());
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
    let fire = setup.on_each_structure(delays.len() as u64, |timer| {
        let now = 5 * PARTS + 250;
        timer.advance_to(now / PARTS);
        delays
            .iter()
            .for_each(|delay| _ = timer.insert((now + delay).div_ceil(PARTS), now + delay));
        let fired = advance_by_ticks(timer, now / PARTS, now / PARTS + 3);
        let late = |(tick, at): &(Tick, u64)| (tick * PARTS).wrapping_sub(*at);
        fired.iter().filter(|it| late(it) < PARTS).count()
    });
    let quote = "Ours take delays below a tick, and fire them under a tick late.";
    e.equals_everywhere("C04.3", quote, delays.len(), &fire);
}

/// Tests S3's condition, `expiration < currentTime + tick` with the current time rounded down to
/// the tick, at every phase of the clock.
fn expired(setup: &Setup, e: &mut Evidence) {
    let [mut overdue, mut overdue_run, mut ahead_run, mut earliest] = [0_u64; 4];
    for now in 7_000..8_000 {
        let mut model = KafkaModel::new(PARTS, 10, now);
        for deadline in now - 1_000..=now + 1_000 {
            let runs = model.add(deadline, 0).is_none();
            overdue += u64::from(deadline <= now);
            overdue_run += u64::from(deadline <= now && runs);
            ahead_run += u64::from(deadline > now && runs);
            earliest = earliest.max(if runs { deadline.saturating_sub(now) } else { 0 });
        }
    }
    e.decide_by(EvidenceKind::Arithmetic);
    e.equals("C38.1", "A task that is already expired is run at once.", overdue, overdue_run);
    let quote = "Only such a task is: none whose deadline is to come.";
    e.holds("C38.2", quote, ahead_run == 0, format!("run up to {earliest} ms early"));
    let ours = setup.on_each_structure(60, |timer| {
        timer.advance_to(7_400);
        (6_400..9_400).step_by(50).for_each(|deadline| _ = timer.insert(deadline, deadline));
        timer.advance_to(7_400).iter().filter(|(deadline, _)| *deadline > 7_400).count()
    });
    let quote = "Ours run at once what is due, and nothing sooner.";
    e.decide_by(EvidenceKind::Counts).equals_everywhere("C38.3", quote, 0, &ours);
}

pub(super) const B9: Experiment = Experiment {
    name: "rounded-up",
    about: "random deadlines in ms on ticks of 500, 1,000 and 1,500 ms: every structure behind a \
        conversion that rounds up",
    run: rounded_up,
};

fn rounded_up(setup: &Setup, e: &mut Evidence) {
    let all: Vec<_> = [500, PARTS, 1_500]
        .into_iter()
        .flat_map(|tick| {
            setup.on_each_structure(500, |timer| off_by_a_tick(timer, tick, 1_000 * PARTS))
        })
        .collect();
    let quote = "Ours, rounded up, are never early, and late by less than a tick.";
    e.equals_everywhere("B9.3", quote, 0, &all);
}

/// Rounds random deadlines in ms up to ticks of `interval` ms. Returns how many timers fire early,
/// or a tick or more late, or not at all.
fn off_by_a_tick(timer: &mut impl Timer<u64>, interval: u64, longest: u64) -> usize {
    let mut random = random(interval);
    for _ in 0..500 {
        let deadline = random.random_range(1..=longest);
        timer.insert(deadline.div_ceil(interval), deadline);
    }
    let fired = advance_by_ticks(timer, 1, longest / interval + 1);
    let off = |(tick, at): &&(Tick, u64)| (tick * interval).wrapping_sub(*at) >= interval;
    500 - fired.len() + fired.iter().filter(off).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_rules_round_differently() {
        let ticks = |deadline| RULES.map(|(_, rule)| rule(deadline));
        assert_eq!((ticks(1_000), ticks(1_001), ticks(1_999)), ([1, 1, 2], [1, 2, 2], [1, 2, 2]));
    }
}
