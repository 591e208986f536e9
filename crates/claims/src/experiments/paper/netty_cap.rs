//! Netty's cap on transfers: how late it makes a burst.
//!
//! Whoever starts a timer puts it in a queue. At the end of each tick of 100 ms Netty's worker moves up to 100,000 of the queue to its wheel, and then fires what is
//! due. A timer that still waits in the queue cannot fire. The model is our round wheel behind such a queue, driven as Netty drives its own: a timer whose
//! delay ends within a tick fires at the end of that tick, or when it is moved, if that is later. All timers are offered at one instant, with delays uniform in 0 to 1 s.

use crate::count::{Tally, random};
use crate::experiments::Experiment;
use crate::experiments::configured::round_wheel;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use wheelhouse_core::Timer;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "netty-transfer-cap",
    about: "round-wheel of 512 slots behind a queue of which a tick of 100 ms moves 100,000 timers, or all: lateness of a burst of 50,000 to 1,600,000 timers with delays up to 1 s; a smaller cap and smaller bursts in tests",
    run,
};

/// Netty's slots.
const SLOTS: u64 = 512;

/// Netty's tick, in ms.
const TICK: u64 = 100;

/// Netty's cap.
const CAP: u64 = 100_000;

/// Delays are shorter than this, in ms.
const LONGEST: u64 = 1_000;

/// Bursts, in halves of the cap.
const HALVES: [u64; 7] = [1, 2, 4, 8, 16, 20, 32];

/// How far the latest timer may be from a whole number of ticks, in ms.
const TOLERANCE: u64 = 10;

/// Lateness in ms of all timers of a burst, with the cap and without.
struct Burst {
    timers: u64,
    /// Ticks until all have been moved.
    ticks: u64,
    capped: Tally,
    uncapped: Tally,
}

fn run(scale: &Scale) -> Evidence {
    let cap = CAP.min(scale.largest() / 8);
    let seed = scale.seeds().next().unwrap_or(0);
    let bursts = HALVES.map(|halves| {
        let timers = halves * cap / 2;
        Burst {
            timers,
            ticks: timers.div_ceil(cap),
            capped: lateness(timers, cap, seed),
            uncapped: lateness(timers, timers, seed),
        }
    });
    Evidence {
        findings: vec![finding(&bursts, cap)],
        tables: vec![table(&bursts, cap)],
        charts: vec![chart(&bursts, cap)],
    }
}

/// How late each timer of a burst is, in ms, if a tick moves so many.
fn lateness(timers: u64, cap: u64, seed: u64) -> Tally {
    let (mut wheel, mut random) = (round_wheel(SLOTS as usize).timer, random(seed));
    let delays: Vec<u64> = (0..timers).map(|_| random.random_range(0..LONGEST)).collect();
    let (mut queue, mut late, mut tick) = ((0..).zip(&delays), Tally::default(), 0);
    while (late.len() as u64) < timers {
        tick += 1;
        for (timer, delay) in queue.by_ref().take(cap as usize) {
            wheel.insert(delay / TICK + 1, timer);
        }
        wheel.advance(tick, |expired| late.add(tick * TICK - delays[expired.value as usize]));
    }
    late
}

fn finding(bursts: &[Burst; 7], cap: u64) -> Finding {
    let (small, large): (Vec<_>, Vec<_>) = bursts.iter().partition(|burst| burst.timers <= cap);
    let latest = |burst: &&Burst| burst.capped.max().abs_diff(burst.ticks * TICK) <= TOLERANCE;
    let told = |burst: &&Burst| {
        let late = &burst.capped;
        format!(
            "{} timers p50 {} ms, p99 {} ms, max {} ms",
            burst.timers,
            late.quantile(0.5),
            late.quantile(0.99),
            late.max()
        )
    };
    let ten = large.iter().find(|burst| burst.ticks == 10).map_or(String::new(), told);
    let uncapped = bursts.iter().map(|burst| burst.uncapped.max()).max().unwrap_or(0);
    let parts = [
        Part::new("without a cap no timer is later than a tick, however large the burst", uncapped <= TICK),
        Part::new("nor with it, up to a burst of the cap", small.iter().all(|burst| burst.capped.max() <= TICK)),
        Part::new("beyond, the latest is later by a tick for each cap's worth of timers", large.iter().all(latest)),
    ];
    Finding::new("P3", format!("cap {cap}: {ten}; without a cap max {uncapped} ms"), parts)
}

fn table(bursts: &[Burst; 7], cap: u64) -> Table {
    let title = format!("Lateness in ms of a burst of timers, {cap} moved a tick, or all");
    let columns = ["timers", "ticks to move them", "p50", "p99", "max", "p50, no cap", "p99, no cap", "max, no cap"];
    let mut table = Table::new(title, columns);
    for Burst { timers, ticks, capped, uncapped } in bursts {
        let late =
            [capped, uncapped].into_iter().flat_map(|late| [late.quantile(0.5), late.quantile(0.99), late.max()]);
        table.row([*timers, *ticks].into_iter().chain(late).map(|figure| figure.to_string()));
    }
    table
}

fn chart(bursts: &[Burst; 7], cap: u64) -> Chart {
    let series = |name: &str, figure: &dyn Fn(&Burst) -> u64| Series {
        name: name.to_owned(),
        points: bursts.iter().map(|burst| (burst.timers as f64, figure(burst) as f64)).collect(),
    };
    Chart {
        title: "A burst of timers behind a queue".to_owned(),
        subtitle: format!(
            "lateness with {cap} transfers a tick of {TICK} ms; all offered at once, delays up to {LONGEST} ms"
        ),
        x: "timers of the burst".to_owned(),
        y: "lateness, ms".to_owned(),
        series: vec![
            series("p50", &|burst| burst.capped.quantile(0.5)),
            series("p99", &|burst| burst.capped.quantile(0.99)),
            series("max", &|burst| burst.capped.max()),
            series("p50, no cap", &|burst| burst.uncapped.quantile(0.5)),
            series("max, no cap", &|burst| burst.uncapped.max()),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model of the inventory: a burst of ten caps is late by 91 ms in the median, 901 ms at p99, and 1,000 ms at most.
    #[test]
    fn ten_caps_are_as_late_as_reported() {
        let late = lateness(100_000, 10_000, 1);
        assert!(late.quantile(0.5).abs_diff(91) <= 4, "{}", late.quantile(0.5));
        assert!(late.quantile(0.99).abs_diff(901) <= 12, "{}", late.quantile(0.99));
        assert_eq!(late.max(), 1_000);
    }
}
