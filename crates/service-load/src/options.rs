//! The command line that `wheelhouse service` and `cargo bench --bench service` share.

use crate::experiments::Experiment;
use crate::facilities;
use crate::load::Load;
use anyhow::Result;
use clap::Args;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_frame::options::{ExperimentOptions, names_for_help};
use wheelhouse_frame::run::Plan;
use wheelhouse_frame::{Experiment as _, select_contenders};
use wheelhouse_present::console::say;

/// The experiments, their sizes, and the folder of the results.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    shared: ExperimentOptions,
    /// Threads that schedule or refresh, except in the open loops: from 1 to 64 [default: 2].
    #[arg(long, value_name = "P")]
    pub producers: Option<usize>,
    /// Runs a second, in fires (not fires-300k) and periodic: from 1 to 10000000, and no more than
    /// 20000000 in all [default: 100000].
    #[arg(long, value_name = "PER_SECOND", value_parser = count)]
    pub rate: Option<u32>,
    /// Pending jobs (schedule, and all pairs except pairs-alone), sessions, and jobs due at one
    /// instant (audit): from 1 to 20000000 [default: 1000000, 500000, 1000000].
    #[arg(long, value_name = "N", value_parser = count)]
    pub jobs: Option<u32>,
    /// How long pairs and refreshes are made, and how long jobs fire or a server runs: from 0.001
    /// to 60 [default: 0.5 and 2].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<Duration>,
    /// The time to live of sessions, in seconds: from 0.01 to 60 [default: 2].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub ttl: Option<Duration>,
    /// The tick of wheelhouse, in milliseconds: from 0.001 to 1000; tokio's is 1 [default: 0.05].
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    pub tick: Option<Duration>,
}

impl Options {
    /// The plan that these options describe. `tiny` selects the smallest sizes that show that
    /// everything works.
    ///
    /// # Errors
    ///
    /// If a name is unknown, or a size cannot be played.
    pub fn plan(&self, tiny: bool) -> Result<Plan<Experiment>> {
        let usual = match (tiny, self.shared.common.quick) {
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
        let seed = load.seed;
        let contenders = select_contenders(facilities::all(), &self.shared.backend)?;
        self.shared.plan(contenders, load, seed, tiny)
    }

    /// Returns a line for each option that was given and that no planned experiment uses.
    fn unused(&self, plan: &Plan<Experiment>) -> Vec<String> {
        let given = [
            ("producers", self.producers.is_some()),
            ("rate", self.rate.is_some()),
            ("jobs", self.jobs.is_some()),
            ("seconds", self.seconds.is_some()),
            ("ttl", self.ttl.is_some()),
        ];
        let uses =
            |experiment: &Experiment, option: &'static str| experiment.options().contains(&option);
        let unused = |option| !plan.experiments.iter().any(|it| uses(it, option));
        let line = |option: &'static str| {
            let users: Vec<_> =
                Experiment::ALL.iter().filter(|it| uses(it, option)).map(|it| it.name()).collect();
            format!("--{option} changes nothing: it is used by {} only", users.join(", "))
        };
        let mut lines: Vec<_> = given
            .into_iter()
            .filter(|(option, is_given)| *is_given && unused(option))
            .map(|(option, _)| line(option))
            .collect();
        if self.tick.is_some()
            && !plan.contenders.iter().any(|it| it.name().starts_with("wheelhouse"))
        {
            lines.push(
                "--tick changes nothing: it is used by the facilities of wheelhouse only"
                    .to_owned(),
            );
        }
        lines
    }

    /// The options of a bench, whose relative folder is resolved from the directory where cargo was
    /// called.
    pub fn of_bench(mut self) -> Self {
        self.shared.common = self.shared.common.of_bench();
        self
    }

    /// Plays the plan, stores the results, and prints them. Results go to a new folder in `results`
    /// if the options name none.
    ///
    /// # Errors
    ///
    /// If a name is unknown, a size cannot be played, or results cannot be written.
    pub fn play(&self, results: &Path, tiny: bool) -> Result<ExitCode> {
        let plan = self.plan(tiny)?;
        self.unused(&plan).into_iter().for_each(say);
        self.shared.play(&plan, results, tiny)
    }
}

/// The names of experiments and facilities, for the end of the help text.
pub fn known() -> String {
    let all = facilities::all();
    let backends: Vec<_> = all.iter().map(|it| it.name()).collect();
    names_for_help::<Experiment>(&backends)
}

/// Parses a number, with or without separators. Only [`Load::check`] knows the bounds, so zero is
/// accepted here, and a number beyond 32 bits becomes the largest one, which every bound excludes.
fn count(text: &str) -> Result<u32, String> {
    let number = text
        .replace('_', "")
        .parse::<u64>()
        .map_err(|_| "a whole number, as in 1000000 or 1_000_000")?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn seconds(text: &str) -> Result<Duration, String> {
    length(text, 1.0, "a number of seconds, as in 2 or 0.5")
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    length(text, 1e-3, "a number of milliseconds, as in 1 or 0.25")
}

/// Parses a duration. Zero is accepted here and refused by [`Load::check`].
fn length(text: &str, unit: f64, wanted: &str) -> Result<Duration, String> {
    let length =
        text.parse::<f64>().ok().and_then(|number| Duration::try_from_secs_f64(number * unit).ok());
    length.ok_or_else(|| wanted.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        options: Options,
    }

    fn plan(arguments: &[&str]) -> Result<Plan<Experiment>> {
        let program = Program::try_parse_from(["test"].iter().chain(arguments))?;
        program.options.plan(false)
    }

    #[test]
    fn options_change_the_load() {
        let load =
            plan(&["--jobs", "10_000", "--rate", "50", "--seconds", "0.5", "--tick", "0.25"])
                .unwrap()
                .load;
        assert_eq!(
            (load.pending, load.sessions, load.burst, load.rate),
            (10_000, 10_000, 10_000, 50)
        );
        assert_eq!(
            (load.fires_time, load.pairs_time),
            (Duration::from_millis(500), Duration::from_millis(500))
        );
        assert_eq!((load.tick, load.producers), (Duration::from_micros(250), 2));
        let quick = plan(&["--quick", "--experiment", "pairs,audit"]).unwrap();
        assert_eq!((quick.rounds, quick.load.burst, quick.experiments.len()), (1, 100_000, 5));
    }

    /// The help without line breaks.
    fn help() -> String {
        let help = Program::command().render_help().to_string() + &known();
        help.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_help_lists_all_names_and_ranges() {
        let help = help();
        for name in Experiment::ALL.iter().map(|it| it.name()) {
            assert!(help.contains(name), "{name}: {help}");
        }
        for contender in facilities::all() {
            assert!(help.contains(contender.name()), "{}: {help}", contender.name());
        }
        for option in ["--producers", "--rate", "--jobs", "--seconds", "--ttl", "--tick"] {
            let refusal = format!("{:#}", plan(&[option, "0"]).err().unwrap());
            let range: String = refusal
                .split(" is ")
                .nth(1)
                .unwrap()
                .split(' ')
                .take(4)
                .collect::<Vec<_>>()
                .join(" ");
            let about =
                help.split(&format!("{option} <")).nth(1).unwrap().split(" --").next().unwrap();
            assert!(range.starts_with("from ") && about.contains(&range), "{range}: {about}");
        }
    }

    /// The lines about unused options.
    fn unused(arguments: &[&str]) -> Vec<String> {
        let program = Program::try_parse_from(["test"].iter().chain(arguments)).unwrap();
        program.options.unused(&program.options.plan(false).unwrap())
    }

    #[test]
    fn an_unused_option_is_reported_with_the_experiments_that_use_it() {
        let rate = "--rate changes nothing: it is used by fires, periodic only";
        assert_eq!(unused(&["--experiment", "pairs", "--rate", "5", "--seconds", "1"]), [rate]);
        let jobs = "--jobs changes nothing: it is used by pairs-beside, pairs-window, \
                    pairs-across, schedule, refresh, refresh-opened, sessions, audit only";
        assert_eq!(
            unused(&["--experiment", "pairs-alone,fires", "--jobs", "5", "--rate", "5"]),
            [jobs]
        );
        let tick = "--tick changes nothing: it is used by the facilities of wheelhouse only";
        assert_eq!(unused(&["--backend", "tokio-sleep", "--tick", "2"]), [tick]);
        let all = [
            "--producers",
            "1",
            "--rate",
            "5",
            "--jobs",
            "5",
            "--seconds",
            "1",
            "--ttl",
            "1",
            "--tick",
            "2",
        ];
        assert_eq!(unused(&all), Vec::<String>::new());
    }

    /// An experiment uses an option exactly if another value of the option changes its title.
    #[test]
    fn an_experiment_uses_the_options_that_change_its_title() {
        let whole = Load::whole();
        for (option, value) in
            [("producers", "7"), ("rate", "7"), ("jobs", "7"), ("seconds", "7"), ("ttl", "7")]
        {
            let changed = plan(&[&format!("--{option}"), value]).unwrap().load;
            for &it in Experiment::ALL {
                assert_eq!(
                    it.title(&whole) != it.title(&changed),
                    it.options().contains(&option),
                    "{option}, {}",
                    it.name()
                );
            }
        }
    }

    #[test]
    fn the_lacking_options_make_a_load_large_enough() {
        for usual in [
            &["--quick"][..],
            &["--producers", "1", "--rate", "9", "--jobs", "9", "--seconds", "0.5", "--ttl", "60"],
        ] {
            for &it in Experiment::ALL {
                let load = plan(usual).unwrap().load;
                let lacks = it.options_for_bounds(&load).join(" ");
                let wanted: Vec<_> = lacks.split_whitespace().collect();
                let kept = usual.chunks(2).filter(|option| !wanted.contains(&option[0])).flatten();
                let arguments: Vec<_> = kept.chain(&wanted).copied().collect();
                // No option changes how long `idle` runs.
                if it != Experiment::Idle {
                    let left = it.options_for_bounds(&plan(&arguments).unwrap().load);
                    assert_eq!(left, Vec::<String>::new(), "{}: {arguments:?}", it.name());
                }
            }
        }
        assert_eq!(
            Experiment::PairsBeside.options_for_bounds(&Load::quick()).join(" "),
            "--jobs 1000000 --seconds 0.5"
        );
        assert_eq!(
            Experiment::Sessions
                .options_for_bounds(&Load { ttl: Load::whole().ttl * 2, ..Load::whole() }),
            ["--ttl 2"]
        );
    }

    #[test]
    fn invalid_options_are_refused_with_the_remedy() {
        let refused = [
            (["--rate", "0"], "--rate is from 1 to 10000000 fires a second"),
            (["--rate", "5000000000"], "--rate is from 1 to 10000000 fires a second"),
            (["--jobs", "0"], "--jobs is from 1 to 20000000"),
            (["--jobs", "20_000_001"], "--jobs is from 1 to 20000000"),
            (["--jobs", "1e6"], "a whole number, as in"),
            (["--producers", "0"], "--producers is from 1 to 64 threads"),
            (["--rounds", "0"], "--rounds is 1 or more"),
            (["--seconds", "0"], "--seconds is from 0.001 to 60"),
            (["--seconds", "nan"], "a number of seconds, as in"),
            (["--tick", "0"], "--tick is from 0.001 to 1000 ms"),
            (["--tick", "soon"], "a number of milliseconds, as in"),
            (["--ttl", "0"], "--ttl is from 0.01 to 60 seconds"),
            (["--ttl", "1e9"], "--ttl is from 0.01 to 60 seconds"),
            (["--backend", "netty"], "heap-and-condvar"),
            (["--experiment", "hold"], "sessions"),
            (["--backend", ","], "a value is required"),
        ];
        for (arguments, part) in refused {
            let message = format!("{:#}", plan(&arguments).err().unwrap());
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}
