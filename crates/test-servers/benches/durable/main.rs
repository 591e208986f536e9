//! `cargo bench --bench durable`: durable timers on their stores, compared with the store in memory
//! and with the bare databases.
//!
//! Each contender has n pending jobs. In interleaved rounds, jobs are scheduled, refreshed,
//! cancelled and run through `Durable`, as in a program: by one producer that waits for each
//! change, by 64 producers that each wait for their own, and by one that does not wait. Then the
//! store itself is given batches, closed and opened again. A second process commits jobs that this
//! one is woken to run. At last a thousand jobs a second become due. Every answer is checked, and
//! so is the number of jobs at the end of each round.
//!
//! The bare databases are the floor: the code of a program that knows its requests in advance, with
//! no answers, no leases, no attempts, no kinds, and one table or one sorted set. They do not
//! compete.

mod bare_postgres;
mod client;
mod contender;
mod experiment;
mod floor;
mod late;
mod measure;
mod play;
mod prelude;
mod storage;
mod wake;

use anyhow::Result;
use clap::Parser;
use contender::{NAMES, contenders};
use experiment::{DurableExperiment, Load};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use wheelhouse_frame::options::{CargoArguments, ExperimentOptions, names_for_help, seconds};
use wheelhouse_present::console::exit_code;

/// Durable timers on their stores, compared with the store in memory and bare databases.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --bench durable --",
    after_help = format!(
        "{}\n\nExamples:\n  cargo bench --bench durable -- --quick\n  \
         cargo bench --bench durable -- --backend sqlite,bare-sqlite --jobs 1000000",
        names_for_help::<DurableExperiment>(&NAMES)
    )
)]
struct Bench {
    #[command(flatten)]
    options: ExperimentOptions,
    /// Jobs that are pending during the measurement [default: 10000; with --quick: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    jobs: Option<u64>,
    /// How long each figure is measured in a round: from 0.001 to 60 [default: 0.3; with --quick:
    /// 0.1].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    seconds: Option<Duration>,
    /// Changes in a batch.
    #[arg(long, value_name = "N", default_value_t = 512)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch: u32,
    /// The `appendfsync` of Redis.
    #[arg(long, value_name = "WHEN", default_value = "everysec")]
    #[arg(value_parser = ["everysec", "always", "no"])]
    appendfsync: String,
    /// Commits jobs to a store, and does nothing else: the second process of `wake`.
    #[arg(long, num_args = 3, hide = true)]
    commit_jobs: Option<Vec<String>>,
    #[command(flatten)]
    called: CargoArguments,
}

fn main() -> ExitCode {
    exit_code(Bench::parse().run())
}

impl Bench {
    fn run(mut self) -> Result<ExitCode> {
        if let Some([name, location, count]) = self.commit_jobs.as_deref() {
            wake::commit_jobs(name, location, count.parse()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        self.options.common = self.options.common.of_bench();
        let test = self.called.is_test();
        let (jobs, seconds, batch) = match (test, self.options.common.quick) {
            (true, _) => (200, 0.01, 16),
            (false, true) => (1_000, 0.1, self.batch),
            (false, false) => (10_000, 0.3, self.batch),
        };
        let load = Load {
            jobs: self.jobs.unwrap_or(jobs),
            seconds: self.seconds.map_or(seconds, |it| it.as_secs_f64()),
            batch: batch as usize,
            appendfsync: self.appendfsync,
        };
        let contenders = contenders(&self.options.backend, &load.appendfsync)?;
        let plan = self.options.plan(contenders, load, 0, test)?;
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
        self.options.play(&plan, &results, test)
    }
}
