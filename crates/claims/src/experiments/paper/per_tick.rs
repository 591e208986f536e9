//! What a tick of scheme 6 costs: a constant for the slot, and a share of the timers.
//!
//! Varghese and Lauck count instructions of their implementation on a VAX: 4 for an empty slot, 6
//! to decrement a timer and go on to the next, 9 to expire one. Even if every timer expires within
//! one scan of the table, the mean of a tick is then 4 + 15 n/M. The model of their scheme does
//! what they describe and counts these instructions; ours counts steps, so that the constants
//! differ and only the law can be compared.

use super::rounds::{Rounds, Visit};
use super::tools::{exponential, hold, line};
use crate::count::random;
use crate::experiment::Experiment;
use crate::experiments::configured::round_wheel;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::Tick;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "vl-per-tick",
    about: "round-wheel and a model of scheme 6, 256 slots, n = 2^10 to 2^14 held: steps of a tick against n/M, where timers expire within one scan and within sixteen",
    run,
};

/// Slots of the table.
const SLOTS: u64 = 256;

/// Sizes at which a slot of the table holds some timers, at the largest 64.
const SIZES: [u64; 5] = [1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14];

/// The paper's own: no timer, 64, as many as slots, 200 connections of 3 timers, 1,024.
const PRINTED: [u64; 5] = [0, 64, 256, 600, 1_024];

/// Timers in a slot where the table grows with n: so few that the smallest has several blocks of
/// slots, as the others have.
const PER_SLOT: u64 = 4;

/// Revolutions that are counted.
const REVOLUTIONS: u64 = 8;

/// How long timers run, in scans of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interval {
    /// One, each: every visit of a timer is its expiry.
    One,
    /// Sixteen on average, exponential.
    Sixteen,
}

impl Interval {
    const ALL: [Self; 2] = [Self::One, Self::Sixteen];

    const fn name(self) -> &'static str {
        match self {
            Self::One => "one scan",
            Self::Sixteen => "sixteen scans",
        }
    }

    /// What a timer that has been running for a while has left.
    fn left(self, slots: u64, random: &mut Pcg64Mcg) -> Tick {
        match self {
            Self::One => random.random_range(1..=slots),
            Self::Sixteen => self.whole(slots, random),
        }
    }

    /// What a timer that starts has ahead. What is left of exponential intervals is distributed as
    /// they are.
    fn whole(self, slots: u64, random: &mut Pcg64Mcg) -> Tick {
        match self {
            Self::One => slots,
            Self::Sixteen => 1 + (exponential(random) * (16 * slots) as f64) as Tick,
        }
    }
}

/// Steps of a tick of ours, on average.
fn ours(interval: Interval, n: u64, slots: u64, seed: u64) -> f64 {
    let (mut probe, mut random) = (round_wheel(slots as usize), random(seed));
    probe.fill((0..n).map(|_| interval.left(slots, &mut random)));
    hold(&mut probe, 1..=REVOLUTIONS * slots, || interval.whole(slots, &mut random)).per_tick()
}

/// Instructions of a tick of the model, on average.
fn model(interval: Interval, n: u64, slots: u64, seed: u64) -> f64 {
    let (mut model, mut random) = (Rounds::new(slots), random(seed));
    (0..n).for_each(|_| model.start(interval.left(slots, &mut random)));
    let visits = model.hold(REVOLUTIONS * slots, || interval.whole(slots, &mut random));
    visits.iter().map(Visit::instructions).sum::<u64>() as f64 / visits.len() as f64
}

/// The paper's formula.
fn formula(per_slot: f64) -> f64 {
    4.0 + 15.0 * per_slot
}

type Cost = fn(Interval, u64, u64, u64) -> f64;

/// A cost against n with [`SLOTS`] slots.
fn sweep(scale: &Scale, sizes: &[u64], interval: Interval, cost: Cost) -> Curve {
    Curve::sweep(sizes, scale.seeds(), |n, seed| cost(interval, n, SLOTS, seed))
}

/// The costs of both at one length of the intervals.
struct Costs {
    interval: Interval,
    ours: Curve,
    model: Curve,
}

fn run(scale: &Scale) -> Evidence {
    let sizes: Vec<u64> =
        PRINTED.into_iter().chain(SIZES.into_iter().filter(|n| !PRINTED.contains(n))).collect();
    let costs = Interval::ALL.map(|interval| Costs {
        interval,
        ours: sweep(scale, &sizes, interval, ours),
        model: sweep(scale, &sizes, interval, model),
    });
    let one = sweep(scale, &SIZES, Interval::One, ours);
    // As many timers in a slot at every n.
    let grown =
        Curve::sweep(&SIZES, scale.seeds(), |n, seed| ours(Interval::One, n, n / PER_SLOT, seed));
    Evidence {
        findings: vec![finding(&costs[0], &one, &grown)],
        tables: vec![table(&costs, &grown)],
        charts: vec![chart(&costs)],
    }
}

/// (n/M, cost), those without timers left out.
fn per_slot(curve: &Curve) -> Vec<(f64, f64)> {
    let points = curve.points().into_iter().map(|(n, cost)| (n / SLOTS as f64, cost));
    points.filter(|(per_slot, _)| *per_slot > 0.0).collect()
}

fn finding(costs: &Costs, one: &Curve, grown: &Curve) -> Finding {
    let at_none =
        costs.ours.points().iter().find(|(n, _)| *n == 0.0).map_or(0.0, |(_, steps)| *steps);
    let off = |(per_slot, cost): &(f64, f64)| (cost / formula(*per_slot) - 1.0).abs();
    let furthest = per_slot(&costs.model).iter().map(off).fold(0.0, f64::max);
    let (at_zero, slope) = line(&per_slot(one));
    let (model_at_zero, model_slope) = line(&per_slot(&costs.model));
    let figure = format!(
        "ours {at_zero:.1} + {slope:.2} n/M steps, {at_none:.0} without timers; the model {model_at_zero:.1} + {model_slope:.1} n/M instructions"
    );
    let parts = [
        Part::new("the model's tick costs 4 + 15 n/M instructions, within 1 %", furthest < 0.01),
        Part::maybe("a tick of ours is linear in n at 256 slots", one.growth().is(Growth::Linear)),
        Part::maybe("it is the same at every n if n/M is", grown.growth().is(Growth::Constant)),
        Part::new("it costs something without a timer", at_none > 0.0),
    ];
    Finding::new("V9", figure, parts)
}

fn table(costs: &[Costs; 2], grown: &Curve) -> Table {
    let columns = [
        "timers expire within",
        "n",
        "slots",
        "n/M",
        "ours, steps",
        "model, instructions",
        "4 + 15 n/M",
    ];
    let mut table = Table::new("Work of a tick of a wheel with rounds", columns);
    for Costs { interval, ours, model } in costs {
        for ((n, steps), (_, instructions)) in ours.points().into_iter().zip(model.points()) {
            let per_slot = n / SLOTS as f64;
            table.row([
                interval.name().to_owned(),
                n.to_string(),
                SLOTS.to_string(),
                format!("{per_slot:.2}"),
                format!("{steps:.2}"),
                format!("{instructions:.2}"),
                format!("{:.2}", formula(per_slot)),
            ]);
        }
    }
    for (n, steps) in grown.points() {
        let (slots, per_slot) = (n / PER_SLOT as f64, PER_SLOT as f64);
        let cells = [
            Interval::One.name().to_owned(),
            n.to_string(),
            slots.to_string(),
            format!("{per_slot:.2}"),
        ];
        table.row(cells.into_iter().chain([
            format!("{steps:.2}"),
            String::new(),
            format!("{:.2}", formula(per_slot)),
        ]));
    }
    table
}

fn chart(costs: &[Costs; 2]) -> Chart {
    let series = |Costs { interval, ours, model }: &Costs| {
        let name = |whose: &str| format!("{whose}, expiry within {}", interval.name());
        [
            Series { name: name("round-wheel, steps"), points: per_slot(ours) },
            Series { name: name("scheme 6 (model), instructions"), points: per_slot(model) },
        ]
    };
    let printed =
        per_slot(&costs[0].ours).into_iter().map(|(per_slot, _)| (per_slot, formula(per_slot)));
    let printed = Series { name: "4 + 15 n/M".to_owned(), points: printed.collect() };
    Chart {
        title: "A tick of a wheel with rounds".to_owned(),
        subtitle:
            "mean work of a tick at 256 slots; ours in steps, the model in the paper's instructions"
                .to_owned(),
        x: "timers a slot, n/M".to_owned(),
        y: "work".to_owned(),
        series: costs.iter().flat_map(series).chain([printed]).collect(),
    }
}
