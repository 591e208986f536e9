//! What one may ask of a comparison, and the way from the question to the answer.
//!
//! `cargo bench`, its bench of the peers and `wheelhouse bench` take the same options and do the
//! same thing with them; they differ in who takes part. That is a [`Roster`].

use crate::bench::{self, Settings};
use crate::capacity::timers;
use crate::contender::{self, Contenders};
use crate::model::{Census, Run};
use crate::report::{self, picks};
use crate::source::Source;
use crate::summary;
use anyhow::{Result, bail, ensure};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use wheelhouse_frame::options::{Called, Common};
use wheelhouse_present::console::{print, say, width};
use wheelhouse_present::files;
use wheelhouse_present::table::{Format, wrap};
use wheelhouse_present::unknown;
use wheelhouse_workload::Mix;

/// The variable of the environment by which a build without optimisation is told to measure.
const DEBUG_BUILD: &str = "WHEELHOUSE_DEBUG_BUILD";

/// When a quick run begins nothing new.
const QUICK: Duration = Duration::from_secs(50);

/// The structures, the streams, and the place and form of the results.
#[derive(Clone, Debug, Default, Args)]
pub struct Options {
    /// Only the structures with this in their names; if there are none, only the workload, trace or
    /// column of the table of this name.
    #[arg(value_name = "NAME", conflicts_with_all = ["backend", "workload", "mix", "trace"])]
    pub name: Option<String>,
    /// How many timers, as in 200000 or 1e6 [default: several sizes].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = timers)]
    pub n: Vec<u32>,
    /// Your own shares of operations, as in start:45,stop:40,move:10,fire:5; delay:30000 or
    /// delay:1-60000 among them says how many ticks ahead deadlines are.
    #[arg(long, value_name = "SHARES")]
    pub mix: Option<Mix>,
    /// Your own recorded timers: a trace file.
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// Only these workloads; traces that are shipped are called trace:NAME.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub workload: Vec<String>,
    /// Only these structures; `floor` is the memory traffic alone.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub backend: Vec<String>,
    /// Every structure, also those that nobody would take for many timers.
    #[arg(long, conflicts_with = "backend")]
    pub all: bool,
    /// How long the timed rounds may take, in seconds; what is not timed takes about as long again.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub time: Option<u64>,
    /// Seed of the workloads.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Play the streams of this many seeds, from --seed on: each has its share of the rounds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=15))]
    pub seeds: u8,
    /// The options that all benches have.
    #[command(flatten)]
    pub common: Common,
    /// Print all columns of the table, and not only those that fit a hundred characters.
    #[arg(long)]
    pub wide: bool,
}

/// The options of a bench target: what cargo says, too.
#[derive(Debug, Args)]
pub struct BenchOptions {
    /// What is asked.
    #[command(flatten)]
    asked: Options,
    #[command(flatten)]
    called: Called,
}

impl BenchOptions {
    /// The options, with relative paths resolved from the user's working directory.
    pub fn asked(&self) -> Options {
        let here = |path: &PathBuf| files::where_cargo_was_called().join(path);
        let Options { trace, common, .. } = &self.asked;
        let common = common.clone().of_bench();
        Options { trace: trace.iter().map(here).collect(), common, ..self.asked.clone() }
    }

    /// Returns `true` in a test, which shows that everything runs.
    pub fn is_test(&self) -> bool {
        self.called.is_test()
    }
}

/// Who may take part, and at which sizes when none is named.
pub struct Roster {
    /// All of them, those that one would take first.
    pub all: Contenders,
    /// Those that one would take, by name; the others only take part if they are asked for.
    pub usual: fn(&str) -> bool,
    /// How many timers.
    pub sizes: &'static [u32],
    /// How many timers in a quick run.
    pub quick: &'static [u32],
    /// How long the timed rounds may take, in seconds: usually, and in a quick run.
    pub seconds: (u64, u64),
}

/// The structures of this workspace.
pub fn structures() -> Roster {
    Roster {
        all: contender::all(),
        usual: contender::is_usual,
        sizes: &[10, 100, 1_000, 10_000, 100_000, 1_000_000],
        quick: &[10, 1_000, 100_000],
        seconds: (120, 15),
    }
}

/// Verifies, measures, keeps, and prints the table and the answer. Results go to a new folder in
/// `results` if the options name none. In a test nothing is kept, and the times mean nothing.
///
/// # Errors
///
/// If there is not the memory for what is asked, or results cannot be written; what was measured
/// until then is printed all the same.
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
    let (run, kept) = bench::run(settings, &dir)?;
    let is_empty = run.interrupted && run.throughput.is_empty();
    if test || (is_empty && options.common.out.is_none()) {
        std::fs::remove_dir_all(&dir)?;
        say(match (run.interrupted, run.failures.is_empty()) {
            (true, _) => "interrupted before anything was measured; nothing is kept",
            (false, true) => "everything ran once and answered rightly",
            (false, false) => "something failed",
        });
        run.failures.iter().for_each(|failure| say(format_args!("WRONG: {failure}")));
        return Ok(run.exit_code().into());
    }
    // None keeps the others from being tried.
    let page = report::write(&run, &dir);
    let shown = show(options, &run);
    kept?;
    say(format_args!("report: {} (after {} s)", page?.display(), start.elapsed().as_secs()));
    shown?;
    Ok(run.exit_code().into())
}

/// What the options ask for, of those who may take part.
///
/// # Errors
///
/// If something unknown is asked for, or times would mean nothing.
pub fn settings(options: &Options, roster: Roster, test: bool) -> Result<Settings> {
    ensure!(
        test || !cfg!(debug_assertions) || std::env::var_os(DEBUG_BUILD).is_some(),
        "this is a build without optimisation, whose times say nothing; build with --release, or \
         set {DEBUG_BUILD}=1 to measure it all the same"
    );
    let mut sizes = match (options.n.as_slice(), test, options.common.quick) {
        ([], true, _) => vec![100],
        ([], _, true) => roster.quick.to_vec(),
        ([], _, false) => roster.sizes.to_vec(),
        (named, ..) => named.to_vec(),
    };
    sizes.sort_unstable();
    sizes.dedup();
    let (whole, quick) = roster.seconds;
    let usual = if options.common.quick { quick } else { whole };
    let seconds = if test { 0 } else { options.time.unwrap_or(usual) };
    let (contenders, sources) = chosen(options, roster, test)?;
    let mut names: Vec<String> = sources.iter().map(Source::name).collect();
    names.sort();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!("two streams are called {}; leave one out, or name its file otherwise", twice[0]);
    }
    // What is no trace is as large as it is asked to be; where there are only traces, n means
    // nothing.
    let is_sized = sources.iter().any(Source::is_scalable);
    Ok(Settings {
        sizes: if is_sized { sizes } else { Vec::new() },
        contenders,
        sources,
        seed: options.seed,
        seeds: options.seeds.into(),
        time: Duration::from_secs(seconds),
        limit: (options.common.quick && options.time.is_none()).then_some(QUICK),
        details: !test,
    })
}

/// Who takes part, and in what.
fn chosen(options: &Options, roster: Roster, test: bool) -> Result<(Contenders, Vec<Source>)> {
    let mut asked: Vec<Source> = Source::select(&options.workload)?;
    asked.extend(options.mix.map(Source::Mix));
    for file in &options.trace {
        let source = Source::of_file(file)?;
        let name = source.name();
        ensure!(!Source::is_known(&name), "{name} comes with wheelhouse; name your file otherwise");
        asked.push(source);
    }
    if asked.is_empty() {
        let is_small = |source: &Source| source.is_scalable() || !test;
        asked = bench::usual_sources().into_iter().filter(is_small).collect();
    }
    let Roster { all, usual, .. } = roster;
    let takes_part = |it: &str| options.all || test || usual(it);
    let usually = |all: Contenders| all.into_iter().filter(|it| takes_part(it.name())).collect();
    let Some(name) = options.name.as_deref() else {
        let named = !options.backend.is_empty();
        let all = if named { contender::select_from(all, &options.backend)? } else { usually(all) };
        return Ok((all, asked));
    };
    if all.iter().any(|it| it.name().contains(name)) {
        return Ok((all.into_iter().filter(|it| it.name().contains(name)).collect(), asked));
    }
    let sources = bench::sources_named(name);
    if sources.is_empty() {
        let mut known: Vec<String> = all.iter().map(|it| it.name().to_owned()).collect();
        known.extend(Source::all().iter().map(Source::name));
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        bail!(unknown::error("structure, workload or column", name, &known));
    }
    Ok((usually(all), sources))
}

/// Prints what was found: for people tables and, last, the answer; for programs one table, in JSON
/// with the answer.
fn show(options: &Options, run: &Run) -> Result<()> {
    for failure in &run.failures {
        say(format_args!("WRONG: {failure}"));
    }
    if run.interrupted {
        say("interrupted: the rows that are there are complete, others are missing");
    }
    let several = options.n.len() > 1;
    if options.common.format != Format::Table {
        let table = if several { summary::by_size(run) } else { summary::at_a_glance(run, None) };
        if options.common.format == Format::Json {
            let both = json!({ "answer": picks::answer(run), "rows": table.json() });
            return print(serde_json::to_string_pretty(&both)?);
        }
        return print(table.render(options.common.format)?);
    }
    let all = || summary::sizes(run).into_iter().map(Some).collect();
    let sizes = if several { all() } else { vec![None] };
    let table = if options.wide { summary::at_a_glance } else { summary::in_short };
    for n in sizes {
        print(format_args!("\n{}", table(run, n).terminal()))?;
    }
    print(answer(run))
}

/// The operations that the user's streams were made of, and under a heading the answer.
pub fn answer(run: &Run) -> String {
    let wrapped = |line: String| wrap(&line, width()) + "\n";
    let own = run.census.iter().filter(|census| !Source::is_known(&census.workload));
    let own: String = own.map(Census::to_string).map(wrapped).collect();
    let answer: String = picks::answer(run).into_iter().map(wrapped).collect();
    let heading = if answer.is_empty() { "" } else { "\nWhat to take\n" };
    format!("{own}{heading}{answer}")
}
