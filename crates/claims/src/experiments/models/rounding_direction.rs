//! Deadlines finer than a tick: which tick, and how far off.
//!
//! Time runs in thousandths of a tick. A deadline is made a tick by one of three rules, and a timer with that deadline fires at that tick:
//!
//! | rule | a deadline e fires at | who |
//! |---|---|---|
//! | floor | ⌊e⌋ | S3; S4's "at 1 s" |
//! | ceiling | ⌈e⌉ | what this project asks of a caller |
//! | next tick | ⌊e⌋ + 1 | Netty, Linux in slots of each level, and S0 for whole seconds |

use super::checks::{Checks, shown};
use super::structures::{each, tick_by_tick};
use crate::count::random;
use crate::experiment::Experiment;
use crate::experiments::port::Port;
use crate::{Evidence, Finding, Scale, Table};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "rounding-direction",
    about: "100,000 deadlines finer than a tick under three rules, fired by hierarchical-wheel; delays below a tick on every structure; S3's test for what has expired, at every phase",
    run,
};

/// Parts of a tick: milliseconds of a second.
const PARTS: u64 = 1_000;
const DEADLINES: u64 = 100_000;
/// The latest deadline, in ticks.
const LATEST: Tick = 1_000;

/// A way to make a tick of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Floor,
    Ceiling,
    NextTick,
}

impl Rule {
    pub(crate) const ALL: [Self; 3] = [Self::Floor, Self::Ceiling, Self::NextTick];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Ceiling => "ceiling",
            Self::NextTick => "next tick",
        }
    }

    /// The tick of a deadline that is given in thousandths.
    pub(crate) fn tick_of(self, deadline: u64) -> Tick {
        match self {
            Self::Floor => deadline / PARTS,
            Self::Ceiling => deadline.div_ceil(PARTS),
            Self::NextTick => deadline / PARTS + 1,
        }
    }
}

/// The ticks at which timers of these deadlines fire, in the order of firing, with the deadlines.
pub(crate) fn fired(rule: Rule, deadlines: &[u64]) -> Vec<(Tick, u64)> {
    let mut wheel = HierarchicalWheel::new();
    for deadline in deadlines {
        wheel.insert(rule.tick_of(*deadline), *deadline);
    }
    let last = deadlines.iter().max().map_or(0, |deadline| deadline / PARTS + 1);
    tick_by_tick(&mut wheel, 0, last)
}

fn run(scale: &Scale) -> Evidence {
    let mut random = random(scale.seeds);
    let deadlines: Vec<u64> =
        (0..DEADLINES).map(|_| random.random_range(PARTS..=LATEST * PARTS)).collect();
    let mut table = Table::new(
        "Lateness of 100,000 deadlines, in thousandths of a tick",
        ["rule", "earliest", "mean", "latest", "early"],
    )
    .on("C04");
    let mut widths = Vec::new();
    for rule in Rule::ALL {
        let late: Vec<i64> = fired(rule, &deadlines)
            .iter()
            .map(|(tick, deadline)| (tick * PARTS) as i64 - *deadline as i64)
            .collect();
        let (least, most) =
            (late.iter().min().copied().unwrap_or(0), late.iter().max().copied().unwrap_or(0));
        let mean = late.iter().sum::<i64>() as f64 / late.len() as f64;
        let early = late.iter().filter(|late| **late < 0).count();
        table.row([
            rule.name().to_owned(),
            format!("{least:+}"),
            format!("{mean:+.1}"),
            format!("{most:+}"),
            early.to_string(),
        ]);
        widths.push(most - least);
    }
    let (c04, first) = precision(&widths);
    let (c38, second) = already_expired();
    let (c39, third) = shared_slot();
    Evidence {
        findings: vec![c04, c38, c39],
        tables: vec![table, first, second, third],
        charts: Vec::new(),
    }
}

fn precision(widths: &[i64]) -> (Finding, Table) {
    let mut checks = Checks::new("Delays below a tick");
    let narrowest = widths.iter().min().copied().unwrap_or(0);
    let whole = PARTS as i64 - 1;
    checks.holds(
        "under every rule the error spans a whole tick",
        narrowest >= whole,
        format!("{narrowest} of 1,000 parts, at the narrowest"),
    );
    // S0 refuses a delay below its interval: `executeAt < t.interval`.
    let delays: Vec<u64> = (1..PARTS).step_by(37).collect();
    let refused = delays.iter().filter(|delay| **delay < PARTS).count();
    checks.beside(
        "delays below a tick that S0's check refuses",
        format!("{refused} of {}", delays.len()),
    );
    let scheduled = each(delays.len() as u64, |timer| {
        let now = 5 * PARTS + 250;
        timer.fired(now / PARTS);
        for delay in &delays {
            timer.insert(Rule::Ceiling.tick_of(now + delay), now + delay);
        }
        let fired = tick_by_tick(timer, now / PARTS, now / PARTS + 3);
        fired
            .iter()
            .filter(|(tick, deadline)| (0..PARTS).contains(&(tick * PARTS).wrapping_sub(*deadline)))
            .count()
    });
    checks.everywhere(
        "delays below a tick that can be scheduled, rounded up, and fire less than a tick late",
        0,
        &scheduled,
    );
    let fire = scheduled.first().map_or(0, |(_, fire)| *fire);
    checks.into_parts(
        "C04",
        format!(
            "{fire} of {} delays below a tick fire, less than a tick late; S0 refuses all",
            delays.len()
        ),
    )
}

/// S3's test, `expiration < currentTime + tick`, with the current time cut to the tick: over every phase of the clock.
fn already_expired() -> (Finding, Table) {
    let mut checks = Checks::new("What is run at once, tick 1 s, at every millisecond of a second");
    let (mut overdue, mut overdue_run, mut ahead_run, mut earliest) = (0_u64, 0_u64, 0_u64, 0);
    for now in 7_000..8_000 {
        let mut port = Port::new(PARTS, 10, now);
        for deadline in now - 1_000..=now + 1_000 {
            let runs = port.add(deadline, 0).is_none();
            overdue += u64::from(deadline <= now);
            overdue_run += u64::from(deadline <= now && runs);
            ahead_run += u64::from(deadline > now && runs);
            if runs {
                earliest = earliest.max(deadline.saturating_sub(now));
            }
        }
    }
    checks.is("deadlines that are past, of which S3 runs at once", overdue, overdue_run);
    checks.is("deadlines to come that S3 runs at once", 0, ahead_run);
    let ours = each(60, |timer| {
        timer.fired(7_400);
        for deadline in (6_400..9_400).step_by(50) {
            timer.insert(deadline, deadline);
        }
        timer.fired(7_400).iter().filter(|(deadline, _)| *deadline > 7_400).count()
    });
    let most = ours.iter().map(|(_, early)| *early).max().unwrap_or(0);
    checks.beside(
        format!(
            "deadlines to come that fire at once here, most on any of {} structures",
            ours.len()
        ),
        most.to_string(),
    );
    checks.into_parts(
        "C38",
        format!("{ahead_run} timers are run up to {earliest} ms before their deadline"),
    )
}

fn shared_slot() -> (Finding, Table) {
    let mut checks = Checks::new("Delays of 1.2 s and 1.5 s, tick 1 s");
    let ticks = Rule::ALL.map(|rule| fired(rule, &[1_200, 1_500]));
    let share = ticks.iter().all(|fired| fired.len() == 2 && fired[0].0 == fired[1].0);
    let each_rule =
        ticks.each_ref().map(|fired| fired.iter().map(|(tick, _)| *tick).collect::<Vec<_>>());
    checks.holds(
        "they share a slot under each rule",
        share,
        format!("fired at {}", shown(&each_rule)),
    );
    for (rule, fired) in Rule::ALL.into_iter().zip(&ticks) {
        let at: Vec<Tick> = fired.iter().map(|(tick, _)| *tick).collect();
        checks.is(format!("seconds at which they run, {}", rule.name()), vec![1, 1], at);
    }
    let seconds = ticks.iter().map(|fired| fired.first().map_or(0, |(tick, _)| *tick).to_string());
    let figure =
        format!("floor, ceiling, next tick: both at {} s", seconds.collect::<Vec<_>>().join(", "));
    checks.into_parts("C39", figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_differ_on_and_off_a_tick() {
        let ticks = |deadline| Rule::ALL.map(|rule| rule.tick_of(deadline));
        assert_eq!((ticks(1_000), ticks(1_001), ticks(1_999)), ([1, 1, 2], [1, 2, 2], [1, 2, 2]));
    }
}
