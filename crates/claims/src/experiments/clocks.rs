//! B5, B12, C12, C45, C54: what a wheel's time is set by: a clock that is stepped, ticks that are
//! dropped, sleeps that are too long.

use super::drive::tick_by_tick;
use super::models::kafka::{ClockRule, Port, truncate};
use crate::count::{AnyTimer, random};
use crate::{By, Evidence, Experiment, Lab};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};

pub(super) const CLOCKS: Experiment = Experiment {
    name: "absolute-relative",
    about: "every structure: 1,000 timers by delay and by time of day, the time of day then set by \
        seconds and by an hour: timers that fire at another moment",
    run: absolute_relative,
};

const TIMERS: u64 = 1_000;
/// The time of day at the start, in seconds; when it is set; the longest delay.
const NINE: Tick = 9 * 3_600;
const SET_AT: Tick = 3_600;
const LONGEST: Tick = 4 * 3_600;

/// What a clock reads when so many seconds have passed.
#[derive(Clone, Copy)]
struct Clock {
    start: Tick,
    step: i64,
}

impl Clock {
    fn at(self, passed: Tick) -> Tick {
        let step = if passed >= SET_AT { self.step } else { 0 };
        (self.start + passed).saturating_add_signed(step)
    }

    /// The first moment, not before `passed`, at which it reads a tick or a later one.
    fn first(self, tick: Tick, passed: Tick) -> Tick {
        let before = tick.saturating_sub(self.start).max(passed);
        let after = tick.saturating_add_signed(-self.step).saturating_sub(self.start);
        if before < SET_AT { before } else { after.max(passed).max(SET_AT) }
    }
}

fn absolute_relative(lab: &Lab, e: &mut Evidence) {
    let mut random = random(lab.scale.seed());
    let delays: Vec<Tick> = (0..TIMERS).map(|_| random.random_range(1..=LONGEST)).collect();
    let relative = lab.each(TIMERS, |timer| moments(timer, Clock { start: 0, step: 0 }, &delays));
    for (id, quote, step) in [
        ("C12.1", "On one clock a delay and a time of day are interchangeable.", 0),
        ("C12.2", "They are when the clock is corrected by 2 s.", 2),
        ("C12.3", "They are when it is set back by 2 s.", -2),
        ("C12.4", "They are when daylight saving sets it by an hour.", 3_600),
        ("C12.5", "They are when it sets it back by an hour.", -3_600),
    ] {
        let absolute =
            lab.each(TIMERS, |timer| moments(timer, Clock { start: NINE, step }, &delays));
        let differ = |((name, one), (_, other)): (&(&'static str, Vec<Tick>), &(_, Vec<Tick>))| {
            (*name, one.iter().zip(other).filter(|(one, other)| one != other).count())
        };
        let differ: Vec<_> = relative.iter().zip(&absolute).map(differ).collect();
        e.everywhere(id, quote, 0, &differ);
    }
}

/// Drives a structure by a clock, from wake-up to wake-up: when each timer fires, in passed time.
fn moments(timer: &mut AnyTimer, clock: Clock, delays: &[Tick]) -> Vec<Tick> {
    timer.fired(clock.at(0));
    for (value, delay) in (0..).zip(delays) {
        timer.insert(clock.at(0) + delay, value);
    }
    let (mut passed, mut moments) = (0, vec![0; delays.len()]);
    while let Some(tick) = timer.next_wakeup() {
        passed = clock.first(tick, passed);
        for (_, value) in timer.fired(clock.at(passed)) {
            moments[value as usize] = passed;
        }
    }
    moments
}

pub(super) const B12: Experiment = Experiment {
    name: "bug-b12",
    about: "the time of day set forth and back by an hour while timers wait: S3's code, which \
        reads it, and every structure, told a tick that is past",
    run: wall_clock,
};

/// In ms: a second, the time of day at the start, how long ahead a timer is.
const SECOND: Tick = 1_000;
const MORNING: Tick = NINE * SECOND;
const AHEAD: Tick = 600 * SECOND;
const HOUR: i64 = 3_600 * SECOND as i64;

fn wall_clock(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
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
        e.is(id, quote, stated, printed_fires(step) / SECOND);
    }
    let past = lab.each(TIMERS, |timer| {
        timer.fired(MORNING);
        (0..TIMERS).for_each(|value| _ = timer.insert(MORNING + 1 + value, value));
        let told = [MORNING - 1, MORNING - HOUR as Tick, 0].map(|tick| timer.fired(tick).len());
        let moves = timer.now() != MORNING;
        let own = tick_by_tick(timer, MORNING + 1, MORNING + TIMERS);
        let on_time = own.iter().filter(|(tick, value)| *tick == MORNING + 1 + value).count();
        (told.into_iter().sum::<usize>(), moves, on_time)
    });
    let quote = "Ours, told a tick that is past, fire none, stay, and then fire each at its tick.";
    e.by(By::Counts).everywhere("B12.4", quote, (0, false, TIMERS as usize), &past);
}

/// How long after the start S3's wheel runs a timer, polled each second by the time of day, which
/// is set half-way.
fn printed_fires(step: i64) -> Tick {
    let mut port = Port::new(1, 20, MORNING);
    port.add(MORNING + AHEAD, 0);
    let reads = |passed: Tick| {
        (MORNING + passed).saturating_add_signed(if passed >= AHEAD / 2 { step } else { 0 })
    };
    let runs = |passed: &Tick| {
        let mut polls = std::iter::from_fn(|| port.poll(reads(*passed), ClockRule::SlotExpiry));
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

/// The moments at which a tick is received. The channel holds one tick, as Go's does; those that
/// find it full are dropped. From `calm` on nobody stalls.
fn received(calm: Tick, until: Tick) -> Vec<Tick> {
    let (mut free, mut waiting, mut received) = (0, false, Vec::new());
    let mut take = |at: Tick| {
        received.push(at);
        at + if received.len().is_multiple_of(5) && at < calm { STALL } else { 0 }
    };
    for sent in (INTERVAL..=until).step_by(INTERVAL as usize) {
        // What waited is taken when the receiver is free again, before this tick is sent.
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

fn dropped_ticks(lab: &Lab, e: &mut Evidence) {
    const CALM: Tick = 100 * INTERVAL;
    e.by(By::Arithmetic);
    let quote = "With a stall of 35 ms on each 5th tick of 10 ms, 72 of 100 ticks arrive.";
    e.is("B5.1", quote, 72, received(CALM, CALM).len());
    let later = received(CALM, 10 * CALM);
    let quote = "The hand stays 28 slots behind for good, 900 quiet ticks later.";
    e.is("B5.2", quote, 28, 1_000 - later.len());
    let outcomes = lab.each(1_000, |timer| {
        (1..=1_000).for_each(|tick| _ = timer.insert(tick, tick));
        let (mut faults, mut fired) = (0, 0);
        for passed in later.iter().map(|moment| moment / INTERVAL) {
            let now = timer.fired(passed);
            fired += now.len() as u64;
            faults += now.iter().filter(|(deadline, _)| *deadline > passed).count() as u64;
            faults += u64::from(timer.now() != passed);
        }
        faults + 1_000 - fired
    });
    let quote = "Ours, advanced to the elapsed tick, lose none, fire none early, and are on time.";
    e.by(By::Counts).everywhere("B5.3", quote, 0, &outcomes);
}

pub(super) const QUEUE_CLOCK: Experiment = Experiment {
    name: "bucket-queue-clock",
    about: "S3's wheel by its printed rule and by S4's: slots polled 1 to 300 ms late, 1,000 \
        times; the wheel's time after each poll, and the order of firing",
    run: queue_clock,
};

/// What late polls gave under a rule: polls, those after which the time was the slot's expiry, and
/// the clock's; timers fired, and those that fired after a later deadline.
fn polled(lab: &Lab, rule: ClockRule) -> [usize; 5] {
    let mut all = [0; 5];
    for seed in lab.seeds() {
        let (mut random, mut port) = (random(seed), Port::new(1, 20, 0));
        (0..4_000).for_each(|name| _ = port.add(random.random_range(1..=20_000), name));
        let (mut latest, mut clock) = (0, 0);
        for _ in 0..1_000 {
            // The thread that polls comes late to the first slot, and not before it was last there.
            let Some(expiry) = port.next_expiry() else { break };
            clock = clock.max(expiry + random.random_range(1..=300));
            let Some(poll) = port.poll(clock, rule) else { break };
            all[0] += 1;
            all[1] += usize::from(port.current() == poll.expiry);
            all[2] += usize::from(port.current() == truncate(clock, 1));
            for (deadline, _) in poll.ran {
                all[3] += 1;
                all[4] += usize::from(deadline < latest);
                latest = latest.max(deadline);
            }
        }
    }
    all
}

fn queue_clock(lab: &Lab, e: &mut Evidence) {
    let [printed, clock] =
        [ClockRule::SlotExpiry, ClockRule::TimeOfPoll].map(|rule| polled(lab, rule));
    let quote = "Each advance sets Kafka's current time to the current timestamp.";
    let number = format!("the slot's expiry after {} of {} late polls", printed[1], printed[0]);
    e.by(By::Arithmetic).holds("C45.1", quote, printed[2] == printed[0], number);
    let quote = "If it did, timers would still fire in the order of their deadlines.";
    let number =
        format!("{} of {} fire after a later one; as printed {}", clock[4], clock[3], printed[4]);
    e.holds("C45.2", quote, clock[4] == 0, number);
}

pub(super) const DRIFT: Experiment = Experiment {
    name: "sleep-loop-drift",
    about: "a hand turned by a loop of sleep and step, and one set from elapsed time, under random \
        oversleep and work: slots behind over 10,000 slots",
    run: drift,
};

/// Parts of a slot, and slots that pass.
const SLOT: u64 = 1_000;
const SLOTS: u64 = 10_000;

/// How many slots a hand is behind at the end. A sleep is too long by up to `oversleep` parts of a
/// slot, each step works up to `work`.
fn behind(by_steps: bool, oversleep: u64, work: u64, seed: u64) -> u64 {
    let (mut random, mut passed, mut hand, mut behind) = (random(seed), 0, 0, 0);
    while passed < SLOTS * SLOT {
        // The one sleeps for a slot and steps on by one, the other until the next slot begins.
        let asked = if by_steps { SLOT } else { SLOT - passed % SLOT };
        passed += asked + random.random_range(0..=oversleep);
        hand = if by_steps { hand + 1 } else { passed / SLOT };
        behind = passed / SLOT - hand;
        passed += random.random_range(0..=work);
    }
    behind
}

fn drift(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    let worst = |by_steps, [oversleep, work]: [u64; 2]| {
        lab.seeds().map(|seed| behind(by_steps, oversleep, work, seed)).max().unwrap_or(0)
    };
    let mut rows = Vec::new();
    for (id, quote, load) in [
        ("C54.1", "A loop that sleeps and steps turns the hand in time: undisturbed.", [0, 0]),
        ("C54.2", "It does with sleeps up to a tenth of a slot too long.", [100, 0]),
        ("C54.3", "It does with work of up to a tenth of a slot.", [0, 100]),
    ] {
        let (steps, elapsed) = (worst(true, load), worst(false, load));
        e.holds(id, quote, steps == 0, format!("{steps} of 10,000 slots behind"));
        rows.push([quote.to_owned(), steps.to_string(), elapsed.to_string()]);
    }
    let elapsed = worst(false, [100, 100]);
    let quote = "A hand set from elapsed time is behind, too, with both.";
    e.holds("C54.4", quote, elapsed > 0, format!("{elapsed} slots behind"));
    e.table("Slots behind after 10,000", ["load", "sleep and step", "elapsed time"], rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_day_is_first_read_when_it_is_said_to_be() {
        for step in [0, 2, -2, 3_600, -3_600] {
            let clock = Clock { start: NINE, step };
            for tick in (NINE + 1..NINE + 3 * LONGEST).step_by(971) {
                let by_search = (0..4 * LONGEST).find(|passed| clock.at(*passed) >= tick);
                assert_eq!(Some(clock.first(tick, 0)), by_search, "{tick} with {step}");
            }
        }
    }

    #[test]
    fn the_channel_holds_one_tick() {
        // Five ticks; the next is taken at the end of the stall, two are dropped.
        assert_eq!(received(1_000, 120), [10, 20, 30, 40, 50, 85, 90, 100, 110, 120]);
        assert_eq!(received(0, 50), [10, 20, 30, 40, 50]);
    }

    #[test]
    fn a_loop_falls_behind_by_what_it_oversleeps() {
        assert_eq!((behind(true, 0, 0, 1), behind(false, 100, 100, 1)), (0, 0));
        // On average a twentieth of a slot each, of 1.1 slots that a turn of the loop takes.
        assert!((850..970).contains(&behind(true, 100, 100, 1)));
    }
}
