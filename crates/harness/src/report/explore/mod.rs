//! The part of the page that answers a question of the reader's own: how many timers, and how many
//! of them fire. The structures are ranked by what a call costs there.
//!
//! What was measured are points: some numbers of timers, and some mixes, each with a known share of
//! timers that fire. [`Explorer`] holds these, and nothing between them. The script of the page
//! interpolates: over n on logarithmic scales, over the share on a linear one, as a mixture of two
//! programs costs. Without script the page shows the ranking at one measured point.

mod markup;

use serde::Serialize;
use wheelhouse_present::plot::palette::Style;
use wheelhouse_present::stats;

use super::picks;
use crate::model::{Census, FLOOR, Run};
use crate::stream::{MIX, TRACE};
use crate::{plot, summary};

pub use markup::render;

/// What was measured, as the page holds it. `None` is what was not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explorer {
    /// Numbers of timers, rising.
    pub sizes: Vec<u64>,
    /// Mixes, by the share that fires, rising.
    pub mixes: Vec<Mix>,
    /// All who were measured in one of them.
    pub structures: Vec<Structure>,
    /// Which size and which mix the page begins with.
    pub start: (usize, usize),
}

/// A workload with a known share of timers that fire.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mix {
    /// What it is called on the page.
    pub name: String,
    /// Of the timers that are no longer where they were, how many fired; the others were cancelled
    /// or moved. From 0 to 1.
    pub fires: f64,
    #[serde(skip)]
    workload: String,
    #[serde(skip)]
    measures: &'static [&'static str],
}

/// What a structure was measured to cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Structure {
    /// Its name.
    pub name: String,
    /// Nanoseconds of a start, stop, move or expiry, by mix, then by size.
    pub ns: Vec<Vec<Option<f64>>>,
    /// What one call in ten thousand exceeded, ns, by mix, then by size.
    pub tail: Vec<Vec<Option<f64>>>,
    /// Bytes per timer after churn, by size.
    pub bytes: Vec<Option<f64>>,
    /// Whether it answered wrongly in one of the mixes, so that it has no times there.
    pub wrong: bool,
    #[serde(skip)]
    style: Style,
}

impl Explorer {
    /// Those points of a run; `None` if there are none: no workload whose share of timers that fire
    /// is known.
    pub fn new(run: &Run) -> Option<Self> {
        let mixes = mixes(run);
        let measured = |n: &u64| run.throughput.iter().any(|row| row.n == *n);
        let sizes: Vec<u64> = summary::sizes(run).into_iter().filter(measured).collect();
        let names = summary::backends(run).into_iter().filter(|name| name != FLOOR);
        let structures: Vec<Structure> = names
            .map(|name| Structure::new(run, name, &mixes, &sizes))
            .filter(|it| it.ns.iter().flatten().any(Option::is_some))
            .collect();
        let first = mixes.iter().position(|mix| mix.workload.starts_with(MIX));
        let mix = first.or_else(|| mixes.iter().position(|mix| mix.name == "tcp"));
        let usual = sizes.iter().position(|n| Some(*n) == summary::usual_n(run));
        let size = usual.or_else(|| sizes.len().checked_sub(1))?;
        let start = (size, mix.unwrap_or(0));
        (!structures.is_empty()).then_some(Self { sizes, mixes, structures, start })
    }
}

impl Structure {
    fn new(run: &Run, name: String, mixes: &[Mix], sizes: &[u64]) -> Self {
        let by_size = |figure: &dyn Fn(&Mix, u64) -> Option<f64>| {
            let row = |mix| sizes.iter().map(|n| figure(mix, *n)).collect();
            mixes.iter().map(row).collect()
        };
        let memory = |n: &u64| Some(run.memory_of(&name, *n)?.churned);
        Self {
            ns: by_size(&|mix, n| mix.cost(run, &name, n)),
            tail: by_size(&|mix, n| picks::tail(run, &name, &mix.workload, n)),
            bytes: sizes.iter().map(memory).collect(),
            wrong: mixes
                .iter()
                .any(|mix| sizes.iter().any(|n| summary::is_wrong(run, &name, &mix.workload, *n))),
            style: plot::style_of(&name),
            name,
        }
    }
}

/// The mixes of a run, by the share that fires. All that fire are those of `uniform`: started, then
/// fired tick by tick.
fn mixes(run: &Run) -> Vec<Mix> {
    let has = |workload: &str, measure: &str| {
        run.throughput.iter().any(|row| row.workload == workload && row.measure == measure)
    };
    let mut mixes = Vec::new();
    for workload in summary::workloads(run) {
        let measures: &[&str] = match workload.as_str() {
            "uniform" => &["insert-warm", "fire-ticks"],
            _ if has(&workload, "mix") => &["mix"],
            _ => &["steady"],
        };
        if workload.starts_with(TRACE) || !measures.iter().all(|it| has(&workload, it)) {
            continue;
        }
        let fires = if workload == "uniform" { Some(1.0) } else { share(run, &workload) };
        let name = match workload.as_str() {
            "uniform" => "all fire",
            own if own.starts_with(MIX) => "your mix",
            other => other,
        };
        let name = name.to_owned();
        mixes.extend(fires.map(|fires| Mix { name, fires, workload, measures }));
    }
    mixes.sort_by(|a, b| a.fires.total_cmp(&b.fires));
    // Two mixes of one share are one point of the scale: the first of the run stands for it.
    mixes.dedup_by(|later, first| later.fires == first.fires);
    mixes
}

/// The share of timers that fire, at the largest n, where chance has the least part.
fn share(run: &Run, workload: &str) -> Option<f64> {
    let censuses = run.census.iter().filter(|it| it.workload == workload);
    let Census { cancels, moves, fires, .. } = censuses.max_by_key(|it| it.n)?;
    let all = cancels + moves + fires;
    (all > 0).then(|| *fires as f64 / all as f64)
}

impl Mix {
    /// Nanoseconds of a start, stop, move or expiry. An operation of a workload may be several of
    /// these (one of `steady` ends one timer and starts another); so its time is shared among what
    /// the census counted.
    fn cost(&self, run: &Run, name: &str, n: u64) -> Option<f64> {
        let mut all = Vec::new();
        for measure in self.measures {
            if summary::is_wrong(run, name, &self.workload, n) {
                return None;
            }
            let row = run.throughput_of(name, &self.workload, n, measure)?;
            let calls = match self.measures {
                [_] => self.calls(run, n)?,
                _ => row.operations,
            };
            let median = stats::median(&row.ns_per_op)?;
            all.push(median * row.operations as f64 / calls.max(1) as f64);
        }
        // As many fire as are started.
        Some(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Starts, stops, moves and expiries that were timed.
    fn calls(&self, run: &Run, n: u64) -> Option<u64> {
        let census = run.census.iter().find(|it| it.workload == self.workload && it.n == n)?;
        let Census { starts, cancels, moves, fires, .. } = census;
        Some(starts + cancels + moves + fires)
    }
}
