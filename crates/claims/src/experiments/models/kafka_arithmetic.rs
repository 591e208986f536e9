//! The arithmetic of Kafka's wheel: span, current time, tick.

use super::checks::Checks;
use crate::count::random;
use crate::experiment::Experiment;
use crate::experiments::port::{ClockRule, Port, tick_of, truncate};
use crate::{Evidence, Finding, Scale, Table};
use rand::RngExt;
use std::collections::BTreeSet;
use std::time::Duration;
use wheelhouse_core::Tick;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "kafka-arithmetic",
    about: "S3's wheel: the first deadline past its span and the slots before it, for ticks 1 to 12 and sizes 2 to 12; its current time, also after polls and over u64; ticks of 0 to 3 ms",
    run,
};

const SAMPLES: u32 = 100_000;

fn run(scale: &Scale) -> Evidence {
    let (span, first) = span(scale);
    let (tick, second) = ticks();
    Evidence { findings: vec![span, tick], tables: vec![first, second], charts: Vec::new() }
}

fn span(scale: &Scale) -> (Finding, Table) {
    let mut checks = Checks::new("Span and current time of a wheel");
    let (mut wheels, mut spans, mut times) = (0_u32, 0, 0);
    let shapes = (1..=12).flat_map(|tick| (2..=12).map(move |size| (tick, size)));
    for (tick, size, start) in
        shapes.flat_map(|(tick, size)| (0..30).map(move |start| (tick, size, start)))
    {
        wheels += 1;
        spans += u32::from(span_found(tick, size, start) == Some(tick * size as Tick));
        times += u32::from(
            is_cut(Port::new(tick, size, start).current(), start, tick)
                && stays_cut(tick, size, start),
        );
    }
    let mut random = random(scale.seeds);
    let mut whole = 0;
    for _ in 0..SAMPLES {
        let (start, tick) = (
            random.random::<u64>(),
            (random.random::<u64>() >> random.random_range(0..64_u32)).max(1),
        );
        whole += u32::from(is_cut(truncate(start, tick), start, tick));
    }
    checks.is("wheels whose span, found with deadlines, is tick times size", wheels, spans);
    checks.is(
        "wheels whose current time is the start cut to the tick, and a multiple of it after each poll",
        wheels,
        times,
    );
    checks.is(
        "pairs over u64 for which start - start mod tick is a multiple of the tick and at most the start",
        SAMPLES,
        whole,
    );
    checks.into_parts(
        "C33",
        format!("{wheels} wheels and {SAMPLES} pairs over u64 without an exception"),
    )
}

/// Whether a current time is the last multiple of the tick that is not after the start.
fn is_cut(current: Tick, start: Tick, tick: Tick) -> bool {
    current.is_multiple_of(tick) && current <= start && start - current < tick
}

/// From the current time to the first deadline that does not go to the lowest level; `None` unless those before used all slots but the current one.
fn span_found(tick: Tick, size: usize, start: Tick) -> Option<Tick> {
    let mut port = Port::new(tick, size, start);
    let mut slots = BTreeSet::new();
    let current = port.current();
    for deadline in current.. {
        match port.add(deadline, 0) {
            Some(place) if place.level > 1 => {
                return (slots.len() == size - 1).then_some(deadline - current);
            }
            place => slots.extend(place.map(|place| place.slot)),
        }
    }
    None
}

/// Whether the current time is a multiple of the tick after each poll.
fn stays_cut(tick: Tick, size: usize, start: Tick) -> bool {
    let mut port = Port::new(tick, size, start);
    for deadline in (start..start + 3 * tick * size as Tick).step_by(7) {
        port.add(deadline, 0);
    }
    while port.poll(Tick::MAX, ClockRule::SlotExpiry).is_some() {
        if !port.current().is_multiple_of(tick) {
            return false;
        }
    }
    true
}

fn ticks() -> (Finding, Table) {
    let mut checks = Checks::new("Ticks from 0 to 3 ms, in steps of a microsecond");
    let refused: Vec<u64> =
        (0..=3_000).filter(|tick| tick_of(Duration::from_micros(*tick)).is_none()).collect();
    checks.is(
        "ticks below 1 ms, in microseconds, that are refused",
        1_000,
        refused.iter().filter(|tick| **tick < 1_000).count(),
    );
    checks.is(
        "ticks from 1 ms on that are refused",
        0,
        refused.iter().filter(|tick| **tick >= 1_000).count(),
    );
    let cut = (1_000..=3_000_u64)
        .filter(|tick| {
            tick_of(Duration::from_micros(*tick)).is_some_and(|made| made * 1_000 != *tick)
        })
        .count();
    checks
        .beside("ticks from 1 ms on that are cut to a shorter one without a word", cut.to_string());
    let one_and_a_half = tick_of(Duration::from_micros(1_500)).unwrap_or(0);
    checks.into_parts(
        "C37",
        format!(
            "{} of 3,001 ticks refused, all below 1 ms; 1.5 ms becomes {one_and_a_half} ms",
            refused.len()
        ),
    )
}
