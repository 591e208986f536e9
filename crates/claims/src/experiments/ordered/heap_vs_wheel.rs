//! Heaps, a calendar queue and wheels: what it takes to start, stop and fire timers, each on its own and in mixes.
//!
//! Work that a structure puts off falls to a later operation: a wheel cascades when the hand comes, a heap with lazy deletion throws away all at once. So each figure is the
//! mean over n timers that are all started or all fired, or half of them stopped and the structure tidied up; nothing is left to be paid by another.

use super::hold::{curves, sizes};
use crate::count::{LONGEST, Order, Probe, random};
use crate::experiment::Experiment;
use crate::experiments::bulk::{MOST_OF_A_STOP, start_and_stop};
use crate::growth::{Curve, Growth, all_are};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use wheelhouse_binary_heap::{Definition, LazyDefinition};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "heap-vs-wheel",
    about: "steps to start, stop and fire n timers on three heaps, a calendar queue and three wheels, in four orders; whole lives with 0, 50 and 92 % stopped",
    run,
};

/// A sweep goes to so many timers at most: each of the figures is a run over all of them.
const LARGEST: u64 = 1 << 17;
/// The structures of a sample hold so many timers together, at least.
const ENOUGH: u64 = 1 << 12;
/// Of heaps, more: how a heap grows is asked to a twentieth of a step.
const ENOUGH_OF_HEAPS: u64 = 1 << 14;
/// About so many timers are due in a call, where not all are due at one tick.
const DUE: u64 = 16;
/// Shares of timers that are stopped before they fire, in percent.
const STOPPED: [u64; 3] = [0, 50, 92];
/// The order of the article: many timers in a short time, with the same delay.
const BURST: Order = Order::Equal;
const ORDERS: [Order; 4] = [BURST, Order::Ascending, Order::Random, Order::Descending];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Takes out at once what is stopped.
    Heap,
    LazyHeap,
    Calendar,
    Wheel,
    /// Its cost depends on n by the slots that it has.
    FlatWheel,
}

/// A structure, and how it is counted.
struct Structure {
    name: &'static str,
    kind: Kind,
    apart: fn(order: Order, n: u64, seed: u64, enough: u64) -> [f64; 3],
    life: fn(stopped: u64, n: u64, seed: u64) -> f64,
}

static STRUCTURES: [Structure; 7] = [
    of::<Definition<2>>(Kind::Heap),
    of::<Definition<4>>(Kind::Heap),
    of::<LazyDefinition>(Kind::LazyHeap),
    of::<wheelhouse_calendar_queue::Definition>(Kind::Calendar),
    of::<wheelhouse_hierarchical_wheel::Definition>(Kind::Wheel),
    of::<wheelhouse_kafka_wheel::Definition>(Kind::Wheel),
    of::<wheelhouse_round_wheel::Definition>(Kind::FlatWheel),
];

const fn of<B: Backend + 'static>(kind: Kind) -> Structure {
    Structure { name: B::INFO.name, kind, apart: apart::<B>, life: life::<B> }
}

/// Steps to start, to stop and to fire a timer, in an order of deadlines.
struct Apart {
    name: &'static str,
    kind: Kind,
    order: Order,
    insert: Curve,
    cancel: Curve,
    fire: Curve,
}

/// Steps of a timer from its start to its end, where a share is stopped.
struct Life {
    name: &'static str,
    kind: Kind,
    stopped: u64,
    steps: Curve,
}

fn run(scale: &Scale) -> Evidence {
    let sizes: Vec<u64> =
        sizes(scale).into_iter().filter(|n| *n <= LARGEST.min(2 * scale.largest())).collect();
    let in_orders = ORDERS.iter().flat_map(|&order| {
        let sizes = &sizes;
        STRUCTURES.iter().map(move |&Structure { name, kind, apart, .. }| {
            let [insert, cancel, fire] =
                curves(sizes, scale.seeds(), |n, seed| apart(order, n, seed, enough(kind)));
            Apart { name, kind, order, insert, cancel, fire }
        })
    });
    let apart: Vec<Apart> = in_orders.collect();
    let in_mixes = STOPPED.iter().flat_map(|&stopped| {
        let sizes = &sizes;
        STRUCTURES.iter().map(move |&Structure { name, kind, life, .. }| {
            let [steps] = curves(sizes, scale.seeds(), |n, seed| [life(stopped, n, seed)]);
            Life { name, kind, stopped, steps }
        })
    });
    let lives: Vec<Life> = in_mixes.collect();
    let findings = vec![burst(&apart), mixes(&lives)];
    Evidence {
        findings,
        tables: vec![table_of_operations(&apart), table_of_lives(&lives)],
        charts: vec![chart(&lives)],
    }
}

/// C32: a heap starts and stops in logarithmic work, a wheel in constant, and so the wheel is much better for a burst.
fn burst(apart: &[Apart]) -> Finding {
    let of = |order: Order, kind: Kind| {
        apart.iter().filter(move |it| it.order == order && it.kind == kind)
    };
    let mut parts = Vec::new();
    for order in ORDERS {
        let is_logarithmic = |curve: fn(&Apart) -> &Curve| {
            all_are(Growth::Logarithmic, of(order, Kind::Heap).map(|it| curve(it).growth()))
        };
        let name = order.name();
        parts.push(Part::maybe(
            format!("starting is logarithmic in a heap, deadlines {name}"),
            is_logarithmic(|it| &it.insert),
        ));
        parts.push(Part::maybe(
            format!("stopping is logarithmic in a heap, deadlines {name}"),
            is_logarithmic(|it| &it.cancel),
        ));
    }
    let wheels = apart.iter().filter(|it| it.kind == Kind::Wheel);
    let dearest = wheels
        .flat_map(|it| [&it.insert, &it.cancel])
        .map(Curve::greatest_mean)
        .fold(0.0, f64::max);
    let statement = format!(
        "a wheel of levels starts and stops in {MOST_OF_A_STOP} steps or fewer on average, whatever the order and n"
    );
    parts.push(Part::new(statement, dearest <= MOST_OF_A_STOP));
    let both = |kind: Kind| {
        of(BURST, kind)
            .map(|it| it.insert.ends().1 + it.cancel.ends().1)
            .fold(f64::INFINITY, f64::min)
    };
    let (heap, wheel) = (both(Kind::Heap), both(Kind::Wheel));
    parts.push(Part::new(
        "to start and stop the timers of a burst takes a heap more than twice the steps of a wheel",
        heap > 2.0 * wheel,
    ));
    let fire = |kind: Kind| {
        of(Order::Random, kind).map(|it| it.fire.ends().1).fold(f64::INFINITY, f64::min)
    };
    let (heap_fires, wheel_fires) = (fire(Kind::Heap), fire(Kind::Wheel));
    parts.push(Part::new(
        "to fire a timer at random takes a heap more than twice the steps of a wheel",
        heap_fires > 2.0 * wheel_fires,
    ));
    let figure = format!(
        "start and stop in a burst: {heap:.1} steps in a heap, {wheel:.1} in a wheel; to fire at random: {heap_fires:.1} and {wheel_fires:.1}; a wheel starts or stops in {dearest:.1} at most"
    );
    Finding::new("C32", figure, parts)
}

/// C43: with many tasks a wheel is better than a priority queue.
fn mixes(lives: &[Life]) -> Finding {
    let (mut parts, mut figures) = (Vec::new(), Vec::new());
    for stopped in STOPPED {
        let of_mix = || lives.iter().filter(move |it| it.stopped == stopped);
        let heap = least(of_mix().filter(|it| matches!(it.kind, Kind::Heap | Kind::LazyHeap)));
        for wheel in of_mix().filter(|it| matches!(it.kind, Kind::Wheel | Kind::FlatWheel)) {
            let fewer =
                wheel.steps.points().iter().zip(&heap).all(|((_, wheel), heap)| wheel < heap);
            parts.push(Part::new(
                format!(
                    "{stopped} % stopped: {} takes fewer steps than any heap, at every n",
                    wheel.name
                ),
                fewer,
            ));
        }
        let at_most: Vec<_> =
            of_mix().map(|it| format!("{} {:.1}", it.name, it.steps.ends().1)).collect();
        figures.push(format!("{stopped} % stopped: {}", at_most.join(", ")));
    }
    let grows = |kind: Kind| {
        let all_fire = lives
            .iter()
            .filter(move |it| it.stopped == 0 && it.kind == kind)
            .map(|it| it.steps.growth());
        all_are(Growth::Constant, all_fire).map(|constant| !constant)
    };
    parts.push(Part::maybe("a heap takes the more, the more timers there are", grows(Kind::Heap)));
    parts.push(Part::maybe(
        "so does a calendar queue, which is a priority queue, too",
        grows(Kind::Calendar),
    ));
    Finding::new(
        "C43",
        format!("steps of a timer's life at the largest n; {}", figures.join("; ")),
        parts,
    )
}

/// The steps of the one that takes fewest, at each size.
fn least<'a>(lives: impl Iterator<Item = &'a Life>) -> Vec<f64> {
    let each: Vec<Vec<(f64, f64)>> = lives.map(|it| it.steps.points()).collect();
    let sizes = each.first().map_or(0, Vec::len);
    (0..sizes)
        .map(|at| each.iter().map(|points| points[at].1).fold(f64::INFINITY, f64::min))
        .collect()
}

fn enough(kind: Kind) -> u64 {
    if kind == Kind::Heap { ENOUGH_OF_HEAPS } else { ENOUGH }
}

/// The mean of several structures where n is small.
fn mean<const K: usize>(
    n: u64,
    seed: u64,
    enough: u64,
    sample: impl Fn(u64) -> [f64; K],
) -> [f64; K] {
    let copies = (enough / n).max(1);
    let mut sums = [0.0; K];
    for copy in 0..copies {
        let of_one = sample(seed << 32 | copy);
        sums.iter_mut().zip(of_one).for_each(|(sum, of_one)| *sum += of_one);
    }
    sums.map(|sum| sum / copies as f64)
}

fn apart<B: Backend + 'static>(order: Order, n: u64, seed: u64, enough: u64) -> [f64; 3] {
    mean(n, seed, enough, |seed| {
        let [insert, cancel] = start_and_stop(Probe::of::<B>(), order, n, seed);
        let mut probe = Probe::of::<B>();
        probe.fill(order.delays(n, seed));
        let before = probe.steps();
        fire(&mut probe, call_every(order, n), last(order, n));
        let fire = probe.steps().since(&before);
        [insert, cancel, fire.total() as f64 / n as f64]
    })
}

fn life<B: Backend + 'static>(stopped: u64, n: u64, seed: u64) -> f64 {
    let [steps] = mean(n, seed, ENOUGH, |seed| {
        let mut probe = Probe::of::<B>();
        let mut random = random(seed);
        for id in probe.fill(Order::Random.delays(n, seed)) {
            if random.random_range(0..100) < stopped {
                probe.timer.cancel(id);
            }
        }
        fire(&mut probe, call_every(Order::Random, n), LONGEST);
        [probe.steps().total() as f64 / n as f64]
    });
    steps
}

/// Ticks between two calls, so that about [`DUE`] timers are due in each.
fn call_every(order: Order, n: u64) -> Tick {
    match order {
        Order::Ascending | Order::Descending => DUE,
        Order::Random => LONGEST * DUE / n,
        Order::Equal | Order::SameSlot(_) => LONGEST,
    }
}

/// No deadline is later.
fn last(order: Order, n: u64) -> Tick {
    match order {
        Order::Ascending | Order::Descending => n,
        Order::Random | Order::Equal | Order::SameSlot(_) => LONGEST,
    }
}

/// Advances in even steps to the last deadline, at which all have fired.
fn fire<T: Timer<u64>>(probe: &mut Probe<T>, every: Tick, last: Tick) {
    for call in 1..=last.div_ceil(every) {
        probe.timer.advance(call * every, |_| ());
    }
    assert!(probe.timer.is_empty(), "every timer fires at its deadline");
}

fn table_of_operations(apart: &[Apart]) -> Table {
    let columns =
        ["structure", "deadlines", "operation", "smallest n", "largest n", "greatest", "growth"];
    let mut table =
        Table::new("Steps to start, stop and fire a timer, each the mean of n", columns);
    for it in apart {
        for (operation, curve) in
            [("insert", &it.insert), ("cancel", &it.cancel), ("fire", &it.fire)]
        {
            let (first, last) = curve.ends();
            let figures = [first, last, curve.greatest_mean()].map(|steps| format!("{steps:.2}"));
            let cells = [it.name.to_owned(), it.order.name(), operation.to_owned()]
                .into_iter()
                .chain(figures);
            table.row(cells.chain([curve.growth().to_string()]));
        }
    }
    table
}

fn table_of_lives(lives: &[Life]) -> Table {
    let columns = ["structure", "stopped", "smallest n", "largest n", "growth"];
    let mut table =
        Table::new("Steps of a timer from its start to its end, deadlines at random", columns);
    for Life { name, stopped, steps, .. } in lives {
        table.row([(*name).to_owned(), format!("{stopped} %")].into_iter().chain(steps.cells()));
    }
    table
}

fn chart(lives: &[Life]) -> Chart {
    let series = lives
        .iter()
        .filter(|it| it.stopped == 0)
        .map(|it| Series { name: it.name.to_owned(), points: it.steps.points() });
    Chart {
        title: "A timer's life, to its firing".to_owned(),
        subtitle:
            "steps to start and fire one of n timers, deadlines at random, a call for every 16"
                .to_owned(),
        x: "timers".to_owned(),
        y: "steps".to_owned(),
        series: series.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascending_deadlines_stay_where_they_are_appended() {
        let [insert, ..] = apart::<Definition<2>>(Order::Ascending, 1 << 12, 1, 1);
        // One comparison and one placement each; the first has no parent.
        assert!((insert - 2.0).abs() < 0.01, "{insert}");
    }

    /// W8: all timers of a burst fire in one call, and nothing is left.
    #[test]
    fn a_burst_fires_in_one_call() {
        let mut probe = Probe::of::<wheelhouse_hierarchical_wheel::Definition>();
        probe.fill(BURST.delays(5_000, 1));
        fire(&mut probe, call_every(BURST, 5_000), last(BURST, 5_000));
        assert_eq!((probe.timer.now(), call_every(BURST, 5_000)), (LONGEST, LONGEST));
    }

    #[test]
    fn a_life_is_counted_from_start_to_end() {
        let [fired, stopped] = [0, 100].map(|stopped| life::<Definition<2>>(stopped, 1 << 12, 1));
        assert!(fired > 20.0 && stopped < 12.0, "{fired} {stopped}");
    }
}
