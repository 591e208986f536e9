//! Whom and what to count on.
//!
//! The workloads are those of the comparison's table. One is added: `DENSE` is `uniform` with
//! delays of about a tick for each timer, where that of the table has 2^20 ticks whatever n is. A
//! wheel's costs depend on the span, so both are shown.

use crate::bench::usual_sources;
use crate::idle::PLAYER;
use crate::source::Source;
use crate::stream::{Stream, TRACE};
use anyhow::Result;
use wheelhouse_present::unknown;
use wheelhouse_workload::{Pattern, Workload, find_workload};

use super::Row;

/// The workload `uniform` over a span of n ticks, rounded up to a power of two.
pub(super) const DENSE: &str = "uniform-dense";

/// Of which workload [`DENSE`] is a variant.
const UNIFORM: &str = "uniform";

/// Those whose instructions are counted when none are named: the wheels to choose from, and a heap.
const BACKENDS: [&str; 4] = ["hierarchical-wheel", "list-wheel", "binary-heap", "round-wheel"];

/// Those that are held to the record when none are named. They do not allocate for a timer once
/// they have room. The slots of the round wheel do, and an allocation takes 20 instructions more on
/// one machine than on another.
pub const CHECKED: [&str; 4] = ["hierarchical-wheel", "list-wheel", "binary-heap", PLAYER];

/// The numbers of timers when none are named: small enough for time to follow instructions.
const SIZES: [u32; 2] = [10_000, 100_000];

/// What the person has named; nothing named is everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Names of backends, or `player`.
    pub backend: Vec<String>,
    /// Numbers of timers.
    pub n: Vec<u32>,
    /// Names of workloads and traces.
    pub workload: Vec<String>,
}

impl Filter {
    /// Whether a row is among what was named. A trace has the n that it has.
    pub fn covers(&self, row: &Row) -> bool {
        let n = || self.n.is_empty() || self.n.iter().any(|n| u64::from(*n) == row.n);
        is_named(&self.backend, &row.backend)
            && is_named(&self.workload, &row.workload)
            && (row.workload.starts_with(TRACE) || n())
    }
}

/// Whether a name is among those of a filter.
fn is_named(filter: &[String], name: &str) -> bool {
    filter.is_empty() || filter.iter().any(|it| it == name)
}

/// What is to be counted.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of backends, or `player`.
    pub backends: Vec<String>,
    /// Workloads and traces, each with its n, which is 0 for a trace; those that take longest
    /// first, so that two processors end at about the same time.
    pub streams: Vec<(String, u32)>,
    /// Of the workloads.
    pub seed: u64,
    /// Usual backends that are not in the registry.
    pub left_out: Vec<&'static str>,
}

/// Whether a backend can hold n timers, so that anybody would wait for it.
pub(super) fn can_hold(backend: &str, n: u64) -> bool {
    let infos = wheelhouse_registry::all();
    infos
        .iter()
        .find(|info| info.name == backend)
        .is_none_or(|info| n <= u64::from(info.max_timers))
}

impl Plan {
    /// What a filter chooses.
    ///
    /// # Errors
    ///
    /// If a name is unknown; the message lists the known ones.
    pub fn new(filter: &Filter, seed: u64) -> Result<Self> {
        let registered: Vec<_> = wheelhouse_registry::all().iter().map(|info| info.name).collect();
        let known: Vec<_> = registered.iter().copied().chain([PLAYER]).collect();
        check_names("backend", &filter.backend, &known)?;
        let streams = streams(filter)?;
        if !filter.backend.is_empty() {
            let backends = filter.backend.clone();
            return Ok(Self { backends, streams, seed, left_out: Vec::new() });
        }
        let is_there = |name: &&str| registered.contains(name);
        let (usual, left_out): (Vec<_>, Vec<_>) = BACKENDS.into_iter().partition(is_there);
        let backends = usual.into_iter().chain([PLAYER]).map(str::to_owned).collect();
        Ok(Self { backends, streams, seed, left_out })
    }
}

/// The streams that a filter chooses, by name and n.
fn streams(filter: &Filter) -> Result<Vec<(String, u32)>> {
    let names = workloads();
    let known: Vec<_> = names.iter().map(String::as_str).collect();
    check_names("workload", &filter.workload, &known)?;
    let mut sizes = if filter.n.is_empty() { SIZES.to_vec() } else { filter.n.clone() };
    sizes.sort_unstable();
    sizes.dedup();
    let chosen = |name: &String| is_named(&filter.workload, name);
    let (traces, scalable): (Vec<_>, Vec<_>) =
        names.into_iter().filter(chosen).partition(|name| name.starts_with(TRACE));
    let mut streams: Vec<_> = traces.into_iter().map(|name| (name, 0)).collect();
    for n in sizes.into_iter().rev() {
        streams.extend(scalable.iter().map(|name| (name.clone(), n)));
    }
    Ok(streams)
}

/// The names of all workloads and traces that are counted on, in the order of the tables.
pub(super) fn workloads() -> Vec<String> {
    let mut names: Vec<_> = usual_sources().iter().map(Source::name).collect();
    let after_uniform = names.iter().position(|name| name == UNIFORM).map_or(0, |at| at + 1);
    names.insert(after_uniform, DENSE.to_owned());
    names
}

/// The stream of a name.
///
/// # Errors
///
/// If there is no such workload or trace, or the trace cannot be read.
pub(super) fn stream(name: &str, n: u32, seed: u64) -> Result<Stream> {
    match name {
        DENSE => Ok(Stream::of_workload(&dense(n)?, n, seed)),
        _ => Source::find(name)?.load(n, seed),
    }
}

/// The workload [`DENSE`] for n timers.
fn dense(n: u32) -> Result<Workload> {
    let mut workload = *find_workload(UNIFORM)?;
    workload.name = DENSE;
    workload.pattern = Pattern::Uniform { longest: dense_span(n) };
    Ok(workload)
}

/// The longest delay of [`DENSE`].
pub(super) fn dense_span(n: u32) -> u64 {
    u64::from(n).next_power_of_two()
}

fn check_names(what: &str, named: &[String], known: &[&str]) -> Result<()> {
    match named.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(unknown::error(format_args!("{what} here"), name, known)),
        None => Ok(()),
    }
}
