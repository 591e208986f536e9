//! What wheels and a tree take for deadlines that span seconds or weeks, and what it costs to stop or move a timer with a handle and without.

use super::operations::{insert_and_cancel, reschedule, search_of_slot};
use super::ours::{self, all_are};
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::experiments::configured;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use wheelhouse_baselines::RedBlackTreeDefinition;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "wheel-space-and-cancel",
    about: "single-wheel, round-wheel, hierarchical-wheel and kafka-wheel: slots needed for spans of a minute to 24 days in seconds; cancel and reschedule by \
            handle, and cancel by a search, among n timers; red-black-tree: work of insert, cancel and pop against the span",
    run,
};

/// Spans in ticks, as powers of two: with a tick of a second, a minute to 24 days.
const SPANS: [u32; 6] = [6, 9, 12, 15, 18, 21];
/// The widest span that one flat wheel of ours takes.
const WIDEST_FLAT: u32 = 16;
/// Timers, where the span is swept.
const TIMERS: u64 = 1 << 10;
/// Slots of the wheel with rounds, whatever the span: Netty's.
const ROUND: usize = 512;
/// The most timers where n is swept, as a power of two, and slots of the lists that are searched.
const MOST: u32 = 16;
const FEW: u64 = 16;

fn run(scale: &Scale) -> Evidence {
    let slots: Vec<_> = SPANS.into_iter().map(Slots::count).collect();
    let handles = by_handle(scale);
    let searched =
        Curve::sweep(&scale.linear_sizes(), scale.seeds(), |n, seed| search_of_slot(n, FEW, seed));
    let spans = by_span(scale);
    Evidence {
        findings: vec![wastes(&slots, &handles, &searched), fits(&spans)],
        tables: vec![slot_table(&slots), handle_table(&handles, &searched), span_table(&spans)],
        charts: vec![slot_chart(&slots), span_chart(&spans)],
    }
}

/// Slots that a wheel needs for timers at random over a span.
#[derive(Clone, Copy, Debug)]
struct Slots {
    bits: u32,
    /// None where a flat wheel of ours has too few.
    single: Option<u64>,
    /// None if a timer did not fire at its tick.
    round: Option<u64>,
    hierarchical: u64,
    kafka: u64,
}

impl Slots {
    fn count(bits: u32) -> Self {
        let span = 1 << bits;
        let mut random = random(bits.into());
        let delays: Vec<Tick> =
            (0..TIMERS).map(|_| random.random_range(1..span)).chain([span - 1]).collect();
        Self {
            bits,
            single: single(&delays),
            round: round(&delays),
            hierarchical: hierarchical(&delays),
            kafka: kafka(&delays),
        }
    }
}

/// The fewest slots of a flat wheel that takes all of them.
fn single(delays: &[Tick]) -> Option<u64> {
    let takes = |slots: &usize| {
        let mut wheel = configured::single_wheel(*slots).timer;
        delays.iter().all(|delay| wheel.insert_within(*delay, 0).is_ok())
    };
    (1..=WIDEST_FLAT).map(|bits| 1 << bits).find(takes).map(|slots| slots as u64)
}

/// Always as many, if all timers fire at their ticks.
fn round(delays: &[Tick]) -> Option<u64> {
    let mut probe = configured::round_wheel(ROUND);
    probe.fill(delays.iter().copied());
    let mut right = 0;
    ours::wakeups(&mut probe, |tick, fired| {
        right += fired.iter().filter(|(deadline, _)| *deadline == tick).count()
    });
    (right == delays.len()).then_some(ROUND as u64)
}

/// Those of the levels in use: one more than the most moves of a timer.
fn hierarchical(delays: &[Tick]) -> u64 {
    let moves = |delay: &Tick| {
        let mut probe = configured::hierarchical_wheel(256, 0);
        probe.fill([*delay]);
        ours::wakeups(&mut probe, |_, _| ());
        probe.steps().of(Work::CascadeMove)
    };
    256 * (1 + delays.iter().map(moves).max().unwrap_or(0))
}

fn kafka(delays: &[Tick]) -> u64 {
    let mut probe = configured::kafka_wheel(20, 0);
    probe.fill(delays.iter().copied());
    20 * probe.timer.levels() as u64
}

/// The work of an operation by handle in one kind of wheel, against n.
struct ByHandle {
    wheel: &'static str,
    cancel: Curve,
    reschedule: Curve,
}

fn by_handle(scale: &Scale) -> [ByHandle; 4] {
    let span = 1 << (MOST - 1);
    [
        ByHandle::count("single-wheel", scale, span, || configured::single_wheel(1 << WIDEST_FLAT)),
        ByHandle::count("round-wheel", scale, span, || configured::round_wheel(1 << 14)),
        ByHandle::count("hierarchical-wheel", scale, span, || {
            configured::hierarchical_wheel(256, 0)
        }),
        ByHandle::count("kafka-wheel", scale, span, || configured::kafka_wheel(20, 0)),
    ]
}

impl ByHandle {
    fn count<T: Timer<u64>>(
        wheel: &'static str,
        scale: &Scale,
        longest: Tick,
        build: impl Fn() -> Probe<T>,
    ) -> Self {
        let sizes: Vec<u64> = scale.sizes().into_iter().filter(|n| *n <= 1 << MOST).collect();
        let cancel = |n, seed| insert_and_cancel(&build, n, longest, seed)[1];
        let cancel = Curve::sweep(&sizes, scale.seeds(), cancel);
        let reschedule =
            Curve::sweep(&sizes, scale.seeds(), |n, seed| reschedule(&build, n, longest, seed));
        Self { wheel, cancel, reschedule }
    }
}

fn wastes(slots: &[Slots], handles: &[ByHandle], searched: &Curve) -> Finding {
    let (Some(first), Some(last)) = (slots.first(), slots.last()) else {
        return Finding::new("C27", "", Vec::new());
    };
    let mut flat = slots.iter().filter(|it| it.bits <= WIDEST_FLAT);
    let grows = |growths: Vec<Growth>| all_are(Growth::Constant, growths).map(|constant| !constant);
    let of = |cost: fn(&ByHandle) -> &Curve| {
        handles.iter().map(|it| cost(it).growth()).collect::<Vec<_>>()
    };
    // Slots follow the span if they grow at least half as much.
    let follow = |first: u64, last: u64, bits: u32| last / first >= 1 << (bits - 1);
    let bits = last.bits - first.bits;
    let parts = [
        Part::new(
            "a flat wheel has no fewer slots than the span has ticks",
            flat.all(|it| it.single.is_none_or(|slots| slots >= 1 << it.bits)),
        ),
        Part::new(
            "a wheel with rounds needs more slots for a wider span",
            slots.iter().any(|it| it.round.is_none()),
        ),
        Part::new(
            "the slots of hierarchical-wheel follow the span",
            follow(first.hierarchical, last.hierarchical, bits),
        ),
        Part::new(
            "the slots of kafka-wheel follow the span",
            follow(first.kafka, last.kafka, bits),
        ),
        Part::maybe(
            "a cancel by handle costs more, the more timers there are",
            grows(of(|it| &it.cancel)),
        ),
        Part::maybe(
            "a change by handle costs more, the more timers there are",
            grows(of(|it| &it.reschedule)),
        ),
        Part::maybe(
            "a cancel without a handle, by a search of the slot, costs more",
            grows(vec![searched.growth()]),
        ),
    ];
    let widest = slots
        .iter()
        .rfind(|it| it.bits <= WIDEST_FLAT)
        .map_or((0, 0), |it| (it.single.unwrap_or(0), it.bits));
    let cancel = handles.iter().map(|it| it.cancel.ends().1).fold(0.0, f64::max);
    let figure = format!(
        "{} slots for a span of 2^{} in a flat wheel, {} for 2^{} in kafka-wheel; at most {cancel:.1} steps to cancel by handle, {:.0} by a search",
        widest.0,
        widest.1,
        last.kafka,
        last.bits,
        searched.ends().1
    );
    Finding::new("C27", figure, parts)
}

fn slot_table(slots: &[Slots]) -> Table {
    let columns = [
        "span in ticks",
        "single-wheel",
        "round-wheel",
        "hierarchical-wheel",
        "kafka-wheel",
        "timers",
    ];
    let mut table = Table::new(
        "Slots for timers at random over a span; a tree has none, and a node for each timer",
        columns,
    );
    for it in slots {
        let single =
            it.single.map_or(format!("more than {}", 1 << WIDEST_FLAT), |slots| slots.to_string());
        let round = it.round.map_or("not exact".to_owned(), |slots| slots.to_string());
        let counts = [it.hierarchical, it.kafka, TIMERS + 1].map(|count| count.to_string());
        table.row([format!("2^{}", it.bits), single, round].into_iter().chain(counts));
    }
    table
}

fn slot_chart(slots: &[Slots]) -> Chart {
    let series = |name: &str, count: fn(&Slots) -> Option<u64>| Series {
        name: name.to_owned(),
        points: slots
            .iter()
            .filter_map(|it| Some(((1_u64 << it.bits) as f64, count(it)? as f64)))
            .collect(),
    };
    Chart {
        title: "Slots for a span".to_owned(),
        subtitle: "slots that take timers at random over the span".to_owned(),
        x: "span in ticks".to_owned(),
        y: "slots".to_owned(),
        series: vec![
            series("single-wheel", |it| it.single),
            series("round-wheel", |it| it.round),
            series("hierarchical-wheel", |it| Some(it.hierarchical)),
            series("kafka-wheel", |it| Some(it.kafka)),
        ],
    }
}

fn handle_table(handles: &[ByHandle], searched: &Curve) -> Table {
    let columns = ["wheel, operation", "smallest n", "largest n", "growth"];
    let mut table = Table::new("Work of stopping and moving a timer among n", columns);
    let mut row = |name: String, curve: &Curve| {
        table.row(std::iter::once(name).chain(curve.cells()));
    };
    for it in handles {
        row(format!("{}, cancel by handle", it.wheel), &it.cancel);
        row(format!("{}, reschedule by handle", it.wheel), &it.reschedule);
    }
    row("a slot of n / 16 timers, cancel by a search".to_owned(), searched);
    table
}

/// The work of one structure against the span, at a fixed number of timers.
struct BySpan {
    structure: &'static str,
    insert: Curve,
    cancel: Curve,
    pop: Curve,
}

const TREE: &str = "red-black-tree";
/// The spans of the tree: from here on hardly two timers have one deadline, so that the tree sees as many keys at each.
const FROM: u32 = 12;
/// To 24 days in milliseconds.
const TO: u32 = 31;

fn by_span(scale: &Scale) -> [BySpan; 3] {
    [
        BySpan::count(TREE, scale, Probe::of::<RedBlackTreeDefinition>),
        BySpan::count("hierarchical-wheel", scale, || configured::hierarchical_wheel(256, 0)),
        BySpan::count("kafka-wheel", scale, || configured::kafka_wheel(20, 0)),
    ]
}

impl BySpan {
    fn count<T: Timer<u64>>(
        structure: &'static str,
        scale: &Scale,
        build: impl Fn() -> Probe<T>,
    ) -> Self {
        let spans: Vec<Tick> = (FROM..=TO).map(|bits| 1 << bits).collect();
        let [insert, cancel, pop] = ours::curves(&spans, scale.seeds(), |span, seed| {
            let seed = seed ^ span << 20;
            let [insert, cancel] = insert_and_cancel(&build, TIMERS, span, seed);
            [insert, cancel, pop(build(), span, seed)]
        });
        Self { structure, insert, cancel, pop }
    }
}

/// Mean work of firing a timer, from wake-up to wake-up until none is left.
fn pop<T: Timer<u64>>(mut probe: Probe<T>, span: Tick, seed: u64) -> f64 {
    let mut random = random(seed);
    probe.fill((0..TIMERS).map(|_| 1 + random.random_range(0..span)).collect::<Vec<_>>());
    let before = probe.steps();
    ours::wakeups(&mut probe, |_, _| ());
    probe.steps().since(&before).total() as f64 / TIMERS as f64
}

fn fits(spans: &[BySpan]) -> Finding {
    let tree = || spans.iter().filter(|it| it.structure == TREE);
    let part = |operation: &str, cost: fn(&BySpan) -> &Curve| {
        let growth = all_are(Growth::Constant, tree().map(|it| cost(it).growth()));
        Part::maybe(format!("{operation}: no more work for a wider span"), growth)
    };
    let parts = [
        part("insert", |it| &it.insert),
        part("cancel", |it| &it.cancel),
        part("pop", |it| &it.pop),
    ];
    let ends = |curve: &Curve| curve.ends();
    let figure = tree().next().map_or(String::new(), |it| {
        let [insert, cancel, pop] = [&it.insert, &it.cancel, &it.pop].map(ends);
        format!(
            "{TIMERS} timers, spans of 2^{FROM} and 2^{TO} ticks: {:.1} and {:.1} steps to insert, {:.1} and {:.1} to cancel, {:.1} and {:.1} to pop",
            insert.0, insert.1, cancel.0, cancel.1, pop.0, pop.1
        )
    });
    Finding::new("C56", figure, parts)
}

fn span_table(spans: &[BySpan]) -> Table {
    let columns = ["structure, operation", "narrowest", "widest", "growth with the span"];
    let mut table = Table::new(
        format!(
            "Work of an operation among {TIMERS} timers over spans of 2^{FROM} to 2^{TO} ticks"
        ),
        columns,
    );
    for it in spans {
        for (operation, curve) in [("insert", &it.insert), ("cancel", &it.cancel), ("pop", &it.pop)]
        {
            table.row(
                std::iter::once(format!("{}, {operation}", it.structure)).chain(curve.cells()),
            );
        }
    }
    table
}

fn span_chart(spans: &[BySpan]) -> Chart {
    let lines = |it: &BySpan| {
        [("insert", &it.insert), ("pop", &it.pop)].map(|(operation, curve)| Series {
            name: format!("{}, {operation}", it.structure),
            points: curve.points(),
        })
    };
    Chart {
        title: "A wider span".to_owned(),
        subtitle: format!("steps of an operation among {TIMERS} timers"),
        x: "span in ticks".to_owned(),
        y: "steps".to_owned(),
        series: spans.iter().flat_map(lines).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_for_an_hour_and_for_twelve_days() {
        let hour = Slots::count(12);
        assert_eq!(
            (hour.single, hour.round, hour.hierarchical, hour.kafka),
            (Some(4_096), Some(512), 512, 60)
        );
        let days = Slots::count(20);
        assert_eq!(
            (days.single, days.round, days.hierarchical, days.kafka),
            (None, Some(512), 768, 100)
        );
    }
}
