//! The options that benches share, and the steps from options to saved results.

use crate::bound;
use crate::experiment::{Contender, Experiment, select_experiments};
use crate::run::{Plan, Run, play_and_save};
use crate::{folder, report};
use anyhow::{Result, bail, ensure};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_machine::provenance;
use wheelhouse_present::console::{print, say};
use wheelhouse_present::files;
use wheelhouse_present::table::Format;

/// The size of a run, and where and how to write its results.
#[derive(Clone, Debug, Default, Args)]
pub struct CommonOptions {
    /// Measure less: the run takes about a minute.
    #[arg(long)]
    pub quick: bool,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Folder for the results, which must be new or empty [default: a new one in results].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl CommonOptions {
    /// The options of a bench. Cargo runs it in the folder of its package, so a relative folder is
    /// resolved against the folder in which cargo was called.
    pub fn of_bench(self) -> Self {
        let out = self.out.map(|out| files::where_cargo_was_called().join(out));
        Self { out, ..self }
    }
}

/// The arguments that cargo passes to a bench.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct CargoArguments {
    /// Run everything once and measure nothing.
    #[arg(long)]
    test: bool,
    /// Passed by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

impl CargoArguments {
    /// Returns `true` if the bench runs as a test, to check that everything runs. Without the
    /// `--bench` that `cargo bench` passes, this is `cargo test --benches`.
    pub fn is_test(self) -> bool {
        self.test || !self.bench
    }
}

/// The options of a bench that plays experiments in rounds.
#[derive(Clone, Debug, Default, Args)]
pub struct ExperimentOptions {
    /// Only these experiments.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub experiment: Vec<String>,
    /// Only these rows of the tables.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub backend: Vec<String>,
    /// Number of rounds; tables show the medians [default: 3; with --quick: 1].
    #[arg(long, value_name = "N")]
    pub rounds: Option<usize>,
    /// Options that all benches share.
    #[command(flatten)]
    pub common: CommonOptions,
}

impl ExperimentOptions {
    /// The plan for these options and contenders.
    ///
    /// # Errors
    ///
    /// If an experiment is unknown, no contender plays any of the experiments, or there are no
    /// rounds.
    pub fn plan<E: Experiment>(
        &self,
        contenders: Vec<Contender<E>>,
        load: E::Load,
        seed: u64,
        test: bool,
    ) -> Result<Plan<E>> {
        ensure!(self.rounds != Some(0), "--rounds is 1 or more");
        let default_rounds = if test || self.common.quick { 1 } else { 3 };
        let (experiments, on_all) =
            (select_experiments(&self.experiment)?, !self.backend.is_empty());
        let rounds = self.rounds.unwrap_or(default_rounds);
        let plan = Plan { contenders, experiments, on_all, load, rounds, seed };
        let is_played = |it: &E| !plan.contenders_of(*it).is_empty();
        // If the servers of all contenders are missing, there are none, and that is no error.
        if let Some(first) =
            plan.contenders.first().filter(|_| !plan.experiments.iter().any(is_played))
        {
            let all: Vec<_> = first.plays.iter().map(|it| it.name()).collect();
            bail!(
                "{} plays only {}; choose one of them with --experiment",
                first.name(),
                all.join(", ")
            );
        }
        Ok(plan)
    }

    /// Plays, saves the results after each experiment, and prints them. They go to a new folder in
    /// `results` if the options name none. A test saves nothing, and its figures mean nothing.
    ///
    /// # Errors
    ///
    /// If a contender cannot take part, or results cannot be written.
    pub fn play<E: Experiment>(
        &self,
        plan: &Plan<E>,
        results: &Path,
        test: bool,
    ) -> Result<ExitCode> {
        if cfg!(debug_assertions) && !test {
            say("warning: times of a debug build are not comparable; use cargo run --release");
        }
        // Make the folder first, so nothing is played whose results cannot be saved.
        let dir = match self.common.out.as_deref() {
            Some(out) => Some(files::create_or_use_empty(out)?),
            None if test => None,
            None => Some(folder::create(results, &provenance::gather(plan.seed))?),
        };
        let run = play_and_save(plan, |run| {
            // Only the last save decides: the disk may have room again by then.
            let _ = dir.as_ref().map(|dir| report::write_rows(run, dir));
        });
        let has_rows = run.as_ref().is_ok_and(|run| !run.rows.is_empty());
        let dir = match dir {
            // A run that is refused, or interrupted without results, removes the folder it made.
            Some(new) if !has_rows && self.common.out.is_none() => {
                fs::remove_dir_all(new)?;
                None
            }
            dir => dir,
        };
        let run = run?;
        // If the disk is full, the figures are still printed.
        let saved = dir.map(|dir| report::write(&run, &dir)).transpose();
        print_problems(&run);
        print(report::render(&run, self.common.format))?;
        if let Some(page) = saved? {
            say(format_args!("report: {}", page.display()));
        }
        Ok(run.exit_code().into())
    }
}

/// Prints wrong answers, missed bounds and an interruption to standard error.
fn print_problems<E: Experiment>(run: &Run<E>) {
    for (row, wrong) in run.wrong() {
        say(format_args!("WRONG: {} on {}: {wrong}", row.experiment.name(), row.contender));
    }
    bound::missed(run).into_iter().for_each(say);
    if run.interrupted {
        say(match run.rows.is_empty() {
            true => "interrupted before the end of the first play",
            false => "interrupted: some plays are missing; the plays shown are complete",
        });
    }
}

/// Parses a number of seconds from 0.001 to 60.
///
/// # Errors
///
/// If the text is none; the message names the range.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|number| (0.001..=60.0).contains(number));
    let seconds = number.map(Duration::from_secs_f64);
    seconds.ok_or_else(|| "a number from 0.001 to 60, as in 0.5".to_owned())
}

/// The names of experiments and backends, for the end of a help text.
pub fn names_for_help<E: Experiment>(backends: &[&str]) -> String {
    let experiments: Vec<_> = E::ALL.iter().map(|it| it.name()).collect();
    format!("Experiments: {}\n\nBackends: {}", experiments.join(", "), backends.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::select_contenders;
    use crate::testing::{TestExperiment, contenders, fake_contender};
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        options: ExperimentOptions,
    }

    fn plan(arguments: &[&str]) -> Result<Plan<TestExperiment>> {
        let program = Program::try_parse_from(["test"].iter().chain(arguments))?;
        let options = program.options;
        options.plan(select_contenders(contenders(), &options.backend)?, 10, 1, false)
    }

    #[test]
    fn names_select_and_a_quick_run_has_one_round() {
        let all = plan(&[]).unwrap();
        assert_eq!((all.experiments.len(), all.contenders.len(), all.rounds), (3, 2, 3));
        assert!(!all.on_all);
        let some = plan(&["--experiment", "burst,pairs-far", "--backend", "other", "--quick"]);
        let some = some.unwrap();
        assert_eq!(some.experiments, [TestExperiment::PairsFar, TestExperiment::Burst]);
        assert_eq!((some.contenders[0].name(), some.rounds, some.on_all), ("other", 1, true));
        let pairs = plan(&["--experiment", "pairs"]).unwrap();
        assert_eq!(pairs.experiments, [TestExperiment::PairsNear, TestExperiment::PairsFar]);
    }

    #[test]
    fn invalid_options_are_refused_with_the_remedy() {
        for (arguments, part) in [
            (["--experiment", "hold"], "pairs-near"),
            (["--experiment", ""], "a value is required"),
            (["--backend", "netty"], "ours, other"),
            (["--rounds", "0"], "--rounds is 1 or more"),
        ] {
            let message = format!("{:#}", plan(&arguments).err().unwrap());
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }

    #[test]
    fn a_contender_that_cannot_play_the_experiment_is_refused() {
        let limited = || vec![fake_contender("other").limited()];
        let options = |experiment: &str| ExperimentOptions {
            experiment: vec![experiment.to_owned()],
            backend: vec!["other".to_owned()],
            ..ExperimentOptions::default()
        };
        assert!(options("pairs").plan(limited(), 10, 1, false).is_ok());
        let refused = options("burst").plan(limited(), 10, 1, false).err().unwrap();
        let message =
            "other plays only pairs-near, pairs-far; choose one of them with --experiment";
        assert_eq!(refused.to_string(), message);
        assert!(options("burst").plan(contenders(), 10, 1, false).is_ok(), "it is named");
    }

    #[test]
    fn a_run_without_plays_leaves_no_folder() {
        let results = std::env::temp_dir().join(format!("wheelhouse-no-{}", std::process::id()));
        let options = ExperimentOptions::default();
        let refused = fake_contender("ours").prepared(|_| anyhow::bail!("no server"));
        let plan = options.plan(vec![refused], 10, 1, false).unwrap();
        let error = options.play(&plan, &results, false).unwrap_err();
        assert_eq!(format!("{error:#}"), "ours cannot take part: no server");
        // The servers of all contenders are missing.
        let plan = options.plan::<TestExperiment>(vec![], 10, 1, false).unwrap();
        options.play(&plan, &results, false).unwrap();
        fs::remove_dir(&results).expect("it is empty");
    }

    #[test]
    fn nothing_is_played_if_results_cannot_be_saved() {
        let options = ExperimentOptions::default();
        let plan = options.plan(vec![fake_contender("unplayable")], 10, 1, false).unwrap();
        let file = std::env::current_exe().unwrap();
        let error = options.play(&plan, &file, false).unwrap_err().to_string();
        assert!(error.contains("name a writable one with --out"), "{error}");
    }
}
