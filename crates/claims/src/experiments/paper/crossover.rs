//! Rounds against levels: from which delay on is it worth while to move timers instead of passing them?
//!
//! Varghese and Lauck: with rounds a timer of delay T is passed T/M times, c6 each. With levels it is moved from level to level, c7 each, at most m times. So
//! rounds cost c6 T/M, levels at most c7 m, and these are equal at T* = m M c7 / c6.
//!
//! Both populations are held at a density of four timers a tick, delays exponential. What starting and firing a timer costs anyhow is taken from a run in which
//! all delays are one tick, and subtracted: what is left is the work that the delay makes.

use super::tools::{Held, exponential, hold, line};
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::experiments::configured::{hierarchical_wheel, round_wheel};
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "vl-crossover",
    about: "round-wheel against hierarchical-wheel, four timers a tick held: work per timer against the mean delay T, the measured c6 and c7, and where the curves cross; M = 256 with 3 levels of 64, M = 4,096 with 4 levels of 1,024",
    run,
};

/// Timers that are due in a tick, on average.
const DENSITY: u64 = 4;

/// Revolutions that are counted, at the least: so many that slots have as many holes as they have in the long run.
const REVOLUTIONS: u64 = 16;

/// Revolutions from which on c6 is read off.
const FROM: u64 = 4;

/// Revolutions from which on the law of rounds is looked for, at the smaller table. Slots of fewer timers are mostly the room that is left to holes.
const LAW_FROM: u64 = 16;

/// How far the crossing may be from where it is predicted, as a factor.
const FACTOR: f64 = 2.0;

/// A wheel with rounds, and levels that take no more slots.
#[derive(Clone, Copy, Debug)]
struct Pair {
    slots: u64,
    levels: u64,
    per_level: u64,
    /// Mean delays, as powers of two.
    delays: (u32, u32),
}

const PAIRS: [Pair; 2] = [
    Pair { slots: 256, levels: 3, per_level: 64, delays: (6, 15) },
    Pair { slots: 4_096, levels: 4, per_level: 1_024, delays: (10, 16) },
];

/// Work per timer, over that of delays of one tick.
struct Extra {
    delay: u64,
    rounds: f64,
    levels: f64,
    /// Times a timer was moved to a lower level.
    moves: f64,
}

/// What was measured of a pair.
struct Measured {
    pair: Pair,
    /// Work per timer with rounds against the delay.
    rounds: Curve,
    extras: Vec<Extra>,
    c6: f64,
    c7: f64,
}

impl Measured {
    /// The bound on the work with levels.
    fn most(&self) -> f64 {
        self.c7 * self.pair.levels as f64
    }

    /// The delay at which a wheel with rounds makes as much work as levels through which a timer is moved so many times.
    fn predicted(&self, moves: f64) -> f64 {
        moves * self.pair.slots as f64 * self.c7 / self.c6
    }

    /// The paper's T*.
    fn printed(&self) -> f64 {
        self.predicted(self.pair.levels as f64)
    }

    /// The delay from which on rounds make more work, and how often a timer is moved there.
    fn crossing(&self) -> Option<(f64, f64)> {
        let ahead = |extra: &Extra| extra.levels - extra.rounds;
        let mut pairs = self.extras.windows(2).rev().map(|pair| (&pair[0], &pair[1]));
        let (before, after) =
            pairs.find(|(before, after)| ahead(before) > 0.0 && ahead(after) <= 0.0)?;
        let share = ahead(before) / (ahead(before) - ahead(after));
        let delay = before.delay as f64 * (after.delay as f64 / before.delay as f64).powf(share);
        Some((delay, before.moves + share * (after.moves - before.moves)))
    }
}

fn run(scale: &Scale) -> Evidence {
    // The larger pair needs 2^18 timers.
    let [small, large] = &PAIRS;
    let fits = DENSITY << large.delays.1 <= scale.largest();
    let pairs = [Some(small), fits.then_some(large)].into_iter().flatten();
    let measured: Vec<_> = pairs.map(|pair| measure(pair, scale)).collect();
    Evidence {
        findings: vec![finding(&measured)],
        tables: vec![constants(&measured), costs(&measured)],
        charts: measured.iter().map(chart).collect(),
    }
}

/// A population of exponential delays of a mean, or of delays of one tick.
fn held<T: Timer<u64>>(probe: &mut Probe<T>, pair: &Pair, delay: u64, seed: u64) -> Held {
    let mut random = random(seed ^ delay << 32);
    let draw = |random: &mut Pcg64Mcg| {
        if delay == 1 { 1 } else { 1 + (exponential(random) * delay as f64) as Tick }
    };
    // What is left of an exponential delay is distributed as the whole: the population starts in its steady state.
    probe.fill((0..DENSITY * delay).map(|_| draw(&mut random)));
    hold(probe, 1..=delay.max(REVOLUTIONS * pair.slots), || draw(&mut random))
}

fn with_rounds(pair: &Pair, delay: u64, seed: u64) -> f64 {
    held(&mut round_wheel(pair.slots as usize), pair, delay, seed).per_timer()
}

/// Work per timer, and how often it is moved.
fn with_levels(pair: &Pair, delay: u64, seed: u64) -> (f64, f64) {
    let held = held(&mut hierarchical_wheel(pair.per_level as usize, 0), pair, delay, seed);
    (held.per_timer(), held.work.of(Work::CascadeMove) as f64 / held.fired as f64)
}

/// A curve from a delay on.
fn from(curve: &Curve, delay: u64) -> Curve {
    Curve(curve.0.iter().filter(|sample| sample.n >= delay).cloned().collect())
}

fn measure(pair: &Pair, scale: &Scale) -> Measured {
    let delays: Vec<u64> = (pair.delays.0..=pair.delays.1).map(|bits| 1 << bits).collect();
    let mean =
        |cost: &dyn Fn(u64) -> f64| scale.seeds().map(cost).sum::<f64>() / scale.seeds as f64;
    let (rounds_anyhow, levels_anyhow) =
        (mean(&|seed| with_rounds(pair, 1, seed)), mean(&|seed| with_levels(pair, 1, seed).0));
    let rounds = Curve::sweep(&delays, scale.seeds(), |delay, seed| with_rounds(pair, delay, seed));
    let extra = |(delay, cost): (f64, f64)| {
        let of_seeds: Vec<_> =
            scale.seeds().map(|seed| with_levels(pair, delay as u64, seed)).collect();
        let mean = |figure: fn(&(f64, f64)) -> f64| {
            of_seeds.iter().map(figure).sum::<f64>() / of_seeds.len() as f64
        };
        Extra {
            delay: delay as u64,
            rounds: cost - rounds_anyhow,
            levels: mean(|it| it.0) - levels_anyhow,
            moves: mean(|it| it.1),
        }
    };
    let extras: Vec<_> = rounds.points().into_iter().map(extra).collect();
    let per_round = |(delay, cost): (f64, f64)| (delay / pair.slots as f64, cost);
    let per_round: Vec<_> =
        from(&rounds, FROM * pair.slots).points().into_iter().map(per_round).collect();
    let sum = |figure: fn(&Extra) -> f64| extras.iter().map(figure).sum::<f64>();
    let (c6, c7) = (line(&per_round).1, sum(|extra| extra.levels) / sum(|extra| extra.moves));
    Measured { pair: *pair, rounds, extras, c6, c7 }
}

fn finding(measured: &[Measured]) -> Finding {
    let law = measured.first().map(|it| from(&it.rounds, LAW_FROM * it.pair.slots).growth());
    let linear = law.and_then(|growth| growth.is(Growth::Linear));
    let bounded = measured.iter().all(|it| it.extras.iter().all(|extra| extra.levels <= it.most()));
    let cross = measured.iter().all(|it| {
        let (first, last) = (it.extras.first(), it.extras.last());
        first.is_some_and(|extra| extra.rounds < extra.levels)
            && last.is_some_and(|extra| extra.rounds > extra.levels)
    });
    let near = |it: &Measured| {
        let off = it.crossing().map(|(delay, _)| delay / it.printed());
        off.is_some_and(|off| off < FACTOR && off > 1.0 / FACTOR)
    };
    let told = |it: &Measured| {
        let (delay, moves) = it.crossing().unwrap_or((f64::NAN, f64::NAN));
        let Pair { slots, levels, .. } = it.pair;
        let (all, made) = (it.printed(), it.predicted(moves));
        format!(
            "M = {slots}, m = {levels}: {delay:.0} ticks, where T* is {all:.0}, and {made:.0} with the {moves:.1} moves made"
        )
    };
    let parts = [
        Part::maybe(
            "with rounds the work per timer is linear in T, from sixteen revolutions on at M = 256",
            linear,
        ),
        Part::new("with levels it is at most c7 m", bounded),
        Part::new("rounds make less work at the shortest T, and more at the longest", cross),
        Part::new(
            "the crossing is within a factor of two of T* = m M c7 / c6",
            measured.iter().all(near),
        ),
    ];
    Finding::new(
        "V10",
        format!("crossing at {}", measured.iter().map(told).collect::<Vec<_>>().join("; ")),
        parts,
    )
}

fn constants(measured: &[Measured]) -> Table {
    let columns = [
        "M",
        "levels",
        "c6, steps a round",
        "c7, steps a move",
        "T* = m M c7 / c6",
        "with the moves made",
        "measured",
    ];
    let mut table = Table::new(
        "Where levels begin to make less work than rounds: the mean delay in ticks",
        columns,
    );
    for it in measured {
        let (delay, moves) = it.crossing().unwrap_or((f64::NAN, f64::NAN));
        table.row([
            it.pair.slots.to_string(),
            format!("{} of {}", it.pair.levels, it.pair.per_level),
            format!("{:.2}", it.c6),
            format!("{:.2}", it.c7),
            format!("{:.0}", it.printed()),
            format!("{:.0}", it.predicted(moves)),
            format!("{delay:.0}"),
        ]);
    }
    table
}

fn costs(measured: &[Measured]) -> Table {
    let columns = ["M", "mean delay T", "T/M", "rounds, steps", "levels, steps", "levels, moves"];
    let mut table = Table::new(
        "Work per timer that its delay makes, over that of a delay of one tick",
        columns,
    );
    for it in measured {
        for Extra { delay, rounds, levels, moves } in &it.extras {
            table.row([
                it.pair.slots.to_string(),
                delay.to_string(),
                format!("{:.3}", *delay as f64 / it.pair.slots as f64),
                format!("{rounds:.2}"),
                format!("{levels:.2}"),
                format!("{moves:.2}"),
            ]);
        }
    }
    table
}

fn chart(measured: &Measured) -> Chart {
    let points = |work: &dyn Fn(&Extra) -> f64| -> Vec<(f64, f64)> {
        let points = measured.extras.iter().map(|extra| (extra.delay as f64, work(extra)));
        points.filter(|(_, steps)| *steps > 0.0).collect()
    };
    let Pair { slots, levels, per_level, .. } = measured.pair;
    let [rounds, per_round] = [
        points(&|extra| extra.rounds),
        points(&|extra| measured.c6 * extra.delay as f64 / slots as f64),
    ];
    Chart {
        title: format!("Rounds against levels: {slots} slots, {levels} levels of {per_level}"),
        subtitle: "steps per timer that its delay makes, over those of a delay of one tick"
            .to_owned(),
        x: "mean delay, ticks".to_owned(),
        y: "steps".to_owned(),
        series: vec![
            Series { name: "round-wheel".to_owned(), points: rounds },
            Series { name: "c6 T/M".to_owned(), points: per_round },
            Series { name: "hierarchical-wheel".to_owned(), points: points(&|extra| extra.levels) },
            Series { name: "c7 m".to_owned(), points: points(&|_| measured.most()) },
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work by the paper's laws: a step for each round, a step for each of m moves.
    fn by_the_laws(pair: &Pair) -> Measured {
        let extra = |bits: u32| Extra {
            delay: 1 << bits,
            rounds: f64::from(1 << bits) / pair.slots as f64,
            levels: pair.levels as f64,
            moves: pair.levels as f64,
        };
        Measured {
            pair: *pair,
            rounds: Curve(Vec::new()),
            extras: (4..=20).map(extra).collect(),
            c6: 1.0,
            c7: 1.0,
        }
    }

    /// The figures of the literature for equal constants: 768 ticks and 16,384.
    #[test]
    fn by_the_laws_the_crossing_is_where_it_is_predicted() {
        for (pair, delay) in PAIRS.iter().zip([768.0, 16_384.0]) {
            let measured = by_the_laws(pair);
            assert_eq!(measured.printed(), delay);
            let (crossing, moves) = measured.crossing().unwrap_or_default();
            assert!((crossing / delay - 1.0).abs() < 0.1, "{crossing}");
            assert_eq!(moves, pair.levels as f64);
        }
    }
}
