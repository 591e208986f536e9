//! B10, B14, B15, C33, C37, C66, E9, E11: the arithmetic of S3's wheel, its slips, its clock.

use super::drive::by_wakeups;
use super::levels::levels_needed;
use super::models::kafka::{ClockRule, Place, Poll, Port, tick_of, truncate};
use crate::count::random;
use crate::{By, Evidence, Experiment, Lab};
use rand::RngExt;
use std::collections::BTreeSet;
use std::time::Duration;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const KAFKA: Experiment = Experiment {
    name: "kafka-arithmetic",
    about: "S3's wheel: span, current time and slots for ticks 1 to 12 and sizes 2 to 12, also \
        over u64; ticks of 0 to 3 ms; its example, its slips, and a timer of 5 ms after idle times",
    run: kafka,
};

fn kafka(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    let shapes = || {
        (1..=12).flat_map(|tick| {
            (2..=12).flat_map(move |size| (0..30).map(move |start| (tick, size, start)))
        })
    };
    let spans = shapes().filter(|(tick, size, start)| {
        span_found(*tick, *size, *start) == Some(tick * *size as Tick)
    });
    e.is("C33.1", "The span of a wheel is tick times size.", shapes().count(), spans.count());
    let cut = shapes().filter(|(tick, size, start)| stays_cut(*tick, *size, *start)).count();
    let quote = "Its current time is a multiple of the tick, at the start and after each poll.";
    e.is("C33.2", quote, shapes().count(), cut);
    let mut random = random(lab.scale.seed());
    let whole = (0..100_000).filter(|_| {
        let tick = (random.random::<u64>() >> random.random_range(0..64_u32)).max(1);
        is_cut(random.random::<u64>(), tick)
    });
    e.is("C33.3", "start - start mod tick is that, over all of u64.", 100_000, whole.count());
    let refused = |from: u64, to: u64| {
        (from..to).filter(|us| tick_of(Duration::from_micros(*us)).is_none()).count()
    };
    e.is("C37.1", "A tick below one millisecond is rejected.", 1_000, refused(0, 1_000));
    e.is("C37.2", "No other is.", 0, refused(1_000, 3_001));
    let one = tick_of(Duration::from_micros(1_500)).unwrap_or(0) * 1_000;
    e.is("C37.3", "What is accepted is kept: a tick of 1500 us.", 1_500, one);
    let fits = |size: usize| Port::new(1, size, 0).add(15, 0).is_some_and(|place| place.level == 1);
    e.holds(
        "C66.1",
        "A task of 15 s needs a wheel that spans at least 15 s: one of 15 will do.",
        fits(15),
        "the printed test is <",
    );
    e.holds("C66.2", "One that spans 16 s will.", fits(16), "in its last slot");
    slips(e);
    example(e);
    idle(lab, e);
}

fn is_cut(start: Tick, tick: Tick) -> bool {
    let current = truncate(start, tick);
    current.is_multiple_of(tick) && current <= start && start - current < tick
}

/// From the current time to the first deadline that does not go to the lowest level; none unless
/// those before used all slots but the current one.
fn span_found(tick: Tick, size: usize, start: Tick) -> Option<Tick> {
    let (mut port, mut slots) = (Port::new(tick, size, start), BTreeSet::new());
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

/// Whether the current time is the start cut to the tick, and a multiple of it after each poll.
fn stays_cut(tick: Tick, size: usize, start: Tick) -> bool {
    let mut port = Port::new(tick, size, start);
    let mut cut = is_cut(start, tick) && port.current() == truncate(start, tick);
    for deadline in (start..start + 3 * tick * size as Tick).step_by(7) {
        port.add(deadline, 0);
    }
    while port.poll(Tick::MAX, ClockRule::SlotExpiry).is_some() {
        cut &= port.current().is_multiple_of(tick);
    }
    cut
}

/// Level and slot; level 0 if the timer is run at once.
fn of(place: Option<Place>) -> (usize, u64) {
    place.map_or((0, 0), |place| (place.level, place.slot))
}

fn slips(e: &mut Evidence) {
    let span = |tick| Port::new(tick, 10, 0).spans()[0].1;
    let quote = "A tick of 1 ms and 10 slots do not span the 10 s of the text.";
    e.holds("B14.1", quote, span(1) != 10_000, format!("{} ms", span(1)));
    e.is("B14.2", "With a tick of 1 s they do.", 10_000, span(1_000));
    // The example: 2 s go to slot 2; at 2 s, 9 s go to slot 1.
    let slots = |tick: Tick| {
        let mut port = Port::new(tick, 10, 0);
        let first = port.add(2_000, 0);
        port.drain();
        [first, port.add(11_000, 1)].map(of)
    };
    let example = [(1, 2), (1, 1)];
    e.is("B14.3", "The example's slots need the tick of 1 s.", example, slots(1_000));
    let quote = "With 1 ms they are others.";
    e.holds(
        "B14.4",
        quote,
        slots(1) != example,
        format!("levels {} and {}", slots(1)[0].0, slots(1)[1].0),
    );
    let all: Vec<Vec<(Tick, Tick, Tick)>> = (0..512).map(demotions).collect();
    let from_0: Vec<_> = all[0].iter().map(|(passed, left, _)| (*passed, *left)).collect();
    let quote = "500 s on 8x8x8 is demoted at 448 with 52 s left, and at 496 with 4.";
    e.is("B15.1", quote, vec![(448, 52), (496, 4)], from_0.clone());
    let wide = all.iter().flatten().filter(|(_, left, width)| left >= width).count();
    e.is("B15.2", "What remains is always less than the slot was wide.", 0, wide);
    let pair =
        |it: &&Vec<(Tick, Tick, Tick)>| it.windows(2).any(|it| (it[0].1, it[1].1) == (64, 8));
    let quote = "64 s and then 8 s left, as the text has it, occurs from no start of 512.";
    e.is("B15.3", quote, 0, all.iter().filter(pair).count());
    e.is(
        "E11.4",
        "It is demoted after 436 s with 64 left, then after 56 s with 8 left.",
        vec![(436, 64), (492, 8)],
        from_0,
    );
}

/// The demotions of a timer of 500 s on levels of 8 slots: after how long, what is left then, and
/// how wide its slot was.
fn demotions(start: Tick) -> Vec<(Tick, Tick, Tick)> {
    let mut port = Port::new(1, 8, start);
    port.add(start + 500, 0);
    let of_poll = |poll: &Poll| {
        let (deadline, ..) = poll.moved.first()?;
        let width = 8_u64.pow(poll.from.level as u32 - 1);
        Some((poll.expiry - start, deadline - poll.expiry, width))
    };
    port.drain().iter().filter_map(of_poll).collect()
}

/// E9 and E11: the slots of S3's and S4's examples.
fn example(e: &mut Evidence) {
    let mut port = Port::new(1, 10, 0);
    e.is("E9.1", "Tick 1 s, 10 slots: +2 goes to slot 2.", (1, 2), of(port.add(2, 0)));
    port.drain();
    e.is(
        "E9.2",
        "At 2, +9 goes to slot 1, which expires at 11.",
        ((1, 1), 11),
        (of(port.add(11, 1)), port.next_expiry().unwrap_or(0)),
    );
    let mut port = Port::new(1, 10, 0);
    e.is("E9.3", "+15 goes to the second level's slot [10, 19].", (2, 1), of(port.add(15, 0)));
    let spans: Vec<Tick> = port.spans().into_iter().map(|(_, span)| span).collect();
    e.is("E9.4", "The levels span 10 s and 100 s.", vec![10, 100], spans);
    let down = |polls: &[Poll]| -> Vec<(Tick, (usize, u64))> {
        let of_poll =
            |poll: &Poll| poll.moved.first().map(|(.., place)| (poll.expiry, of(Some(*place))));
        polls.iter().filter_map(of_poll).collect()
    };
    let polls = port.drain();
    e.is("E9.5", "It is demoted to slot 5 when 5 s are left.", vec![(10, (1, 5))], down(&polls));
    let ran: Vec<Tick> =
        polls.iter().filter(|poll| !poll.ran.is_empty()).map(|poll| poll.expiry).collect();
    e.is("E9.6", "It fires at 15, with two slots offered.", (vec![15], 2), (ran, port.offers()));
    let wheel = KafkaWheel::<u64>::builder().slots(10).build();
    let (calls, _) = wheel.map_or((Vec::new(), Vec::new()), |mut wheel| {
        wheel.insert(15, 0);
        by_wakeups(&mut wheel)
    });
    e.by(By::Counts).is("E9.7", "kafka-wheel wakes at 10 and at 15 for it.", vec![10, 15], calls);
    e.by(By::Arithmetic);
    let mut port = Port::new(1, 8, 0);
    let first = of(port.add(500, 0));
    let widths: Vec<Tick> = port.spans().into_iter().map(|(tick, _)| tick).collect();
    e.is(
        "E11.1",
        "Three levels of 8: slots of 1, 8 and 64 s, 24 in all.",
        (vec![1, 8, 64], 24),
        (widths, 8 * port.levels()),
    );
    e.is("E11.2", "500 s starts in the third level.", (3, 7), first);
    let twice = vec![(448, (2, 6)), (496, (1, 4))];
    e.is("E11.3", "It is demoted twice.", twice, down(&port.drain()));
    let fits = (0..512).filter(|start| levels_needed(8, *start, 511) <= 3).count();
    e.is("E11.5", "Delays up to 512 s fit, from each of 512 starts.", 512, fits);
}

/// B10: the printed clock stands still without slots.
fn idle(lab: &Lab, e: &mut Evidence) {
    let way = |idle: Tick| {
        let mut port = Port::new(1, 20, 0);
        let first = port.add(idle + 5, 0).map_or(0, |place| place.level);
        let polls = port.drain();
        let moves = polls.iter().flat_map(|poll| &poll.moved).map(|(.., place)| place.level);
        (std::iter::once(first).chain(moves).collect::<Vec<_>>(), port.offers())
    };
    let quote = "After an idle hour a timer of +5 ms cascades 6, 5, 4, 1 with 4 offers.";
    e.is("B10.1", quote, (vec![6, 5, 4, 1], 4), way(3_600_000));
    let levels = [20, 400, 8_000, 160_000].map(|idle| way(idle).0[0]);
    e.is("B10.2", "After 20 ms to 160 s it goes to levels 2 to 5.", [2, 3, 4, 5], levels);
    // Where the end of a turn of 256 lies between, wheels whose slots are named by digits move it
    // once.
    let ours = |idle: Tick| {
        lab.each(1, |timer| {
            timer.fired(idle);
            timer.insert(idle + 5, 0);
            let (calls, fired) = by_wakeups(timer);
            (calls.len(), fired[0].0 - idle)
        })
    };
    let quote = "Ours wake once for it, at its tick, however long they were idle.";
    let all: Vec<_> = [20, 400, 8_000, 160_000, 3_600_000].into_iter().flat_map(ours).collect();
    e.by(By::Counts).everywhere("B10.3", quote, (1, 5), &all);
    let over = ours(253);
    let most = over.iter().map(|(_, (calls, _))| *calls).max().unwrap_or(0);
    let quote = "At the end of a turn of 256 levels named by digits wake once more.";
    e.is("B10.4", quote, 2, most);
}
