//! `cargo bench`: the whole comparison.
//!
//! 1. Every backend is verified on small streams: a wrong answer ends the run.
//! 2. criterion measures single operations on a population of n live timers (`insert/NAME/N` and so on), with its own
//!    filters, baselines and statistics.
//! 3. The harness plays whole workloads and recorded traces in interleaved rounds, times single operations, measures
//!    memory, writes results and report, and prints the table.
//!
//! `-- --quick` is short, `-- NAME` restricts all of it to the backends whose name contains NAME, or to the
//! workload, trace or column of the table that is called so, `-- --test` runs each bench once to see that it works.

mod operations;
mod options;

use anyhow::{Result, bail};
use options::Options;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::cold;
use wheelhouse_harness::contender::{self, Contender};
use wheelhouse_harness::source::Source;
use wheelhouse_harness::{report, summary, verify};
use wheelhouse_present::console::{print, say};
use wheelhouse_present::table::Format;
use wheelhouse_workload::Measure;

fn main() -> ExitCode {
    cold::forget_freed_memory();
    match run(&Options::parse(std::env::args().skip(1))) {
        Ok(code) => code,
        Err(error) => {
            say(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    let start = Instant::now();
    if !options.only_lists {
        verify_first()?;
        print("1. verified: every backend gives the oracle's answers")?;
        print(format_args!(
            "2. single operations on n live timers, by criterion{}",
            how_long(options)
        ))?;
    }
    end_where_criterion_cannot_print();
    operations::run(options);
    let chosen = chosen(options);
    if let Some(filter) =
        options.filter.as_deref().filter(|it| chosen.is_none() && !operations::is_known(it))
    {
        bail!("nothing is called '{filter}'; there are: {}", names().join(", "));
    }
    if options.only_criterion {
        return Ok(ExitCode::SUCCESS);
    }
    print(
        "3. whole workloads and recorded traces, in interleaved rounds (see benches/METHODOLOGY.md)",
    )?;
    let Some(chosen) = chosen else {
        print("   left out: it is for whole backends and workloads, and no such thing was named")?;
        return Ok(ExitCode::SUCCESS);
    };
    let code = compare(options, chosen)?;
    say(format_args!("done in {} s", start.elapsed().as_secs()));
    Ok(code)
}

/// How long criterion's part takes; of what a filter leaves, nothing is known.
fn how_long(options: &Options) -> &'static str {
    match (options.test, &options.filter, options.quick) {
        (true, _, _) => ", each once",
        (_, Some(_), _) => ", as far as they have the filter in their names",
        (_, _, true) => " (less than a minute)",
        (_, _, false) => " (about five minutes)",
    }
}

/// criterion prints with `println!`, which panics where nobody takes what is printed, and panics again as it unwinds. So the program ends
/// at the first of them: with an error, or, if the reader has seen enough, without.
fn end_where_criterion_cannot_print() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        match message.strip_prefix("failed printing to stdout: ") {
            None => usual(panic),
            Some(reason) if reason.starts_with("Broken pipe") => std::process::exit(0),
            Some(reason) => {
                say(format_args!("error: cannot write to standard output: {reason}"));
                std::process::exit(1);
            }
        }
    }));
}

/// All that a filter can name: parts of criterion's names, workloads and traces, and columns of the table.
fn names() -> Vec<String> {
    let sources = Source::all();
    let measures = Measure::ALL.map(|measure| measure.name().to_owned());
    let names =
        operations::names().into_iter().map(str::to_owned).chain(sources.iter().map(Source::name));
    let mut names: Vec<_> = names.chain(measures).collect();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone())); // `cancel` is an operation and a column
    names
}

/// Who is compared, and on what.
type Chosen = (Vec<Box<dyn Contender>>, Vec<Source>);

/// What the filter leaves to compare: the backends with the filter in their names on the usual streams; if there are none, all backends on
/// the workloads and traces that it names.
fn chosen(options: &Options) -> Option<Chosen> {
    let (all, mut usual) = (contender::all(), bench::usual_sources());
    usual.retain(|source| source.is_scalable() || !options.test);
    let Some(filter) = options.filter.as_deref() else { return Some((all, usual)) };
    if all.iter().any(|it| it.name().contains(filter)) {
        return Some((all.into_iter().filter(|it| it.name().contains(filter)).collect(), usual));
    }
    let sources = bench::sources_named(filter);
    (!sources.is_empty()).then_some((all, sources))
}

/// No figure without a right answer.
fn verify_first() -> Result<()> {
    let sources =
        bench::usual_sources().into_iter().filter(Source::is_scalable).collect::<Vec<_>>();
    let verified = verify::verify(&sources, &contender::all(), 2_000, 1)?;
    if let Some(failure) = verified.failures.first() {
        bail!(
            "{} gives wrong answers on {}: {}",
            failure.backend,
            failure.workload,
            failure.message
        );
    }
    Ok(())
}

fn compare(options: &Options, (contenders, sources): Chosen) -> Result<ExitCode> {
    let (sizes, seconds) = match (options.test, options.quick) {
        (true, _) => (vec![100], 0),
        (_, quick) => (bench::usual_sizes(quick), if quick { 12 } else { 190 }),
    };
    let settings = Settings {
        sizes,
        contenders,
        sources,
        seed: 1,
        time: Duration::from_secs(seconds),
        details: true,
    };
    let scratch =
        std::env::temp_dir().join(format!("wheelhouse-bench-test-{}", std::process::id()));
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("results");
    let dir = bench::folder(&settings, options.test.then_some(scratch.as_path()), &results)?;
    let run = bench::run(&settings, &dir)?;
    // All that is to be kept is kept before anything is printed that may fail.
    let page = report::write(&run, &dir)?;
    let printed = summary::at_a_glance(&run, None)
        .render(Format::Table)
        .and_then(|table| print(format!("\n{table}")));
    for failure in &run.failures {
        say(format_args!("WRONG: {failure}"));
    }
    if options.test {
        std::fs::remove_dir_all(&scratch)?;
    } else {
        say(format_args!("report: {}", page.display()));
    }
    printed?;
    Ok(run.exit_code().into())
}
