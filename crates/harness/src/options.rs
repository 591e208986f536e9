//! The options of a comparison, and the steps from options to results.
//!
//! `cargo bench`, the bench of the peers and `wheelhouse bench` share the options and the code.
//! They differ in their [`Roster`]: who can take part, with how many timers, for how long.

use crate::bench::{self, Settings};
use crate::capacity::parse_timers;
use crate::model::{Census, Run};
use crate::payload;
use crate::report::{self, picks, prose};
use crate::source::StreamSource;
use crate::stream::Stream;
use crate::structure::{self, Structures};
use crate::summary;
use anyhow::{Result, bail, ensure};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use wheelhouse_frame::options::{CargoArguments, CommonOptions};
use wheelhouse_present::console::{print, say, width};
use wheelhouse_present::files;
use wheelhouse_present::table::{Format, wrap};
use wheelhouse_workload::Mix;

/// The environment variable that lets an unoptimised build measure.
const DEBUG_BUILD: &str = "WHEELHOUSE_DEBUG_BUILD";

/// After this time a quick run begins nothing new.
const QUICK_LIMIT: Duration = Duration::from_secs(50);

/// The most timers of a quick run. With more, the oracle alone may take longer than a minute.
const MAX_QUICK_TIMERS: u32 = 2_000_000;

/// The structures and streams to compare, and where and how to write the results.
#[derive(Clone, Debug, Default, Args)]
pub struct Options {
    /// Number of timers, as in 200000 or 1e6 [default: several sizes].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = parse_timers)]
    pub n: Vec<u32>,
    /// A mix with your shares of operations, as in start:45,stop:40,move:10,fire:5. Add delay:30000
    /// or delay:1-60000 to set how many ticks ahead deadlines are.
    #[arg(long, value_name = "SHARES")]
    pub mix: Option<Mix>,
    /// A trace file of timers that you recorded.
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// Only these workloads; the traces that come with wheelhouse are called trace:NAME.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub workload: Vec<String>,
    /// Only these structures; `floor` is the bare memory traffic.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub backend: Vec<String>,
    /// All structures, including those that are too slow for many timers.
    #[arg(long, conflicts_with = "backend")]
    pub all: bool,
    /// Time for the timed rounds, in seconds; the whole run takes about twice as long.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub time: Option<u64>,
    /// Seed of the workloads.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Use this many seeds, counting up from --seed; each gets an equal share of the rounds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=15))]
    pub seeds: u8,
    /// Options that all benches share.
    #[command(flatten)]
    pub common: CommonOptions,
}

/// The options of a bench target, with the arguments that cargo passes.
#[derive(Debug, Args)]
pub struct BenchOptions {
    /// The options of the comparison.
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    cargo: CargoArguments,
}

impl BenchOptions {
    /// The options, with relative paths resolved against the user's working directory.
    pub fn resolved(&self) -> Options {
        let absolute = |path: &PathBuf| files::where_cargo_was_called().join(path);
        let Options { trace, common, .. } = &self.options;
        let common = common.clone().of_bench();
        Options { trace: trace.iter().map(absolute).collect(), common, ..self.options.clone() }
    }

    /// Returns `true` if cargo runs the bench as a test, to check that everything runs.
    pub fn is_test(&self) -> bool {
        self.cargo.is_test()
    }
}

/// The structures that can take part, and the defaults for sizes and time.
pub struct Roster {
    /// All structures, the recommended ones first.
    pub all: Structures,
    /// Returns `true` for the name of a structure that takes part by default. The others take part
    /// only if the options name them.
    pub is_default: fn(&str) -> bool,
    /// Numbers of timers.
    pub sizes: &'static [u32],
    /// Numbers of timers in a quick run.
    pub quick_sizes: &'static [u32],
    /// Seconds for the timed rounds: in a full run, and in a quick run.
    pub seconds: (u64, u64),
    /// The bytes of a value in the structures.
    pub payload: u16,
}

/// The structures of this workspace, with values of `payload` bytes: 8, 64 or 256.
pub fn workspace_roster(payload: u16) -> Roster {
    Roster {
        all: payload::structures(payload),
        is_default: structure::is_default,
        sizes: &[10, 100, 1_000, 10_000, 100_000, 1_000_000],
        // At 100,000 two wheels differ by about the bound of a tie: too little for three rounds.
        quick_sizes: &[10, 1_000, 10_000],
        seconds: (120, 15),
        payload,
    }
}

/// Verifies, measures, saves the results, and prints the table and the answer. Results go to a new
/// folder in `results` if the options name none. A test saves nothing, and its times mean nothing.
///
/// # Errors
///
/// If the run does not fit into memory, or results cannot be written. Whatever was measured until
/// then is still printed.
pub fn compare(
    options: &Options,
    settings: &Settings,
    results: &Path,
    test: bool,
) -> Result<ExitCode> {
    let start = Instant::now();
    let scratch = std::env::temp_dir().join(format!("wheelhouse-test-{}", std::process::id()));
    let out = if test { Some(scratch.as_path()) } else { options.common.out.as_deref() };
    let dir = bench::folder(settings, out, results)?;
    let (run, saved) = bench::run(settings, &dir)?;
    let is_empty = run.interrupted && run.throughput.is_empty();
    if test || (is_empty && options.common.out.is_none()) {
        std::fs::remove_dir_all(&dir)?;
        say(match (run.interrupted, run.failures.is_empty()) {
            (true, _) => "interrupted before anything was measured; no results were saved",
            (false, true) => "everything ran once and answered correctly",
            (false, false) => "something failed",
        });
        run.failures.iter().for_each(|failure| say(format_args!("WRONG: {failure}")));
        return Ok(run.exit_code().into());
    }
    // Do all three before the first error is returned.
    let page = report::write(&run, None, &dir);
    let printed = print_results(options, &run);
    saved?;
    say(format_args!("report: {} (after {} s)", page?.display(), start.elapsed().as_secs()));
    printed?;
    Ok(run.exit_code().into())
}

/// Turns the options into settings, with the structures of a roster.
///
/// # Errors
///
/// If an option names something unknown, or this build is not optimised, so its times mean nothing.
pub fn settings(options: &Options, roster: Roster, test: bool) -> Result<Settings> {
    ensure!(
        test || !cfg!(debug_assertions) || std::env::var_os(DEBUG_BUILD).is_some(),
        "this build is not optimised, so its times mean nothing; build with --release, or set \
         {DEBUG_BUILD}=1 to measure anyway"
    );
    let mut sizes = match (options.n.as_slice(), test, options.common.quick) {
        ([], true, _) => vec![100],
        ([], _, true) => roster.quick_sizes.to_vec(),
        ([], _, false) => roster.sizes.to_vec(),
        (named, ..) => named.to_vec(),
    };
    sizes.sort_unstable();
    sizes.dedup();
    let (full, quick) = roster.seconds;
    let default = if options.common.quick { quick } else { full };
    let seconds = if test { 0 } else { options.time.unwrap_or(default) };
    if let Some(name) = duplicate(roster.all.iter().map(|it| it.name().to_owned())) {
        bail!("two structures are called {name}; give the program another name");
    }
    let payload = roster.payload;
    let (structures, sources) = selected(options, roster, test)?;
    if let Some(name) = duplicate(sources.iter().map(StreamSource::name)) {
        bail!("two streams are called {name}; leave one out, or rename its file");
    }
    // Sizes apply to workloads and mixes. If there are only traces, there are no sizes.
    let is_sized = sources.iter().any(StreamSource::is_scalable);
    let sizes = if is_sized { sizes } else { Vec::new() };
    let limit = (options.common.quick && options.time.is_none()).then_some(QUICK_LIMIT);
    ensure!(
        limit.is_none() || sizes.iter().all(|n| *n <= MAX_QUICK_TIMERS),
        "--quick takes a minute, in which there is no time for more than {MAX_QUICK_TIMERS} \
         timers; leave it out, or set --time as well"
    );
    Ok(Settings {
        sizes,
        structures,
        sources,
        seed: options.seed,
        seeds: options.seeds.into(),
        payload,
        time: Duration::from_secs(seconds),
        limit,
        details: !test,
    })
}

/// A name that occurs twice, if there is one.
fn duplicate(names: impl Iterator<Item = String>) -> Option<String> {
    let mut seen = BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(name.clone()))
}

/// The structures and the sources that the options choose.
fn selected(
    options: &Options,
    roster: Roster,
    test: bool,
) -> Result<(Structures, Vec<StreamSource>)> {
    let mut sources: Vec<StreamSource> = StreamSource::select(&options.workload)?;
    sources.extend(options.mix.map(StreamSource::Mix));
    for file in &options.trace {
        let stream = Stream::from_file(file)?;
        let name = &stream.name;
        ensure!(!StreamSource::is_known(name), "{name} comes with wheelhouse; rename your file");
        ensure!(stream.insertions() > 0, "{name} starts no timer; record for a longer time");
        sources.push(StreamSource::File(stream));
    }
    if sources.is_empty() {
        let is_small = |source: &StreamSource| source.is_scalable() || !test;
        sources = bench::default_sources().into_iter().filter(is_small).collect();
    }
    let Roster { all, is_default, .. } = roster;
    if !options.backend.is_empty() {
        return Ok((structure::select_from(all, &options.backend)?, sources));
    }
    let takes_part = |name| options.all || test || is_default(name);
    Ok((all.into_iter().filter(|it| takes_part(it.name())).collect(), sources))
}

/// Prints the results. For people: tables, the shares of the user's streams, the answer. For
/// programs: one table and the answer in JSON.
fn print_results(options: &Options, run: &Run) -> Result<()> {
    for failure in &run.failures {
        say(format_args!("WRONG: {failure}"));
    }
    run.interruption().into_iter().for_each(say);
    let several = options.n.len() > 1;
    if options.common.format == Format::Json {
        let table = if several { summary::by_size(run) } else { summary::at_a_glance(run, None) };
        let both = json!({ "answer": picks::answer(run), "rows": table.json() });
        return print(format_args!("{both:#}"));
    }
    let all = || summary::sizes(run).into_iter().map(Some).collect();
    let sizes = if several { all() } else { vec![None] };
    for n in sizes {
        print(format_args!("\n{}", summary::in_short(run, n).terminal()))?;
    }
    // The share of each operation in the user's streams, then the answer.
    let wrapped = |line: String| wrap(&line, width()) + "\n";
    let own = run.census.iter().filter(|census| !StreamSource::is_known(&census.workload));
    let own: String = own.map(Census::to_string).map(wrapped).collect();
    let answer: String = picks::answer(run).into_iter().map(wrapped).collect();
    if answer.is_empty() {
        return print(format_args!("{own}"));
    }
    let how = wrapped(prose::ANSWER.to_owned());
    print(format_args!("{own}\nRecommendation\n{answer}{how}"))
}
