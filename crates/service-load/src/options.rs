//! The command line, which `wheelhouse service` and `cargo bench --bench service` share.

use crate::experiments::Experiment;
use crate::facilities;
use crate::load::Load;
use crate::report;
use crate::run::{Run, Settings, run, select};
use anyhow::{Result, ensure};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_harness::console::{print, say};
use wheelhouse_harness::store;

/// In which form to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people, on a terminal.
    #[default]
    Table,
    /// A list of objects, one for each play.
    Json,
    /// The report as Markdown.
    Markdown,
}

/// What to play, how much of it, and where to put what comes out.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Only these experiments: pairs, fires, sessions, audit.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub experiment: Vec<String>,
    /// Only these facilities, by their names in the tables.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub facility: Vec<String>,
    /// Threads that schedule, in pairs and audit [default: 2].
    #[arg(long, value_name = "P")]
    pub producers: Option<usize>,
    /// Fires a second [default: 100000].
    #[arg(long, value_name = "PER_SECOND", value_parser = count)]
    pub rate: Option<u32>,
    /// Jobs that are pending (pairs), sessions, and jobs due at once (audit) [default: 1000000, 500000, 1000000].
    #[arg(long, value_name = "N", value_parser = count)]
    pub jobs: Option<u32>,
    /// How long pairs are made, and jobs fire [default: 1 and 3].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<Duration>,
    /// The time to live of sessions, in seconds [default: 2].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub ttl: Option<Duration>,
    /// The tick of wheelhouse, in milliseconds; tokio's is one [default: 1].
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    pub tick: Option<Duration>,
    /// How often everything is played; the median is shown [default: 3; with --quick: 1].
    #[arg(long, value_name = "N")]
    pub repetitions: Option<usize>,
    /// A tenth of everything, once: less than a minute.
    #[arg(long)]
    pub quick: bool,
    /// In which form to print.
    #[arg(long, value_enum, default_value_t)]
    pub format: Form,
    /// Write report.md and rows.json into this folder, which must be new or empty.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl Options {
    /// What these options ask for; `tiny` is as little as shows that everything works.
    ///
    /// # Errors
    ///
    /// If a name is unknown, or a size cannot be played.
    pub fn settings(&self, tiny: bool) -> Result<Settings> {
        let usual = match (tiny, self.quick) {
            (true, _) => Load::tiny(),
            (false, true) => Load::quick(),
            (false, false) => Load::whole(),
        };
        let load = Load {
            producers: self.producers.unwrap_or(usual.producers),
            rate: self.rate.unwrap_or(usual.rate),
            pending: self.jobs.unwrap_or(usual.pending),
            sessions: self.jobs.unwrap_or(usual.sessions),
            burst: self.jobs.unwrap_or(usual.burst),
            pairs_time: self.seconds.unwrap_or(usual.pairs_time),
            fires_time: self.seconds.unwrap_or(usual.fires_time),
            ttl: self.ttl.unwrap_or(usual.ttl),
            tick: self.tick.unwrap_or(usual.tick),
            ..usual
        };
        load.check()?;
        ensure!(self.repetitions != Some(0), "--repetitions is 1 or more");
        let repetitions = self.repetitions.unwrap_or(if tiny || self.quick { 1 } else { 3 });
        let contenders = select(facilities::all(), &self.facility)?;
        Ok(Settings { contenders, experiments: Experiment::select(&self.experiment)?, load, repetitions })
    }

    /// Plays what is asked for, keeps it, and prints it.
    ///
    /// # Errors
    ///
    /// If a name is unknown, a size cannot be played, or results cannot be written.
    pub fn play(&self, tiny: bool) -> Result<ExitCode> {
        let settings = self.settings(tiny)?;
        let dir = self.out.as_deref().map(store::create_at).transpose()?;
        let run = run(&settings)?;
        // All that is to be kept is kept before anything is printed that may fail.
        if let Some(dir) = dir {
            let page = report::write(&run, &dir)?;
            say(format_args!("report: {}", page.display()));
        }
        tell(&run);
        print(report::render(&run, self.format)?)?;
        Ok(run.exit_code().into())
    }
}

/// Says what is wrong or missing.
fn tell(run: &Run) {
    for (row, wrong) in run.wrong() {
        say(format_args!("WRONG: {} on {}: {wrong}", row.experiment.name(), row.facility));
    }
    for missed in report::missed(run) {
        say(missed);
    }
    if run.interrupted {
        say("interrupted: the plays that are there are complete, others are missing");
    }
}

/// Reads a number, with or without separators. What can be played is for [`Load::check`] to say, of which alone the bounds are known:
/// so zero is read here, and what 32 bits do not hold becomes what they do, which is too much for anything.
fn count(text: &str) -> Result<u32, String> {
    let number = text.replace('_', "").parse::<u64>().map_err(|_| "a whole number, as in 1000000 or 1_000_000")?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn seconds(text: &str) -> Result<Duration, String> {
    length(text, 1.0, "a number of seconds, as in 2 or 0.5")
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    length(text, 1e-3, "a number of milliseconds, as in 1 or 0.25")
}

/// Reads a length of time. Zero too, for [`Load::check`] to refuse.
fn length(text: &str, unit: f64, wanted: &str) -> Result<Duration, String> {
    let length = text.parse::<f64>().ok().and_then(|number| Duration::try_from_secs_f64(number * unit).ok());
    length.ok_or_else(|| wanted.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        options: Options,
    }

    fn settings(arguments: &[&str]) -> Result<Settings> {
        let program = Program::try_parse_from(["test"].iter().chain(arguments))?;
        program.options.settings(false)
    }

    #[test]
    fn options_change_the_load() {
        let load = settings(&["--jobs", "10_000", "--rate", "50", "--seconds", "0.5", "--tick", "0.25"]).unwrap().load;
        assert_eq!((load.pending, load.sessions, load.burst, load.rate), (10_000, 10_000, 10_000, 50));
        assert_eq!((load.fires_time, load.pairs_time), (Duration::from_millis(500), Duration::from_millis(500)));
        assert_eq!((load.tick, load.producers), (Duration::from_micros(250), 2));
        let quick = settings(&["--quick", "--experiment", "pairs,audit"]).unwrap();
        assert_eq!((quick.repetitions, quick.load.burst, quick.experiments.len()), (1, 100_000, 4));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_remedy() {
        let refused = [
            (["--rate", "0"], "--rate is from 1 to 10000000 fires a second"),
            (["--rate", "5000000000"], "--rate is from 1 to 10000000 fires a second"),
            (["--jobs", "0"], "--jobs is from 1 to 20000000"),
            (["--jobs", "20_000_001"], "--jobs is from 1 to 20000000"),
            (["--jobs", "1e6"], "a whole number, as in"),
            (["--producers", "0"], "--producers is from 1 to 64 threads"),
            (["--repetitions", "0"], "--repetitions is 1 or more"),
            (["--seconds", "0"], "--seconds is from 0.001 to 60"),
            (["--seconds", "nan"], "a number of seconds, as in"),
            (["--tick", "0"], "--tick is from 0.001 to 1000 ms"),
            (["--tick", "soon"], "a number of milliseconds, as in"),
            (["--ttl", "0"], "--ttl is from 0.01 to 60 seconds"),
            (["--ttl", "1e9"], "--ttl is from 0.01 to 60 seconds"),
            (["--facility", "netty"], "heap-and-condvar"),
            (["--experiment", "hold"], "sessions"),
            (["--facility", ","], "a value is required"),
        ];
        for (arguments, part) in refused {
            let message = format!("{:#}", settings(&arguments).err().unwrap());
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}
