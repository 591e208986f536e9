//! What starting and stopping a timer costs in each kind of wheel, against the number of timers and against the level of the deadline.

use super::operations::{cancel_by_key, insert_and_cancel, search_of_slot};
use super::ours::{self, all_are};
use crate::count::{AnyTimer, Order, Probe, random};
use crate::experiment::Experiment;
use crate::experiments::bulk::{MOST_OF_A_STOP, start_and_stop};
use crate::experiments::configured;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "wheel-op-costs",
    about: "single-wheel, round-wheel, hierarchical-wheel, kafka-wheel and hashed-wheel: work of an insertion and of a cancel by handle among n timers, and of \
            insertions at delays of 2^4 to 2^40; cancel through a map of keys against a search of the slot",
    run,
};

/// Deadlines of the sweep over n, where they are to be in the slots of a single wheel of twice as many.
const NEAR: Tick = 1 << 15;
/// And where a wheel takes all deadlines.
const FAR: Tick = 1 << 20;
/// Slots of the wheels that are searched: few, so that the least n fills them.
const FEW: u64 = 16;
/// The most timers where a slot is searched.
const LINEAR: u64 = 1 << 14;
/// Timers for each slot where these are in proportion.
const EACH: u64 = 4;
/// The most slots of a wheel.
const MOST: u64 = 1 << 16;

/// The work of two operations against n.
struct Costs {
    wheel: &'static str,
    slots: &'static str,
    insert: Curve,
    cancel: Curve,
}

impl Costs {
    fn count<T: Timer<u64>>(
        (wheel, slots): (&'static str, &'static str),
        sizes: &[u64],
        scale: &Scale,
        longest: Tick,
        build: impl Fn(u64) -> Probe<T>,
    ) -> Self {
        let cost = |n, seed| insert_and_cancel(|| build(n), n, longest, seed);
        let [insert, cancel] = ours::curves(sizes, scale.seeds(), cost);
        Self { wheel, slots, insert, cancel }
    }
}

/// Steps to start and to stop in slots that are crowded: half of all stopped, and the wheel tidied up.
struct Crowd {
    wheel: &'static str,
    order: Order,
    start: Curve,
    stop: Curve,
}

/// All at one tick; all in one slot of round-wheel, and in as few of each level as can be; at random.
const ORDERS: [Order; 3] = [Order::Equal, Order::SameSlot(1 << 14), Order::Random];
/// As a power of two. A slot of hierarchical-wheel is crowded from 4,096 places on; so a burst of this size is.
const CROWDED: u32 = 13;

/// A wheel by its name, and how to build it.
type Wheel = (&'static str, fn() -> Probe<AnyTimer>);

/// As each wheel comes, but for the number of slots of the flat ones.
fn crowds(scale: &Scale) -> Vec<Crowd> {
    let wheels: [Wheel; 4] = [
        ("single-wheel", || configured::single_wheel(1 << 16).any()),
        ("round-wheel", || configured::round_wheel(1 << 14).any()),
        ("hierarchical-wheel", || configured::hierarchical_wheel(256, 0).any()),
        ("kafka-wheel", || configured::kafka_wheel(20, 0).any()),
    ];
    let sizes: Vec<u64> = (CROWDED..=scale.to.max(CROWDED + 3)).map(|bits| 1 << bits).collect();
    let crowd = |(order, (wheel, build)): (Order, Wheel)| {
        let [start, stop] =
            ours::curves(&sizes, scale.seeds(), |n, seed| start_and_stop(build(), order, n, seed));
        Crowd { wheel, order, start, stop }
    };
    ORDERS.into_iter().flat_map(|order| wheels.map(|wheel| (order, wheel))).map(crowd).collect()
}

/// What a stop takes in the crowds, at most.
fn dearest_stop(crowds: &[Crowd]) -> f64 {
    crowds.iter().map(|it| it.stop.greatest_mean()).fold(0.0, f64::max)
}

fn crowd_table(crowds: &[Crowd]) -> Table {
    let columns = ["wheel, operation", "deadlines", "smallest n", "largest n", "growth"];
    let title = "All of n timers started, half of them stopped at random, and the wheel tidied up: steps of one";
    let mut table = Table::new(title, columns);
    for it in crowds {
        for (operation, curve) in [("start", &it.start), ("stop", &it.stop)] {
            table.row(
                [format!("{}, {operation}", it.wheel), it.order.name()]
                    .into_iter()
                    .chain(curve.cells()),
            );
        }
    }
    table
}

const HASHED: &str = "hashed-wheel";
const FIXED: &str = "16";
const IN_PROPORTION: &str = "n / 4";

fn run(scale: &Scale) -> Evidence {
    let sizes = scale.sizes();
    let linear: Vec<u64> = sizes.iter().copied().filter(|n| *n <= LINEAR).collect();
    let proportional: Vec<u64> = sizes.iter().copied().filter(|n| n / EACH <= MOST).collect();
    let costs = [
        Costs::count(("single-wheel", "65536"), &sizes, scale, NEAR, |_| {
            configured::single_wheel(2 * NEAR as usize)
        }),
        Costs::count(("round-wheel", "16384"), &sizes, scale, FAR, |_| {
            configured::round_wheel(1 << 14)
        }),
        Costs::count(("hierarchical-wheel", "1024 a level"), &sizes, scale, FAR, |_| {
            configured::hierarchical_wheel(1 << 10, 0)
        }),
        Costs::count(("kafka-wheel", "20 a level"), &sizes, scale, FAR, |_| {
            configured::kafka_wheel(20, 0)
        }),
        Costs::count((HASHED, FIXED), &linear, scale, FAR, |_| {
            configured::hashed_wheel(FEW as usize)
        }),
        Costs::count((HASHED, IN_PROPORTION), &proportional, scale, FAR, |n| {
            configured::hashed_wheel((n / EACH) as usize)
        }),
    ];
    let (levels, crowds) = (levels(scale), crowds(scale));
    let keyed = Curve::sweep(&sizes, scale.seeds(), |n, seed| {
        cancel_by_key(configured::round_wheel(1 << 14), n, FAR, seed)
    });
    let searched = Curve::sweep(&linear, scale.seeds(), |n, seed| search_of_slot(n, FEW, seed));
    Evidence {
        findings: vec![constant(&costs, &crowds, &levels), by_key(&keyed, &searched)],
        tables: vec![
            table(&costs),
            crowd_table(&crowds),
            level_table(&levels),
            key_table(&keyed, &searched),
        ],
        charts: vec![chart(&costs)],
    }
}

fn constant(costs: &[Costs], crowds: &[Crowd], levels: &[Level]) -> Finding {
    let is_constant = |curve: &Curve| curve.growth().is(Growth::Constant);
    let hashed = |slots: &'static str| {
        costs.iter().filter(move |it| it.wheel == HASHED && it.slots == slots)
    };
    let part = |it: &Costs| {
        Part::maybe(format!("{}: an insertion is constant", it.wheel), is_constant(&it.insert))
    };
    let mut parts: Vec<_> = costs.iter().filter(|it| it.wheel != HASHED).map(part).collect();
    parts.push(Part::maybe(
        "hashed-wheel: an insertion is constant at a fixed number of slots",
        all_are(Growth::Constant, hashed(FIXED).map(|it| it.insert.growth())),
    ));
    parts.push(Part::maybe(
        "a cancel by handle is constant on all, where deadlines are spread",
        all_are(Growth::Constant, costs.iter().map(|it| it.cancel.growth())),
    ));
    let burst = crowds.iter().filter(|it| it.order == Order::Equal);
    parts.push(Part::maybe(
        format!("and from 2^{CROWDED} timers on where all are due at one tick"),
        all_are(Growth::Constant, burst.map(|it| it.stop.growth())),
    ));
    let dearest = dearest_stop(crowds);
    parts.push(Part::new(
        format!(
            "half of all stopped and the wheel tidied up, in whatever order: no more than {MOST_OF_A_STOP} steps each"
        ),
        dearest <= MOST_OF_A_STOP,
    ));
    let [near, far] =
        [levels.first(), levels.last()].map(|level| level.map_or(f64::NAN, |level| level.kafka));
    parts.push(Part::new(
        "an insertion into kafka-wheel looks into no more levels, the later its deadline",
        far <= near,
    ));
    let [few, many] =
        hashed(FIXED).next().map_or([f64::NAN; 2], |it| <[f64; 2]>::from(it.insert.ends()));
    let cancel = costs.iter().map(|it| it.cancel.ends().1).fold(0.0, f64::max);
    let figure = format!(
        "a cancel takes at most {cancel:.1} steps at any n, {dearest:.1} in a crowded slot; an insertion into sorted slots {few:.1} to {many:.1}, into kafka-wheel {near:.1} at a delay \
         of 2^{} and {far:.1} at one of 2^{}",
        DELAYS[0],
        DELAYS[DELAYS.len() - 1]
    );
    Finding::new("C50", figure, parts)
}

fn by_key(keyed: &Curve, searched: &Curve) -> Finding {
    let parts = [
        Part::maybe("a cancel through the map is constant", keyed.growth().is(Growth::Constant)),
        Part::maybe(
            "a search of the slot's list grows with the timers",
            searched.growth().is(Growth::Linear),
        ),
    ];
    let steps = keyed.greatest_mean();
    let n = searched.0.last().map_or(0, |sample| sample.n);
    let figure = format!(
        "at most {steps:.2} steps through the map; {:.0} links by a search among {n} timers in {FEW} slots",
        searched.ends().1
    );
    Finding::new("C51", figure, parts)
}

fn table(costs: &[Costs]) -> Table {
    let columns = ["wheel, operation", "slots", "smallest n", "largest n", "growth"];
    let mut table =
        Table::new("Work of an operation among n timers, all kinds of steps together", columns);
    for it in costs {
        for (operation, curve) in [("insert", &it.insert), ("cancel", &it.cancel)] {
            table.row(
                [format!("{}, {operation}", it.wheel), it.slots.to_owned()]
                    .into_iter()
                    .chain(curve.cells()),
            );
        }
    }
    table
}

fn chart(costs: &[Costs]) -> Chart {
    let series = |it: &Costs| Series {
        name: format!("{}, {} slots", it.wheel, it.slots),
        points: it.insert.points(),
    };
    Chart {
        title: "Insertion into a wheel".to_owned(),
        subtitle: "steps of one insertion among n timers".to_owned(),
        x: "timers".to_owned(),
        y: "steps".to_owned(),
        series: costs.iter().map(series).collect(),
    }
}

fn key_table(keyed: &Curve, searched: &Curve) -> Table {
    let columns = ["cancel", "smallest n", "largest n", "growth"];
    let mut table = Table::new(
        "A cancel by key: comparisons of the map and work of round-wheel, or links of a list of n / 16 timers",
        columns,
    );
    for (way, curve) in
        [("through a map to the handle", keyed), ("by a search of the slot", searched)]
    {
        table.row(std::iter::once(way.to_owned()).chain(curve.cells()));
    }
    table
}

/// Delays of the sweep over levels, as powers of two.
const DELAYS: [u32; 10] = [4, 8, 12, 16, 20, 24, 28, 32, 36, 40];

/// What a timer costs whose delay is of one power of two, alone in a wheel: mean slots looked into by its insertion, and mean moves until it fires.
struct Level {
    bits: u32,
    kafka: f64,
    kafka_moves: f64,
    hierarchical: f64,
    hierarchical_moves: f64,
}

fn levels(scale: &Scale) -> Vec<Level> {
    let level = |bits: u32| {
        let [kafka, kafka_moves] = lives(bits, scale, || configured::kafka_wheel(20, 0));
        let [hierarchical, hierarchical_moves] =
            lives(bits, scale, || configured::hierarchical_wheel(256, 0));
        Level { bits, kafka, kafka_moves, hierarchical, hierarchical_moves }
    };
    DELAYS.into_iter().map(level).collect()
}

fn lives<T: Timer<u64>>(bits: u32, scale: &Scale, wheel: impl Fn() -> Probe<T>) -> [f64; 2] {
    let mut work = [0, 0];
    let mut timers = 0_u32;
    for seed in scale.seeds() {
        let mut random = random(seed);
        for _ in 0..100 {
            let mut probe = wheel();
            let delay = random.random_range(1_u64 << bits..2 << bits);
            let (inserting, _) = probe.work(|timer| timer.insert(delay, 0));
            ours::wakeups(&mut probe, |_, _| ());
            work[0] += inserting.of(Work::SlotVisit);
            work[1] += probe.steps().of(Work::CascadeMove);
            timers += 1;
        }
    }
    work.map(|work| work as f64 / f64::from(timers))
}

fn level_table(levels: &[Level]) -> Table {
    let columns = [
        "delay",
        "kafka-wheel: slots looked into",
        "moves to come",
        "hierarchical-wheel: slots looked into",
        "moves to come",
    ];
    let mut table = Table::new(
        "An insertion against its delay: the levels it looks into, and those that it will be moved through",
        columns,
    );
    for it in levels {
        let figures = [it.kafka, it.kafka_moves, it.hierarchical, it.hierarchical_moves]
            .map(|figure| format!("{figure:.2}"));
        table.row(std::iter::once(format!("2^{} to 2^{}", it.bits, it.bits + 1)).chain(figures));
    }
    table
}
