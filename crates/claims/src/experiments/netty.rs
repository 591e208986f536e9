//! C40, P3: Netty's worker moves submissions to its wheel before it serves a slot, but at most a
//! fixed number in each tick.
//!
//! A caller that starts a timer puts it into a queue. At the end of each tick of 100 ms the worker
//! moves up to 100,000 timers from the queue to its wheel, and then fires those that are due. A
//! timer that still waits in the queue cannot fire. The model is our round wheel behind such a
//! queue. All timers are submitted at one instant, with delays uniform in 0 to 1 s.

use crate::count::random;
use crate::thresholds::Threshold::Milliseconds;
use crate::{Criterion, Evidence, EvidenceKind, Experiment, Setup};
use rand::RngExt;
use std::collections::VecDeque;
use wheelhouse_core::Timer;
use wheelhouse_round_wheel::RoundWheel;

pub(super) const TRANSFER_CAP: Experiment = Experiment {
    name: "netty-transfer-cap",
    about: "round-wheel of 512 slots behind a queue of which a tick of 100 ms moves 100,000 \
        timers, or all: lateness of bursts of half the cap to sixteen times it",
    run,
};

/// Netty's tick in microseconds, its slots, and how many submissions its worker moves in a tick.
const TICK: u64 = 100_000;
const SLOTS: u64 = 512;
const CAP: u64 = 100_000;
/// All delays are shorter than this, in microseconds.
const LONGEST: u64 = 1_000_000;
/// Sizes of bursts, in halves of the cap.
const HALVES: [u64; 7] = [1, 2, 4, 8, 16, TEN_CAPS, 32];
const TEN_CAPS: u64 = 20;

/// Submits timers with these delays at time 0. Returns by how much each fires after its deadline,
/// in microseconds.
fn lateness(delays: impl IntoIterator<Item = u64>, cap: u64) -> Vec<i64> {
    let mut queue: VecDeque<u64> = delays.into_iter().collect();
    let mut late = Vec::with_capacity(queue.len());
    let wheel = RoundWheel::builder().slots(SLOTS as usize).build();
    let mut wheel = wheel.expect("512 slots are a power of two");
    for tick in 1.. {
        let taken = queue.len().min(cap as usize);
        for delay in queue.drain(..taken) {
            // The tick at whose end the delay is over. If that tick is past, the wheel fires the
            // timer at once.
            wheel.insert(delay / TICK + 1, delay);
        }
        wheel.advance(tick, |expired| late.push((tick * TICK) as i64 - expired.value as i64));
        if queue.is_empty() && wheel.is_empty() {
            break;
        }
    }
    late
}

/// The number of timers, their lateness with the cap, and without it.
type Burst = (u64, [f64; 4], [f64; 4]);

/// The lateness of a burst, in milliseconds: earliest, median, 99 % quantile, latest.
fn burst(timers: u64, cap: u64, seed: u64) -> [f64; 4] {
    let mut random = random(seed);
    let mut late = lateness((0..timers).map(|_| random.random_range(0..LONGEST)), cap);
    late.sort_unstable();
    let at = |share: f64| late[((share * late.len() as f64).ceil() as usize).max(1) - 1];
    [late[0], at(0.5), at(0.99), at(1.0)].map(|late| late as f64 / 1_000.0)
}

fn run(setup: &Setup, e: &mut Evidence) {
    let cap = CAP.min(setup.scale.largest() / 8);
    let bursts = HALVES.map(|halves| {
        let timers = halves * cap / 2;
        (timers, burst(timers, cap, setup.scale.seed()), burst(timers, timers, setup.scale.seed()))
    });
    e.decide_by(EvidenceKind::Arithmetic);
    let tick = TICK as f64 / 1_000.0;
    let (small, large): (Vec<&Burst>, Vec<&Burst>) = bursts.iter().partition(|it| it.0 <= cap);
    let latest = |of: &[&Burst]| of.iter().map(|it| it.1[3]).fold(0.0, f64::max);
    let least = large.iter().map(|it| it.1[3]).fold(f64::INFINITY, f64::min);
    let early = bursts.iter().any(|it| it.1[0] < 0.0 || it.2[0] < 0.0);
    let quote = "Rounds and deadline are checked: no timer fires early.";
    e.holds("C40.2", quote, !early, "in any burst");
    let quote = "The worker also moves submissions, and so execution is later than a tick.";
    e.holds(
        "C40.3",
        quote,
        least > tick,
        format!("{least:.0} to {:.0} ms beyond {cap} at once", latest(&large)),
    );
    let uncapped = bursts.iter().map(|it| it.2[3]).fold(0.0, f64::max);
    let quote = "Without a cap no timer is later than a tick, however large the burst.";
    e.holds("P3.1", quote, uncapped <= tick, format!("{uncapped:.1} ms at most"));
    let quote = "With a cap of 100,000 a tick none is, up to a burst of as many.";
    e.holds("P3.2", quote, latest(&small) <= tick, format!("{:.1} ms at most", latest(&small)));
    let ticks = |it: &&Burst| (it.1[3], it.0.div_ceil(cap) as f64 * tick);
    let quote = "Beyond, the latest is late by a tick for each cap's worth of timers.";
    let number = format!("{:.0} ms for sixteen caps", latest(&large));
    e.decide(
        "P3.3",
        quote,
        Criterion::Within(large.iter().map(ticks).collect(), Milliseconds),
        number,
    );
    let row = |(timers, capped, uncapped): Burst| {
        let [.., a, b, c] = capped.map(|late| format!("{late:.1}"));
        let [.., x, y, z] = uncapped.map(|late| format!("{late:.1}"));
        [timers.to_string(), a, b, c, x, y, z]
    };
    let columns = ["timers", "p50, ms", "p99", "max", "p50, no cap", "p99, no cap", "max, no cap"];
    e.table(format!("Lateness of a burst, {cap} moved a tick"), columns, bursts.map(row));
    let line = |name: &str, of: fn(&Burst) -> f64| {
        (name.to_owned(), bursts.iter().map(|it| (it.0 as f64, of(it))).collect::<Vec<_>>())
    };
    let subtitle = "lateness; all offered at once, delays up to 1 s, ticks of 100 ms";
    e.chart(
        ["A burst of timers behind a queue", subtitle, "timers of the burst", "lateness, ms"],
        [
            line("p50", |it| it.1[1]),
            line("p99", |it| it.1[2]),
            line("max", |it| it.1[3]),
            line("max, no cap", |it| it.2[3]),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_late_by_its_wait_in_the_queue() {
        let below = lateness([0, 1, 99_999, 100_000, 350_000], 5);
        assert_eq!(below, [100_000, 99_999, 1, 100_000, 50_000]);
        assert_eq!(lateness([50_000, 50_000, 50_000], 1), [50_000, 150_000, 250_000]);
        assert_eq!(lateness([250_000, 250_000, 250_000], 1), [50_000, 50_000, 50_000]);
    }
}
