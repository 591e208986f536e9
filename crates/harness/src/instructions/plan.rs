//! The structures and streams to count.
//!
//! The workloads are those of the comparison's table, and one more: `DENSE` is `uniform` with
//! delays of about one tick per timer. In the table, `uniform` has delays up to 2^20 ticks for
//! every n. The costs of a wheel depend on the span of delays, so both are counted.

use crate::bench::default_sources;
use crate::capacity::parse_timers;
use crate::source::StreamSource;
use crate::stream::{Stream, TRACE};
use crate::structure;
use anyhow::Result;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::collections::BTreeSet;
use wheelhouse_core::backend::Info;
use wheelhouse_present::unknown;
use wheelhouse_workload::UNIFORM_DENSE;

use super::InstructionCount;

/// The workload `uniform` over a span of n ticks, rounded up to a power of two.
pub(super) const DENSE: &str = UNIFORM_DENSE.name;

/// The workload that [`DENSE`] is a variant of.
const UNIFORM: &str = "uniform";

/// The structures that are counted by default: the wheels to choose from, and a heap.
const BACKENDS: [&str; 4] = ["hierarchical-wheel", "list-wheel", "binary-heap", "round-wheel"];

/// The structures that are checked against the record by default. Once they have room, they do not
/// allocate for a timer. The slots of the round wheel do, and an allocation takes 20 instructions
/// more on one machine than on another.
pub const CHECKED: [&str; 3] = ["hierarchical-wheel", "list-wheel", "binary-heap"];

/// The default numbers of timers: small enough for time to follow instructions.
const SIZES: [u32; 2] = [10_000, 100_000];

/// The user's selection. An empty list selects everything.
#[derive(Clone, Debug, Default, Args)]
pub struct Filter {
    /// Only these backends [default: the wheels to choose from, and a heap; with --check without
    /// the round wheel, whose allocations differ between machines].
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub backend: Vec<String>,
    /// Numbers of timers [default: 10000,100000]; traces have a fixed size.
    #[arg(long, value_delimiter = ',', value_parser = parse_timers)]
    pub n: Vec<u32>,
    /// Only these workloads; traces are called trace:NAME, and uniform-dense is uniform over about
    /// n ticks [default: those of the comparison's table, uniform-dense and the traces].
    #[arg(long, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub workload: Vec<String>,
}

impl Filter {
    /// Returns `true` if the selection includes a row. The n of a trace is fixed, so it is ignored.
    pub fn covers(&self, row: &InstructionCount) -> bool {
        let n = || self.n.is_empty() || self.n.iter().any(|n| u64::from(*n) == row.n);
        is_named(&self.backend, &row.backend)
            && is_named(&self.workload, &row.workload)
            && (row.workload.starts_with(TRACE) || n())
    }
}

fn is_named(filter: &[String], name: &str) -> bool {
    filter.is_empty() || filter.iter().any(|it| it == name)
}

/// The structures and streams to count.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The backends, in the order of the registry.
    pub backends: Vec<Info>,
    /// Workloads and traces, each with its n, which is 0 for a trace. The slowest come first, so
    /// that two processors finish at about the same time.
    pub streams: Vec<(String, u32)>,
    /// The seed of the workloads.
    pub seed: u64,
}

impl Plan {
    /// Makes the plan for a filter.
    ///
    /// # Errors
    ///
    /// If a name is unknown; the message lists the known ones.
    pub fn new(filter: &Filter, seed: u64) -> Result<Self> {
        let (all, default) = (wheelhouse_registry::all(), BACKENDS.map(str::to_owned));
        let named = if filter.backend.is_empty() { &default[..] } else { &filter.backend };
        structure::check_compared(named, &all.iter().map(|info| info.name).collect::<Vec<_>>())?;
        let backends = unknown::select("backend", all, |info| info.name, named)?;
        Ok(Self { backends, streams: streams(filter)?, seed })
    }
}

/// The streams that a filter chooses, by name and n.
fn streams(filter: &Filter) -> Result<Vec<(String, u32)>> {
    let names = workloads();
    let known: Vec<_> = names.iter().map(String::as_str).collect();
    unknown::check("workload here", &filter.workload, &known)?;
    let sizes = if filter.n.is_empty() { &SIZES[..] } else { &filter.n };
    let sizes: BTreeSet<u32> = sizes.iter().copied().collect();
    let chosen = |name: &String| is_named(&filter.workload, name);
    let (traces, scalable): (Vec<_>, Vec<_>) =
        names.into_iter().filter(chosen).partition(|name| name.starts_with(TRACE));
    let mut streams: Vec<_> = traces.into_iter().map(|name| (name, 0)).collect();
    for n in sizes.into_iter().rev() {
        streams.extend(scalable.iter().map(|name| (name.clone(), n)));
    }
    Ok(streams)
}

/// The names of all workloads and traces to count on, in table order.
pub(super) fn workloads() -> Vec<String> {
    let mut names: Vec<_> = default_sources().iter().map(StreamSource::name).collect();
    let after_uniform = names.iter().position(|name| name == UNIFORM).map_or(0, |at| at + 1);
    names.insert(after_uniform, DENSE.to_owned());
    names
}

/// The stream with this name. Fails if there is none.
pub(super) fn stream(name: &str, n: u32, seed: u64) -> Result<Stream> {
    match name {
        DENSE => Ok(Stream::from_workload(&UNIFORM_DENSE, n, seed)),
        _ => StreamSource::find(name)?.load(n, seed),
    }
}

/// The longest delay of [`DENSE`].
pub(super) fn dense_span(n: u32) -> u64 {
    u64::from(n).next_power_of_two()
}
