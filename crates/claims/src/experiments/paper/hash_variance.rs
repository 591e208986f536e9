//! What a bad hash does to scheme 6: nothing to the mean, everything to the rest.
//!
//! The slot of a timer is its deadline modulo the number of slots. Where deadlines are all `c mod M` they share one slot, and M - 1 of M ticks have nothing to do.
//! The hand still comes to each timer once a revolution: so the mean work of a tick stays what it was, and the tick of that slot looks at all of them.

use super::rounds::Rounds;
use super::tools::{exponential, hold};
use crate::count::{Tally, random};
use crate::experiment::Experiment;
use crate::experiments::configured::round_wheel;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::Tick;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "vl-hash-variance",
    about: "round-wheel and a model of scheme 6, 64 slots, 4,096 timers held, in 64, 16, 4 and 1 of the slots: mean, deviation and maximum of the work of a tick",
    run,
};

const SLOTS: u64 = 64;
const TIMERS: u64 = 4_096;

/// Revolutions that are counted.
const REVOLUTIONS: u64 = 64;

/// Over how many slots deadlines spread: all of them, as random ones do, down to one.
const USED: [u64; 4] = [64, 16, 4, 1];

/// One in so many timers of a slot is due at a visit: so nearly every slot has one that is, and ours, too, looks at it.
const ROUNDS: f64 = 4.0;

/// How far means may be apart to be the same.
const TOLERANCE: f64 = 0.05;

/// Work of ticks.
#[derive(Clone, Debug)]
struct Work {
    tally: Tally,
    mean: f64,
    deviation: f64,
}

impl Work {
    fn of(ticks: &[u64]) -> Self {
        let tally: Tally = ticks.iter().copied().collect();
        let mean = tally.mean();
        let variance = ticks.iter().map(|steps| (*steps as f64 - mean).powi(2)).sum::<f64>()
            / ticks.len() as f64;
        Self { tally, mean, deviation: variance.sqrt() }
    }
}

/// An interval of whole revolutions, so that a timer that starts again stays in its slot: geometric, its mean [`ROUNDS`]. What is left of such an interval at
/// the end of a revolution is distributed as the whole.
fn revolutions(random: &mut Pcg64Mcg) -> Tick {
    let scale = -(1.0 - 1.0 / ROUNDS).ln();
    (1 + (exponential(random) / scale) as Tick) * SLOTS
}

/// The first deadline of a timer, in one of the slots that are used.
fn first(used: u64, random: &mut Pcg64Mcg) -> Tick {
    let slot = 1 + random.random_range(0..used) * (SLOTS / used);
    slot + revolutions(random) - SLOTS
}

/// Steps of each tick of ours.
fn ours(used: u64, seed: u64) -> Vec<u64> {
    let (mut probe, mut random) = (round_wheel(SLOTS as usize), random(seed));
    probe.fill((0..TIMERS).map(|_| first(used, &mut random)));
    hold(&mut probe, 1..=REVOLUTIONS * SLOTS, || revolutions(&mut random)).ticks
}

/// Timers that the model looks at in each tick.
fn model(used: u64, seed: u64) -> Vec<u64> {
    let (mut model, mut random) = (Rounds::new(SLOTS), random(seed));
    (0..TIMERS).for_each(|_| model.start(first(used, &mut random)));
    let visits = model.hold(REVOLUTIONS * SLOTS, || revolutions(&mut random));
    visits.iter().map(|visit| visit.decremented + visit.expired).collect()
}

/// The work of both where so many slots are used.
struct Spread {
    used: u64,
    ours: Work,
    model: Work,
}

fn run(scale: &Scale) -> Evidence {
    let all = |of_seed: fn(u64, u64) -> Vec<u64>, used| {
        scale.seeds().flat_map(|seed| of_seed(used, seed)).collect::<Vec<_>>()
    };
    let spreads = USED.map(|used| Spread {
        used,
        ours: Work::of(&all(ours, used)),
        model: Work::of(&all(model, used)),
    });
    Evidence {
        findings: vec![finding(&spreads)],
        tables: vec![table(&spreads)],
        charts: vec![chart(&spreads)],
    }
}

fn finding(spreads: &[Spread; 4]) -> Finding {
    let [random, .., single] = spreads;
    let same = |work: fn(&Spread) -> &Work| {
        let means = spreads.iter().map(|spread| work(spread).mean);
        means.clone().fold(0.0, f64::max) < (1.0 + TOLERANCE) * means.fold(f64::INFINITY, f64::min)
    };
    let deviations = spreads.iter().map(|spread| spread.ours.deviation).collect::<Vec<_>>();
    let figure = format!(
        "mean {:.0} steps a tick with deadlines at random, {:.0} in one slot; deviation {:.0} and {:.0}; maximum {} and {}",
        random.ours.mean,
        single.ours.mean,
        random.ours.deviation,
        single.ours.deviation,
        random.ours.tally.max(),
        single.ours.tally.max()
    );
    let parts = [
        Part::new(
            "in the model the mean of a tick is the same whatever slots are used",
            same(|spread| &spread.model),
        ),
        Part::new("in ours, too", same(|spread| &spread.ours)),
        Part::new(
            "its deviation grows as the slots get fewer",
            deviations.windows(2).all(|pair| pair[0] < pair[1]),
        ),
        Part::new("with one slot a tick looks at all timers", single.ours.tally.max() >= TIMERS),
    ];
    Finding::new("V12", figure, parts)
}

fn table(spreads: &[Spread; 4]) -> Table {
    let columns = ["slots used, of 64", "whose", "mean of a tick", "deviation", "p99", "maximum"];
    let mut table = Table::new(
        "Work of a tick of a wheel with rounds, by the slots that deadlines use",
        columns,
    );
    for Spread { used, ours, model } in spreads {
        for (whose, work) in [("ours, steps", ours), ("scheme 6 (model), timers looked at", model)]
        {
            table.row([
                used.to_string(),
                whose.to_owned(),
                format!("{:.1}", work.mean),
                format!("{:.1}", work.deviation),
                work.tally.quantile(0.99).to_string(),
                work.tally.max().to_string(),
            ]);
        }
    }
    table
}

fn chart(spreads: &[Spread; 4]) -> Chart {
    let series = |name: &str, figure: fn(&Work) -> f64| Series {
        name: name.to_owned(),
        points: spreads.iter().map(|spread| (spread.used as f64, figure(&spread.ours))).collect(),
    };
    Chart {
        title: "A hash that uses few slots".to_owned(),
        subtitle: "round-wheel of 64 slots and 4,096 timers: steps of a tick".to_owned(),
        x: "slots used".to_owned(),
        y: "steps".to_owned(),
        series: vec![
            series("mean", |work| work.mean),
            series("standard deviation", |work| work.deviation),
            series("maximum", |work| work.tally.max() as f64),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_looks_at_each_timer_once_a_revolution() {
        for used in USED {
            let looked_at: u64 = model(used, 1).iter().sum();
            assert_eq!(looked_at, TIMERS * REVOLUTIONS, "{used}");
        }
    }
}
