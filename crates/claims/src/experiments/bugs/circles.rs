//! Faults of S0's wheel: the printed code by its rules, and ours in the same situation.

use crate::count::{AnyTimer, Probe, random};
use crate::experiment::Experiment;
use crate::experiments::configured;
use crate::experiments::models::checks::{Checks, shown};
use crate::experiments::models::circles::{CircleWheel, Successor, WITHOUT_END, slot_and_circle};
use crate::experiments::models::structures::{Outcomes, each, tick_by_tick};
use crate::{Evidence, Scale};
use rand::RngExt;
use std::time::Duration;
use wheelhouse_core::{Tick, Timer};

pub(super) const B1: Experiment = Experiment {
    name: "bug-b1",
    about: "timers of one deadline in one slot: S0's code, which asks a removed element for its successor, and every structure",
    run: one_of_a_slot,
};

pub(super) const B2: Experiment = Experiment {
    name: "bug-b2",
    about: "periods of one and two turns: S0's code on 12 slots, which puts a task back into the slot that it is scanning, our wheels with 16 slots and 20, and every structure as it comes",
    run: whole_turns,
};

pub(super) const B3: Experiment = Experiment {
    name: "bug-b3",
    about: "durations that are no whole seconds: S0's code, which cuts them, and every structure behind a conversion that rounds up",
    run: cut_durations,
};

pub(super) const B5: Experiment = Experiment {
    name: "bug-b5",
    about: "a ticker that drops ticks while its receiver is slow: S0's hand, which counts those received, and every structure driven by elapsed time",
    run: dropped_ticks,
};

/// The ticks at which a task fires in S0's wheel of 12 slots.
fn ticks_of(name: u64, wheel: &mut CircleWheel, ticks: Tick) -> Vec<Tick> {
    wheel.run(ticks).into_iter().filter(|(_, fired)| *fired == name).map(|(tick, _)| tick).collect()
}

fn one_of_a_slot(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Timers of +5 s in one slot of 12");
    let fired_by = |successor| {
        let mut wheel = CircleWheel::new(12, successor);
        (0..4).for_each(|name| wheel.add(name, Duration::from_secs(5), 1));
        wheel.run(60).into_iter().map(|(tick, _)| tick).collect::<Vec<_>>()
    };
    let printed = fired_by(Successor::AfterRemoval);
    checks.is(
        "S0 as printed fires four tasks, one a turn, at ticks",
        vec![6, 18, 30, 42],
        printed.clone(),
    );
    checks.beside(
        "S0 with the successor saved before the removal, at ticks",
        shown(&fired_by(Successor::Saved)),
    );
    for timers in [2, 4, 1_000] {
        let outcomes = each(timers, |timer| {
            (0..timers).for_each(|value| _ = timer.insert(5, value));
            tick_by_tick(timer, 1, 60)
        });
        // Which tick, and which of them: too much to print.
        let right: Vec<_> = (0..timers).map(|value| (5, value)).collect();
        let outcomes: Outcomes<bool> =
            outcomes.into_iter().map(|(name, fired)| (name, fired == right)).collect();
        checks.everywhere(format!("ours fire all {timers} at tick 5, in order"), true, &outcomes);
    }
    checks.evidence("B1", format!("S0 at ticks {}, ours all at 5", shown(&printed)))
}

fn whole_turns(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Periods of whole turns");
    let mut seen = Vec::new();
    for (period, stated) in [(12, vec![13, 37, 61]), (24, vec![25, 61])] {
        let mut wheel = CircleWheel::new(12, Successor::AfterRemoval);
        wheel.add(0, Duration::from_secs(period), WITHOUT_END);
        let ticks = ticks_of(0, &mut wheel, 72);
        checks.is(
            format!("S0 as printed, period {period}, a turn too much between, fires at"),
            stated,
            ticks.clone(),
        );
        seen.push(format!("period {period} at {}", shown(&ticks)));
    }
    for (turns, neighbours) in [(1, 0), (1, 3), (2, 0), (2, 3)] {
        let what = format!(
            "with {neighbours} neighbours in the slot, firings at other ticks than the first four periods"
        );
        checks.everywhere(
            format!(
                "our wheels of 16 slots, kafka-wheel of 20, period of {}, {what}",
                if turns == 1 { "a turn" } else { "two turns" }
            ),
            0,
            &of_so_many_turns(turns, neighbours),
        );
        let period = 12 * turns;
        let usual = each(neighbours + 1, |timer| wrong_firings(timer, period, neighbours));
        checks.everywhere(format!("ours as they come, period {period}, {what}"), 0, &usual);
    }
    let mut mended = CircleWheel::new(12, Successor::Saved);
    mended.add(0, Duration::from_secs(12), WITHOUT_END);
    mended.add(1, Duration::from_secs(12), 1);
    checks.beside(
        "S0 with the successor saved, period 12 beside a task of 12 s",
        shown(&ticks_of(0, &mut mended, 80)),
    );
    checks.evidence("B2", format!("S0 {}; ours at each period", seen.join(", ")))
}

/// Every wheel of ours, made so small that the period is a multiple of its slots: what a fault as S0's would need.
fn of_so_many_turns(turns: u64, neighbours: u64) -> Outcomes<usize> {
    const SLOTS: usize = 16;
    // Kafka's number of slots, which need not be a power of two.
    const KAFKA_SLOTS: usize = 20;
    let wheels = [
        ("single-wheel", SLOTS, configured::single_wheel(SLOTS).any()),
        ("hashed-wheel", SLOTS, configured::hashed_wheel(SLOTS)),
        ("round-wheel", SLOTS, configured::round_wheel(SLOTS)),
        ("hierarchical-wheel", SLOTS, configured::hierarchical_wheel(SLOTS, 0)),
        ("kafka-wheel", KAFKA_SLOTS, configured::kafka_wheel(KAFKA_SLOTS, 0).any()),
    ];
    let wrong = |slots: usize, mut probe: Probe<AnyTimer>| {
        wrong_firings(&mut probe.timer, turns * slots as Tick, neighbours)
    };
    wheels.into_iter().map(|(name, slots, probe)| (name, wrong(slots, probe))).collect()
}

/// Firings of a timer that is put back from within its expiry, in four periods: those that are missing, or at another tick than a multiple of the period.
fn wrong_firings(timer: &mut AnyTimer, period: Tick, neighbours: u64) -> usize {
    let fired = re_inserted(timer, period, neighbours);
    let right: Vec<Tick> = (1..=4).map(|firing| firing * period).collect();
    let missing = right.iter().filter(|tick| !fired.contains(tick)).count();
    missing + fired.iter().filter(|tick| !right.contains(tick)).count()
}

/// The firings in four periods of a timer that is re-inserted from within its expiry, beside timers that are due with it.
fn re_inserted(timer: &mut AnyTimer, period: Tick, neighbours: u64) -> Vec<Tick> {
    let mut fired = Vec::new();
    (0..=neighbours).for_each(|value| _ = timer.insert(period, value));
    for tick in 1..=4 * period {
        while let Some((deadline, value)) = timer.pop(tick) {
            timer.insert(deadline + period, value);
            if value == 0 {
                fired.push(tick);
            }
        }
    }
    fired
}

fn cut_durations(_: &Scale) -> Evidence {
    let milliseconds = Duration::from_millis;
    let second = Duration::from_secs(1);
    let mut checks = Checks::new("Durations that are no whole seconds");
    let place = |delay, interval| slot_and_circle(0, 12, delay, interval);
    let cut = place(milliseconds(1_999), second);
    checks.holds(
        "S0 puts 1999 ms where it puts 1000 ms",
        cut == place(second, second),
        cut.map_or("no place".to_owned(), |cut| format!("slot and circle {}", shown(&cut))),
    );
    let early = cut_early();
    checks.holds(
        "S0 fires 1999 ms up to 0.999 s early",
        (998.9..=999.0).contains(&early),
        format!("up to {early:.3} ms"),
    );
    let fifteen = place(second * 15, milliseconds(1_500)).unwrap_or_default();
    checks.is("S0 puts 15 s at an interval of 1.5 s into slot and circle", (3, 1), fifteen);
    let half = place(second * 15, milliseconds(500));
    checks.holds(
        "S0 divides by zero at an interval of 500 ms",
        half.is_none(),
        half.map_or("no quotient".to_owned(), |half| shown(&half)),
    );
    let second_tick = each(1, |timer| tick_of(timer, 1_999, 1_000));
    checks.everywhere("ours: 1999 ms, rounded up to ticks of 1 s, fire at tick", 2, &second_tick);
    let tenth = each(1, |timer| tick_of(timer, 15_000, 1_500));
    checks.everywhere("ours: 15 s, rounded up to ticks of 1.5 s, fire at tick", 10, &tenth);
    for interval in [500, 1_000, 1_500] {
        let outcomes = each(TIMERS, |timer| early_or_late(timer, interval));
        checks.everywhere(
            format!("ours, a tick of {interval} ms: timers early, or late by a tick or more"),
            0,
            &outcomes,
        );
    }
    checks.evidence("B3", format!("S0 fires 1999 ms up to {early:.1} ms early, and puts 15 s at 1.5 s into slot and circle {}; ours are never early", shown(&fifteen)))
}

/// By how much 1999 ms fire early in S0's wheel, in ms, at most: they may come at any microsecond between two ticks.
fn cut_early() -> f64 {
    let delay = Duration::from_millis(1_999);
    let mut wheel = CircleWheel::new(12, Successor::AfterRemoval);
    wheel.add(0, delay, 1);
    let at = wheel.run(24).first().map_or(0, |(tick, _)| *tick) * 1_000_000;
    let early = (0..1_000_000_u64).map(|phase| delay.as_micros() as i64 - (at - phase) as i64);
    early.max().unwrap_or(0) as f64 / 1_000.0
}

/// The tick at which a timer of so many ms fires, rounded up to ticks of so many; 0 if it does not.
fn tick_of(timer: &mut AnyTimer, delay: u64, interval: u64) -> Tick {
    timer.insert(delay.div_ceil(interval), 0);
    tick_by_tick(timer, 1, 60).first().map_or(0, |(tick, _)| *tick)
}

const TIMERS: u64 = 500;

/// Random deadlines in ms behind a conversion that rounds up, with ticks of so many ms: those not within the tick after their deadline.
fn early_or_late(timer: &mut AnyTimer, interval: u64) -> usize {
    let mut random = random(interval);
    for _ in 0..TIMERS {
        let deadline = random.random_range(1..=60_000_u64);
        timer.insert(deadline.div_ceil(interval), deadline);
    }
    let fired = tick_by_tick(timer, 1, 60_000 / interval + 1);
    let lost = TIMERS as usize - fired.len();
    lost + fired
        .iter()
        .filter(|(tick, deadline)| {
            !(0..interval).contains(&(tick * interval).wrapping_sub(*deadline))
        })
        .count()
}

/// The ticker's interval, and how long its receiver is busy with each fifth tick, in ms.
const INTERVAL: Tick = 10;
const STALL: Tick = 35;

/// Who receives the ticks: is busy for a while with each fifth that comes before `calm`.
struct Receiver {
    calm: Tick,
    /// When it can take the next.
    free: Tick,
    /// The moments at which it took one.
    received: Vec<Tick>,
}

impl Receiver {
    fn take(&mut self, at: Tick) {
        self.received.push(at);
        let stalls = self.received.len().is_multiple_of(5) && at < self.calm;
        self.free = at + if stalls { STALL } else { 0 };
    }
}

/// The moments at which a tick is received, up to a moment. The channel holds one tick, as Go's does; those that find it full are dropped.
fn received(calm: Tick, until: Tick) -> Vec<Tick> {
    let mut receiver = Receiver { calm, free: 0, received: Vec::new() };
    let mut waiting = false;
    for sent in (INTERVAL..=until).step_by(INTERVAL as usize) {
        // What waited is taken when the receiver is free again, before this tick is sent.
        if waiting && receiver.free <= sent {
            waiting = false;
            receiver.take(receiver.free);
        }
        if receiver.free <= sent {
            receiver.take(sent);
        } else {
            waiting = true;
        }
    }
    receiver.received
}

fn dropped_ticks(_: &Scale) -> Evidence {
    const CALM: Tick = 100 * INTERVAL;
    let mut checks =
        Checks::new("100 ticks of 10 ms, with a stall of 35 ms after each fifth that is received");
    let moments = received(CALM, CALM);
    checks.is("S0's hand steps once for each tick received, of 100", 72, moments.len());
    checks.is("S0's hand is behind by so many slots after 100 ticks", 28, 100 - moments.len());
    let later = received(CALM, 10 * CALM);
    let behind = 1_000 - later.len();
    checks.holds(
        "S0's hand does not catch up in 900 quiet ticks",
        behind >= 28,
        format!("{behind} slots behind"),
    );
    let outcomes = each(1_000, |timer| {
        (1..=1_000).for_each(|tick| _ = timer.insert(tick, tick));
        let mut faults = 0;
        let mut fired = 0;
        for moment in &later {
            let passed = moment / INTERVAL;
            for (deadline, _) in timer.fired(passed) {
                fired += 1;
                faults += u64::from(deadline > passed);
            }
            faults += u64::from(timer.now() != passed);
        }
        faults + 1_000 - fired
    });
    checks.everywhere(
        "ours, advanced to the elapsed tick: timers early or lost, and calls after which now is not the time",
        0,
        &outcomes,
    );
    checks.evidence(
        "B5",
        format!(
            "{} of 100 ticks received, {behind} slots behind for good; by elapsed time none",
            moments.len()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channel_holds_one_tick() {
        // Five ticks; the next is taken at the end of the stall, two are dropped.
        assert_eq!(received(1_000, 120), [10, 20, 30, 40, 50, 85, 90, 100, 110, 120]);
        assert_eq!(received(0, 50), [10, 20, 30, 40, 50]);
    }
}
