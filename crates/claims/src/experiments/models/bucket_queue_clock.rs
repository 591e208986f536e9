//! What Kafka's wheel sets its time to when a slot is polled late.

use crate::count::random;
use crate::experiment::Experiment;
use crate::experiments::port::{ClockRule, Port, truncate};
use crate::{Evidence, Finding, Part, Scale, Table};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "bucket-queue-clock",
    about: "S3's wheel by its printed rule and by S4's, and kafka-wheel: slots polled late, 1,000 times; the wheel's time after each poll, and the order of firing",
    run,
};

const SLOTS: usize = 20;
const TIMERS: u64 = 4_000;
const POLLS: usize = 1_000;
const LONGEST: Tick = 20_000;
/// By how much a poll is late, at most.
const LATEST: Tick = 300;

/// What 1,000 late polls gave under a rule.
struct Polled {
    /// Polls after which the wheel's time was the expiry of the slot, and after which it was the clock's.
    at_expiry: usize,
    at_clock: usize,
    polls: usize,
    /// Timers that fired after one with a later deadline.
    overtaken: usize,
    fired: usize,
}

fn run(scale: &Scale) -> Evidence {
    let mut table = Table::new(
        "1,000 slots polled 1 to 300 ms late, tick 1 ms, 20 slots a level, 4,000 timers; sums over the seeds",
        [
            "rule",
            "polls",
            "time = expiry of the slot",
            "time = clock",
            "fired",
            "fired after a later deadline",
        ],
    );
    let mut row = |name: &str, of: &Polled| {
        let counts = [of.polls, of.at_expiry, of.at_clock, of.fired, of.overtaken]
            .map(|count| count.to_string());
        table.row(std::iter::once(name.to_owned()).chain(counts));
    };
    let printed = polled(scale, ClockRule::SlotExpiry);
    row("the code that S3 prints", &printed);
    row("the clock, as S4 says", &polled(scale, ClockRule::TimeOfPoll));
    row("kafka-wheel, advanced as late", &ours(scale));
    let figure = format!(
        "{} of {} late polls leave the wheel at the clock, {} at the expiry of the slot",
        printed.at_clock, printed.polls, printed.at_expiry
    );
    let clock = printed.at_clock == printed.polls && printed.polls > 0;
    let parts = [Part::new(
        "after each advance the current time is that of the clock, cut to the tick",
        clock,
    )];
    Evidence {
        findings: vec![Finding::new("C45", figure, parts)],
        tables: vec![table],
        charts: Vec::new(),
    }
}

/// The deadlines of the timers, all inserted at 0, and by how much each poll is late.
fn load(seed: u64) -> (Vec<Tick>, Vec<Tick>) {
    let mut random = random(seed);
    let deadlines = (0..TIMERS).map(|_| random.random_range(1..=LONGEST)).collect();
    (deadlines, (0..POLLS).map(|_| random.random_range(1..=LATEST)).collect())
}

fn polled(scale: &Scale, rule: ClockRule) -> Polled {
    let mut all = Polled { at_expiry: 0, at_clock: 0, polls: 0, overtaken: 0, fired: 0 };
    for seed in scale.seeds() {
        let (deadlines, late) = load(seed);
        let mut port = Port::new(1, SLOTS, 0);
        for (name, deadline) in (0..).zip(deadlines) {
            port.add(deadline, name);
        }
        let (mut fired, mut clock) = (Vec::new(), 0);
        for late in late {
            // The thread that polls comes late to the first slot, and not before it was last there.
            let Some(expiry) = port.next_expiry() else { break };
            clock = clock.max(expiry + late);
            let Some(poll) = port.poll(clock, rule) else { break };
            all.polls += 1;
            all.at_expiry += usize::from(port.current() == poll.expiry);
            all.at_clock += usize::from(port.current() == truncate(clock, 1));
            fired.extend(poll.ran.iter().map(|(deadline, _)| *deadline));
        }
        all.fired += fired.len();
        all.overtaken += overtaken(&fired);
    }
    all
}

/// The same timers in kafka-wheel, advanced as late.
fn ours(scale: &Scale) -> Polled {
    let mut all = Polled { at_expiry: 0, at_clock: 0, polls: 0, overtaken: 0, fired: 0 };
    for seed in scale.seeds() {
        let (deadlines, late) = load(seed);
        let mut wheel =
            KafkaWheel::builder().slots(SLOTS).build().expect("20 slots are not too few");
        for deadline in deadlines {
            wheel.insert(deadline, ());
        }
        let mut fired = Vec::new();
        for late in late {
            let Some(expiry) = wheel.next_wakeup() else { break };
            let clock = wheel.now().max(expiry + late);
            wheel.advance(clock, |expired| fired.push(expired.deadline));
            all.polls += 1;
            all.at_expiry += usize::from(wheel.now() == expiry);
            all.at_clock += usize::from(wheel.now() == clock);
        }
        all.fired += fired.len();
        all.overtaken += overtaken(&fired);
    }
    all
}

/// How many fired after one with a later deadline.
fn overtaken(fired: &[Tick]) -> usize {
    let mut latest = 0;
    let is_overtaken = |deadline: &&Tick| {
        let before = **deadline < latest;
        latest = latest.max(**deadline);
        before
    };
    fired.iter().filter(is_overtaken).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overtaken_are_those_after_a_later_one() {
        assert_eq!(overtaken(&[1, 3, 2, 3, 5, 4, 4]), 3);
    }

    #[test]
    fn only_the_rule_of_the_clock_mixes_the_order() {
        assert_eq!(polled(&Scale::REDUCED, ClockRule::SlotExpiry).overtaken, 0);
        assert!(polled(&Scale::REDUCED, ClockRule::TimeOfPoll).overtaken > 0);
    }
}
