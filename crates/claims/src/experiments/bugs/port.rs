//! Faults of S3's port of Kafka's wheel: the printed code by its rules, and ours in the same situation.

use crate::count::{AnyTimer, Probe, random};
use crate::experiment::Experiment;
use crate::experiments::models::checks::{Checks, shown};
use crate::experiments::models::structures::{Outcomes, by_wakeups, each, tick_by_tick};
use crate::experiments::port::{ClockRule, Port};
use crate::{Evidence, Scale};
use rand::RngExt;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;
use wheelhouse_registry::{Visitor, visit};

pub(super) const B9: Experiment = Experiment {
    name: "bug-b9",
    about: "100,000 deadlines in ms on slots of a second: S3's code, which rounds down, and every structure behind a conversion that rounds up",
    run: rounded_down,
};

pub(super) const B10: Experiment = Experiment {
    name: "bug-b10",
    about: "a timer of 5 ms after idle times of 20 ms to an hour: S3's code, whose time stands still without slots, and every structure",
    run: stale_clock,
};

pub(super) const B12: Experiment = Experiment {
    name: "bug-b12",
    about: "the time of day set forth and back by an hour while timers wait: S3's code, which reads it, and every structure, told a tick that is past and driven by what has passed",
    run: wall_clock,
};

pub(super) const B14: Experiment = Experiment {
    name: "bug-b14",
    about: "the span of 10 slots and the article's slot numbers, with ticks of 1 ms and 1 s, in S3's wheel and in kafka-wheel",
    run: span_of_ten,
};

const SECOND: Tick = 1_000;

fn rounded_down(scale: &Scale) -> Evidence {
    const DEADLINES: u64 = 100_000;
    let mut random = random(scale.seeds);
    let mut port = Port::new(SECOND, 20, 0);
    for name in 0..DEADLINES {
        // Not before the first slot that is not run at once.
        port.add(random.random_range(SECOND..1_000 * SECOND), name);
    }
    let early: Vec<i64> = port
        .drain()
        .iter()
        .flat_map(|poll| {
            poll.ran.iter().map(move |(deadline, _)| *deadline as i64 - poll.expiry as i64)
        })
        .collect();
    let (least, most) =
        (early.iter().min().copied().unwrap_or(0), early.iter().max().copied().unwrap_or(0));
    let mean = early.iter().sum::<i64>() as f64 / early.len() as f64;
    let mut checks = Checks::new("Random milliseconds, tick 1 s");
    checks.is(
        "S3 as printed fires so many ms early, at least and at most",
        (0, 999),
        (least, most),
    );
    checks.holds(
        "S3 as printed fires 502 ms early on average, within 5 ms",
        (mean - 502.0).abs() < 5.0,
        format!("{mean:.1} ms"),
    );
    let outcomes = each(TIMERS, |timer| not_within_the_tick(timer, scale.seeds));
    checks.everywhere("ours, rounded up: timers early, or late by a tick or more", 0, &outcomes);
    checks.evidence(
        "B9",
        format!("S3 {least} to {most} ms early, {mean:.0} ms on average; ours never early"),
    )
}

const TIMERS: u64 = 1_000;

/// Random milliseconds, rounded up to seconds: timers that do not fire within the second after their deadline.
fn not_within_the_tick(timer: &mut AnyTimer, seed: u64) -> usize {
    let mut random = random(seed);
    for _ in 0..TIMERS {
        let deadline = random.random_range(1..=1_000 * SECOND);
        timer.insert(deadline.div_ceil(SECOND), deadline);
    }
    let fired = tick_by_tick(timer, 1, 1_000);
    let lost = TIMERS as usize - fired.len();
    lost + fired
        .iter()
        .filter(|(tick, deadline)| !(0..SECOND).contains(&(tick * SECOND).wrapping_sub(*deadline)))
        .count()
}

/// Idle times in ms, and the level that S3's wheel is said to put +5 ms into. The last two end just below 256, the lowest level of hierarchical-wheel.
const IDLE: [(Tick, usize); 7] =
    [(20, 2), (400, 3), (8_000, 4), (160_000, 5), (3_600_000, 6), (250, 2), (253, 2)];

/// The longest of them, whose way is printed.
const AN_HOUR: Tick = 3_600_000;

/// Slots of a tick in hierarchical-wheel. It names slots by digits of the deadline: what is due after the next multiple waits a level higher until then.
const LOWEST_LEVEL: Tick = 256;

/// Wake-ups, cascade moves, and the tick of firing of a timer of 5 ms after an idle time.
type Idled = (usize, u64, Tick);

fn stale_clock(_: &Scale) -> Evidence {
    let mut checks = Checks::new("A timer of 5 ms after an idle time, tick 1 ms, 20 slots a level");
    let mut figure = String::new();
    for (idle, level) in IDLE {
        let mut port = Port::new(1, 20, 0);
        let first = port.add(idle + 5, 0).map_or(0, |place| place.level);
        let moves: Vec<usize> = port
            .drain()
            .iter()
            .flat_map(|poll| &poll.moved)
            .map(|(.., place)| place.level)
            .collect();
        checks.is(format!("S3 as printed, after {idle} ms, puts it into level"), level, first);
        let way = std::iter::once(first).chain(moves).collect::<Vec<_>>();
        if idle == AN_HOUR {
            checks.is(
                "S3 as printed, after an hour, moves it through levels",
                vec![6, 5, 4, 1],
                way.clone(),
            );
            checks.is("S3 as printed, after an hour, offers slots", 4, port.offers());
            figure = format!(
                "S3 level {first}, then {}, {} offers; ours into the lowest level, not moved, or once over a turn's end",
                shown(&way[1..]),
                port.offers()
            );
        }
        ours_after(idle, &mut checks);
    }
    checks.evidence("B10", figure)
}

/// Those of ours whose slots are named by digits of the deadline.
const BY_DIGITS: [&str; 2] = ["hierarchical-wheel", "list-wheel"];

/// Ours go at once to the slot from which they fire, kafka-wheel among them, whose clock moves with
/// each advance. Only where a turn of the lowest level ends before the deadline is the timer moved
/// once by wheels whose slots are named by digits.
fn ours_after(idle: Tick, checks: &mut Checks) {
    let turn_ends = idle / LOWEST_LEVEL != (idle + 5) / LOWEST_LEVEL;
    let (by_digits, others): (Outcomes<Idled>, _) =
        after_idling(idle).into_iter().partition(|(name, _)| turn_ends && BY_DIGITS.contains(name));
    let what = |who: &str| format!("{who}, after {idle} ms: wake-ups, moves, tick of firing");
    checks.everywhere(what("ours"), (1, 0, idle + 5), &others);
    for (name, (_, moves, at)) in by_digits {
        let over = format!("{name}, {idle} and 5 ms with a turn's end between");
        checks.is(format!("{over}: moves, tick of firing"), (1, idle + 5), (moves, at));
    }
}

/// The same on every structure, with its moves counted.
fn after_idling(idle: Tick) -> Outcomes<Idled> {
    struct AfterIdling(Tick, Outcomes<Idled>);
    impl Visitor for AfterIdling {
        fn visit<B: Backend + 'static>(&mut self) {
            let Self(idle, outcomes) = self;
            let mut probe = Probe::of::<B>();
            probe.fired(*idle);
            let (steps, (calls, fired)) = probe.work(|timer| {
                timer.insert(*idle + 5, 0);
                by_wakeups(timer)
            });
            let at = fired.first().map_or(0, |(tick, _)| *tick);
            outcomes.push((B::INFO.name, (calls.len(), steps.of(Work::CascadeMove), at)));
        }
    }
    let mut visitor = AfterIdling(idle, Vec::new());
    visit(&mut visitor);
    visitor.1
}

/// The time of day at the start, in ms; how long ahead timers are; and by how much it is set after half of that.
const NINE: Tick = 9 * 3_600 * SECOND;
const AHEAD: Tick = 600 * SECOND;
const HOUR: i64 = 3_600 * SECOND as i64;

fn wall_clock(_: &Scale) -> Evidence {
    let mut checks = Checks::new("A timer of 600 s; the time of day is set after 300 s");
    let (forth, back) = (printed_fires(HOUR), printed_fires(-HOUR));
    checks.is(
        "S3 as printed fires, in seconds, with the clock left alone, after",
        600,
        printed_fires(0) / SECOND,
    );
    checks.is(
        "S3 as printed fires, in seconds, with the clock set forth by an hour, after",
        300,
        forth / SECOND,
    );
    checks.is(
        "S3 as printed fires, in seconds, with the clock set back by an hour, after",
        4_200,
        back / SECOND,
    );
    let past = each(TIMERS, told_the_past);
    checks.everywhere(
        "ours, told a tick that is past: timers that fire, and whether now moves",
        (0, false),
        &past,
    );
    let own = each(TIMERS, |timer| {
        timer.fired(NINE);
        (0..TIMERS).for_each(|value| _ = timer.insert(NINE + 1 + value, value));
        timer.fired(NINE - HOUR as Tick);
        let fired = tick_by_tick(timer, NINE + 1, NINE + TIMERS);
        fired.iter().filter(|(tick, value)| *tick == NINE + 1 + value).count()
    });
    checks.everywhere(
        "ours, after the step back: timers that fire at their own tick",
        TIMERS as usize,
        &own,
    );
    checks.evidence(
        "B12",
        format!(
            "S3 fires 600 s after {} s and after {} s; ours after what has passed",
            forth / SECOND,
            back / SECOND
        ),
    )
}

/// How long after the start S3's wheel runs a timer, polled each second by the time of day, which is set half-way.
fn printed_fires(step: i64) -> Tick {
    let mut port = Port::new(1, 20, NINE);
    port.add(NINE + AHEAD, 0);
    let reads = |passed: Tick| {
        (NINE + passed).saturating_add_signed(if passed >= AHEAD / 2 { step } else { 0 })
    };
    let mut moments = (0..10 * AHEAD).step_by(SECOND as usize);
    let runs = |passed: &Tick| {
        std::iter::from_fn(|| port.poll(reads(*passed), ClockRule::SlotExpiry))
            .any(|poll| !poll.ran.is_empty())
    };
    moments.find(runs).unwrap_or(Tick::MAX)
}

/// Timers that are not due, and a clock that is set back: how many fire, and whether now moves.
fn told_the_past(timer: &mut AnyTimer) -> (usize, bool) {
    timer.fired(NINE);
    (0..TIMERS).for_each(|value| _ = timer.insert(NINE + 1 + value, value));
    let fired =
        [NINE - 1, NINE - HOUR as Tick, 0].map(|tick| timer.fired(tick).len()).into_iter().sum();
    (fired, timer.now() != NINE)
}

fn span_of_ten(_: &Scale) -> Evidence {
    let mut checks = Checks::new("10 slots, in ms");
    let span = |tick| Port::new(tick, 10, 0).spans()[0].1;
    checks.holds(
        "the 10 s of the text are not the span with a tick of 1 ms",
        span(1) != 10 * SECOND,
        format!("{} ms", span(1)),
    );
    checks.is("the span with a tick of 1 s", 10 * SECOND, span(SECOND));
    // The example: 2 s go to slot 2; at 2 s, 9 s go to slot 1.
    let slots = |tick: Tick| {
        let mut port = Port::new(tick, 10, 0);
        let first = port.add(2 * SECOND, 0);
        port.drain();
        [first, port.add(11 * SECOND, 1)]
            .map(|place| place.map_or((0, 0), |place| (place.level, place.slot)))
    };
    checks.is(
        "levels and slots of the example with a tick of 1 s, as printed",
        [(1, 2), (1, 1)],
        slots(SECOND),
    );
    checks.holds("not so with a tick of 1 ms", slots(1) != [(1, 2), (1, 1)], shown(&slots(1)));
    let levels = |delay: Tick| {
        let mut wheel =
            KafkaWheel::<u64>::builder().slots(10).build().expect("10 slots are not too few");
        wheel.insert(delay, 0);
        wheel.levels()
    };
    checks.is(
        "levels of kafka-wheel, 10 slots: for a delay of 9 ticks, 10 ticks, 10 s of ms",
        [1, 2, 5],
        [9, 10, 10 * SECOND].map(levels),
    );
    checks.evidence(
        "B14",
        format!("10 slots of 1 ms are {} ms, of 1 s {} s", span(1), span(SECOND) / SECOND),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_moves_the_timers_of_the_printed_code() {
        assert_eq!([0, HOUR, -HOUR].map(|step| printed_fires(step) / SECOND), [600, 300, 4_200]);
    }
}
