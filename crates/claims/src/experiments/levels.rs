//! B10, B14, B15, C06, C33, C37, C48, C66, E9 to E12, E14: levels of slots: how far they reach, and
//! where a timer waits in them.

use super::drive::{by_wakeups, tick_by_tick, wakeups};
use super::models::kafka::{ClockRule, Place, Poll, Port, tick_of, truncate};
use super::models::rounds::{Rounds, S4};
use crate::count::random;
use crate::{By, Evidence, Experiment, Lab};
use rand::RngExt;
use std::collections::BTreeSet;
use std::time::Duration;
use wheelhouse_core::{Tick, Timer};
use wheelhouse_kafka_wheel::KafkaWheel;

pub(super) const REACH: Experiment = Experiment {
    name: "hierarchy-span",
    about: "the first delay that k levels of m slots do not take, by Kafka's condition and in \
        kafka-wheel, from every start; (m, k) = (12, 1), (12, 2), (8, 3)",
    run: reach,
};

/// Levels that a delay needs from a start: by the printed condition, `deadline < current +
/// interval`, with `current` cut to the slots of the level.
fn levels_needed(slots: Tick, start: Tick, delay: Tick) -> u32 {
    let (mut level, mut tick) = (1, 1);
    while start + delay >= truncate(start, tick) + tick * slots {
        level += 1;
        tick *= slots;
    }
    level
}

/// The first delay that so many levels do not take, from each start within their span.
fn horizons(slots: Tick, levels: u32) -> impl Iterator<Item = (Tick, Tick)> {
    let first = move |start| {
        let (mut taken, mut not) = (0, slots.pow(levels) + 1);
        while not - taken > 1 {
            let middle = taken + (not - taken) / 2;
            let fits = levels_needed(slots, start, middle) <= levels;
            (taken, not) = if fits { (middle, not) } else { (taken, middle) };
        }
        (start, not)
    };
    (0..slots.pow(levels)).map(first)
}

/// The shortest and the longest of them.
fn ends(slots: Tick, levels: u32) -> [Tick; 2] {
    let reach = |(_, not)| not;
    [
        horizons(slots, levels).map(reach).min().unwrap_or(0),
        horizons(slots, levels).map(reach).max().unwrap_or(0),
    ]
}

/// Levels that kafka-wheel makes for a delay from a start.
fn levels_made(slots: Tick, start: Tick, delay: Tick) -> u32 {
    let wheel = KafkaWheel::<u64>::builder().slots(slots as usize).start(start).build();
    let mut wheel = wheel.expect("enough slots");
    wheel.insert(start + delay, 0);
    wheel.levels() as u32
}

fn reach(_: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    e.is(
        "C06.1",
        "A wheel of 12 slots of 1 s covers 12 s, whatever the time.",
        [12, 12],
        ends(12, 1),
    );
    e.is("C06.2", "Two levels of 12 slots cover 144 s, from the best start.", 144, ends(12, 2)[1]);
    e.is("C06.3", "They do from every start.", 144, ends(12, 2)[0]);
    e.is(
        "C48.1",
        "Three levels of 8 slots take delays up to 512 s, from the best start.",
        512,
        ends(8, 3)[1],
    );
    e.is("C48.2", "They do from every start.", 512, ends(8, 3)[0]);
    let beyond = (0..512).filter(|start| levels_needed(8, *start, 500) > 3).count();
    e.is("C48.3", "A delay of 500 s needs no fourth level, from any of 512 starts.", 0, beyond);
    let agrees = horizons(8, 3)
        .all(|(start, not)| levels_made(8, start, not) > 3 && levels_made(8, start, not - 1) <= 3);
    let quote = "kafka-wheel makes a fourth level where the condition says so.";
    e.by(By::Counts).holds("C48.4", quote, agrees, "from each of 512 starts");
}

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

pub(super) const EXAMPLES: Experiment = Experiment {
    name: "examples-s4",
    about: "8 slots, tasks of 5 and 50 s; one timer at 350; Varghese and Lauck's figures 9 to 11: \
        by arithmetic, by S4's rule, on every structure",
    run: examples,
};

fn examples(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    let index = |delay: u64| (delay % 8, delay % 8 + 1);
    e.is("E10.1", "8 slots: 5 s goes to number 6, index 5.", (5, 6), index(5));
    e.is(
        "E10.2",
        "50 s goes to number 3, index 2, with 6 rounds.",
        ((2, 3), 6),
        (index(50), (S4.stored)(50, 8)),
    );
    let mut wheel = Rounds::new(S4, 8, 0);
    wheel.add(0, 50, 1);
    let visits: Vec<_> = (1..=50).map(|tick| (tick, wheel.tick())).collect();
    let passed =
        visits.iter().filter(|(_, it)| !it.passed.is_empty()).map(|it| it.0).collect::<Vec<Tick>>();
    let fired =
        visits.iter().filter(|(_, it)| !it.fired.is_empty()).map(|it| it.0).collect::<Vec<Tick>>();
    let quote = "By S4's rule it is passed at 2, 10 .. 42, and fires at 50.";
    e.is("E10.3", quote, (vec![2, 10, 18, 26, 34, 42], vec![50]), (passed, fired));
    e.by(By::Counts);
    let ours = lab.each(2, |timer| {
        timer.insert(5, 0);
        timer.insert(50, 1);
        tick_by_tick(timer, 1, 60)
    });
    e.everywhere("E10.4", "Ours fire the two at 5 and 50.", vec![(5, 0), (50, 1)], &ours);
    let vain = lab.each(1, |timer| {
        timer.insert(350, 0);
        (1..=350).filter(|tick| timer.fired(*tick).is_empty()).count()
    });
    e.everywhere("E12.1", "Tick 1 s, a single task of 350 s: 349 useless ticks.", 349, &vain);
    let mut port = Port::new(1, 20, 0);
    port.add(350, 0);
    let useless = port.drain().iter().filter(|poll| poll.ran.is_empty()).count();
    e.is("E12.2", "A queue of slots makes one useless poll, to move it closer.", 1, useless);
    let mut probe = lab.make("list-wheel");
    probe.fill([350]);
    e.beside("wake-ups of list-wheel for it", wakeups(&mut probe).len());
    paper(lab, e);
}

/// The units of the paper's wheels, the coarsest first, in seconds, and their slots.
const WHEELS: [(Tick, u64); 4] = [(86_400, 100), (3_600, 24), (60, 60), (1, 60)];

/// A moment of the paper's clock, in seconds.
const fn clock(day: Tick, hour: Tick, minute: Tick, second: Tick) -> Tick {
    ((day * 24 + hour) * 60 + minute) * 60 + second
}

/// Unit and slot of each wheel that a timer waits in: the coarsest in which now and deadline
/// differ, until that slot begins.
fn way(mut now: Tick, deadline: Tick) -> Vec<(Tick, u64)> {
    let mut way = Vec::new();
    while let Some((unit, slots)) =
        WHEELS.into_iter().find(|(unit, _)| now / unit != deadline / unit)
    {
        way.push((unit, deadline / unit % slots));
        now = deadline / unit * unit;
    }
    way
}

fn paper(lab: &Lab, e: &mut Evidence) {
    e.by(By::Arithmetic);
    // The deadline's low 8 bits are added to the pointer; its high bits are rounds.
    let index = |high: u64| (10 + ((high << 8) | 20)) % 256;
    let quote = "Table 256, pointer 10, low 8 bits 20 give index 30, whatever the high bits.";
    e.is("E14.1", quote, [30; 3], [0, 1, 1_000].map(index));
    let (now, delay) = (clock(11, 10, 24, 30), clock(0, 0, 50, 45));
    let quote = "11 d 10:24:30 plus 50:45 is 11 d 11:15:15.";
    e.is("E14.2", quote, clock(11, 11, 15, 15), now + delay);
    let quote = "It is stored an hour ahead, then at minute 15, then at second 15.";
    e.is("E14.3", quote, vec![(3_600, 11), (60, 15), (1, 15)], way(now, now + delay));
    let slots = WHEELS.iter().map(|(_, slots)| slots).sum::<u64>();
    let quote = "A hierarchy for 100 days has 244 slots instead of 8.64 million.";
    e.is("E14.4", quote, (244, 8_640_000), (slots, clock(100, 0, 0, 0)));
    let fired = lab.each(1, |timer| {
        timer.fired(now);
        timer.insert(now + delay, 0);
        [clock(11, 11, 0, 0), clock(11, 11, 15, 0), clock(11, 11, 15, 14), clock(11, 11, 15, 15)]
            .map(|at| timer.fired(at).len())
    });
    e.by(By::Counts).everywhere(
        "E14.5",
        "Ours fire it at 11:15:15 and not before.",
        [0, 0, 0, 1],
        &fired,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_seconds_need_a_fourth_level_from_most_starts() {
        let beyond = (0..512).filter(|start| levels_needed(8, *start, 500) > 3).count();
        assert_eq!((beyond, levels_needed(8, 0, 511), levels_needed(8, 0, 512)), (416, 3, 4));
    }

    #[test]
    fn the_horizon_is_the_first_delay_that_does_not_fit() {
        for (start, horizon) in horizons(12, 2) {
            let not = (0..200).find(|delay| levels_needed(12, start, *delay) > 2);
            assert_eq!(Some(horizon), not);
        }
    }

    #[test]
    fn a_timer_goes_from_hours_to_minutes_to_seconds() {
        assert_eq!(way(clock(0, 0, 0, 59), clock(0, 0, 1, 0)), [(60, 1)]);
        assert_eq!(way(clock(3, 4, 5, 6), clock(5, 4, 0, 7)), [(86_400, 5), (3_600, 4), (1, 7)]);
        assert_eq!(way(7, 7), []);
    }
}
