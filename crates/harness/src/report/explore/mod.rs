//! The interactive part of the page. The reader chooses how many timers there are and the share of
//! expiries among stops, moves and expiries. The structures are ranked by the cost of a call there.
//!
//! A run measures points: some numbers of timers, and some mixes, each with a known share of
//! expiries. [`Explorer`] holds these points only. The script of the page interpolates: over n on
//! logarithmic scales, and over the share on a linear one, since a mixture of two programs costs
//! their weighted mean. The address of the page contains the choice. Another run may be shown next
//! to the first. Without script, the page shows the ranking at one measured point.
//!
//! The script plots with uPlot. `uplot/` holds a copy, so the page is a single file.

mod markup;

use serde::Serialize;
use wheelhouse_present::plot::palette::Style;

use super::picks;
use super::uses::{self, Use};
use crate::model::{FLOOR, Run};
use crate::{plot, summary};
use wheelhouse_machine::provenance::{self, Provenance};

pub use markup::render;

/// The measured points, as the page holds them. `None` is a point that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explorer {
    /// Machine, day and commit of the run.
    pub name: String,
    /// Numbers of timers, ascending.
    pub sizes: Vec<u64>,
    /// Mixes: workloads with a known share of expiries, sorted by it.
    pub mixes: Vec<Use>,
    /// The picks, by mix, then by size.
    pub takes: Vec<Vec<Option<String>>>,
    /// All structures that were measured at one of the points.
    pub structures: Vec<RankedStructure>,
    /// The indices of the size and the mix that the page begins with.
    pub start: (usize, usize),
}

/// Figures by mix, then by size.
pub type Figures = Vec<Vec<Option<f64>>>;

/// The measured costs of a structure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedStructure {
    /// Its name.
    pub name: String,
    /// Nanoseconds per start, stop, move or expiry.
    pub call: Figures,
    /// The time that one call in ten thousand exceeded, in nanoseconds.
    pub tail: Figures,
    /// Bytes per timer after churn.
    pub bytes: Figures,
    /// `true` if it answered wrongly in one of the mixes and so has no times there.
    pub wrong: bool,
    #[serde(skip)]
    style: Style,
}

impl Explorer {
    /// The points of a run; `None` if there are none, because no workload has a known share of
    /// expiries.
    pub fn new(run: &Run) -> Option<Self> {
        let mixes = uses::by_share(run);
        let measured = |n: &u64| run.throughput.iter().any(|row| row.n == *n);
        let sizes: Vec<u64> = summary::sizes(run).into_iter().filter(measured).collect();
        let names = summary::backends(run).into_iter().filter(|name| name != FLOOR);
        let all = names.map(|name| RankedStructure::new(run, name, &mixes, &sizes));
        let has_figure = |it: &RankedStructure| it.call.iter().flatten().any(Option::is_some);
        let structures: Vec<RankedStructure> = all.filter(has_figure).collect();
        let first = mixes.iter().position(Use::is_mix_of_user);
        let mix = first.or_else(|| mixes.iter().position(|mix| mix.name == "tcp"));
        let default = sizes.iter().position(|n| Some(*n) == summary::default_n(run));
        let size = default.or_else(|| sizes.len().checked_sub(1))?;
        let start = (size, mix.unwrap_or(0));
        let recommended = |mix: &Use, n| Some(picks::pick_for_use(run, mix, n, false)?.sentence());
        let takes =
            mixes.iter().map(|mix| sizes.iter().map(|n| recommended(mix, *n)).collect()).collect();
        let Provenance { host, started, commit, .. } = &run.provenance;
        let day: String = started.chars().take(10).collect();
        let name = format!("{host} {day} {}", provenance::short_commit(commit));
        (!structures.is_empty()).then_some(Self { name, sizes, mixes, takes, structures, start })
    }

    /// The figure at the point where the page begins.
    fn at_start(&self, figures: &Figures) -> Option<f64> {
        figures[self.start.1][self.start.0]
    }

    /// The time of a call at the point where `page`, the page of another run, begins.
    fn call_at_start_of(&self, page: &Self, name: &str) -> Option<f64> {
        let mix = self.mixes.iter().position(|mix| mix.name == page.mixes[page.start.1].name)?;
        let size = self.sizes.iter().position(|n| *n == page.sizes[page.start.0])?;
        self.find(name)?.call[mix][size]
    }

    fn find(&self, name: &str) -> Option<&RankedStructure> {
        self.structures.iter().find(|it| it.name == name)
    }
}

impl RankedStructure {
    fn new(run: &Run, name: String, mixes: &[Use], sizes: &[u64]) -> Self {
        let by_size = |figure: &dyn Fn(&Use, u64) -> Option<f64>| {
            let row = |mix| sizes.iter().map(|n| figure(mix, *n)).collect();
            mixes.iter().map(row).collect()
        };
        Self {
            call: by_size(&|mix, n| mix.cost(run, &name, n)),
            tail: by_size(&|mix, n| tail(run, &name, mix, n)),
            bytes: by_size(&|_, n| Some(run.memory_of(&name, n)?.churned)),
            wrong: mixes.iter().any(|mix| sizes.iter().any(|n| mix.is_wrong(run, &name, *n))),
            style: plot::style_of(&name),
            name,
        }
    }
}

/// The 99.99th percentile of a call in a use, or the 99.9th if there are few calls. It is that of
/// the slowest kind of call.
fn tail(run: &Run, name: &str, of: &Use, n: u64) -> Option<f64> {
    let rows = run.latency.iter().filter(|row| row.backend == name && row.n == n);
    let rows = rows.filter(|row| of.workloads().any(|workload| workload == row.workload));
    let tails = rows.filter_map(|row| row.one_in(10_000).or_else(|| row.one_in(1_000)));
    tails.max().map(|ns| ns as f64)
}
