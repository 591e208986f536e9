//! P1, P2: Kafka's purgatory: requests that complete or time out, on the old queue and on the new
//! wheel.
//!
//! A broker keeps a request until it can answer, 200 ms at most. Kafka's own experiment has Poisson
//! arrivals and log-normal times to completion. The same stream, on a clock of milliseconds, goes
//! through several structures, and the steps of a request are counted once as many leave as come.
//! Kafka's old purgatory was a `DelayQueue`, from which nothing can be taken out but the first: it
//! stands here as a heap from which nothing is cancelled.

use super::drive::{exponential, normal};
use crate::count::random;
use crate::growth::Growth::Constant;
use crate::scale::powers;
use crate::thresholds::Threshold::{Ahead, Mean, Share};
use crate::{By, Evidence, Experiment, Lab, Sweep, Test, recorded};
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer, TimerId};

pub(super) const PURGATORY: Experiment = Experiment {
    name: "purgatory",
    about: "requests with a timeout of 200 ms at 2,000 to 128,000 a second, on five structures and \
        a heap that keeps the completed: share of timeouts, requests pending, steps a request",
    run,
};

/// Ticks after which a request has timed out; a tick is a millisecond.
const TIMEOUT: Tick = 200;
/// The upper quartile of the standard normal distribution.
const QUARTILE: f64 = 0.674_489_750_196_082;

/// How long requests take, in ms, and what follows from it: integrals of the distribution, derived
/// here and not printed by the publication.
struct Load {
    name: &'static str,
    median: f64,
    quartile: f64,
    /// The share that times out, and how long a request is pending on average, in ms.
    timeouts: f64,
    pending: f64,
}

static LOADS: [Load; 2] = [
    Load { name: "low", median: 20.0, quartile: 60.0, timeouts: 0.0787, pending: 46.92 },
    Load { name: "high", median: 200.0, quartile: 400.0, timeouts: 0.500, pending: 151.73 },
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

/// A heap from which nothing is cancelled.
const KEEPS: &str = "binary-heap, nothing cancelled";
const STRUCTURES: [&str; 6] =
    ["kafka-wheel", "list-wheel", "hierarchical-wheel", "binary-heap", "lazy-heap", KEEPS];

/// Plays so many requests on a structure.
fn play(lab: &Lab, name: &str, load: &Load, (rate, requests, seed): (u64, u64, u64)) -> Counted {
    let cancels = name != KEEPS;
    let mut probe = lab.make(name.split(',').next().unwrap_or(name));
    let mut random = random(seed ^ rate << 32);
    let (mut arrival, mut pending, mut counted) = (0.0, 0, Counted::default());
    // The timers of requests that complete in a tick, for as many ticks as a request is pending.
    let mut completions: Vec<Vec<TimerId>> = vec![Vec::new(); TIMEOUT as usize + 1];
    let slot = |tick: Tick| (tick % (TIMEOUT + 1)) as usize;
    let complete = |timer: &mut crate::count::AnyTimer, of_tick: &mut Vec<TimerId>| {
        let count = of_tick.len() as u64;
        of_tick.drain(..).filter(|_| cancels).for_each(|id| _ = timer.cancel(id));
        count
    };
    let mut before = probe.steps();
    for tick in 0..TIMEOUT + requests * 1_000 / rate {
        if tick == TIMEOUT {
            // Those of the first ticks have left by now.
            (counted, before) = (Counted::default(), probe.steps());
        }
        pending -= complete(&mut probe.timer, &mut completions[slot(tick)]);
        let mut timeouts = 0;
        probe.timer.advance(tick, |expired| timeouts += expired.value);
        while arrival < (tick + 1) as f64 {
            arrival += exponential(&mut random) * 1_000.0 / rate as f64;
            let takes = load.draw(&mut random);
            let is_late = takes >= TIMEOUT as f64;
            let id = probe.timer.insert(tick + TIMEOUT, u64::from(is_late));
            if !is_late {
                completions[slot(tick + takes.round() as Tick)].push(id);
            }
            counted.requests += 1;
            pending += 1;
        }
        pending -= timeouts + complete(&mut probe.timer, &mut completions[slot(tick)]);
        counted.timeouts += timeouts;
        counted.pending += pending;
        counted.ticks += 1;
    }
    counted.steps = probe.steps().since(&before).total();
    counted
}

fn run(lab: &Lab, e: &mut Evidence) {
    let doublings = lab.scale.to.saturating_sub(9).clamp(4, 7);
    let rates: Vec<u64> = powers(0, doublings - 1).into_iter().map(|times| 2_000 * times).collect();
    let requests = (2 * lab.scale.largest()).clamp(1 << 14, 1 << 16);
    let mut sweep = Sweep::over("requests a second", "Kafka's purgatory", "steps a request");
    for (at, load) in LOADS.iter().enumerate() {
        let mut all: Vec<(u64, Counted)> = Vec::new();
        for name in STRUCTURES {
            let curve = lab.curve(&rates, |rate, seed| {
                let it = play(lab, name, load, (rate, requests, seed));
                if name == "kafka-wheel" {
                    all.push((rate, it));
                }
                it.steps as f64 / it.requests as f64
            });
            sweep.add(format!("{name}, {}", load.name), curve);
        }
        // A figure of all rates and seeds; the same for each structure.
        let sum = |of: fn(&(u64, Counted)) -> f64| all.iter().map(of).sum::<f64>();
        let timeouts = sum(|(_, it)| it.timeouts as f64) / sum(|(_, it)| it.requests as f64);
        let pending = sum(|(_, it)| it.pending as f64)
            / sum(|(rate, it)| it.ticks as f64 * *rate as f64 / 1_000.0);
        let [shares, waits] = [["P1.1", "P1.2"], ["P1.3", "P1.4"]][at];
        let quote = format!("Load {}: {:.1} % time out.", load.name, 100.0 * load.timeouts);
        let test = Test::Within(vec![(timeouts, load.timeouts)], Share);
        e.say(shares, quote, test, format!("{:.2} %", 100.0 * timeouts));
        let quote = format!(
            "Load {}: {:.0} are pending at 100,000 a second.",
            load.name,
            100.0 * load.pending
        );
        let number = format!("{:.0}", 100.0 * pending);
        e.say(waits, quote, Test::Near(vec![(pending, load.pending)], Mean), number);
    }
    let quote = "A request costs Kafka's wheels no more at a higher rate.";
    e.at_most("P2.1", quote, sweep.all(&["kafka-wheel"]), Constant);
    let quote = "It costs the old queue more, which keeps what is completed.";
    e.grows("P2.2", quote, sweep.all(&[KEEPS]));
    let quote = "It costs a heap more, too, that deletes in place: half of them time out.";
    e.grows("P2.3", quote, sweep.of(&["binary-heap"], &["high"]).take(1));
    let pairs = ["trace:nginx", "trace:redis", "tcp", "keepalive"].map(|workload| {
        let of = |name| {
            recorded::compared(name, "list-wheel", "mix").into_iter().find(|it| it.0 == workload)
        };
        of("binary-heap").map_or((f64::NAN, 1.0), |(_, heap, wheel)| (heap, wheel))
    });
    let least = pairs.iter().map(|(heap, wheel)| heap / wheel).fold(f64::INFINITY, f64::min);
    e.by(By::Instructions).say(
        "P2.4",
        "A wheel is ahead where most timers are cancelled: four such mixes and traces.",
        Test::Exceeds(pairs.to_vec(), Ahead),
        format!("a heap takes {least:.2} times the instructions, at least"),
    );
    e.by(By::Counts).sweep(&sweep);
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
        let lab = Lab::new(&crate::Scale::REDUCED);
        let seen = STRUCTURES.map(|name| {
            let it = play(&lab, name, &LOADS[1], (4_000, 4_000, 1));
            (it.requests, it.timeouts, it.pending)
        });
        assert!(seen[0].1 > 0 && seen.iter().all(|it| *it == seen[0]));
    }
}
