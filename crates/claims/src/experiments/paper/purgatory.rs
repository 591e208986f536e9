//! Kafka's purgatory: requests that complete or time out, on the old queue and on the new wheel.
//!
//! A broker keeps a request until it can answer, 200 ms at most. Kafka's own experiment has Poisson arrivals and log-normal times to completion: with a
//! median of 20 ms and an upper quartile of 60 nearly all complete, with 200 and 400 half of them time out. Here the same stream, on a clock of
//! milliseconds, goes through several structures, and the steps of a request are counted once as many leave as come.
//!
//! Kafka's old purgatory was a `DelayQueue`, a heap from which nothing can be taken out but the first: a request that completed stayed until its time was up, or until a
//! thread had gone through all lists. None of our structures does that. Nearest to it is the heap from which nothing is cancelled, which stands here
//! as such; `lazy-heap` also leaves the cancelled where they are, but drops them when they outnumber the living.

use super::tools::{exponential, normal};
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand_pcg::Pcg64Mcg;
use wheelhouse_binary_heap::{Definition as Heap, LazyDefinition};
use wheelhouse_core::{Tick, Timer, TimerId};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "purgatory",
    about: "W1 and W2, requests with a timeout of 200 ms at 2,000 to 128,000 a second, on kafka-wheel, hierarchical-wheel, binary-heap, lazy-heap and a heap that keeps the completed: share of timeouts, requests pending, steps a request",
    run,
};

/// Ticks after which a request has timed out; a tick is a millisecond.
const TIMEOUT: Tick = 200;

/// The lowest rate, a second; each other is twice the one before.
const LOWEST: u64 = 2_000;

/// The upper quartile of the standard normal distribution.
const QUARTILE: f64 = 0.674_489_750_196_082;

/// How long requests take, in ms, and what follows from it: integrals of the distribution, derived here and not printed by the publication.
struct Load {
    name: &'static str,
    median: f64,
    quartile: f64,
    /// The share that times out.
    timeouts: f64,
    /// How long a request is pending on average, in ms.
    pending: f64,
}

static LOADS: [Load; 2] = [
    Load {
        name: "low: 20 and 60 ms",
        median: 20.0,
        quartile: 60.0,
        timeouts: 0.0787,
        pending: 46.92,
    },
    Load {
        name: "high: 200 and 400 ms",
        median: 200.0,
        quartile: 400.0,
        timeouts: 0.500,
        pending: 151.73,
    },
];

impl Load {
    /// How long a request takes: log-normal.
    fn draw(&self, random: &mut Pcg64Mcg) -> f64 {
        let sigma = (self.quartile / self.median).ln() / QUARTILE;
        self.median * (sigma * normal(random)).exp()
    }
}

/// What was counted over the ticks in which as many requests leave as come.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    requests: u64,
    timeouts: u64,
    /// Requests pending at the end of each tick, summed.
    pending: u64,
    ticks: u64,
    steps: u64,
}

/// A stream of requests.
#[derive(Clone, Copy)]
struct Stream<'a> {
    load: &'a Load,
    /// A second.
    rate: u64,
    /// How many are counted, about.
    requests: u64,
    seed: u64,
}

/// What becomes of the timer of a request that completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Completed {
    Cancelled,
    Stays,
}

/// The value of a timer whose request will not complete in time.
const LATE: u64 = 1;

impl Stream<'_> {
    /// Plays it on a structure.
    fn play<T: Timer<u64>>(&self, mut probe: Probe<T>, completed: Completed) -> Counted {
        let mut random = random(self.seed ^ self.rate << 32);
        let (mut arrival, mut pending, mut counted) = (0.0, 0, Counted::default());
        // The timers of requests that complete in a tick, for as many ticks as a request is pending.
        let mut completions: Vec<Vec<TimerId>> = vec![Vec::new(); TIMEOUT as usize + 1];
        let slot = |tick: Tick| (tick % (TIMEOUT + 1)) as usize;
        let mut before = probe.steps();
        for tick in 0..TIMEOUT + self.requests * 1_000 / self.rate {
            if tick == TIMEOUT {
                // Those of the first ticks have left by now.
                (counted, before) = (Counted::default(), probe.steps());
            }
            pending -= complete(&mut probe, &mut completions[slot(tick)], completed);
            let mut timeouts = 0;
            probe.timer.advance(tick, |expired| timeouts += expired.value);
            while arrival < (tick + 1) as f64 {
                arrival += exponential(&mut random) * 1_000.0 / self.rate as f64;
                let takes = self.load.draw(&mut random);
                let is_late = takes >= TIMEOUT as f64;
                let id = probe.timer.insert(tick + TIMEOUT, if is_late { LATE } else { 0 });
                if !is_late {
                    completions[slot(tick + takes.round() as Tick)].push(id);
                }
                counted.requests += 1;
                pending += 1;
            }
            pending -= timeouts + complete(&mut probe, &mut completions[slot(tick)], completed);
            counted.timeouts += timeouts;
            counted.pending += pending;
            counted.ticks += 1;
        }
        counted.steps = probe.steps().since(&before).total();
        counted
    }
}

/// Completes requests; how many.
fn complete<T: Timer<u64>>(
    probe: &mut Probe<T>,
    requests: &mut Vec<TimerId>,
    completed: Completed,
) -> u64 {
    let count = requests.len() as u64;
    for id in requests.drain(..).filter(|_| completed == Completed::Cancelled) {
        probe.timer.cancel(id);
    }
    count
}

/// A structure: its name, and how to play a stream on it.
type Structure = (&'static str, fn(&Stream<'_>) -> Counted);

const KAFKA: usize = 0;
const KEEPS: usize = 4;

const STRUCTURES: [Structure; 5] = [
    ("kafka-wheel", |stream| {
        stream.play(Probe::of::<wheelhouse_kafka_wheel::Definition>(), Completed::Cancelled)
    }),
    ("hierarchical-wheel", |stream| {
        stream.play(Probe::of::<wheelhouse_hierarchical_wheel::Definition>(), Completed::Cancelled)
    }),
    ("binary-heap", |stream| stream.play(Probe::of::<Heap<2>>(), Completed::Cancelled)),
    ("lazy-heap", |stream| stream.play(Probe::of::<LazyDefinition>(), Completed::Cancelled)),
    ("binary-heap, nothing cancelled", |stream| {
        stream.play(Probe::of::<Heap<2>>(), Completed::Stays)
    }),
];

/// What a load did to each structure.
struct Outcome {
    load: &'static Load,
    /// For each rate, all seeds together; the same for each structure.
    counted: Vec<(u64, Counted)>,
    /// Steps a request against the rate.
    steps: [Curve; 5],
}

impl Outcome {
    /// A figure of all rates and seeds.
    fn sum(&self, figure: impl Fn(&(u64, Counted)) -> f64) -> f64 {
        self.counted.iter().map(figure).sum()
    }

    /// The share of the requests that timed out.
    fn timeouts(&self) -> f64 {
        self.sum(|(_, it)| it.timeouts as f64) / self.sum(|(_, it)| it.requests as f64)
    }

    /// How long a request was pending on average, in ms: those pending at a time, over those that come in a millisecond.
    fn pending(&self) -> f64 {
        self.sum(|(_, it)| it.pending as f64)
            / self.sum(|(rate, it)| it.ticks as f64 * *rate as f64 / 1_000.0)
    }
}

fn run(scale: &Scale) -> Evidence {
    let outcomes = LOADS.each_ref().map(|load| outcome(load, scale));
    Evidence {
        findings: vec![loads(&outcomes), costs(&outcomes)],
        tables: vec![shares(&outcomes), steps(&outcomes)],
        charts: outcomes.iter().map(chart).collect(),
    }
}

fn outcome(load: &'static Load, scale: &Scale) -> Outcome {
    let doublings = scale.to.saturating_sub(9).clamp(4, 7);
    let rates: Vec<u64> = (0..doublings).map(|doubling| LOWEST << doubling).collect();
    let requests = (2 * scale.largest()).clamp(1 << 14, 1 << 16);
    let mut counted: Vec<(u64, Counted)> = Vec::new();
    let steps = STRUCTURES.map(|(name, play)| {
        Curve::sweep(&rates, scale.seeds(), |rate, seed| {
            let it = play(&Stream { load, rate, requests, seed });
            if name == STRUCTURES[KAFKA].0 {
                counted.push((rate, it));
            }
            it.steps as f64 / it.requests as f64
        })
    });
    Outcome { load, counted, steps }
}

fn loads(outcomes: &[Outcome; 2]) -> Finding {
    let parts: Vec<Part> = outcomes
        .iter()
        .flat_map(|outcome| {
            let Load { name, timeouts, pending, .. } = outcome.load;
            [
                Part::new(
                    format!("{name}: {:.1} % of the requests time out", 100.0 * timeouts),
                    (outcome.timeouts() - timeouts).abs() < 0.005,
                ),
                Part::new(
                    format!("{name}: {:.0} pending at 100,000 a second", 100.0 * pending),
                    (outcome.pending() / pending - 1.0).abs() < 0.02,
                ),
            ]
        })
        .collect();
    let told = |outcome: &Outcome| {
        format!(
            "{:.2} % time out, {:.0} pending at 100,000 a second",
            100.0 * outcome.timeouts(),
            100.0 * outcome.pending()
        )
    };
    Finding::new("P1", format!("low: {}; high: {}", told(&outcomes[0]), told(&outcomes[1])), parts)
}

fn costs(outcomes: &[Outcome; 2]) -> Finding {
    let last = |outcome: &Outcome, structure: usize| outcome.steps[structure].ends().1;
    let least = |outcome: &Outcome| {
        (KAFKA + 1..STRUCTURES.len())
            .filter(|it| STRUCTURES[*it].0.contains("heap"))
            .map(|it| last(outcome, it))
            .fold(f64::INFINITY, f64::min)
    };
    let parts: Vec<Part> = outcomes
        .iter()
        .flat_map(|outcome| {
            let name = outcome.load.name;
            let grows = outcome.steps[KEEPS].growth();
            [
                Part::maybe(
                    format!("{name}: a request costs kafka-wheel no more at a higher rate"),
                    outcome.steps[KAFKA].growth().is(Growth::Constant),
                ),
                Part::maybe(
                    format!("{name}: it costs a heap from which nothing is cancelled more at a higher rate"),
                    grows.is(Growth::Constant).map(|constant| !constant),
                ),
                Part::new(
                    format!("{name}: at the highest rate kafka-wheel makes fewer steps than each heap"),
                    last(outcome, KAFKA) < least(outcome),
                ),
            ]
        })
        .collect();
    let told = |outcome: &Outcome| {
        let steps = |structure: usize| {
            let (first, last) = outcome.steps[structure].ends();
            format!("{first:.1} to {last:.1}")
        };
        format!(
            "kafka-wheel {}, heap that keeps all {}, least of the heaps {:.1}",
            steps(KAFKA),
            steps(KEEPS),
            least(outcome)
        )
    };
    Finding::new(
        "P2",
        format!(
            "steps a request from the lowest rate to the highest, low: {}; high: {}",
            told(&outcomes[0]),
            told(&outcomes[1])
        ),
        parts,
    )
}

fn shares(outcomes: &[Outcome; 2]) -> Table {
    let columns = [
        "time to completion, median and upper quartile",
        "requests",
        "timed out",
        "said",
        "pending, ms of the rate",
        "said",
        "pending at 100,000 a second",
    ];
    let mut table = Table::new("Requests that time out after 200 ms, and how many wait", columns);
    for outcome in outcomes {
        table.row([
            outcome.load.name.to_owned(),
            format!("{:.0}", outcome.sum(|(_, it)| it.requests as f64)),
            format!("{:.2} %", 100.0 * outcome.timeouts()),
            format!("{:.2} %", 100.0 * outcome.load.timeouts),
            format!("{:.2}", outcome.pending()),
            format!("{:.1}", outcome.load.pending),
            format!("{:.0}", 100.0 * outcome.pending()),
        ]);
    }
    table
}

fn steps(outcomes: &[Outcome; 2]) -> Table {
    let rates =
        outcomes[0].steps[KAFKA].points().into_iter().map(|(rate, _)| format!("{rate} a second"));
    let columns = ["structure".to_owned(), "time to completion".to_owned()]
        .into_iter()
        .chain(rates)
        .chain(["growth".to_owned()]);
    let mut table = Table::new(
        "Steps a request, its insertion, its cancellation or expiry and its share of the ticks",
        columns,
    );
    for outcome in outcomes {
        for ((name, _), curve) in STRUCTURES.iter().zip(&outcome.steps) {
            let cells = curve.points().into_iter().map(|(_, steps)| format!("{steps:.2}"));
            let head = [(*name).to_owned(), outcome.load.name.to_owned()];
            table.row(head.into_iter().chain(cells).chain([curve.growth().to_string()]));
        }
    }
    table
}

fn chart(outcome: &Outcome) -> Chart {
    let series = STRUCTURES.iter().zip(&outcome.steps);
    Chart {
        title: format!("Kafka's purgatory, {}", outcome.load.name),
        subtitle:
            "steps a request: its insertion, its cancellation or expiry, and its share of the ticks"
                .to_owned(),
        x: "requests a second".to_owned(),
        y: "steps".to_owned(),
        series: series
            .map(|((name, _), curve)| Series { name: (*name).to_owned(), points: curve.points() })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_requests_take_less_than_the_median_and_a_quarter_more_than_the_quartile() {
        for load in &LOADS {
            let mut random = random(1);
            let takes: Vec<f64> = (0..100_000).map(|_| load.draw(&mut random)).collect();
            let share = |below: f64| {
                takes.iter().filter(|takes| **takes < below).count() as f64 / takes.len() as f64
            };
            assert!((share(load.median) - 0.5).abs() < 0.01, "{}", load.name);
            assert!((share(load.quartile) - 0.75).abs() < 0.01, "{}", load.name);
        }
    }

    #[test]
    fn every_structure_sees_the_same_requests_time_out() {
        let stream = Stream { load: &LOADS[1], rate: 4_000, requests: 4_000, seed: 1 };
        let counted = STRUCTURES.map(|(_, play)| play(&stream));
        let [first, others @ ..] = counted;
        assert!(first.timeouts > 0 && first.timeouts < first.requests);
        for other in others {
            assert_eq!(
                (other.requests, other.timeouts, other.pending),
                (first.requests, first.timeouts, first.pending)
            );
        }
    }
}
