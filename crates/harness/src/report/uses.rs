//! The uses that structures are compared for. A use covers everything a program does with its
//! timers, from start to end.
//!
//! A structure that fires fast may have paid for it when timers were started. So a use counts all
//! the work of its workload, and all uses have one unit: nanoseconds per start, stop, move or
//! expiry.

use crate::model::{Census, Run};
use crate::stream::{MIX, TRACE};
use crate::summary;
use serde::Serialize;
use wheelhouse_present::stats;

/// A use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Use {
    /// Its name.
    pub name: String,
    /// The share of expiries among expiries, cancels and moves, from 0 to 1. `None` if the run has
    /// no census.
    pub fires: Option<f64>,
    #[serde(skip)]
    parts: Vec<MeasuredWorkload>,
}

/// A workload of a use, and the measures that together cover the life of its timers.
#[derive(Clone, Debug, PartialEq)]
struct MeasuredWorkload {
    workload: String,
    measures: &'static [&'static str],
}

impl MeasuredWorkload {
    /// A workload of a run; `None` if the whole life of its timers was not measured.
    fn of(run: &Run, workload: &str) -> Option<Self> {
        const LIFE_MEASURES: [&[&str]; 4] =
            [&["mix"], &["steady"], &["hold"], &["insert-warm", "fire-ticks"]];
        let has = |measure: &&str| {
            run.throughput.iter().any(|row| row.workload == workload && row.measure == *measure)
        };
        let measures = LIFE_MEASURES.into_iter().find(|measures| measures.iter().all(&has))?;
        Some(Self { workload: workload.to_owned(), measures })
    }
}

impl Use {
    /// The use made of these workloads, as far as they were measured; `None` if none was.
    pub fn of(run: &Run, name: &str, workloads: &[&str]) -> Option<Self> {
        let parts: Vec<MeasuredWorkload> =
            workloads.iter().filter_map(|it| MeasuredWorkload::of(run, it)).collect();
        let fires = fires(run, &parts);
        (!parts.is_empty()).then(|| Self { name: name.to_owned(), fires, parts })
    }

    /// Returns `true` if it is a mix of the user.
    pub fn is_mix_of_user(&self) -> bool {
        self.workloads().any(|name| name.starts_with(MIX))
    }

    /// Its workloads.
    pub fn workloads(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.workload.as_str())
    }

    /// Returns `true` if a structure answered wrongly in it.
    pub fn is_wrong(&self, run: &Run, name: &str, n: u64) -> bool {
        self.workloads().any(|workload| summary::is_wrong(run, name, workload, n))
    }

    /// Nanoseconds per start, stop, move or expiry, with the round of each sample. `None` if a part
    /// was not measured.
    pub fn costs(&self, run: &Run, name: &str, n: u64) -> Option<Vec<(u32, f64)>> {
        if self.is_wrong(run, name, n) {
            return None;
        }
        let mut all: Vec<Vec<(u32, f64)>> = Vec::new();
        for part in &self.parts {
            for measure in part.measures {
                let row = run.throughput_of(name, &part.workload, n, measure)?;
                // One operation of a workload may be several calls: an operation of `steady` ends
                // one timer and starts another. If a phase has only one kind of call, an operation
                // is one call.
                let calls = match part.measures {
                    [_] => calls(run, &part.workload, n)?,
                    _ => row.operations,
                };
                let share = row.operations as f64 / calls.max(1) as f64;
                all.push(row.by_round().map(|(round, ns)| (round, ns * share)).collect());
            }
        }
        let (first, others) = all.split_first()?;
        let at = |costs: &[(u32, f64)], round| costs.iter().find(|it| it.0 == round).map(|it| it.1);
        let sum = |&(round, first): &(u32, f64)| {
            let others: Option<f64> = others.iter().map(|costs| at(costs, round)).sum();
            Some((round, (first + others?) / all.len() as f64))
        };
        let costs: Vec<_> = first.iter().filter_map(sum).collect();
        (!costs.is_empty()).then_some(costs)
    }

    /// The median of [`costs`](Self::costs).
    pub fn cost(&self, run: &Run, name: &str, n: u64) -> Option<f64> {
        let costs: Vec<f64> = self.costs(run, name, n)?.into_iter().map(|it| it.1).collect();
        stats::median(&costs)
    }
}

/// The workloads with a known share of expiries, each as a use, sorted by that share.
pub fn by_share(run: &Run) -> Vec<Use> {
    let mut found = Vec::new();
    for workload in summary::workloads(run) {
        let name = match workload.as_str() {
            it if it.starts_with(TRACE) => continue,
            it if it.starts_with(MIX) => "your mix",
            "uniform" => "all fire",
            other => other,
        };
        found.extend(Use::of(run, name, &[&workload]).filter(|it| it.fires.is_some()));
    }
    found.sort_by(|a, b| {
        let by_share = a.fires.partial_cmp(&b.fires).unwrap_or(std::cmp::Ordering::Equal);
        by_share.then(b.is_mix_of_user().cmp(&a.is_mix_of_user()))
    });
    // Two uses with the same share are one point on the scale: keep the user's mix, or else the
    // first of the run.
    found.dedup_by(|later, first| later.fires == first.fires);
    found
}

/// The share of expiries, at the largest n, where chance matters least.
fn fires(run: &Run, parts: &[MeasuredWorkload]) -> Option<f64> {
    // A part with several measures starts timers and fires all of them. The census also counts the
    // other phases of its workload, such as cancels.
    if parts.iter().any(|part| part.measures.len() > 1) {
        return Some(1.0);
    }
    let last = |part: &MeasuredWorkload| {
        let censuses = run.census.iter().filter(|it| it.workload == part.workload);
        censuses.max_by_key(|it| it.n)
    };
    let found: Vec<&Census> = parts.iter().filter_map(last).collect();
    let fires: u64 = found.iter().map(|it| it.fires).sum();
    let all = fires + found.iter().map(|it| it.cancels + it.moves).sum::<u64>();
    (all > 0).then(|| fires as f64 / all as f64)
}

/// How many starts, stops, moves and expiries were timed.
fn calls(run: &Run, workload: &str, n: u64) -> Option<u64> {
    let census = run.census.iter().find(|it| it.workload == workload && it.n == n)?;
    let Census { starts, cancels, moves, fires, .. } = census;
    Some(starts + cancels + moves + fires)
}
