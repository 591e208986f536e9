//! The part of the page that answers a question of the reader's own: how many timers, and how many
//! of them fire. The structures are ranked by what a call costs there.
//!
//! The run measured points: some numbers of timers, and some mixes, each with a known share of
//! timers that fire. [`Explorer`] holds these, and nothing between them. The script of the page
//! interpolates: over n on logarithmic scales, over the share on a linear one, as a mixture of two
//! programs costs. The address of the page contains the choice. Another run may be next to the
//! first. Without script the page shows the ranking at one measured point.
//!
//! The script plots with uPlot, of which `uplot/` has a copy: the page is one file.

mod markup;

use serde::Serialize;
use wheelhouse_present::plot::palette::Style;

use super::picks;
use super::uses::{self, Use};
use crate::model::{FLOOR, Run};
use crate::{plot, summary};
use wheelhouse_machine::provenance::{self, Provenance};

pub use markup::render;

/// What was measured, as the page holds it. `None` is what was not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explorer {
    /// Machine, day and commit of the run.
    pub name: String,
    /// Numbers of timers, rising.
    pub sizes: Vec<u64>,
    /// Mixes, by the share that fires, rising.
    pub mixes: Vec<Mix>,
    /// The picks, by mix, then by size.
    pub takes: Vec<Vec<Option<String>>>,
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
    of: Use,
}

/// Figures by mix, then by size.
pub type Figures = Vec<Vec<Option<f64>>>;

/// What a structure was measured to cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Structure {
    /// Its name.
    pub name: String,
    /// Nanoseconds of a start, stop, move or expiry.
    pub call: Figures,
    /// The time that one call in ten thousand exceeded, in nanoseconds.
    pub tail: Figures,
    /// Bytes per timer after churn.
    pub bytes: Figures,
    /// Whether it answered wrongly in one of the mixes, so that it has no times there.
    pub wrong: bool,
    #[serde(skip)]
    style: Style,
}

impl Explorer {
    /// Those points of a run; `None` if there are none: no workload whose share of timers that fire
    /// is known.
    pub fn new(run: &Run) -> Option<Self> {
        let mix = |of: Use| Some(Mix { name: of.name.clone(), fires: of.fires?, of });
        let mixes: Vec<Mix> = uses::by_share(run).into_iter().filter_map(mix).collect();
        let measured = |n: &u64| run.throughput.iter().any(|row| row.n == *n);
        let sizes: Vec<u64> = summary::sizes(run).into_iter().filter(measured).collect();
        let names = summary::backends(run).into_iter().filter(|name| name != FLOOR);
        let structures: Vec<Structure> = names
            .map(|name| Structure::new(run, name, &mixes, &sizes))
            .filter(|it| it.call.iter().flatten().any(Option::is_some))
            .collect();
        let first = mixes.iter().position(|mix| mix.of.is_own_mix());
        let mix = first.or_else(|| mixes.iter().position(|mix| mix.name == "tcp"));
        let usual = sizes.iter().position(|n| Some(*n) == summary::usual_n(run));
        let size = usual.or_else(|| sizes.len().checked_sub(1))?;
        let start = (size, mix.unwrap_or(0));
        let take = |mix: &Mix, n| Some(picks::of_use(run, &mix.of, n, false)?.taken());
        let takes = mixes.iter().map(|mix| sizes.iter().map(|n| take(mix, *n)).collect()).collect();
        let Provenance { host, started, commit, .. } = &run.provenance;
        let day: String = started.chars().take(10).collect();
        let name = format!("{host} {day} {}", provenance::short_commit(commit));
        (!structures.is_empty()).then_some(Self { name, sizes, mixes, takes, structures, start })
    }

    /// The figure that the page begins with.
    fn begin(&self, figures: &Figures) -> Option<f64> {
        figures[self.start.1][self.start.0]
    }

    /// The time of a call at the point where the page of another run begins.
    fn at_start_of(&self, page: &Self, name: &str) -> Option<f64> {
        let mix = self.mixes.iter().position(|mix| mix.name == page.mixes[page.start.1].name)?;
        let size = self.sizes.iter().position(|n| *n == page.sizes[page.start.0])?;
        self.find(name)?.call[mix][size]
    }

    /// A structure by its name.
    fn find(&self, name: &str) -> Option<&Structure> {
        self.structures.iter().find(|it| it.name == name)
    }
}

impl Structure {
    fn new(run: &Run, name: String, mixes: &[Mix], sizes: &[u64]) -> Self {
        let by_size = |figure: &dyn Fn(&Mix, u64) -> Option<f64>| {
            let row = |mix| sizes.iter().map(|n| figure(mix, *n)).collect();
            mixes.iter().map(row).collect()
        };
        Self {
            call: by_size(&|mix, n| mix.of.cost(run, &name, n)),
            tail: by_size(&|mix, n| tail(run, &name, &mix.of, n)),
            bytes: by_size(&|_, n| Some(run.memory_of(&name, n)?.churned)),
            wrong: mixes.iter().any(|mix| sizes.iter().any(|n| mix.of.is_wrong(run, &name, *n))),
            style: plot::style_of(&name),
            name,
        }
    }
}

/// The 99.99th percentile of a call in a use (the 99.9th, if there are few calls): the longest of
/// the kinds of call.
fn tail(run: &Run, name: &str, of: &Use, n: u64) -> Option<f64> {
    let rows = run.latency.iter().filter(|row| row.backend == name && row.n == n);
    let rows = rows.filter(|row| of.workloads().any(|workload| workload == row.workload));
    let tails = rows.filter_map(|row| row.one_in(10_000).or_else(|| row.one_in(1_000)));
    tails.max().map(|ns| ns as f64)
}
