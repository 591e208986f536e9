//! The command line that `wheelhouse service` and `cargo bench --bench service` share.

use crate::experiments::Experiment;
use crate::facilities;
use crate::load::Load;
use anyhow::{Result, ensure};
use clap::Args;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_frame::options::{ExperimentOptions, names_for_help, seconds};
use wheelhouse_frame::run::Plan;
use wheelhouse_frame::select_contenders;

/// With more jobs most machines run out of memory.
const MOST: u32 = 20_000_000;

/// The experiments, their sizes, and the folder of the results.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    shared: ExperimentOptions,
    /// Runs a second, in fires (not fires-300k) and periodic: from 1 to 10000000, and no more than
    /// 20000000 in all [default: 100000].
    #[arg(long, value_name = "PER_SECOND", value_parser = count::<10_000_000>)]
    pub rate: Option<u32>,
    /// Pending jobs (schedule, and all pairs except pairs-alone), sessions, and jobs due at one
    /// instant (audit): from 1 to 20000000 [default: 1000000, 500000, 1000000].
    #[arg(long, value_name = "N", value_parser = count::<MOST>)]
    pub jobs: Option<u32>,
    /// How long pairs and refreshes are made, and how long jobs fire or a server runs: from 0.001
    /// to 60 [default: 0.5 and 2].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<Duration>,
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
            rate: self.rate.unwrap_or(usual.rate),
            pending: self.jobs.unwrap_or(usual.pending),
            sessions: self.jobs.unwrap_or(usual.sessions),
            burst: self.jobs.unwrap_or(usual.burst),
            pairs_time: self.seconds.unwrap_or(usual.pairs_time),
            fires_time: self.seconds.unwrap_or(usual.fires_time),
            ..usual
        };
        let fires = load.fires_at(load.rate);
        let seed = load.seed;
        let contenders = select_contenders(facilities::all(), &self.shared.backend)?;
        let plan = self.shared.plan(contenders, load, seed, tiny)?;
        let has_rate = |it| matches!(it, &Experiment::Fires | &Experiment::Periodic);
        ensure!(
            (1..=u64::from(MOST)).contains(&fires) || !plan.experiments.iter().any(has_rate),
            "{fires} jobs would fire, not 1 to {MOST}; choose --rate and --seconds so that their \
             product is in this range"
        );
        Ok(plan)
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
        self.shared.play(&self.plan(tiny)?, results, tiny)
    }
}

/// The names of experiments and facilities, for the end of the help text.
pub fn known() -> String {
    let all = facilities::all();
    let backends: Vec<_> = all.iter().map(|it| it.name()).collect();
    names_for_help::<Experiment>(&backends)
}

/// Parses a number, with or without separators.
fn count<const MOST: u32>(text: &str) -> Result<u32, String> {
    let number = text.replace('_', "").parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| format!("a whole number from 1 to {MOST}, as in 10 or 1_000"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};
    use wheelhouse_frame::Experiment as _;

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
        let options = ["--jobs", "10_000", "--rate", "50", "--seconds", "0.5"];
        let load = plan(&options).unwrap().load;
        assert_eq!((load.pending, load.sessions, load.burst), (10_000, 10_000, 10_000));
        assert_eq!(load.rate, 50);
        let half = Duration::from_millis(500);
        assert_eq!((load.fires_time, load.pairs_time), (half, half));
        let quick = plan(&["--quick", "--experiment", "pairs,audit"]).unwrap();
        assert_eq!((quick.rounds, quick.load.burst, quick.experiments.len()), (1, 100_000, 5));
        let refused = plan(&["--rate", "10_000_000", "--seconds", "9"]).err().unwrap().to_string();
        assert!(refused.contains("choose --rate and --seconds"), "{refused}");
        for experiment in ["idle", "audit", "fires-300k"] {
            let unused = ["--experiment", experiment, "--rate", "7", "--seconds", "0.01"];
            assert!(plan(&unused).is_ok(), "{experiment} does not use the rate");
        }
        let machine = plan(&["--experiment", "idle", "--backend", "the-machine"]).err().unwrap();
        assert!(machine.to_string().starts_with("the-machine plays only fires, fires-300k"));
    }

    #[test]
    fn the_help_lists_all_names_and_ranges() {
        let help = Program::command().render_help().to_string() + &known();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let experiments = Experiment::ALL.iter().map(|it| it.name());
        for name in experiments.chain(facilities::all().iter().map(|it| it.name())) {
            assert!(help.contains(name), "{name}: {help}");
        }
        for (option, range) in [
            ("--rate", "from 1 to 10000000"),
            ("--jobs", "from 1 to 20000000"),
            ("--seconds", "from 0.001 to 60"),
        ] {
            let about = help.split(&format!("{option} <")).nth(1).unwrap();
            let about = about.split(" --").next().unwrap();
            assert!(about.contains(range), "{range}: {about}");
            for wrong in ["0", "5000000000", "nan", "soon"] {
                let refusal = format!("{:#}", plan(&[option, wrong]).err().unwrap());
                assert!(refusal.contains(range), "{wrong}: {refusal}");
            }
        }
    }

    #[test]
    fn bounds_are_judged_at_the_default_sizes_only() {
        let judged = |arguments: &[&str]| {
            let load = plan(arguments).unwrap().load;
            let all = Experiment::ALL.iter().filter(|it| it.options_for_bounds(&load).is_empty());
            all.copied().collect::<Vec<_>>()
        };
        assert_eq!(judged(&[]), Experiment::ALL);
        assert_eq!(judged(&["--quick"]), []);
        assert_eq!(judged(&["--jobs", "9", "--seconds", "9", "--rate", "9"]), [Experiment::Idle]);
        let whole = [Experiment::Schedule, Experiment::Audit];
        let jobs = judged(&["--seconds", "1"]);
        assert!(whole.iter().all(|it| jobs.contains(it)) && !jobs.contains(&Experiment::Fires));
    }
}
