//! Netty's worker moves submissions before it serves a slot, and no more than so many a tick: what that does to the timers of a burst.
//!
//! Whoever starts a timer puts it in a queue. At the end of each tick of 100 ms Netty's worker moves up to 100,000 of the queue to its wheel, and then fires what is
//! due. A timer that still waits in the queue cannot fire. The [model](crate::experiments::models::submissions) is our round wheel behind such a queue, driven as Netty drives its own: a
//! timer whose delay ends within a tick fires at the end of that tick, or when it is moved, if that is later. All timers are offered at one instant, with delays uniform in 0 to 1 s.

use crate::count::{Tally, random};
use crate::experiment::Experiment;
use crate::experiments::models::submissions::{CAP, SLOTS, TICK, lateness};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "netty-transfer-cap",
    about: "round-wheel of 512 slots behind a queue of which a tick of 100 ms moves 100,000 timers, or all: lateness of a burst of 50,000 to 1,600,000 timers with delays up to 1 s, that of 1,000,000 for five seeds; a smaller cap and smaller bursts in tests",
    run,
};

/// Delays are shorter than this, in microseconds.
const LONGEST: u64 = 1_000_000;

/// Bursts, in halves of the cap; the one that is reported.
const HALVES: [u64; 7] = [1, 2, 4, 8, 16, TEN, 32];
const TEN: u64 = 20;

/// How far the latest timer may be from a whole number of ticks, in microseconds.
const TOLERANCE: i64 = 10_000;

/// What is reported of a burst of ten caps, in ms: the median, the 99 % quantile and the latest with the cap; the latest without.
const REPORTED: [(&str, f64); 4] = [
    ("with the cap, median", 91.0),
    ("with the cap, 99 %", 901.0),
    ("with the cap, latest", 1_000.0),
    ("without the cap, latest", 100.0),
];

/// Lateness of the timers of a burst, in microseconds.
struct Late {
    earliest: i64,
    median: i64,
    p99: i64,
    latest: i64,
}

impl Late {
    /// Of so many timers, if a tick moves so many.
    fn of(timers: u64, cap: u64, seed: u64) -> Self {
        let mut random = random(seed);
        let late = lateness((0..timers).map(|_| random.random_range(0..LONGEST)), cap);
        let earliest = late.iter().min().copied().unwrap_or(0);
        // From the earliest on, for a tally has no sign.
        let tally: Tally = late.iter().map(|late| late.abs_diff(earliest)).collect();
        let quantile = |share: f64| earliest + tally.quantile(share) as i64;
        Self { earliest, median: quantile(0.5), p99: quantile(0.99), latest: quantile(1.0) }
    }
}

/// A burst, with the cap and without.
struct Burst {
    timers: u64,
    /// Ticks until all have been moved.
    ticks: u64,
    capped: Late,
    uncapped: Late,
}

fn burst(halves: u64, cap: u64, seed: u64) -> Burst {
    let timers = halves * cap / 2;
    Burst {
        timers,
        ticks: timers.div_ceil(cap),
        capped: Late::of(timers, cap, seed),
        uncapped: Late::of(timers, timers, seed),
    }
}

fn run(scale: &Scale) -> Evidence {
    let cap = CAP.min(scale.largest() / 8);
    let bursts = HALVES.map(|halves| burst(halves, cap, scale.seeds));
    let tens: Vec<_> = scale.seeds().map(|seed| burst(TEN, cap, seed)).collect();
    let (reported, of_seeds) = as_reported(&tens);
    Evidence {
        findings: vec![described(&bursts, cap), capped(&bursts, cap), reported],
        tables: vec![table(&bursts, cap), of_seeds],
        charts: vec![chart(&bursts, cap)],
    }
}

fn milliseconds(microseconds: i64) -> String {
    format!("{:.1}", microseconds as f64 / 1_000.0)
}

fn latest<'a>(late: impl Iterator<Item = &'a Late>) -> i64 {
    late.map(|late| late.latest).max().unwrap_or(0)
}

/// C40: how Netty's wheel works, and that other work makes it late.
fn described(bursts: &[Burst; 7], cap: u64) -> Finding {
    let (small, large): (Vec<_>, Vec<_>) = bursts.iter().partition(|burst| burst.timers <= cap);
    let all = || bursts.iter().flat_map(|burst| [&burst.capped, &burst.uncapped]);
    let below = latest(small.iter().map(|burst| &burst.capped));
    let least = large.iter().map(|burst| burst.capped.latest).min().unwrap_or(0);
    let tick = TICK as i64;
    let parts = [
        Part::new("a mask gives the slot that the modulo gives, for a power of two", masks_agree()),
        Part::new(
            "rounds and deadline checked, no timer fires early",
            all().all(|late| late.earliest >= 0),
        ),
        Part::new(
            "up to as many submissions as are moved in a tick, none is late by more than a tick",
            below <= tick,
        ),
        Part::new(
            "beyond, timers are late by more than a tick, because the worker is still moving",
            least > tick,
        ),
    ];
    let figure = format!(
        "up to {cap} timers at once {} ms late at most; beyond, {} to {} ms",
        milliseconds(below),
        milliseconds(least),
        milliseconds(latest(large.iter().map(|burst| &burst.capped)))
    );
    Finding::new("C40", figure, parts)
}

/// Whether `tick & (slots - 1)` is `tick mod slots` on Netty's wheel, over all of u64.
fn masks_agree() -> bool {
    let mut random = random(1);
    let slots = SLOTS as u64;
    (0..100_000).map(|_| random.random::<u64>()).all(|tick| tick & (slots - 1) == tick % slots)
}

/// P3: what the cap costs a burst.
fn capped(bursts: &[Burst; 7], cap: u64) -> Finding {
    let (small, large): (Vec<_>, Vec<_>) = bursts.iter().partition(|burst| burst.timers <= cap);
    let tick = TICK as i64;
    let as_many_ticks =
        |burst: &&Burst| (burst.capped.latest - burst.ticks as i64 * tick).abs() <= TOLERANCE;
    let uncapped = latest(bursts.iter().map(|burst| &burst.uncapped));
    let largest = bursts.last().map_or(0, |burst| burst.capped.latest);
    let parts = [
        Part::new(
            "without a cap no timer is later than a tick, however large the burst",
            uncapped <= tick,
        ),
        Part::new(
            "nor with it, up to a burst of the cap",
            small.iter().all(|burst| burst.capped.latest <= tick),
        ),
        Part::new(
            "beyond, the latest is later by a tick for each cap's worth of timers",
            large.iter().all(as_many_ticks),
        ),
    ];
    let figure = format!(
        "cap {cap}: sixteen caps at once are {} ms late at most; without a cap {} ms",
        milliseconds(largest),
        milliseconds(uncapped)
    );
    Finding::new("P3", figure, parts)
}

/// E15: the figures that are reported of ten caps at once, within the spread of the seeds and a millisecond of rounding.
fn as_reported(tens: &[Burst]) -> (Finding, Table) {
    let figures = |burst: &Burst| {
        [burst.capped.median, burst.capped.p99, burst.capped.latest, burst.uncapped.latest]
    };
    let seeds: Vec<[f64; 4]> =
        tens.iter().map(|ten| figures(ten).map(|late| late as f64 / 1_000.0)).collect();
    let timers = tens.first().map_or(0, |ten| ten.timers);
    let columns = ["figure", "reported", "least of the seeds", "most of the seeds"];
    let mut table =
        Table::new(format!("{timers} timers at once; lateness in ms"), columns).on("E15");
    let (mut parts, mut means) = (Vec::new(), Vec::new());
    for (which, (name, reported)) in REPORTED.into_iter().enumerate() {
        let of_seeds = || seeds.iter().map(|figures| figures[which]);
        let (least, most) =
            (of_seeds().fold(f64::INFINITY, f64::min), of_seeds().fold(0.0, f64::max));
        table.row([
            name.to_owned(),
            format!("{reported}"),
            format!("{least:.1}"),
            format!("{most:.1}"),
        ]);
        let agrees = (least - 1.0..=most + 1.0).contains(&reported);
        parts.push(Part::new(
            format!("{name}: {reported} ms (found: {least:.1} to {most:.1} ms)"),
            agrees,
        ));
        means.push(format!("{name} {:.0} ms", of_seeds().sum::<f64>() / seeds.len() as f64));
    }
    (Finding::new("E15", means.join(", "), parts), table)
}

fn table(bursts: &[Burst; 7], cap: u64) -> Table {
    let title = format!("Lateness in ms of a burst of timers, {cap} moved a tick, or all");
    let columns = [
        "timers",
        "ticks to move them",
        "earliest",
        "p50",
        "p99",
        "max",
        "p50, no cap",
        "p99, no cap",
        "max, no cap",
    ];
    let mut table = Table::new(title, columns);
    for Burst { timers, ticks, capped, uncapped } in bursts {
        let late = [
            capped.earliest,
            capped.median,
            capped.p99,
            capped.latest,
            uncapped.median,
            uncapped.p99,
            uncapped.latest,
        ];
        table.row(
            [*timers, *ticks]
                .map(|count| count.to_string())
                .into_iter()
                .chain(late.map(milliseconds)),
        );
    }
    table
}

fn chart(bursts: &[Burst; 7], cap: u64) -> Chart {
    let series = |name: &str, figure: &dyn Fn(&Burst) -> i64| Series {
        name: name.to_owned(),
        points: bursts
            .iter()
            .map(|burst| (burst.timers as f64, figure(burst) as f64 / 1_000.0))
            .collect(),
    };
    Chart {
        title: "A burst of timers behind a queue".to_owned(),
        subtitle: format!(
            "lateness with {cap} transfers a tick of 100 ms; all offered at once, delays up to 1 s"
        ),
        x: "timers of the burst".to_owned(),
        y: "lateness, ms".to_owned(),
        series: vec![
            series("p50", &|burst| burst.capped.median),
            series("p99", &|burst| burst.capped.p99),
            series("max", &|burst| burst.capped.latest),
            series("p50, no cap", &|burst| burst.uncapped.median),
            series("max, no cap", &|burst| burst.uncapped.latest),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model of the inventory: a burst of ten caps is late by 91 ms in the median, 901 ms at p99, and 1,000 ms at most.
    #[test]
    fn ten_caps_are_as_late_as_reported() {
        let late = Late::of(100_000, 10_000, 1);
        assert!(late.median.abs_diff(91_000) <= 4_000, "{}", late.median);
        assert!(late.p99.abs_diff(901_000) <= 12_000, "{}", late.p99);
        assert!((990_000..=1_000_000).contains(&late.latest), "{}", late.latest);
    }
}
