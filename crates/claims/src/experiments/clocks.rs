//! B5, B12, C45: clocks that set a wheel's time: a clock that jumps, a ticker that drops ticks.

use super::drive::advance_by_ticks;
use super::models::kafka::{ClockRule, KafkaModel, truncate};
use crate::count::random;
use crate::{Evidence, EvidenceKind, Experiment, Setup};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};

pub(super) const B12: Experiment = Experiment {
    name: "bug-b12",
    about: "the time of day set forth and back by an hour while timers wait: S3's code, which \
        reads it, and every structure, told a tick that is past",
    run: wall_clock,
};

/// In ms: a second; the time of day at the start; the delay of the timer.
const SECOND: Tick = 1_000;
const MORNING: Tick = 9 * 3_600 * SECOND;
const TIMERS: u64 = 1_000;
const AHEAD: Tick = 600 * SECOND;
const HOUR: i64 = 3_600 * SECOND as i64;

fn wall_clock(setup: &Setup, e: &mut Evidence) {
    e.decide_by(EvidenceKind::Arithmetic);
    for (id, quote, step, stated) in [
        (
            "B12.1",
            "S3 reads the wall clock: left alone, a timer of 600 s fires after, in s:",
            0,
            600,
        ),
        ("B12.2", "Set forth by an hour half-way, it fires after:", HOUR, 300),
        ("B12.3", "Set back by an hour, it fires after:", -HOUR, 4_200),
    ] {
        e.equals(id, quote, stated, delay_of_printed_wheel(step) / SECOND);
    }
    let past = setup.on_each_structure(TIMERS, |timer| {
        timer.advance_to(MORNING);
        (0..TIMERS).for_each(|value| _ = timer.insert(MORNING + 1 + value, value));
        let fired_in_past =
            [MORNING - 1, MORNING - HOUR as Tick, 0].map(|tick| timer.advance_to(tick).len());
        let moves = timer.now() != MORNING;
        let own = advance_by_ticks(timer, MORNING + 1, MORNING + TIMERS);
        let on_time = own.iter().filter(|(tick, value)| *tick == MORNING + 1 + value).count();
        (fired_in_past.into_iter().sum::<usize>(), moves, on_time)
    });
    let quote = "Ours, told a tick that is past, fire none, stay, and then fire each at its tick.";
    e.decide_by(EvidenceKind::Counts).equals_everywhere(
        "B12.4",
        quote,
        (0, false, TIMERS as usize),
        &past,
    );
}

/// The delay after which S3's wheel runs a timer. The wheel is polled each second with the time of
/// day, which is stepped half-way.
fn delay_of_printed_wheel(step: i64) -> Tick {
    let mut model = KafkaModel::new(1, 20, MORNING);
    model.add(MORNING + AHEAD, 0);
    let reads = |passed: Tick| {
        (MORNING + passed).saturating_add_signed(if passed >= AHEAD / 2 { step } else { 0 })
    };
    let runs = |passed: &Tick| {
        let mut polls = std::iter::from_fn(|| model.poll(reads(*passed), ClockRule::SlotExpiry));
        polls.any(|poll| !poll.ran.is_empty())
    };
    (0..10 * AHEAD).step_by(SECOND as usize).find(runs).unwrap_or(Tick::MAX)
}

pub(super) const B5: Experiment = Experiment {
    name: "bug-b5",
    about: "a ticker that drops ticks while its receiver is slow: S0's hand, which counts those \
        received, and every structure driven by elapsed time",
    run: dropped_ticks,
};

/// The ticker's interval, and how long its receiver is busy with each fifth tick, in ms.
const INTERVAL: Tick = 10;
const STALL: Tick = 35;

/// The moments at which a tick is received. The channel holds one tick, as Go's does; a tick that
/// finds it full is dropped. From `calm` on the receiver does not stall.
fn ticks_received(calm: Tick, until: Tick) -> Vec<Tick> {
    let (mut free, mut waiting, mut received) = (0, false, Vec::new());
    let mut take = |at: Tick| {
        received.push(at);
        at + if received.len().is_multiple_of(5) && at < calm { STALL } else { 0 }
    };
    for sent in (INTERVAL..=until).step_by(INTERVAL as usize) {
        // A waiting tick is received as soon as the receiver is free, before this tick is sent.
        if waiting && free <= sent {
            waiting = false;
            free = take(free);
        }
        if free <= sent {
            free = take(sent);
        } else {
            waiting = true;
        }
    }
    received
}

fn dropped_ticks(setup: &Setup, e: &mut Evidence) {
    const CALM: Tick = 100 * INTERVAL;
    e.decide_by(EvidenceKind::Arithmetic);
    let quote = "With a stall of 35 ms on each 5th tick of 10 ms, 72 of 100 ticks arrive.";
    e.equals("B5.1", quote, 72, ticks_received(CALM, CALM).len());
    let later = ticks_received(CALM, 10 * CALM);
    let quote = "The hand stays 28 slots behind for good, 900 quiet ticks later.";
    e.equals("B5.2", quote, 28, 1_000 - later.len());
    let outcomes = setup.on_each_structure(1_000, |timer| {
        (1..=1_000).for_each(|tick| _ = timer.insert(tick, tick));
        let (mut faults, mut fired) = (0, 0);
        for passed in later.iter().map(|moment| moment / INTERVAL) {
            let now = timer.advance_to(passed);
            fired += now.len() as u64;
            faults += now.iter().filter(|(deadline, _)| *deadline > passed).count() as u64;
            faults += u64::from(timer.now() != passed);
        }
        faults + 1_000 - fired
    });
    let quote = "Ours, advanced to the elapsed tick, lose none, fire none early, and are on time.";
    e.decide_by(EvidenceKind::Counts).equals_everywhere("B5.3", quote, 0, &outcomes);
}

pub(super) const QUEUE_CLOCK: Experiment = Experiment {
    name: "bucket-queue-clock",
    about: "S3's wheel by its printed rule and by S4's: slots polled 1 to 300 ms late, 1,000 \
        times; the wheel's time after each poll, and the order of firing",
    run: queue_clock,
};

/// Polls late under a rule. Returns the number of polls, of polls after which the time was the
/// slot's expiry, and of polls after which it was the clock's; then the number of timers that
/// fired, and of those that fired after a later deadline.
fn poll_late(setup: &Setup, rule: ClockRule) -> [usize; 5] {
    let mut all = [0; 5];
    for seed in setup.seeds() {
        let (mut random, mut model) = (random(seed), KafkaModel::new(1, 20, 0));
        (0..4_000).for_each(|name| _ = model.add(random.random_range(1..=20_000), name));
        let (mut latest, mut clock) = (0, 0);
        for _ in 0..1_000 {
            // The polling thread is late for the first slot, and its time never goes back.
            let Some(expiry) = model.next_expiry() else { break };
            clock = clock.max(expiry + random.random_range(1..=300));
            let Some(poll) = model.poll(clock, rule) else { break };
            all[0] += 1;
            all[1] += usize::from(model.current() == poll.expiry);
            all[2] += usize::from(model.current() == truncate(clock, 1));
            for (deadline, _) in poll.ran {
                all[3] += 1;
                all[4] += usize::from(deadline < latest);
                latest = latest.max(deadline);
            }
        }
    }
    all
}

fn queue_clock(setup: &Setup, e: &mut Evidence) {
    let [printed, clock] =
        [ClockRule::SlotExpiry, ClockRule::TimeOfPoll].map(|rule| poll_late(setup, rule));
    let quote = "Each advance sets Kafka's current time to the current timestamp.";
    let number = format!("the slot's expiry after {} of {} late polls", printed[1], printed[0]);
    e.decide_by(EvidenceKind::Arithmetic).holds("C45.1", quote, printed[2] == printed[0], number);
    let quote = "If it did, timers would fire after others with a later deadline.";
    let number =
        format!("{} of {} fire after a later one; as printed {}", clock[4], clock[3], printed[4]);
    e.holds("C45.2", quote, clock[4] > 0 && printed[4] == 0, number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channel_holds_one_tick() {
        // Five ticks; the next one is received at the end of the stall, and two are dropped.
        assert_eq!(ticks_received(1_000, 120), [10, 20, 30, 40, 50, 85, 90, 100, 110, 120]);
        assert_eq!(ticks_received(0, 50), [10, 20, 30, 40, 50]);
    }
}
