//! Netty's worker moves submissions before it serves a slot: what that does to the timers of a burst.

use super::submissions::{CAP, SLOTS, TICK, lateness};
use crate::count::random;
use crate::experiments::Experiment;
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "netty-submit-model",
    about: "round-wheel behind a submission queue, tick 100 ms: bursts of up to 1,000,000 timers due within a second, a tenth of the largest moved at each tick, or all; lateness",
    run,
};

/// Bursts, in tenths of the cap.
const BURSTS: [u64; 6] = [5, 10, 20, 30, 50, 100];

/// The cap of Netty, and no more than a tenth of the timers that the scale allows.
pub(crate) fn cap(scale: &Scale) -> u64 {
    CAP.min(scale.largest() / 10)
}

/// Delays within a second, in microseconds.
pub(crate) fn delays(timers: u64, mut random: Pcg64Mcg) -> impl Iterator<Item = u64> {
    (0..timers).map(move |_| random.random_range(0..1_000_000))
}

fn run(scale: &Scale) -> Evidence {
    let cap = cap(scale);
    let mut table = Table::new(
        format!("Bursts at 0, due within a second, tick 100 ms, {cap} submissions moved a tick; lateness in ms"),
        ["timers", "capped, earliest", "capped, median", "capped, latest", "not capped, latest"],
    );
    let mut lines = [Vec::new(), Vec::new()];
    let (mut earliest, mut below, mut beyond, mut uncapped) = (i64::MAX, 0, 0, 0);
    for tenths in BURSTS {
        let timers = cap * tenths / 10;
        let mut late = lateness(delays(timers, random(1)), cap);
        late.sort_unstable();
        let free = lateness(delays(timers, random(1)), timers).into_iter().max().unwrap_or(0);
        let (Some(least), Some(most)) = (late.first().copied(), late.last().copied()) else { continue };
        earliest = earliest.min(least);
        uncapped = uncapped.max(free);
        if tenths <= 10 {
            below = below.max(most)
        } else {
            beyond = beyond.max(most)
        }
        let figures = [least, late[late.len() / 2], most, free].map(milliseconds);
        table.row(std::iter::once(timers.to_string()).chain(figures));
        for (line, most) in lines.iter_mut().zip([most, free]) {
            line.push((timers as f64, most as f64 / 1_000.0));
        }
    }
    let tick = TICK as i64;
    let parts = [
        Part::new("a mask gives the slot that the modulo gives, for a power of two", masks_agree()),
        Part::new("rounds and deadline checked, no timer fires early", earliest >= 0),
        Part::new(
            "up to as many submissions as are moved in a tick, none is late by more than a tick",
            below <= tick && uncapped <= tick,
        ),
        Part::new("beyond, timers are late by more than a tick, because the worker is still moving", beyond > tick),
    ];
    let figure =
        format!("latest of ten caps {} ms with the cap, {} ms without", milliseconds(beyond), milliseconds(uncapped));
    let [capped, free] = lines;
    let chart = Chart {
        title: "A worker that moves so many submissions a tick".to_owned(),
        subtitle: format!("the latest of a burst due within a second; {cap} moved at each tick of 100 ms"),
        x: "timers".to_owned(),
        y: "lateness, ms".to_owned(),
        series: vec![
            Series { name: "moved up to the cap".to_owned(), points: capped },
            Series { name: "all moved at once".to_owned(), points: free },
        ],
    };
    Evidence { findings: vec![Finding::new("C40", figure, parts)], tables: vec![table], charts: vec![chart] }
}

/// Whether `tick & (slots - 1)` is `tick mod slots` on Netty's wheel, over all of u64.
fn masks_agree() -> bool {
    let mut random = random(1);
    let slots = SLOTS as u64;
    (0..100_000).map(|_| random.random::<u64>()).all(|tick| tick & (slots - 1) == tick % slots)
}

/// Of microseconds.
fn milliseconds(microseconds: i64) -> String {
    format!("{:.1}", microseconds as f64 / 1_000.0)
}
