//! `cargo bench --bench durable`: the stores of durable timers, beside the one in memory and beside
//! what the same databases do bare.
//!
//! Each has n jobs pending. In interleaved rounds, some are scheduled, refreshed, cancelled, and
//! fired (claimed and acknowledged), each for so long or so many: singly, by 64 producers of which
//! each waits for its own (one thread commits what has gathered meanwhile), and in batches. Then it
//! is opened anew. Every answer is checked, and the number of jobs at the end.
//!
//! The floor is what a program would write that knows in advance what is asked of it: no answers,
//! no leases, no attempts, no kinds, one table or one sorted set. It does not compete.

mod contender;
mod floor;
mod play;
mod subject;
mod waiting;

use anyhow::Result;
use clap::Parser;
use contender::{Contender, contenders};
use play::{Figures, Play};
use std::process::ExitCode;
use wheelhouse_present::console::{end, print, say};
use wheelhouse_present::stats::median;
use wheelhouse_present::table::{Cell, Column, Format, Table};
use wheelhouse_present::units;

/// The stores of durable timers, beside the one in memory and bare databases.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo bench --bench durable --",
    after_help = concat!(
        "Examples:\n",
        "  cargo bench --bench durable -- --store sqlite,bare-sqlite --jobs 1000000"
    )
)]
struct Bench {
    /// Jobs that are pending meanwhile.
    #[arg(long, default_value_t = 10_000)]
    jobs: u64,
    /// Only these, by name: memory, sqlite, bare-sqlite, redis, bare-redis, postgres.
    #[arg(long, value_delimiter = ',')]
    store: Vec<String>,
    /// Seconds for each figure of a round.
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Rounds; figures are medians.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Changes in a batch.
    #[arg(long, default_value_t = 512)]
    batch: usize,
    /// `appendfsync` of the Redis: everysec, always or no.
    #[arg(long, default_value = "everysec")]
    appendfsync: String,
    /// In which form the table is printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Play everything once and very short, to see that it works.
    #[arg(long)]
    test: bool,
    /// What cargo bench says.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    end(Bench::parse().run())
}

impl Bench {
    fn run(mut self) -> Result<ExitCode> {
        // Without cargo bench's `--bench`, this is `cargo test --benches`.
        if self.test || !self.bench {
            (self.jobs, self.seconds, self.rounds, self.batch) = (200, 0.01, 1, 16);
        }
        let mut all = contenders(&self.store, &self.appendfsync)?;
        let play = Play { jobs: self.jobs, seconds: self.seconds, batch: self.batch };
        for contender in &mut all {
            say(format!("{}: loading {} jobs", contender.name, units::count(self.jobs)));
            contender.load(&play)?;
        }
        let mut rounds: Vec<Vec<Figures>> = all.iter().map(|_| Vec::new()).collect();
        for round in 1..=self.rounds {
            for (contender, figures) in all.iter_mut().zip(&mut rounds) {
                say(format!("round {round} of {}: {}", self.rounds, contender.name));
                figures.push(contender.play(&play)?);
            }
        }
        print(self.table(&all, &rounds).render(self.format)?)?;
        Ok(ExitCode::SUCCESS)
    }

    fn table(&self, all: &[Contender], rounds: &[Vec<Figures>]) -> Table {
        let heads = rounds[0][0].iter().map(|(name, _)| Column::right(name));
        let columns = std::iter::once(Column::left("store")).chain(heads).collect();
        let title = format!(
            "Operations a second with {} jobs pending; one: singly; 64: by 64 producers that wait; \
             batch: {} at a time",
            units::count(self.jobs),
            self.batch
        );
        let mut table = Table::new(title, columns);
        for (contender, figures) in all.iter().zip(rounds) {
            let mut row = vec![Cell::text(contender.name)];
            for column in 0..figures[0].len() {
                let values: Vec<f64> = figures.iter().filter_map(|its| its[column].1).collect();
                row.push(match median(&values) {
                    None => Cell::missing(),
                    Some(value) if figures[0][column].0.ends_with("ms") => {
                        Cell::figure(value, format!("{value:.2}"))
                    }
                    Some(value) => Cell::figure(value, units::count(value.round() as u64)),
                });
            }
            table.rows.push(row);
        }
        table.notes = vec![
            format!("Medians of {} rounds of {} s each.", self.rounds, self.seconds),
            "fire: claimed and acknowledged. p99: of a producer's wait, of 64. open: connect, and \
             ask for what is due; where it is a file, close it before."
                .to_owned(),
            format!("Redis: appendfsync {}.", self.appendfsync),
        ];
        table
    }
}
